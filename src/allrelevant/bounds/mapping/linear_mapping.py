"""Linear mappings, principal directions of data, and canonical mappings.

Data determine a mapping only in the directions in which the data vary. Mappings that agree in these
directions are equivalent; :func:`canonical_mapping` returns the shortest of them.
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

# Attributes that may contain the matrix of a fitted estimator, in order of preference.
MATRIX_ATTRIBUTES = ("omega_", "components_", "coef_")

# Fraction of the variance that "spectrum" keeps.
SPECTRUM_FRACTION = 0.99

# Components shorter than this fraction of the longest are omitted.
MIN_RELATIVE_LENGTH = 1e-3


@dataclass(frozen=True)
class LinearMapping:
    """Linear mapping ``x -> matrix_ @ x`` of the scaled features.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_rows, d)
        Components of the mapping, one per row.
    scaling_ : Scaling
        Scaling that is applied to a table before the mapping.
    """

    matrix_: Matrix
    scaling_: Scaling

    @property
    def coef_(self) -> Vector:
        """Sum of each feature's absolute weights over the components, shape (d,)."""
        return np.abs(self.matrix_).sum(axis=0)

    @property
    def norm_(self) -> float:
        """Sum of all absolute weights."""
        return float(np.abs(self.matrix_).sum())

    def transform(self, X: Table) -> Matrix:
        """Scale and map an unscaled table; return an array of shape (n_samples, n_rows)."""
        return np.asarray(self.scaling_.apply(X) @ self.matrix_.T)


def is_estimator(source: Any) -> bool:
    return isinstance(source, BaseEstimator) or hasattr(source, "fit")


def learned_matrix(estimator: Any) -> Matrix:
    """Return the matrix of a fitted estimator's linear mapping, shape (n_rows, d)."""
    for name in MATRIX_ATTRIBUTES:
        if hasattr(estimator, name):
            return check_matrix(getattr(estimator, name), f"{name} of {type(estimator).__name__}")
    raise InputError(
        f"{type(estimator).__name__} has no linear mapping. Use an estimator that has one of "
        f"the attributes {', '.join(MATRIX_ATTRIBUTES)} after fit."
    )


def check_matrix(values: ArrayLike, name: str) -> Matrix:
    """Convert values to a matrix of finite numbers; raise if this is not possible.

    ``name`` identifies the matrix in messages.
    """
    try:
        matrix = np.atleast_2d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise InputError(
            f"The mapping ({name}) is not numeric. Pass a matrix of numbers."
        ) from None
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(
            f"The mapping ({name}) must be a nonempty matrix (got shape {matrix.shape})."
        )
    if not np.isfinite(matrix).all():
        raise InputError(
            f"The mapping ({name}) contains missing or infinite values. Pass a matrix of finite "
            "numbers."
        )
    return matrix


@dataclass(frozen=True)
class DataSpace:
    """Principal directions in which the data vary, and the variance in each of them.

    ``directions``, shape (rank, d), are orthonormal and sorted by decreasing variance.
    """

    directions: Matrix
    variance: Vector

    @property
    def rank(self) -> int:
        return len(self.variance)

    def first(self, dimension: EffectiveDimension) -> Matrix:
        """Return the leading principal directions to keep, shape (k, d)."""
        return self.directions[: self.count(dimension)]

    def count(self, dimension: EffectiveDimension) -> int:
        """Return the number of leading principal directions to keep.

        ``dimension`` is a number, a fraction of the variance, "spectrum", or None to keep all.
        """
        if dimension is None:
            return self.rank
        if isinstance(dimension, int | np.integer):
            if dimension > self.rank:
                raise InputError(
                    f"effective_dimension={dimension} exceeds the rank of the data, which is "
                    f"{self.rank}. Use a smaller number."
                )
            return int(dimension)
        fraction = SPECTRUM_FRACTION if dimension == "spectrum" else float(dimension)
        cumulative = np.cumsum(self.variance) / self.variance.sum()
        return min(int(np.searchsorted(cumulative, fraction)) + 1, self.rank)


def data_space(X: Matrix, weight: Vector | None = None) -> DataSpace:
    """Return the principal directions of a table and the variance in each direction.

    ``weight`` contains sample weights, or None.
    """
    centered = X - np.average(X, axis=0, weights=weight)
    if weight is not None:
        centered *= np.sqrt(weight / weight.mean())[:, np.newaxis]
    _, size, directions = np.linalg.svd(centered, full_matrices=False)
    rounding = max(X.shape) * np.finfo(float).eps * size.max(initial=0.0)
    varies = size > rounding
    if not varies.any():
        raise InputError(
            "All rows of the table are identical, so no mapping can separate them. Check how the "
            "table was read."
        )
    return DataSpace(directions[varies], size[varies] ** 2 / len(X))


def canonical_mapping(
    omega: ArrayLike, X: ArrayLike, effective_dimension: EffectiveDimension = None
) -> Matrix:
    """Return the equivalent mapping whose components have the smallest l2 norm.

    A mapping is arbitrary in directions in which the data do not vary; the canonical mapping is
    zero there. It is unique, but it spreads weight over correlated features, so that each of many
    useful features seems unimportant. :class:`allrelevant.MappingBounds` bounds the weight that
    each feature can have.

    Strickert, Hammer, Villmann and Biehl, "Regularization and improved interpretation of linear
    data mappings and adaptive distance measures", CIDM 2013.

    Parameters
    ----------
    omega : array-like of shape (n_rows, n_features)
        Mapping ``x -> omega @ x``.
    X : array-like of shape (n_samples, n_features)
        Data, which need not be centered.
    effective_dimension : int, float, "spectrum" or None, default=None
        Number of principal directions to keep, or the fraction of variance that they explain
        ("spectrum": 0.99). None keeps all directions with nonzero variance.

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
            f"A mapping of shape {omega.shape} does not match a table of shape {X.shape}. Pass "
            "a mapping and a table with the same number of columns."
        )
    for name, values in (("omega", omega), ("X", X)):
        if not np.isfinite(values).all():
            raise InputError(f"{name} contains missing or infinite values. Remove or replace them.")
    return project(omega, data_space(X).first(effective_dimension))


def project(omega: Matrix, directions: Matrix) -> Matrix:
    """Project each component of a mapping onto the span of orthonormal directions."""
    return omega @ directions.T @ directions


def metric_rows(omega: Matrix) -> Matrix:
    """Return a mapping with orthogonal components that gives the same distances as ``omega``.

    See :func:`allrelevant.metric_learning.eigen_rows`; very short components are omitted. If two
    components have the same length, they are determined only up to a rotation.
    """
    rows = eigen_rows(omega)
    length = np.linalg.norm(rows, axis=1)
    longest = float(length.max())
    if longest == 0.0:
        raise InputError(
            "The mapping maps all rows of the table to a single point. Check the mapping and the "
            "columns."
        )
    return rows[length > MIN_RELATIVE_LENGTH * longest]
