"""The scale of columns, dense and sparse, and of a numeric target; which columns are constant.

Weights can only be compared between features on one scale. :class:`Scaling` belongs to the bounds,
which weight rows. The functions of whole columns serve elimination and saliency.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Table, Vector

if TYPE_CHECKING:
    import pandas as pd


# Values that differ by less than this share of the larger one are equal up to rounding.
EQUALITY_TOL = 10 * np.finfo(float).eps


@dataclass(frozen=True)
class Scaling:
    """``(X - mean) * factor``, by column.

    Sparse tables are scaled but not centered, which would fill them: their ``mean`` is zero.
    The factor of a constant column is zero, so that no model can use it.
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
    mean, variance = _weighted_moments(X, weight)
    center = np.zeros_like(mean) if sp.issparse(X) else mean
    varies = variance > 0
    factor = np.zeros_like(mean)
    factor[varies] = 1.0 / np.sqrt(variance[varies])
    return Scaling(center, factor)


def no_scaling(X: Table, weight: Vector) -> Scaling:
    """The identity, except for constant columns."""
    mean, variance = _weighted_moments(X, weight)
    return Scaling(np.zeros_like(mean), (variance > 0).astype(float))


def _weighted_moments(X: Table, weight: Vector) -> tuple[Vector, Vector]:
    """Weighted mean and variance by column; the variance of a constant column is zero."""
    share = weight / weight.sum()
    mean = np.asarray(share @ X)
    if sp.issparse(X):
        square = np.asarray(share @ X.multiply(X))
        variance = square - mean**2
        rounding = EQUALITY_TOL * square
    else:
        variance = share @ (X - mean) ** 2
        rounding = np.zeros_like(mean)
    # The smallest and the largest value are exact. A sum is not: rounding gives a constant column
    # a variance that depends on the order of the sum, which depends on the CPU.
    low, high = _column_ends(X[weight > 0])
    varies = high - low > EQUALITY_TOL * np.maximum(np.abs(low), np.abs(high))
    return mean, np.where(varies & (variance > rounding), variance, 0.0)


def constant_columns(X: Table) -> NDArray[np.bool_]:
    """Which columns hold exactly one value in all rows, shape (d,)."""
    low, high = _column_ends(X)
    return np.asarray(low == high)


def constant_features(X: Table) -> list[int]:
    """Indices of the columns that hold exactly one value in all rows."""
    constant: list[int] = np.flatnonzero(constant_columns(X)).tolist()
    return constant


def low_variance_features(X: Table, min_variance: float) -> list[int]:
    """Features whose variance is not above a limit, the smallest variance first."""
    variance = np.where(constant_columns(X), 0.0, _variances(X))
    order = np.argsort(variance, kind="stable")
    features: list[int] = order[variance[order] <= min_variance].tolist()
    return features


def deviations(X: Table) -> Vector:
    """Standard deviation of each column.

    Those of constant columns are not set to zero, unlike variances above: rounding is harmless in a
    unit of measurement. Sparse tables of single precision have units of single precision.
    """
    spread: Vector = np.sqrt(_variances(X))
    return spread if sp.issparse(X) else spread.astype(np.float64)


def standardize_frame(X: pd.DataFrame) -> pd.DataFrame:
    """Scale each column to mean 0 and variance 1; constant columns are only centered.

    Means and variances are those of pandas, whose sums round differently from numpy's.
    """
    spread = X.std(ddof=0)
    return (X - X.mean()) / spread.where(spread > 0, 1.0)


def _variances(X: Table) -> Vector:
    """Variance of each column. All rows count alike, so numpy's own sums serve."""
    if not sp.issparse(X):
        return np.asarray(X.var(axis=0))
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.maximum(square - mean**2, 0.0)


def _column_ends(X: Table) -> tuple[Vector, Vector]:
    """Smallest and largest value of each column."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (low.toarray().ravel(), high.toarray().ravel()) if sp.issparse(X) else (low, high)


class NoScaling:
    """The scale of a target of classes, which has none."""

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert from the table to the model."""
        return values

    def undo(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert from the model to the table."""
        return values


@dataclass(frozen=True)
class StandardScaling:
    """The scale of a numeric target: mean 0 and standard deviation 1, whatever its unit.

    The epsilon and C of an SVM, and the error that a gain takes for small, are numbers on the scale
    of the target. In the unit of the table they could mean anything.
    """

    mean: float
    deviation: float

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert from the table to the model."""
        return (values - self.mean) / self.deviation

    def undo(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert from the model to the table."""
        return self.mean + self.deviation * values
