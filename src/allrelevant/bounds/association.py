"""Permutation test of a whole table: does the target depend on any of its columns?

The test compares the table with copies whose rows are permuted. Its statistics measure linear
association: the largest absolute covariance of a single column with the target, and the variance
of the target that ridge regressions explain. The statistics are combined by the smallest of their
rank p-values, which is ranked in turn among the permuted copies. The result is an exact p-value: if
the target is independent of the table, the probability of a p-value of at most ``level`` is at most
``level``, for any distribution and any correlation between the columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.stats import rankdata

from .._typing import Matrix, Rows, Table, Vector
from ..terms.scaling import standard_scaling

# Ridge penalties, relative to the mean variance of the principal components.
PENALTIES = (1.0, 0.1)

# Above this number of rows and columns, ridge regressions are skipped, because they would need an
# eigendecomposition of this order.
MAX_DECOMPOSED = 2000

# Numbers per batch of permuted targets.
NUMBERS_PER_BATCH = 5_000_000


def association_pvalue(
    table: Table, targets: Matrix, weight: Vector, permutations: Sequence[Rows]
) -> float:
    """Return the p-value of the hypothesis that the targets are independent of the table.

    ``targets`` has one column per subproblem. Each permutation is an order of the rows.
    """
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


def _statistics(table: Table, targets: Matrix, permutations: Sequence[Rows]) -> Matrix:
    """Return each statistic for the table itself and for each permuted copy."""
    n_samples, n_columns = table.shape
    filters = _component_filters(table) if min(table.shape) <= MAX_DECOMPOSED else None
    orders = [np.arange(n_samples), *permutations]
    batch_size = max(1, NUMBERS_PER_BATCH // (max(n_samples, n_columns) * targets.shape[1]))
    batches = []
    for start in range(0, len(orders), batch_size):
        order = np.array(orders[start : start + batch_size])
        # Permuting the targets has the same effect as permuting the rows in the inverse order.
        permuted = targets[order].transpose(1, 0, 2).reshape(n_samples, -1)
        covariance = table.T @ permuted
        parts = [np.abs(covariance).max(axis=0), (covariance**2).sum(axis=0)]
        if filters is not None:
            basis, shrinkage = filters
            components = basis.T @ (covariance if n_columns <= n_samples else permuted)
            parts.extend(shrinkage @ components**2)
        by_copy = np.array(parts).reshape(len(parts), len(order), targets.shape[1])
        batches.append(np.vstack([by_copy[:1].max(axis=2), by_copy[1:].sum(axis=2)]))
    return np.concatenate(batches, axis=1)


def _component_filters(table: Table) -> tuple[Matrix, Matrix]:
    """Return the principal components, and the factor of each one's square for each penalty.

    With fewer columns than rows, the components are those of the columns, and the factors apply to
    covariances; otherwise, they are those of the rows, and the factors apply to targets.
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
    penalties = np.array(PENALTIES)[:, None] * variance.mean()
    return basis, (variance if wide else 1.0) / (variance + penalties)


def _round(values: Vector) -> Vector:
    """Round to ten digits, so that ties do not depend on the order of additions."""
    scale = np.abs(values).max()
    return values if scale == 0 else np.round(values / scale, 10)
