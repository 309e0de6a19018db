"""Linear mappings: their matrix, the directions in which data vary, equivalent mappings.

A mapping is determined by data only in the directions in which they vary. Mappings that agree there
are equivalent; :func:`canonical_mapping` is the shortest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from ..._typing import Matrix, Table, Vector
from ...exceptions import InputError
from ...metric_learning import eigen_rows
from ...terms.scaling import Scaling

EffectiveDimension = int | float | Literal["spectrum"] | None

# Attributes in which estimators keep the matrix they have learned, in order of preference.
MATRIX_ATTRIBUTES = ("omega_", "components_", "coef_")

# Share of the variance in the directions that "spectrum" keeps.
SPECTRUM_SHARE = 0.99

# Rows of a metric shorter than this share of the longest are left out.
MIN_ROW_SHARE = 1e-3


@dataclass(frozen=True)
class LinearMapping:
    """``x -> matrix_ @ x``, on the scale it was solved on.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_rows, d)
    scaling_ : Scaling
        From a table to the scale that the mapping was solved on.
    """

    matrix_: Matrix
    scaling_: Scaling

    @property
    def coef_(self) -> Vector:
        """Absolute weights of each feature, summed over the rows."""
        return np.abs(self.matrix_).sum(axis=0)

    @property
    def norm_(self) -> float:
        """Sum of all absolute weights."""
        return float(np.abs(self.matrix_).sum())

    def transform(self, X: Table) -> Matrix:
        """Map the rows of a table that is not yet scaled, shape (n, n_rows)."""
        return np.asarray(self.scaling_.apply(X) @ self.matrix_.T)


def is_estimator(source: Any) -> bool:
    return isinstance(source, BaseEstimator) or hasattr(source, "fit")


def learned_matrix(estimator: Any) -> Matrix:
    """The matrix of a fitted estimator, shape (n_rows, d)."""
    for name in MATRIX_ATTRIBUTES:
        if hasattr(estimator, name):
            return check_matrix(getattr(estimator, name), f"{name} of {type(estimator).__name__}")
    raise InputError(
        f"{type(estimator).__name__} has no linear mapping: none of "
        f"{', '.join(MATRIX_ATTRIBUTES)} is there after fit."
    )


def check_matrix(values: ArrayLike, name: str) -> Matrix:
    """Convert to a matrix of finite numbers, or raise an error that calls it ``name``."""
    try:
        matrix = np.atleast_2d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"The mapping, {name}, is not a matrix of numbers.") from None
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(f"The mapping, {name}, must be a matrix; its shape is {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise InputError(f"The mapping, {name}, holds values that are missing or infinite.")
    return matrix


@dataclass(frozen=True)
class DataSpace:
    """The eigenvectors of the covariance of data that have variance, and these variances.

    ``directions``, shape (rank, d), are orthonormal, those of the largest variance first.
    """

    directions: Matrix
    variance: Vector

    @property
    def rank(self) -> int:
        return len(self.variance)

    def first(self, dimension: EffectiveDimension) -> Matrix:
        """The directions to keep, shape (k, d)."""
        return self.directions[: self.count(dimension)]

    def count(self, dimension: EffectiveDimension) -> int:
        """Number of directions, from a number, a share of the variance, "spectrum" or None."""
        if dimension is None:
            return self.rank
        if isinstance(dimension, int | np.integer):
            if dimension > self.rank:
                raise InputError(
                    f"effective_dimension={dimension} is more than these data have: their rank "
                    f"is {self.rank}."
                )
            return int(dimension)
        share = SPECTRUM_SHARE if dimension == "spectrum" else float(dimension)
        cumulative = np.cumsum(self.variance) / self.variance.sum()
        return min(int(np.searchsorted(cumulative, share)) + 1, self.rank)


def data_space(X: Matrix) -> DataSpace:
    """Find the directions in which a table varies. It is centered first."""
    centered = X - X.mean(axis=0)
    _, size, directions = np.linalg.svd(centered, full_matrices=False)
    rounding = max(X.shape) * np.finfo(float).eps * size.max(initial=0.0)
    varies = size > rounding
    if not varies.any():
        raise InputError("All rows of the table are the same: no mapping tells them apart.")
    return DataSpace(directions[varies], size[varies] ** 2 / len(X))


def canonical_mapping(
    omega: ArrayLike, X: ArrayLike, effective_dimension: EffectiveDimension = None
) -> Matrix:
    """The shortest mapping, row by row in the l2 norm, that does the same to the data.

    What a mapping does in directions in which the data do not vary is arbitrary; here it is zero.
    It is unique, but correlated features share their weight, so that each of many good ones looks
    weak: :class:`allrelevant.MappingBounds` says how much each could have.

    Strickert, Hammer, Villmann and Biehl, "Regularization and improved interpretation of linear
    data mappings and adaptive distance measures", CIDM 2013.

    Parameters
    ----------
    omega : array-like of shape (n_rows, n_features)
        The mapping ``x -> omega @ x``.
    X : array-like of shape (n_samples, n_features)
        The data. Differences count, so it need not be centered.
    effective_dimension : int, float, "spectrum" or None, default=None
        How many directions of the largest variance count, or the share of the variance that they
        carry ("spectrum": 0.99). None: all that have any.

    Returns
    -------
    ndarray of shape (n_rows, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import canonical_mapping
    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> canonical_mapping([[3.0, 1.0]], np.column_stack([x, x])).round(6)
    array([[2., 2.]])
    """
    omega, X = np.atleast_2d(np.asarray(omega, dtype=float)), np.asarray(X, dtype=float)
    if X.ndim != 2 or omega.ndim != 2 or omega.shape[1] != X.shape[1]:
        raise InputError(
            f"A mapping of shape {omega.shape} does not fit a table of shape {X.shape}: both must "
            "have as many columns."
        )
    for name, values in (("omega", omega), ("X", X)):
        if not np.isfinite(values).all():
            raise InputError(f"{name} holds values that are missing or infinite.")
    return project(omega, data_space(X).first(effective_dimension))


def project(omega: Matrix, directions: Matrix) -> Matrix:
    """Remove the part of each row outside some directions."""
    return omega @ directions.T @ directions


def metric_rows(omega: Matrix) -> Matrix:
    """Rows of the one mapping with perpendicular rows that gives the same distances.

    See :func:`allrelevant.metric_learning.eigen_rows`; very short rows are left out. Where two are
    equally long, any rotation of them would do as well.
    """
    rows = eigen_rows(omega)
    length = np.linalg.norm(rows, axis=1)
    longest = float(length.max())
    if longest == 0.0:
        raise InputError("The mapping maps all of these data to a single point.")
    return rows[length > MIN_ROW_SHARE * longest]
