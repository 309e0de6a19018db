"""The target of a table.

A target as class labels.

A target as numbers to predict.

A target as the task at hand needs it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._params import AUTO
from ..exceptions import InputError
from ..terms.scaling import NoScaling, StandardScaling
from .inference import holds_numbers, holds_times, text_example, without_categories

if TYPE_CHECKING:
    import pandas as pd


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
    """The target as classes or numbers: as asked for, or by the looks of it.

    Parameters
    ----------
    y : pandas.Series
        Without missing values.
    name : str
        What messages call it.
    task : {"auto", "classification", "regression"}
    """
    from . import infer_task, target_for

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
    from . import class_labels

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


_AS_A_NUMBER = "Predict it as a number (--task regression on the command line)"


def class_labels(y: pd.Series, target: str, *, of_numbers: str = _AS_A_NUMBER) -> NDArray[Any]:
    """The target as class labels: booleans, whole numbers or words.

    Parameters
    ----------
    y : pandas.Series
        Without missing values.
    target : str
        What messages call it.
    of_numbers : str, optional
        What to do about a target that holds no classes but numbers, where the caller has other
        ways than --task regression.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import pandas as pd
    >>> class_labels(pd.Series([1.0, 0.0, 1.0, 0.0]), "sick").tolist()
    [1, 0, 1, 0]
    """
    labels = _plain_labels(y, target, of_numbers)
    distinct = len(set(labels.tolist()))
    if distinct == 1:
        raise InputError(
            f"The target {target!r} has a single class, {labels[0]!s:.40}: there is nothing to "
            "tell apart. At least two classes are needed."
        )
    if distinct > 20 and 2 * distinct > len(labels):
        raise InputError(
            f"The target {target!r} has {distinct} distinct values in {len(labels)} rows: it does "
            f"not look like a column of classes.{_if_numbers(labels, of_numbers)}"
        )
    return labels


def ordered_labels(y: pd.Series, target: str) -> NDArray[Any]:
    """The target as labels of classes whose order is that of numbers.

    Parameters
    ----------
    y : pandas.Series
        Without missing values.
    target : str
        What messages call it.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import pandas as pd
    >>> ordered_labels(pd.Series([1.0, 3.0, 2.0, 1.0]), "grade").tolist()
    [1, 3, 2, 1]
    """
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
    """The target as labels of two classes, of which the second is to rank above the first.

    Parameters
    ----------
    y : pandas.Series
        Without missing values.
    target : str
        What messages call it.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import pandas as pd
    >>> two_class_labels(pd.Series(["no", "yes", "no", "yes"]), "sick").tolist()
    ['no', 'yes', 'no', 'yes']
    """
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
    """The target as numbers.

    Parameters
    ----------
    y : pandas.Series
        Without missing values.
    target : str
        What messages call it.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import pandas as pd
    >>> target_values(pd.Series([3, 1, 2, 5]), "price").tolist()
    [3.0, 1.0, 2.0, 5.0]
    """
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


_READERS = {
    "classification": class_labels,
    "regression": target_values,
    "ordinal": ordered_labels,
    "ranking": two_class_labels,
}


def target_for(task: str, y: pd.Series, target: str) -> NDArray[Any]:
    """The target as labels or numbers, or a refusal that says why it does not suit the task.

    Parameters
    ----------
    task : {"classification", "regression", "ordinal", "ranking"}
    y : pandas.Series
        Without missing values.
    target : str
        What messages call it.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import pandas as pd
    >>> target_for("regression", pd.Series([1, 2, 3, 5]), "price").tolist()
    [1.0, 2.0, 3.0, 5.0]
    """
    return _READERS[task](y, target)
