"""Conversion of target columns to classes, ordered classes, two classes or numbers.

The conversion functions take a series without missing values and its name for messages.
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
    category_values,
    infer_task,
    is_datetime,
    is_numeric,
    text_example,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Target:
    """Class labels or a numeric target, with a note to the user if the task was inferred."""

    task: str
    y: NDArray[Any]
    note: str | None = None

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class and not a number."""
        return self.task == "classification"

    def scale(self, rows: NDArray[np.intp]) -> NoScaling | StandardScaling:
        """Return the scaling of the target, computed on the training rows."""
        if self.is_classification:
            return NoScaling()
        values = self.y[rows]
        if np.ptp(values) == 0:
            raise InputError(
                f"The target is {values[0]:g} in all training rows, so there is nothing to learn. "
                "Explain fewer rows, so that more rows remain for training."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            std = float(values.std())
        if not 0 < std < np.inf:
            raise InputError(
                f"The target has values that are too large or too small, such as {values[0]:g}. "
                "Rescale it to values closer to 1."
            )
        return StandardScaling(float(values.mean()), std)


def read_target(y: pd.Series, name: str, task: str) -> Target:
    """Return the target as classes or numbers, depending on the given or inferred task."""
    inferred = infer_task(y, ordinal=False) if task == AUTO else None
    task = inferred.task if inferred else task
    read = class_labels if task == "classification" else target_values
    return Target(task, read(y, name), inferred.note if inferred else None)


_REGRESSION_ADVICE = "Predict it as a number (--task regression on the command line)"


def class_labels(
    y: pd.Series, target: str, *, numeric_advice: str = _REGRESSION_ADVICE
) -> NDArray[Any]:
    """Return the target as class labels: booleans, integers or strings.

    ``numeric_advice`` is the advice in messages about a numeric target.
    """
    labels = _plain_labels(y, target, numeric_advice)
    distinct = len(set(labels.tolist()))
    if distinct == 1:
        raise InputError(
            f"The target {target!r} has a single class, {labels[0]!s:.40}. At least two classes "
            "are required."
        )
    if distinct > MAX_CLASSES and 2 * distinct > len(labels):
        raise InputError(
            f"The target {target!r} has {distinct} distinct values in {len(labels)} rows, too many "
            f"for classes.{_integer_advice(labels, numeric_advice)}"
        )
    return labels


def ordered_labels(y: pd.Series, target: str) -> NDArray[Any]:
    """Return the target as labels of ordered classes, which must be numbers."""
    values = category_values(y)
    if not is_numeric(values):
        # In alphabetical order, "high" would come before "low".
        raise InputError(
            f"The classes of the target {target!r} are words{text_example(values)}, so their order "
            "is unknown. Encode them as numbers: 1 for the lowest class, 2 for the next and so on."
        )
    return class_labels(y, target)


def two_class_labels(y: pd.Series, target: str) -> NDArray[Any]:
    """Return the target as labels of two classes; the second one ranks above the first."""
    labels = class_labels(y, target)
    distinct = sorted(set(labels.tolist()))
    if len(distinct) != 2:
        raise InputError(
            f"Ranking requires two classes, but the target {target!r} has {len(distinct)}. For "
            "more than two ordered classes, use the ordinal task (--task ordinal on the command "
            "line)."
        )
    return labels


def _integer_advice(labels: NDArray[Any], numeric_advice: str) -> str:
    return f" {numeric_advice}." if np.issubdtype(labels.dtype, np.integer) else ""


def _plain_labels(y: pd.Series, target: str, numeric_advice: str) -> NDArray[Any]:
    types = import_extra("pandas", "cli").api.types
    values = category_values(y)
    if types.is_bool_dtype(values.dtype):
        return values.to_numpy(dtype=bool)
    if types.is_integer_dtype(values.dtype):
        return values.to_numpy(dtype=np.int64)
    if types.is_float_dtype(values.dtype):
        return _integer_labels(values.to_numpy(dtype=float), target, numeric_advice)
    if is_datetime(values):
        raise InputError(
            f"The target {target!r} contains dates or times instead of classes. Convert it to "
            "classes, or choose a different column."
        )
    return np.array([str(value) for value in values], dtype=object)


def _integer_labels(values: NDArray[np.float64], target: str, numeric_advice: str) -> NDArray[Any]:
    fractional = values[(values != np.round(values)) | ~np.isfinite(values)]
    if len(fractional):
        raise InputError(
            f"The target {target!r} looks continuous, with {len(set(values.tolist()))} distinct "
            f"values such as {fractional[0]:g}, so it does not contain classes. "
            f"{numeric_advice}, or encode classes as integers."
        )
    return values.astype(np.int64)


def target_values(y: pd.Series, target: str) -> NDArray[np.float64]:
    """Return the target as numbers."""
    values = category_values(y)
    if not is_numeric(values):
        raise InputError(
            f"Regression requires a numeric target, but {target!r} does not contain numbers"
            f"{text_example(values)}. If it contains classes, use --task classification."
        )
    numbers = values.to_numpy(dtype=np.float64)
    if (numbers == numbers[0]).all():
        raise InputError(
            f"The target {target!r} has a single value, {numbers[0]:g}, so there is nothing to "
            "predict. Choose a different column."
        )
    return numbers
