"""Weights compare only between features on one scale: standardisation, dense and sparse.

Features that hardly vary, left out before the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Table, Vector


@dataclass(frozen=True)
class Scaling:
    """``(X - mean) * factor``, by column.

    Sparse tables are scaled but never centred, which would fill them: their ``mean`` is zero.
    A constant column cannot tell rows apart: its factor is zero, so that no model can use it.

    Attributes
    ----------
    mean, factor : ndarray of shape (d,)
    """

    mean: Vector
    factor: Vector

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns hold a single value, shape (d,)."""
        return self.factor == 0

    def apply(self, X: Table) -> Table:
        if sp.issparse(X):
            return sp.csr_array(X @ sp.diags_array(self.factor))
        return (X - self.mean) * self.factor


def standard_scaling(X: Table, weight: Vector) -> Scaling:
    """Scaling to weighted mean 0 and variance 1."""
    mean, variance = _moments(X, weight)
    centre = np.zeros_like(mean) if sp.issparse(X) else mean
    varies = variance > 0
    factor = np.zeros_like(mean)
    factor[varies] = 1.0 / np.sqrt(variance[varies])
    return Scaling(centre, factor)


def no_scaling(X: Table, weight: Vector) -> Scaling:
    """The identity, except for constant columns."""
    mean, variance = _moments(X, weight)
    return Scaling(np.zeros_like(mean), (variance > 0).astype(float))


def _moments(X: Table, weight: Vector) -> tuple[Vector, Vector]:
    """Weighted mean and variance by column; the variance of a constant column is zero."""
    share = weight / weight.sum()
    mean = np.asarray(share @ X)
    if sp.issparse(X):
        square = np.asarray(share @ X.multiply(X))
        variance = square - mean**2
        rounding = 10 * np.finfo(float).eps * square
    else:
        variance = share @ (X - mean) ** 2
        rounding = np.zeros_like(mean)
    return mean, np.where(_varies(X[weight > 0]) & (variance > rounding), variance, 0.0)


def _varies(X: Table) -> NDArray[np.bool_]:
    """Which columns hold values that differ by more than the last digits.

    The smallest and the largest value are exact. A sum is not: rounding gives a constant column a
    variance that depends on the order of the sum, which depends on the CPU.
    """
    low, high = (
        end.toarray().ravel() if sp.issparse(X) else end for end in (X.min(axis=0), X.max(axis=0))
    )
    size = np.maximum(np.abs(low), np.abs(high))
    return np.asarray(high - low > 10 * np.finfo(float).eps * size)


def variances(X: Table) -> Vector:
    """Variance of each column; of a constant one exactly zero.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    """
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        low, high = (np.asarray(extreme.toarray()).ravel() for extreme in (X.min(0), X.max(0)))
    else:
        variance = X.var(axis=0)
        low, high = X.min(axis=0), X.max(axis=0)
    return np.where(low == high, 0.0, np.maximum(variance, 0.0))


def pruned_features(variance: Vector, min_variance: float) -> list[int]:
    """Features whose variance is not above a limit, the least varying first.

    Examples
    --------
    >>> import numpy as np
    >>> pruned_features(np.array([1.0, 0.01, 0.0, 2.0]), 0.01)
    [2, 1]
    """
    order = np.argsort(variance, kind="stable")
    pruned: list[int] = order[variance[order] <= min_variance].tolist()
    return pruned


def deviations(X: Table) -> Vector:
    """Standard deviation of each column.

    Examples
    --------
    >>> import numpy as np
    >>> deviations(np.array([[1.0, 2.0], [1.0, 4.0]])).tolist()
    [0.0, 1.0]
    """
    if not sp.issparse(X):
        return np.asarray(X.std(axis=0), dtype=np.float64)
    means = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.sqrt(np.maximum(squares - means**2, 0.0))


def constant_features(X: Table) -> list[int]:
    """Columns that hold one value in all rows.

    Examples
    --------
    >>> import numpy as np
    >>> constant_features(np.array([[1.0, 2.0, 0.0], [1.0, 3.0, 0.0]]))
    [0, 2]
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    constant: list[int] = np.flatnonzero(low == high).tolist()
    return constant
