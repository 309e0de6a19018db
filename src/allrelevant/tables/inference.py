"""Inference of the task from the target column, and of numbers from words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._text import count_noun, join_names
from ..terms.columns import Column, number_column


def as_numbers(column: Column) -> Column | None:
    """Return a column as numbers, or None if some value is neither a number nor a boolean.

    Categories may be numbers if their library stores them as categories.
    """
    if column.is_numeric:
        return column
    if not column.has_levels or not all(map(is_number, column.levels)):
        return None
    values = [*map(float, column.levels)]
    if len(set(values)) < len(values):  # integers with too many digits
        return None
    return number_column(column.name, np.array([*values, np.nan])[column.values])


def is_number(word: str) -> bool:
    """Return whether a word is a number.

    >>> is_number("1e3"), is_number("3a")
    (True, False)
    """
    try:
        float(word)
    except ValueError:
        return False
    return True


def text_example(column: Column) -> str:
    """Return a phrase that quotes a non-numeric value, for messages, or an empty string."""
    for code in column.values if column.has_levels else ():
        if code >= 0 and not is_number(column.levels[code]):
            return f" (such as {column.levels[code][:30]!r})"
    return ""


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


def infer_task(y: Column, *, ordinal: bool = True) -> InferredTask:
    """Infer the task from a target without missing values.

    Strings, categories and booleans are classes. Numbers with a fractional part are a numeric
    target. Integers are a numeric target if they have more than 20 distinct values, or more
    distinct values than half the number of rows. Other integers are classes. Ordinal and ranking
    tasks cannot be inferred. If ``ordinal`` is True and the classes may be ordered, the reason
    mentions the ordinal task.
    """
    if y.kind != "number":
        return _infer_from_labels(y, ordinal)
    fractional = y.values[y.values != np.round(y.values)]
    if len(fractional):
        reason = f"the target has numbers with a fractional part, such as {fractional[0]:g}"
        return InferredTask("regression", reason)
    return _infer_from_integers(np.unique(y.values), len(y), ordinal)


def _infer_from_labels(y: Column, ordinal: bool) -> InferredTask:
    if y.has_levels:
        labels: Sequence[str] = sorted({y.levels[code] for code in y.values.tolist()})
    elif y.kind == "boolean":
        labels = sorted(str(bool(value)) for value in set(y.values.tolist()))
    else:
        labels = sorted({str(date) for date in y.values.astype("datetime64[D]").tolist()})
    inferred = _infer_classes([repr(label[:MAX_LABEL_WIDTH]) for label in labels])
    return _hint_at_ordinal(inferred) if ordinal and y.kind == "ordered" else inferred


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
        return _hint_at_ordinal(inferred)
    return inferred


def _hint_at_ordinal(inferred: InferredTask) -> InferredTask:
    hint = "if their order matters, as for grades, use --task ordinal"
    return InferredTask(inferred.task, f"{inferred.reason}; {hint}")


def _infer_classes(labels: Sequence[str]) -> InferredTask:
    shown = join_names(labels, MAX_LABELS_SHOWN, quote=False)
    number = count_noun(len(labels), "class", "classes")
    return InferredTask("classification", f"the target has {number}: {shown}")
