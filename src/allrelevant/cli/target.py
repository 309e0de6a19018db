"""The target of a table: what it asks for, and the scale that models are trained on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from .tasks import AUTO

if TYPE_CHECKING:
    import pandas as pd


class AsTheyAre:
    """The scale of classes, which have none."""

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """From the table to the model."""
        return values

    def undo(self, values: NDArray[Any]) -> NDArray[Any]:
        """From the model to the table."""
        return values


@dataclass(frozen=True)
class Standardized:
    """The scale of numbers: mean 0 and standard deviation 1, whatever they are measured in.

    What an SVM allows errors to be and to cost (epsilon, C), and what a gain takes for a small
    error, are numbers beside the target: in its own unit they would mean anything or nothing.
    """

    mean: float
    deviation: float

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """From the table to the model."""
        return (values - self.mean) / self.deviation

    def undo(self, values: NDArray[Any]) -> NDArray[Any]:
        """From the model to the table."""
        return self.mean + self.deviation * values


@dataclass(frozen=True)
class Target:
    """What is to be predicted.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    y : ndarray of shape (n_rows,)
        Labels or numbers.
    note : str or None
        What to tell the user, if the task was inferred.
    """

    task: str
    y: NDArray[Any]
    note: str | None = None

    @property
    def holds_classes(self) -> bool:
        """Whether to tell classes apart, and not to predict a number."""
        return self.task == "classification"

    def scale(self, rows: NDArray[np.intp]) -> AsTheyAre | Standardized:
        """The scale to train on, from the rows that are trained on."""
        if self.holds_classes:
            return AsTheyAre()
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
        return Standardized(float(values.mean()), deviation)


def read_target(y: pd.Series, name: str, task: str) -> Target:
    """The target as classes or numbers: as asked for, or by the looks of it.

    Parameters
    ----------
    y : pandas.Series
        Without missing values.
    name : str
        What messages call it.
    task : {"auto", "classification", "regression"}
    """
    from ..tables import infer_task, target_for

    if task != AUTO:
        return Target(task, target_for(task, y, name))
    inferred = infer_task(y, ordinal=False)
    return Target(inferred.task, target_for(inferred.task, y, name), inferred.note)


def read_classes(y: pd.Series, name: str, task: str, method: str) -> Target:
    """The target of a method that can do classes only.

    Parameters
    ----------
    y : pandas.Series
        Without missing values.
    name, method : str
        What messages call them.
    task : {"auto", "classification", "regression"}
    """
    from ..tables import class_labels

    if task == "regression":
        raise InputError(
            f"--task regression goes with --method saliency; {method} tells classes apart."
        )
    advice = f"{method} tells classes apart: predict a number with --method saliency"
    return Target("classification", class_labels(y, name, of_numbers=advice))


def require_classes_left(target: Target, rows: Collection[int], *, towards: str | None) -> None:
    """Refuse rows without which a class that is needed has no row to train on.

    Parameters
    ----------
    target : Target
    rows : collection of int
        Numbers of the rows that are left out of the training, 1 for the first.
    towards : str or None
        The class that is explained; None is that of each row.
    """
    if not target.holds_classes:
        return
    labels = target.y.tolist()
    left = {label for place, label in enumerate(labels) if place + 1 not in set(rows)}
    for row in rows:
        label = labels[row - 1]
        if label not in left and (towards is None or len(left) < 2):
            of_class = [place + 1 for place, other in enumerate(labels) if other == label]
            raise InputError(_nothing_left(of_class, label))


def _nothing_left(rows: list[int], label: Any) -> str:
    if len(rows) == 1:
        return (
            f"Row {rows[0]} is the only one of its class {str(label)!r}: without it, no row of the "
            "class is left to train on, so that it cannot be explained."
        )
    return (
        f"These are all {len(rows)} rows of the class {str(label)!r}: no other is left to train "
        "on. Explain fewer of them at a time."
    )
