"""The directions in which data vary. A mapping is determined on these, and nowhere else.

One representative of all mappings that do the same to given data.

A linear mapping as a value.

The matrix of a linear mapping, wherever it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from ..._typing import Matrix, Table, Vector
from ...exceptions import InputError
from ...metric_learning._base import eigen_rows
from ...terms.scaling import Scaling

# Of the variance, that the directions kept by "spectrum" have to carry.
SHARE_OF_VARIANCE = 0.99


EffectiveDimension = int | float | Literal["spectrum"] | None


@dataclass(frozen=True)
class DataSpace:
    """The eigenvectors of the covariance of data, but for those without variance.

    Attributes
    ----------
    directions : ndarray of shape (rank, d)
        Of length 1 and perpendicular, those of the largest variance first.
    variance : ndarray of shape (rank,)
    """

    directions: Matrix
    variance: Vector

    @property
    def rank(self) -> int:
        return len(self.variance)

    def first(self, dimension: EffectiveDimension) -> Matrix:
        """The directions to keep, shape (k, d).

        Parameters
        ----------
        dimension : int, float, "spectrum" or None
            How many; or the share of the variance they have to carry, which is 0.99 for
            "spectrum"; None keeps all that have any.
        """
        return self.directions[: self.count(dimension)]

    def count(self, dimension: EffectiveDimension) -> int:
        """How many directions that are."""
        if dimension is None:
            return self.rank
        if isinstance(dimension, int | np.integer):
            if dimension > self.rank:
                raise InputError(
                    f"effective_dimension={dimension} is more than these data have: their rank "
                    f"is {self.rank}."
                )
            return int(dimension)
        wanted = SHARE_OF_VARIANCE if dimension == "spectrum" else float(dimension)
        carried = np.cumsum(self.variance) / self.variance.sum()
        return min(int(np.searchsorted(carried, wanted)) + 1, self.rank)


def data_space(X: Matrix) -> DataSpace:
    """The space of a table, by a singular value decomposition.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        It is centred first.
    """
    centred = X - X.mean(axis=0)
    _, size, directions = np.linalg.svd(centred, full_matrices=False)
    rounding = max(X.shape) * np.finfo(float).eps * size.max(initial=0.0)
    varies = size > rounding
    if not varies.any():
        raise InputError("All rows of the table are the same: no mapping tells them apart.")
    return DataSpace(directions[varies], size[varies] ** 2 / len(X))


# Rows of a metric that are shorter than this share of the longest count as none.
_SHORT = 1e-3


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
        The data. Differences count, so it need not be centred.
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
    return projected(omega, data_space(X).first(effective_dimension))


def projected(omega: Matrix, directions: Matrix) -> Matrix:
    """Each row without its part outside some directions."""
    return omega @ directions.T @ directions


def metric_rows(omega: Matrix) -> Matrix:
    """Rows of the one mapping with perpendicular rows that gives the same distances.

    See :func:`allrelevant.metrics.eigen_rows`; rows that are next to nothing are left out. (Where
    two are equally long, any rotation of them would do as well.)

    Parameters
    ----------
    omega : ndarray of shape (n_rows, d)

    Examples
    --------
    >>> import numpy as np
    >>> metric_rows(np.array([[3.0, 0.0], [4.0, 0.0]]))
    array([[5., 0.]])
    """
    rows = eigen_rows(omega)
    length = np.linalg.norm(rows, axis=1)
    longest = float(length.max())
    if longest == 0.0:
        raise InputError("The mapping maps all of these data to a single point.")
    return rows[length > _SHORT * longest]


@dataclass(frozen=True)
class LinearMapping:
    """``x -> matrix_ @ x``, on the scale it was solved on.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_rows, d)
    scaling_ : Scaling
        What turns a table into what the mapping was solved on.
    """

    matrix_: Matrix
    scaling_: Scaling

    @property
    def coef_(self) -> Vector:
        """Size of each feature's weights, the rows added up."""
        return np.abs(self.matrix_).sum(axis=0)

    @property
    def norm_(self) -> float:
        """Sum of the sizes of all weights."""
        return float(np.abs(self.matrix_).sum())

    def transform(self, X: Table) -> Matrix:
        """Map the rows of a table that is not yet scaled, shape (n, n_rows)."""
        return np.asarray(self.scaling_.apply(X) @ self.matrix_.T)


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
