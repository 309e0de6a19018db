"""Conversion of target columns to classes, ordered classes, two classes or numbers.

Each conversion function takes a column without missing values, and its name for messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._params import AUTO
from .._validation import MAX_EXACT_INTEGER, check_size
from ..exceptions import InputError
from ..terms.columns import Column, word_column
from ..terms.scaling import NoScaling, StandardScaling
from .inference import MAX_CLASSES, as_numbers, infer_task, text_example


@dataclass(frozen=True)
class Target:
    """Class labels or a numeric target, with a note to the user if the task was inferred."""

    task: str
    y: NDArray[Any]
    note: str | None = None

    @property
    def is_classification(self) -> bool:
        """Whether the target consists of class labels, not numbers."""
        return self.task == "classification"

    def scale(self, rows: NDArray[np.intp]) -> NoScaling | StandardScaling:
        """Return the target scaling estimated from the given rows; class labels are not scaled."""
        if self.is_classification:
            return NoScaling()
        values = self.y[rows]
        if np.ptp(values) == 0:
            raise InputError(
                f"The target is {values[0]:g} in all training rows, so there is nothing to learn. "
                "Explain fewer rows, so that more rows remain for training."
            )
        return StandardScaling(float(values.mean()), float(values.std()))


def read_target(y: Column, name: str, task: str) -> Target:
    """Convert a target to class labels or numbers, according to the given or inferred task."""
    inferred = infer_task(y, ordinal=False) if task == AUTO else None
    task = inferred.task if inferred else task
    read = class_labels if task == "classification" else target_values
    return Target(task, read(y, name), inferred.note if inferred else None)


_REGRESSION_ADVICE = "Predict it as a number (--task regression on the command line)"


def class_labels(
    y: Column, target: str, *, numeric_advice: str = _REGRESSION_ADVICE
) -> NDArray[Any]:
    """Return the target as class labels: booleans, integers or strings.

    ``numeric_advice`` is the remedy that messages recommend for a numeric target.
    """
    labels = _plain_labels(y, target, numeric_advice)
    distinct = len(set(labels.tolist()))
    if distinct == 1:
        raise InputError(
            f"The target {target!r} has a single class, {str(labels[0])[:40]!r}. Choose a target "
            "with at least two classes."
        )
    if distinct > MAX_CLASSES and 2 * distinct > len(labels):
        raise InputError(
            f"The target {target!r} has {distinct} distinct values in {len(labels)} rows, too many "
            f"for classification. {_many_values_advice(labels, numeric_advice)}."
        )
    return labels


def ordered_labels(y: Column, target: str) -> NDArray[Any]:
    """Return the target as labels of ordered classes: numbers, or words whose order is known."""
    if y.kind == "category" and as_numbers(y) is None:
        # In alphabetical order, "high" would come before "low".
        raise InputError(
            f"The classes of the target {target!r} are words{text_example(y)}, so their order is "
            f"unknown. State it from low to high (--order {','.join(y.levels[:6])} on the command "
            "line, in the right order), or encode the classes as numbers."
        )
    return class_labels(y, target)


def order_classes(y: Column, target: str, order: Sequence[str]) -> Column:
    """Return the target as a column of classes in the given order, from low to high."""
    words = y.words() if y.has_levels else [str(label) for label in class_labels(y, target)]
    unknown = sorted({word for word in words if word is not None} - set(order))
    if unknown:
        raise InputError(
            f"The order of the classes of {target!r} does not contain {unknown[0]!r} (got "
            f"{','.join(order)}). List all classes, from low to high."
        )
    return word_column(y.name, words, order)


def two_class_labels(y: Column, target: str) -> NDArray[Any]:
    """Return the target as class labels; raise unless there are exactly two classes.

    For ranking, the class that sorts second ranks higher.
    """
    labels = class_labels(y, target)
    distinct = sorted(set(labels.tolist()))
    if len(distinct) != 2:
        raise InputError(
            f"Ranking requires two classes, but the target {target!r} has {len(distinct)}. For "
            "more than two ordered classes, use the ordinal task (--task ordinal on the command "
            "line)."
        )
    return labels


def _many_values_advice(labels: NDArray[Any], numeric_advice: str) -> str:
    if np.issubdtype(labels.dtype, np.integer):
        return numeric_advice
    return "Check that the right column is used as the target"


def _plain_labels(y: Column, target: str, numeric_advice: str) -> NDArray[Any]:
    if y.kind == "date":
        raise InputError(
            f"The target {target!r} contains dates or times instead of classes. Convert it to "
            "classes, or choose a different column."
        )
    values = as_numbers(y)
    if y.kind == "ordered" or values is None:
        return np.array(y.words(), dtype=object)
    if y.kind == "boolean":
        return values.values.astype(bool)
    return _integer_labels(values.values, target, numeric_advice)


def _integer_labels(values: NDArray[np.float64], target: str, numeric_advice: str) -> NDArray[Any]:
    fractional = values[(values != np.round(values)) | ~np.isfinite(values)]
    if len(fractional):
        raise InputError(
            f"The target {target!r} looks continuous ({len(set(values.tolist()))} distinct "
            f"values, such as {fractional[0]:g}), but this task requires classes. "
            f"{numeric_advice}. If the values are class labels, encode them as integers."
        )
    largest = float(np.abs(values).max(initial=0.0))
    if largest > MAX_EXACT_INTEGER:
        raise InputError(
            f"The class labels of the target {target!r} are too large to be distinguished as "
            f"numbers: the largest is {largest:g}, but it must be at most 2**53. {numeric_advice}, "
            "or write the labels as words, such as 'id 12'."
        )
    return values.astype(np.int64)


def target_values(y: Column, target: str) -> NDArray[np.float64]:
    """Return the target as float64 values; raise if it is not numeric or is constant."""
    values = as_numbers(y)
    if values is None:
        raise InputError(
            f"Regression requires a numeric target, but {target!r} has non-numeric values"
            f"{text_example(y)}. Convert them to numbers. If they are classes, use "
            "classification (--task classification on the command line)."
        )
    numbers: NDArray[np.float64] = values.values
    check_size(numbers, f"target {target!r}")
    if (numbers == numbers[0]).all():
        raise InputError(
            f"The target {target!r} has a single value, {numbers[0]:g}, so there is nothing to "
            "predict. Choose a different column."
        )
    return numbers


def survival_times(y: Column, target: str) -> NDArray[np.float64]:
    """Return the times of a survival target as float64 values; raise if they are not numeric."""
    values = as_numbers(y)
    if values is None:
        raise InputError(
            f"Survival requires a numeric time, but {target!r} has non-numeric values"
            f"{text_example(y)}. Convert them to numbers, such as days since the start of the "
            "observation."
        )
    times: NDArray[np.float64] = values.values
    return times


# Words that mark rows with an event and censored rows.
EVENT_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def with_events(times: NDArray[np.float64], event: Column) -> NDArray[Any]:
    """Return a structured array of events and times; raise if an event is not yes or no."""
    name = event.name
    if event.n_missing:
        raise InputError(
            f"The event column {name!r} has no value in {event.n_missing} of {len(event)} rows. "
            "Remove these rows, or fill in the values."
        )
    if event.has_levels:
        words = [str(word).strip().lower() for word in event.words()]
    else:
        words = [f"{value:g}" for value in event.values]
    unknown = sorted({word for word in words if word not in EVENT_WORDS})
    if unknown:
        raise InputError(
            f"The event column {name!r} must be 1, true or yes for rows with an event, and 0, "
            f"false or no for censored rows (got {unknown[0]!r})."
        )
    target = np.empty(len(times), dtype=[("event", bool), ("time", np.float64)])
    target["event"], target["time"] = [EVENT_WORDS[word] for word in words], times
    return target
