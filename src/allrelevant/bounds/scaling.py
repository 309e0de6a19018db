"""Weights compare only between features on one scale: standardisation, dense and sparse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Table, Vector


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
