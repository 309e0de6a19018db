"""Checks of input that estimators share: names, classes, numbers, constant columns, counts."""

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

# Constraints of parameters: a number of things, a share of them, and n_jobs of every estimator.
COUNT = Interval(Integral, 1, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")
N_JOBS: list[Any] = [
    COUNT,
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


def resolve_n_features(requested: Any, n_features: int) -> int:
    """Number of features to select, at least one, from a number or a fraction of all.

    >>> resolve_n_features(3, 10), resolve_n_features(0.25, 10), resolve_n_features(0.01, 10)
    (3, 2, 1)
    """
    is_count = isinstance(requested, Integral)
    if is_count and 1 <= int(requested) <= n_features:
        return int(requested)
    if isinstance(requested, Real) and not is_count and 0 < float(requested) < 1:
        return max(1, int(float(requested) * n_features))
    raise InputError(
        f"Cannot select {requested!r} of {n_features} features: give a number from 1 to "
        f"{n_features}, or a share between 0 and 1."
    )


def encode_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in order, and the code of each row; a single class is refused.

    >>> encode_classes(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"The target has a single class, {str(classes[0])!r}: there is nothing to tell apart. "
            "At least two classes are needed."
        )
    return classes, codes


def check_numeric_target(y: NDArray[Any]) -> Vector:
    """The target as floats; refused if all values are equal or their spread is not finite.

    >>> check_numeric_target(np.array([0.1, 0.1, 0.1]))
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


def check_varying(n_constant: int, n_features: int) -> None:
    """Refuse a table whose columns are all constant."""
    if n_constant == n_features:
        raise InputError("Every column is constant: there is no feature to tell rows apart.")


def warn_constant_columns(
    names: Sequence[str],
    columns: Sequence[int] | NDArray[np.intp],
    consequence: str,
    stacklevel: int = 3,
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
