"""Input validation for all estimators: targets, feature values and numbers of features."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from ._typing import Table, Vector
from .exceptions import InputError, warn_caller

# Parameter constraints: a count, a fraction, and the n_jobs of every estimator.
COUNT = Interval(Integral, 1, None, closed="left")
FRACTION = Interval(Real, 0, 1, closed="neither")
N_JOBS: list[Any] = [
    COUNT,
    Interval(Integral, None, -1, closed="right"),
    None,
]

MAX_LISTED_NAMES = 10


def feature_names(est: Any) -> list[str]:
    """Return the feature names of a fitted estimator, or ``x0, x1, ...`` if it has none."""
    names = getattr(est, "feature_names_in_", None)
    return (
        [f"x{j}" for j in range(est.n_features_in_)] if names is None else [str(n) for n in names]
    )


def resolve_n_features(requested: Any, n_features: int) -> int:
    """Convert a number or a fraction of features to the number of features to select.

    >>> resolve_n_features(3, 10), resolve_n_features(0.25, 10), resolve_n_features(0.01, 10)
    (3, 2, 1)
    """
    is_count = isinstance(requested, Integral)
    if is_count and 1 <= int(requested) <= n_features:
        return int(requested)
    if isinstance(requested, Real) and not is_count and 0 < float(requested) < 1:
        return max(1, int(float(requested) * n_features))
    raise InputError(
        f"Cannot select {requested!r} of {n_features} features. Pass a number from 1 to "
        f"{n_features}, or a fraction between 0 and 1."
    )


def encode_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted classes and the class code of each row; raise if there is only one class.

    >>> encode_classes(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"The target has a single class, {str(classes[0])!r}. Pass a target with at least two "
            "classes."
        )
    return classes, codes


def check_numeric_target(y: NDArray[Any]) -> Vector:
    """Return the target as floats; raise if its standard deviation is zero or not finite.

    >>> check_numeric_target(np.array([0.1, 0.1, 0.1]))
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: The standard deviation of the target is 0, but it must be \
positive and finite. Check that the values differ and that their scale is not extreme.
    """
    values = y.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        # Rounding can give equal values a standard deviation above zero.
        std = values.std() if values.min() < values.max() else 0.0
    if not 0 < std < np.inf:
        raise InputError(
            f"The standard deviation of the target is {std:g}, but it must be positive and finite. "
            "Check that the values differ and that their scale is not extreme."
        )
    return values


def check_finite(X: Table, names: Sequence[str]) -> None:
    """Raise if a table has NaN or infinite values; the message names the first such feature."""
    values = X.data if sp.issparse(X) else X
    for kind, is_kind in (("NaN", np.isnan), ("infinite", np.isinf)):
        mask = is_kind(values)
        number = int(mask.sum())
        if number:
            columns = X.indices[mask] if sp.issparse(X) else np.flatnonzero(mask.any(axis=0))
            raise InputError(
                f"X contains {kind} values ({number} in total), first in feature "
                f"{names[int(columns.min())]!r}, but all values must be finite. Impute these "
                "values, or remove the affected rows or features."
            )


def check_groups(groups: ArrayLike | None, n_samples: int) -> NDArray[Any] | None:
    """Return row groups as an array, or None; raise if there is not one per row."""
    if groups is None:
        return None
    checked: NDArray[Any] = column_or_1d(groups)
    check_consistent_length(np.empty(n_samples), checked)
    return checked


def check_weights(sample_weight: ArrayLike | None, n_samples: int) -> Vector | None:
    """Return the weights of the rows, or None; raise if they are negative or all zero."""
    if sample_weight is None:
        return None
    rows = np.empty((n_samples, 1))
    return check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)


def check_varying(n_constant: int, n_features: int) -> None:
    """Raise if all columns of a table are constant."""
    if n_constant == n_features:
        raise InputError(
            "All columns are constant, so there is nothing to analyze. Check how the table was "
            "read."
        )


def warn_constant_columns(
    names: Sequence[str],
    columns: Sequence[int] | NDArray[np.intp],
    consequence: str,
) -> None:
    """Warn about constant columns, if any."""
    if len(columns) == 0:
        return
    listed = ", ".join(repr(names[j]) for j in columns[:MAX_LISTED_NAMES])
    more = len(columns) - MAX_LISTED_NAMES
    warn_caller(
        f"{len(columns)} constant column(s) carry no information and are {consequence}: "
        f"{listed}{f' and {more} more' if more > 0 else ''}. Check that they were read correctly, "
        "or remove them."
    )
