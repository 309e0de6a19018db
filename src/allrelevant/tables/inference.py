"""Inference of column types, and of the task from the target column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._text import count_noun, join_names

if TYPE_CHECKING:
    import pandas as pd


def is_numeric(column: pd.Series) -> bool:
    """Return whether all non-missing values are numbers or booleans."""
    from pandas.api import types

    if types.is_object_dtype(column.dtype):
        # Columns of decimals, or of booleans with empty cells, have dtype object.
        kind = types.infer_dtype(column, skipna=True)
        return kind in ("boolean", "integer", "floating", "mixed-integer-float", "decimal", "empty")
    return types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype)


def is_boolean(column: pd.Series) -> bool:
    """Return whether all non-missing values are booleans."""
    from pandas.api import types

    return types.infer_dtype(column, skipna=True) == "boolean"


def is_datetime(column: pd.Series) -> bool:
    """Return whether the values are dates, times or durations."""
    from pandas.api import types

    dtype = column.dtype
    return types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype)


def is_categorical(column: pd.Series) -> bool:
    """Return whether the column has a categorical dtype."""
    from pandas import CategoricalDtype

    return isinstance(column.dtype, CategoricalDtype)


def category_values(column: pd.Series) -> pd.Series:
    """Convert a categorical column to the dtype of its categories; keep other columns unchanged."""
    return column.astype(column.cat.categories.dtype) if is_categorical(column) else column


def text_example(column: pd.Series) -> str:
    """Return a phrase that quotes a non-numeric value, for messages, or an empty string."""
    import pandas

    numbers = pandas.to_numeric(column.astype(str), errors="coerce")
    words = column[numbers.isna() & column.notna()]
    return f" (such as {str(words.iloc[0])[:30]!r})" if len(words) else ""


# Integers with more distinct values than this are counts or measurements, not classes.
MAX_CLASSES = 20

MAX_LABELS_SHOWN = 6
MAX_LABEL_WIDTH = 40


@dataclass(frozen=True)
class InferredTask:
    """Inferred task (``"classification"`` or ``"regression"``) and the reason for it."""

    task: str
    reason: str

    @property
    def note(self) -> str:
        """One-line note on the inferred task, the reason for it and how to change the task."""
        return f"Task: {self.task} ({self.reason}). Use --task to choose a different task."


def infer_task(y: pd.Series, *, ordinal: bool = True) -> InferredTask:
    """Infer the task from a target without missing values.

    Strings, categories and booleans are classes. Numbers with a fractional part are a numeric
    target. Integers are a numeric target if they have more than 20 distinct values, or more
    distinct values than half the number of rows. Other integers are classes. Ordinal and ranking
    tasks cannot be inferred. If ``ordinal`` is True and the classes may be ordered, the reason
    mentions the ordinal task.
    """
    if is_categorical(y) or is_boolean(y) or not is_numeric(y):
        return _infer_classes(
            [repr(word[:MAX_LABEL_WIDTH]) for word in sorted({str(v) for v in y})]
        )
    values = y.to_numpy(dtype=np.float64)
    fractional = values[values != np.round(values)]
    if len(fractional):
        reason = f"the target has numbers with a fractional part, such as {fractional[0]:g}"
        return InferredTask("regression", reason)
    return _infer_from_integers(np.unique(values), len(values), ordinal)


def exceeds_class_limit(n_distinct: int, n_rows: int) -> bool:
    """Return whether integers have too many distinct values to be classes."""
    return n_distinct > min(MAX_CLASSES, max(2, n_rows / 2))


def _infer_from_integers(distinct: NDArray[np.float64], n_rows: int, ordinal: bool) -> InferredTask:
    if exceeds_class_limit(len(distinct), n_rows):
        return InferredTask(
            "regression",
            f"the target has {len(distinct)} distinct numbers, from {distinct[0]:.0f} to "
            f"{distinct[-1]:.0f}",
        )
    inferred = _infer_classes([f"{value:.0f}" for value in distinct])
    if ordinal and len(distinct) > 2 and distinct[-1] - distinct[0] == len(distinct) - 1:
        hint = "if their order matters, as for grades, use --task ordinal"
        return InferredTask(inferred.task, f"{inferred.reason}; {hint}")
    return inferred


def _infer_classes(labels: Sequence[str]) -> InferredTask:
    shown = join_names(labels, MAX_LABELS_SHOWN, quote=False)
    number = count_noun(len(labels), "class", "classes")
    return InferredTask("classification", f"the target has {number}: {shown}")
