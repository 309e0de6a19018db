"""Scaling of dense and sparse columns and of a numeric target; detection of constant columns.

Weights are comparable only between features on the same scale. :class:`Scaling` supports sample
weights, and features with several columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Matrix, Rows, Table, Vector
from .blocks import Block
from .layout import WeightLayout

# Columns of each block of a table.
Blocks = Sequence[tuple[NDArray[np.intp], Block]]

# Relative difference up to which two values are equal up to rounding.
EQUALITY_TOL = 10 * np.finfo(float).eps


@dataclass(frozen=True)
class Scaling:
    """Linear scaling of columns, ``(X - mean) * factor``.

    Sparse tables are scaled but not centered, because centering would make them dense: their
    ``mean`` is zero. The factor of a constant column is zero, so that no model can use it. Missing
    values are replaced by ``fill``, the median.
    """

    mean: Vector
    factor: Vector
    fill: Vector | None = None

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Mask of the constant columns, shape (d,)."""
        return self.factor == 0

    def apply(self, X: Table) -> Table:
        if sp.issparse(X):
            return sp.csr_array(X @ sp.diags_array(self.factor))
        return (_fill_missing(X, self.fill) - self.mean) * self.factor


def standard_scaling(X: Table, weight: Vector, blocks: Blocks = ()) -> Scaling:
    """Return the scaling to weighted variance 1 and, for dense tables, weighted mean 0.

    The levels of a category have a common scale: half the sum of their variances becomes 1. With
    two levels, each then has variance 1. ``blocks`` lists the columns of each block.
    """
    fill = _fill_values(X, weight, blocks)
    mean, variance = _weighted_moments(_fill_missing(X, fill), weight)
    for columns, block in blocks:
        if block.has_levels:
            occurs = variance[columns] > 0
            variance[columns] = np.where(occurs, variance[columns].sum() / 2.0, 0.0)
    center = np.zeros_like(mean) if sp.issparse(X) else mean
    varies = variance > 0
    factor = np.zeros_like(mean)
    factor[varies] = 1.0 / np.sqrt(variance[varies])
    return Scaling(center, factor, fill)


def no_scaling(X: Table, weight: Vector, blocks: Blocks = ()) -> Scaling:
    """Return a scaling that sets constant columns to zero and does not change other columns."""
    fill = _fill_values(X, weight, blocks)
    mean, variance = _weighted_moments(_fill_missing(X, fill), weight)
    return Scaling(np.zeros_like(mean), (variance > 0).astype(float), fill)


def scale_by_rows(
    X: Table, rows: Rows, layout: WeightLayout, weight: Vector | None, *, standardize: bool
) -> Table:
    """Return a table, standardized with the mean and variance of the given rows.

    Missing values are replaced by the median of these rows. Without ``standardize``, nothing else
    is changed. ``weight`` contains the weights of all rows of the table; None means equal weights.
    """
    blocks = layout.table_blocks(0)
    if not standardize and not blocks:
        return X
    row_weight = np.ones(len(rows)) if weight is None else weight[rows]
    scaling = standard_scaling if standardize else no_scaling
    return scaling(X[rows], row_weight, blocks).apply(X)


def _fill_values(X: Table, weight: Vector, blocks: Blocks) -> Vector | None:
    """Return the replacement of missing values in each column; None if the table has no blocks.

    Only tables with blocks can have missing values, because a number with missing values is a
    block.
    """
    if not blocks or sp.issparse(X):
        return None
    present = X[weight > 0]
    fill = np.zeros(X.shape[1])
    is_missing = np.isnan(present)
    columns = np.flatnonzero(is_missing.any(axis=0) & ~is_missing.all(axis=0))
    fill[columns] = np.nanmedian(present[:, columns], axis=0)
    return fill


def _fill_missing(X: Table, fill: Vector | None) -> Table:
    return X if fill is None else np.where(np.isnan(X), fill, X)


def _weighted_moments(X: Table, weight: Vector) -> tuple[Vector, Vector]:
    """Return the weighted mean and variance of each column; constant columns have variance 0."""
    fraction = weight / weight.sum()
    mean = np.asarray(fraction @ X)
    if sp.issparse(X):
        square = np.asarray(fraction @ X.multiply(X))
        variance = square - mean**2
        rounding = EQUALITY_TOL * square
    else:
        variance = fraction @ (X - mean) ** 2
        rounding = np.zeros_like(mean)
    # Minimum and maximum are exact, but sums are not: rounding gives a constant column a variance
    # that depends on the order of summation, which depends on the CPU.
    low, high = _column_ranges(X[weight > 0])
    varies = high - low > EQUALITY_TOL * np.maximum(np.abs(low), np.abs(high))
    return mean, np.where(varies & (variance > rounding), variance, 0.0)


def constant_columns(X: Table) -> NDArray[np.bool_]:
    """Return a mask of the columns with exactly one distinct value, shape (d,)."""
    low, high = _column_ranges(X)
    return np.asarray(low == high)


def constant_features(X: Table, layout: WeightLayout | None = None) -> list[int]:
    """Return the indices of the features whose columns have exactly one distinct value each."""
    varies = ~constant_columns(X)
    varies = varies if layout is None else layout.any_weight(varies)
    constant: list[int] = np.flatnonzero(~varies).tolist()
    return constant


def low_variance_features(
    X: Table,
    min_variance: float,
    layout: WeightLayout | None = None,
    weight: Vector | None = None,
) -> list[int]:
    """Return the indices of features with variance at most ``min_variance``, lowest first.

    The variance of a feature with several columns is the sum of their variances.
    """
    if weight is None and (layout is None or not layout.blocks):
        variance = np.where(constant_columns(X), 0.0, _variances(X))
    else:
        layout = layout or WeightLayout.from_tables([X])
        weight = np.ones(X.shape[0]) if weight is None else weight
        filled = _fill_missing(X, _fill_values(X, weight, layout.table_blocks(0)))
        variance = layout.sums(_weighted_moments(filled, weight)[1])
    order = np.argsort(variance, kind="stable")
    features: list[int] = order[variance[order] <= min_variance].tolist()
    return features


def deviations(X: Table, weight: Vector | None = None) -> Vector:
    """Return the standard deviation of each column, weighted by rows if there are weights.

    The deviation of a constant column can be a rounding error instead of exactly zero, which is
    harmless for a unit of measurement. Single-precision sparse tables give single-precision
    results.
    """
    if weight is not None:
        return np.asarray(np.sqrt(_weighted_moments(X, weight)[1]), dtype=np.float64)
    std: Vector = np.sqrt(_variances(X))
    return std if sp.issparse(X) else std.astype(np.float64)


def standardize_columns(X: Matrix) -> Matrix:
    """Scale each column to mean 0 and variance 1; constant columns are only centered."""
    std = np.where(constant_columns(X), 0.0, X.std(axis=0))
    return (X - X.mean(axis=0)) / np.where(std > 0, std, 1.0)


def _variances(X: Table) -> Vector:
    """Return the unweighted variance of each column."""
    if not sp.issparse(X):
        return np.asarray(X.var(axis=0))
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.maximum(square - mean**2, 0.0)


def _column_ranges(X: Table) -> tuple[Vector, Vector]:
    """Return the smallest and the largest value of each column."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (low.toarray().ravel(), high.toarray().ravel()) if sp.issparse(X) else (low, high)


class NoScaling:
    """Identity scaling of a target, used for class labels."""

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the target values unchanged."""
        return values

    def undo(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the target values unchanged."""
        return values


@dataclass(frozen=True)
class StandardScaling:
    """Scaling of a numeric target to mean 0 and standard deviation 1.

    The epsilon and C of an SVM, and the error that a gain function considers small, refer to the
    scale of the target. Scaling makes their meaning independent of the unit of the target.
    """

    mean: float
    deviation: float

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert target values from the unit of the table to the scale of the model."""
        return (values - self.mean) / self.deviation

    def undo(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert target values from the scale of the model to the unit of the table."""
        return self.mean + self.deviation * values
