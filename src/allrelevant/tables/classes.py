"""A target as class labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ..extras import import_extra
from .kinds import holds_numbers, holds_times, text_example, without_categories

if TYPE_CHECKING:
    import pandas as pd


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
