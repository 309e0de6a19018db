"""The matrix of a linear mapping, wherever it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from ...arrays import Matrix
from ...exceptions import InputError

# Names that estimators have for the matrix they have learned, in the order they are looked for.
_NAMES = ("omega_", "components_", "coef_")


def is_estimator(source: Any) -> bool:
    return isinstance(source, BaseEstimator) or hasattr(source, "fit")


def matrix_of(source: Any) -> Matrix:
    """The matrix of a fitted estimator, shape (n_rows, d)."""
    for name in _NAMES:
        if hasattr(source, name):
            return checked_matrix(getattr(source, name), f"{name} of {type(source).__name__}")
    raise InputError(
        f"{type(source).__name__} has no linear mapping: none of {', '.join(_NAMES)} is there "
        "after fit."
    )


def checked_matrix(values: ArrayLike, name: str) -> Matrix:
    """Finite numbers in rows."""
    try:
        matrix = np.atleast_2d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"The mapping, {name}, is not a matrix of numbers.") from None
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(f"The mapping, {name}, must be a matrix; its shape is {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise InputError(f"The mapping, {name}, holds values that are missing or infinite.")
    return matrix
