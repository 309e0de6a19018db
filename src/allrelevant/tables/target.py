"""A target column as classes, ordered classes, two classes or numbers, or a refusal that says why.

The functions that read a column take a series without missing values, and what messages call it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._params import AUTO
from ..exceptions import InputError
from ..terms.scaling import NoScaling, StandardScaling
from .inference import (
    MAX_CLASSES,
    holds_numbers,
    holds_times,
    infer_task,
    text_example,
    without_categories,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Target:
    """Labels of classes or numbers to predict; a note to the user, if the task was inferred."""

    task: str
    y: NDArray[Any]
    note: str | None = None

    @property
    def holds_classes(self) -> bool:
        """Whether to tell classes apart, and not to predict a number."""
        return self.task == "classification"

    def scale(self, rows: NDArray[np.intp]) -> NoScaling | StandardScaling:
        """The scale to train on, from the rows that are trained on."""
        if self.holds_classes:
            return NoScaling()
        values = self.y[rows]
        if np.ptp(values) == 0:
            raise InputError(
                f"The rows to train on all have the target {values[0]:g}: there is nothing to "
                "learn. Explain fewer rows."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            deviation = float(values.std())
        if not 0 < deviation < np.inf:
            raise InputError(
                f"The target is too large or too small to compute with, as {values[0]:g}: give it "
                "in a unit closer to one."
            )
        return StandardScaling(float(values.mean()), deviation)


def read_target(y: pd.Series, name: str, task: str) -> Target:
    """The target as classes or numbers: by the task, or by what it looks like."""
    inferred = infer_task(y, ordinal=False) if task == AUTO else None
    task = inferred.task if inferred else task
    read = class_labels if task == "classification" else target_values
    return Target(task, read(y, name), inferred.note if inferred else None)


_AS_A_NUMBER = "Predict it as a number (--task regression on the command line)"


def class_labels(y: pd.Series, target: str, *, of_numbers: str = _AS_A_NUMBER) -> NDArray[Any]:
    """The target as class labels: booleans, whole numbers or words.

    ``of_numbers`` says in messages what to do about a target that holds numbers instead.
    """
    labels = _plain_labels(y, target, of_numbers)
    distinct = len(set(labels.tolist()))
    if distinct == 1:
        raise InputError(
            f"The target {target!r} has a single class, {labels[0]!s:.40}: there is nothing to "
            "tell apart. At least two classes are needed."
        )
    if distinct > MAX_CLASSES and 2 * distinct > len(labels):
        raise InputError(
            f"The target {target!r} has {distinct} distinct values in {len(labels)} rows: it does "
            f"not look like a column of classes.{_if_numbers(labels, of_numbers)}"
        )
    return labels


def ordered_labels(y: pd.Series, target: str) -> NDArray[Any]:
    """The target as labels of classes whose order is that of numbers."""
    values = without_categories(y)
    if not holds_numbers(values):
        # In the order of the alphabet, high would come before low.
        raise InputError(
            f"The classes of the target {target!r} are words{text_example(values)}, and nothing "
            "says in which order they come: give them as numbers, such as 1 for the lowest class, "
            "2 for the next and so on."
        )
    return class_labels(y, target)


def two_class_labels(y: pd.Series, target: str) -> NDArray[Any]:
    """The target as labels of two classes, of which the second is to rank above the first."""
    labels = class_labels(y, target)
    distinct = sorted(set(labels.tolist()))
    if len(distinct) != 2:
        raise InputError(
            f"A ranking needs two classes, one to be above the other, and the target {target!r} "
            f"has {len(distinct)}. For more classes in an order, use ordinal (--task ordinal on "
            "the command line)."
        )
    return labels


def _if_numbers(labels: NDArray[Any], of_numbers: str) -> str:
    return f" {of_numbers}." if np.issubdtype(labels.dtype, np.integer) else ""


def _plain_labels(y: pd.Series, target: str, of_numbers: str) -> NDArray[Any]:
    types = import_extra("pandas", "cli").api.types
    values = without_categories(y)
    if types.is_bool_dtype(values.dtype):
        return values.to_numpy(dtype=bool)
    if types.is_integer_dtype(values.dtype):
        return values.to_numpy(dtype=np.int64)
    if types.is_float_dtype(values.dtype):
        return _whole_numbers(values.to_numpy(dtype=float), target, of_numbers)
    if holds_times(values):
        raise InputError(f"The target {target!r} holds dates or times, not classes.")
    return np.array([str(value) for value in values], dtype=object)


def _whole_numbers(values: NDArray[np.float64], target: str, of_numbers: str) -> NDArray[Any]:
    broken = values[(values != np.round(values)) | ~np.isfinite(values)]
    if len(broken):
        raise InputError(
            f"The target {target!r} looks continuous, with {len(set(values.tolist()))} distinct "
            f"values such as {broken[0]:g}: it is not a column of classes. {of_numbers}, or write "
            "classes as whole numbers."
        )
    return values.astype(np.int64)


def target_values(y: pd.Series, target: str) -> NDArray[np.float64]:
    """The target as numbers."""
    values = without_categories(y)
    if not holds_numbers(values):
        raise InputError(
            f"The target {target!r} does not hold numbers{text_example(values)}, and regression "
            "predicts numbers. If it holds classes, use --task classification."
        )
    numbers = values.to_numpy(dtype=np.float64)
    if (numbers == numbers[0]).all():
        raise InputError(
            f"The target {target!r} has a single value, {numbers[0]:g}: there is nothing to "
            "predict."
        )
    return numbers
