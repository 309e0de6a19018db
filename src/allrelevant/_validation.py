"""What features are called.

How many features are selected.

The target as gains want it: codes of classes, or numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from ._typing import Table, Vector
from .exceptions import InputError, RelevanceWarning

# Constraint of the parameter n_jobs of every estimator.
N_JOBS: list[Any] = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
    None,
]

MAX_LISTED_NAMES = 10


def feature_names(est: Any) -> list[str]:
    """Names of the features of a fitted estimator, ``x0, x1, ...`` where the table had none."""
    names = getattr(est, "feature_names_in_", None)
    return (
        [f"x{j}" for j in range(est.n_features_in_)] if names is None else [str(n) for n in names]
    )


def number_selected(wanted: Any, n_features: int) -> int:
    """A number of features, from a number or a share of all; at least one.

    Parameters
    ----------
    wanted : int or float
        Below 1 and no whole number it is a share.
    n_features : int
        How many there are.

    Examples
    --------
    >>> number_selected(3, 10), number_selected(0.25, 10), number_selected(0.01, 10)
    (3, 2, 1)
    """
    if isinstance(wanted, Integral) and 1 <= int(wanted) <= n_features:
        return int(wanted)
    if isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < float(wanted) < 1:
        return max(1, int(float(wanted) * n_features))
    raise InputError(
        f"Cannot select {wanted!r} of {n_features} features: give a number from 1 to {n_features}, "
        "or a share between 0 and 1."
    )


def classes_and_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, and the place of each row among them.

    Raises
    ------
    InputError
        If there is a single one.

    Examples
    --------
    >>> import numpy as np
    >>> classes_and_codes(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"The target has a single class, {str(classes[0])!r}: there is nothing to tell apart. "
            "At least two classes are needed."
        )
    return classes, codes


def numbers(y: NDArray[Any]) -> Vector:
    """The numbers.

    Raises
    ------
    InputError
        If they are all the same, or cannot be computed with.

    Examples
    --------
    >>> import numpy as np
    >>> numbers(np.array([0.1, 0.1, 0.1]))
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: The target has the standard deviation 0: there is nothing \
to predict, or its unit is out of reach. Give numbers that differ, in a unit closer to one.
    """
    values = y.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        # Of equal numbers rounding can make a spread that is not zero.
        spread = values.std() if values.min() < values.max() else 0.0
    if not 0 < spread < np.inf:
        raise InputError(
            f"The target has the standard deviation {spread:g}: there is nothing to predict, or "
            "its unit is out of reach. Give numbers that differ, in a unit closer to one."
        )
    return values


def check_finite(X: Table, names: Sequence[str]) -> None:
    """Refuse a table with values that are NaN or infinite, and name the first such feature."""
    values = X.data if sp.issparse(X) else X
    for kind, is_kind in (("NaN", np.isnan), ("infinite", np.isinf)):
        mask = is_kind(values)
        number = int(mask.sum())
        if number:
            columns = X.indices[mask] if sp.issparse(X) else np.flatnonzero(mask.any(axis=0))
            raise InputError(
                f"X has {number} value(s) that are {kind}, first in feature "
                f"{names[int(columns.min())]!r}: fill them in, or remove those rows or features. "
                "(NaN and infinity have no place in a kernel.)"
            )


def warn_constant_columns(
    names: Sequence[str], columns: Sequence[int], consequence: str, stacklevel: int = 3
) -> None:
    """Warn of constant columns, if there are any; the warning points to the caller of ``fit``."""
    if len(columns) == 0:
        return
    listed = ", ".join(repr(names[j]) for j in columns[:MAX_LISTED_NAMES])
    more = len(columns) - MAX_LISTED_NAMES
    warnings.warn(
        f"{len(columns)} constant column(s) cannot tell rows apart and are {consequence}: "
        f"{listed}{f' and {more} more' if more > 0 else ''}.",
        RelevanceWarning,
        stacklevel=stacklevel,
    )
