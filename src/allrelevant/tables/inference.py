"""Kinds of columns, and the task that a target column suggests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._text import count_noun, join_names

if TYPE_CHECKING:
    import pandas as pd


def holds_numbers(column: pd.Series) -> bool:
    """Whether all values that are there are numbers, or booleans, which count as 0 and 1."""
    types = import_extra("pandas", "cli").api.types
    if types.is_object_dtype(column.dtype):
        # Booleans beside empty cells, or decimals: numbers all the same.
        kind = types.infer_dtype(column, skipna=True)
        return kind in ("boolean", "integer", "floating", "mixed-integer-float", "decimal", "empty")
    return types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype)


def holds_booleans(column: pd.Series) -> bool:
    """Whether all values that are there are true or false."""
    types = import_extra("pandas", "cli").api.types
    return types.infer_dtype(column, skipna=True) == "boolean"


def holds_times(column: pd.Series) -> bool:
    """Whether the values are dates, times or spans of time."""
    types = import_extra("pandas", "cli").api.types
    dtype = column.dtype
    return types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype)


def is_categorical(column: pd.Series) -> bool:
    """Whether the table itself says that the values are categories."""
    return isinstance(column.dtype, import_extra("pandas", "cli").CategoricalDtype)


def without_categories(column: pd.Series) -> pd.Series:
    """The values themselves, where a table holds them as categories."""
    return column.astype(column.cat.categories.dtype) if is_categorical(column) else column


def text_example(column: pd.Series) -> str:
    """The first value that is no number: one stray word turns a whole column into text."""
    pandas = import_extra("pandas", "cli")
    numbers = pandas.to_numeric(column.astype(str), errors="coerce")
    words = column[numbers.isna() & column.notna()]
    return f" (such as {str(words.iloc[0])[:30]!r})" if len(words) else ""


# Whole numbers with more different values than this are counts or measurements, not classes.
MAX_CLASSES = 20

MAX_LABELS_SHOWN = 6
MAX_LABEL_WIDTH = 40


@dataclass(frozen=True)
class InferredTask:
    """``"classification"`` or ``"regression"``, and what in the target speaks for it."""

    task: str
    reason: str

    @property
    def note(self) -> str:
        """What to tell the user, in one line."""
        return f"Task: {self.task} ({self.reason}). Give --task to choose another."


def infer_task(y: pd.Series, *, ordinal: bool = True) -> InferredTask:
    """The task that a target without missing values suggests.

    Words, categories, and true and false are classes. Numbers with a fractional part are values to
    predict, and so are whole numbers with more than 20 different values, or with more different
    values than half the rows. Other whole numbers are classes. Orders and rankings cannot be seen
    from a column; with ``ordinal``, the reason points out that there is a task for classes in an
    order, where the target may hold such.
    """
    if is_categorical(y) or holds_booleans(y) or not holds_numbers(y):
        return _classes([repr(word[:MAX_LABEL_WIDTH]) for word in sorted({str(v) for v in y})])
    values = y.to_numpy(dtype=np.float64)
    fractional = values[values != np.round(values)]
    if len(fractional):
        reason = f"the target has numbers with a fractional part, such as {fractional[0]:g}"
        return InferredTask("regression", reason)
    return _of_whole_numbers(np.unique(values), len(values), ordinal)


def are_values(n_distinct: int, n_rows: int) -> bool:
    """Whether whole numbers are counts or measurements, by how many different ones there are."""
    return n_distinct > min(MAX_CLASSES, max(2, n_rows / 2))


def _of_whole_numbers(distinct: NDArray[np.float64], n_rows: int, ordinal: bool) -> InferredTask:
    if are_values(len(distinct), n_rows):
        return InferredTask(
            "regression",
            f"the target has {len(distinct)} different numbers, from {distinct[0]:.0f} to "
            f"{distinct[-1]:.0f}",
        )
    inferred = _classes([f"{value:.0f}" for value in distinct])
    if ordinal and len(distinct) > 2 and distinct[-1] - distinct[0] == len(distinct) - 1:
        hint = "if their order counts, as with grades, there is --task ordinal"
        return InferredTask(inferred.task, f"{inferred.reason}; {hint}")
    return inferred


def _classes(labels: Sequence[str]) -> InferredTask:
    shown = join_names(labels, MAX_LABELS_SHOWN, quote=False)
    number = count_noun(len(labels), "class", "classes")
    return InferredTask("classification", f"the target has {number}: {shown}")
