"""Clipping of outliers, for statistics that a few extreme values would dominate otherwise.

Values that equal the median of their column do not count, so that a column of zeros with some other
values is judged by these values alone. A value is an outlier if it is far from the median of the
remaining values. The unit of distance is the standard deviation of the normal distribution with the
same 10% and 90% quantiles. Normal columns are hardly ever clipped, binary columns never.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .._typing import Matrix, Table, Vector

# Distance beyond which values are clipped, in standard deviations.
MAX_DEVIATION = 5.0

# Difference between the 90% and the 10% quantile of the standard normal distribution.
NORMAL_RANGE = 2.5631

# Numbers per dense block of a sparse table.
NUMBERS_PER_BLOCK = 1_000_000


def clip_outliers(table: Table) -> Table:
    """Replace the outliers of each column by the nearest value that is not an outlier.

    The zeros of a sparse table stay zeros.

    Examples
    --------
    >>> import numpy as np
    >>> column = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1000])
    >>> float(clip_outliers(column[:, None]).max().round(1))
    19.6
    """
    if not sp.issparse(table):
        low, high = _limits(table)
        return np.clip(table, low, high)
    columns = sp.csc_array(table)
    size = max(1, NUMBERS_PER_BLOCK // max(1, table.shape[0]))
    starts = range(0, table.shape[1], size)
    limits = [_limits(columns[:, start : start + size].toarray()) for start in starts]
    low, high = np.concatenate(limits, axis=1)
    n_stored = np.diff(columns.indptr)
    data = np.clip(
        columns.data,
        np.repeat(np.minimum(low, 0.0), n_stored),
        np.repeat(np.maximum(high, 0.0), n_stored),
    )
    return sp.csr_array(sp.csc_array((data, columns.indices, columns.indptr), shape=table.shape))


def _limits(table: Matrix) -> tuple[Vector, Vector]:
    """Return the smallest and the largest value of each column that is not an outlier."""
    ordered = np.sort(table, axis=0)
    median = ordered[(len(table) - 1) // 2]
    n_smaller, n_equal = (ordered < median).sum(axis=0), (ordered == median).sum(axis=0)
    n_others = len(table) - n_equal

    def quantile(fraction: float) -> Vector:
        """Return a quantile of the values that differ from the median of their column."""
        rank = np.rint(fraction * np.maximum(n_others - 1, 0)).astype(np.intp)
        place = np.where(rank < n_smaller, rank, rank + n_equal)
        values = ordered[np.minimum(place, len(table) - 1), np.arange(table.shape[1])]
        return np.where(n_others > 0, values, median)

    center = quantile(0.5)
    limit = MAX_DEVIATION * (quantile(0.9) - quantile(0.1)) / NORMAL_RANGE
    # Equal quantiles do not measure a distance.
    limit = np.where(limit > 0, limit, np.inf)
    return np.minimum(center - limit, median), np.maximum(center + limit, median)
