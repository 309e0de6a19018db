"""Permutation test of the null hypothesis that the target is independent of a whole table.

The test compares the table with copies whose rows are permuted. Its statistics measure linear
association: sums of squared covariances between columns and target, over the columns with the
largest ones or over all columns, and the variance of the target that ridge regression explains. The
statistics are combined by the smallest of their ranks among the permuted copies, which is ranked in
turn. The result is an exact p-value: if the target is independent of the table, the probability
of a p-value of at most ``level`` is at most ``level``, for any distribution and any correlation
between the columns.

Outliers of the columns and of the target are clipped first. Otherwise, a few extreme values would
determine the covariance of a heavy-tailed column, whatever its other values are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.stats import chi2, rankdata

from .._typing import Matrix, Rows, Table, Vector
from ..terms.clipping import clip_outliers
from ..terms.scaling import standard_scaling

# Ridge penalty, relative to the mean variance of the principal components.
PENALTY = 0.1

# Above this number of rows and columns, ridge regression is skipped, because it would need an
# eigendecomposition of this order.
MAX_DECOMPOSED = 2000

# Number of columns in the sum of the largest squared covariances; further sums are over the square
# root of the number of columns and over all columns.
N_LARGEST = 5

# Variances below this fraction of the largest one are rounding errors.
RANK_TOL = 1e-9

# Numbers per batch of permuted targets.
NUMBERS_PER_BATCH = 5_000_000


def association_pvalue(
    table: Table, targets: Matrix, weight: Vector, permutations: Sequence[Rows]
) -> float:
    """Return the p-value of a permutation test of independence between table and targets.

    ``targets`` has one column per subproblem. Each permutation is an order of the rows.
    """
    table, targets = clip_outliers(table), clip_outliers(targets)
    scaling = standard_scaling(table, np.ones(table.shape[0]))
    scaled = scaling.apply(table)
    varying = np.flatnonzero(~scaling.constant)
    if len(varying) == 0:
        return 1.0
    scaled = scaled[:, varying]
    mean = np.average(targets, axis=0, weights=weight)
    weighted = weight[:, None] * (targets - mean)  # sums to zero, so columns need no centering
    statistics = _statistics(scaled, weighted, permutations)
    # The rank of each statistic among all copies, in favor of the null hypothesis for ties.
    rounded = np.array([_round(values) for values in statistics])
    ranks = rankdata(-rounded, method="max", axis=1).min(axis=0)
    return float((ranks <= ranks[0]).mean())


def permuted_associations(
    table: Table,
    target: Vector,
    weight: Vector,
    permutations: Sequence[Rows],
    widths: NDArray[np.intp] | None = None,
) -> Matrix:
    """Return the absolute covariance of each standardized feature with the target.

    The first row is for the table itself, and the others are for its permuted copies. Constant
    columns have no association. Outliers are clipped. ``widths`` is the number of columns of each
    feature. The association of several columns is the covariance of a single column with the same
    p-value.
    """
    table, target = clip_outliers(table), clip_outliers(target[:, None])[:, 0]
    scaling = standard_scaling(table, np.ones(table.shape[0]))
    scaled = scaling.apply(table)
    weighted = weight * (target - np.average(target, weights=weight))
    # Permuting the rows of the table has the same effect as permuting the target inversely. (Rows
    # of groups that differ in size can occur more than once.)
    n_samples = len(target)
    permuted = [np.bincount(order, weights=weighted, minlength=n_samples) for order in permutations]
    covariance = scaled.T @ np.array([weighted, *permuted]).T
    associations = np.abs(covariance).T
    if widths is None or (widths == 1).all():
        return associations
    return _by_feature(scaled, covariance.T, weighted, widths, associations)


def _by_feature(
    scaled: Table, covariance: Matrix, target: Vector, widths: NDArray[np.intp], single: Matrix
) -> Matrix:
    """Return the association of each feature, given the covariances of its columns.

    Regression of the target on the k columns of a block explains a sum of squares whose
    distribution under the null hypothesis is approximately chi-squared. ``single`` holds the
    associations of single columns.
    """
    starts = np.cumsum(widths) - widths
    associations = single[:, starts]
    n_samples = scaled.shape[0]
    mean_square = max(float(np.mean(target**2)), np.finfo(float).tiny)
    for feature in np.flatnonzero(widths > 1):
        columns = np.arange(starts[feature], starts[feature] + widths[feature])
        block = np.asarray(scaled[:, columns])
        variance, axes = eigh(block.T @ block)
        used = variance > RANK_TOL * variance[-1]
        components = covariance[:, columns] @ axes[:, used] / np.sqrt(variance[used])
        statistic = (components**2).sum(axis=1) / mean_square
        pvalue = chi2.sf(statistic, int(used.sum()))
        # Where the p-value underflows, the number of columns hardly matters.
        equivalent = np.where(pvalue > 1e-300, chi2.isf(np.maximum(pvalue, 1e-300), 1), statistic)
        associations[:, feature] = np.sqrt(equivalent * mean_square * n_samples)
    return associations


def _statistics(table: Table, targets: Matrix, permutations: Sequence[Rows]) -> Matrix:
    """Compute the test statistics (rows) of the table and of each permuted copy (columns)."""
    n_samples, n_columns = table.shape
    ridge = _ridge_filter(table) if min(table.shape) <= MAX_DECOMPOSED else None
    orders = [np.arange(n_samples), *permutations]
    batch_size = max(1, NUMBERS_PER_BATCH // (max(n_samples, n_columns) * targets.shape[1]))
    batches = []
    for start in range(0, len(orders), batch_size):
        order = np.array(orders[start : start + batch_size])
        # Permuting the targets has the same effect as permuting the rows in the inverse order.
        permuted = targets[order].transpose(1, 0, 2).reshape(n_samples, -1)
        permuted = permuted - permuted.mean(axis=0)
        covariance = table.T @ permuted
        parts = [*_partial_sums(covariance**2, targets.shape[1])]
        if ridge is not None:
            basis, shrinkage = ridge
            components = basis.T @ (covariance if n_columns <= n_samples else permuted)
            parts.append((shrinkage @ components**2).reshape(len(order), -1).sum(axis=1))
        batches.append(np.array(parts))
    return np.concatenate(batches, axis=1)


def _partial_sums(squared: Matrix, n_targets: int) -> Matrix:
    """Sum the largest squared covariances of each permuted copy, shape (3, n_copies).

    Covariances with several targets are added up for each column first.
    """
    n_columns = len(squared)
    by_copy = squared.reshape(n_columns, -1, n_targets).sum(axis=2).T.copy()
    several = min(N_LARGEST, n_columns)
    root = int(np.ceil(np.sqrt(n_columns)))
    n_largest = max(several, root)
    largest = np.partition(by_copy, n_columns - n_largest, axis=1)[:, n_columns - n_largest :]
    sums = np.cumsum(np.sort(largest, axis=1)[:, ::-1], axis=1)
    return np.array([sums[:, several - 1], sums[:, root - 1], by_copy.sum(axis=1)])


def _ridge_filter(table: Table) -> tuple[Matrix, Vector]:
    """Return the principal axes of a table and the shrinkage factors of ridge regression.

    With no more columns than rows, the axes are those of the columns, and the factors apply
    to covariances; otherwise, they are those of the rows, and the factors apply to targets.
    """
    n_samples, n_columns = table.shape
    wide = n_columns > n_samples
    product = table @ table.T if wide else table.T @ table
    gram = product.toarray() if sp.issparse(product) else np.asarray(product)
    if wide:
        gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    else:
        mean = np.asarray(table.mean(axis=0)).ravel()
        gram = gram - n_samples * np.outer(mean, mean)
    variance, basis = eigh(gram)
    used = variance > 1e-9 * variance[-1]
    variance, basis = variance[used], basis[:, used]
    penalized = variance + PENALTY * variance.mean()
    return basis, variance / penalized if wide else 1.0 / penalized


def _round(values: Vector) -> Vector:
    """Divide values by the largest absolute value and round them to ten decimals.

    This removes rounding errors, so that ties do not depend on the order of additions.
    """
    scale = np.abs(values).max()
    return values if scale == 0 else np.round(values / scale, 10)
