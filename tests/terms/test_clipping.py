"""Clipping of outliers: which values change, and agreement of dense and sparse tables."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from allrelevant.terms.clipping import MAX_DEVIATION, NORMAL_RANGE, clip_outliers


def naive_clip(column):
    """Clip one column by the definition."""
    n = len(column)
    median = np.sort(column)[(n - 1) // 2]
    others = np.sort(column[column != median])
    if len(others) == 0:
        return column
    low, center, high = (others[round(q * (len(others) - 1))] for q in (0.1, 0.5, 0.9))
    if low == high:
        return column
    limit = MAX_DEVIATION * (high - low) / NORMAL_RANGE
    return np.clip(column, min(center - limit, median), max(center + limit, median))


def make_columns(seed):
    rng = np.random.RandomState(seed)
    n = 60 + seed
    zero_inflated = rng.standard_cauchy(n) * (rng.rand(n) < 0.3)
    return np.column_stack(
        [
            rng.standard_normal(n),
            rng.standard_cauchy(n),
            np.exp(2 * rng.standard_normal(n)),
            zero_inflated,
            rng.poisson(0.4, n) ** 3,
            rng.rand(n) < 0.05,
            np.full(n, 3.0),
        ]
    ).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_each_column_is_clipped_as_defined(seed):
    table = make_columns(seed)
    found = clip_outliers(table)
    for j in range(table.shape[1]):
        np.testing.assert_allclose(found[:, j], naive_clip(table[:, j]))


@pytest.mark.parametrize("seed", range(4))
def test_sparse_tables_are_clipped_like_dense_ones(seed, monkeypatch):
    """This holds for columns whose median is zero, however the columns are split into blocks."""
    table = make_columns(seed)[:, 3:6]
    monkeypatch.setattr("allrelevant.terms.clipping.NUMBERS_PER_BLOCK", 150)
    found = clip_outliers(sp.csr_array(table))
    assert sp.issparse(found)
    np.testing.assert_allclose(found.toarray(), clip_outliers(table))


def test_zeros_of_a_sparse_table_stay_zeros():
    """The zeros of a column whose other values are far from zero would be outliers."""
    column = np.append(np.linspace(100.0, 101.0, 30), 0.0)[:, None]
    assert clip_outliers(column).min() > 90
    assert clip_outliers(sp.csr_array(column)).toarray().min() == 0


def test_only_outliers_change():
    rng = np.random.RandomState(0)
    table = np.column_stack([rng.standard_normal(200), rng.rand(200) < 0.02])
    np.testing.assert_array_equal(clip_outliers(table), table)
    table[7, 0] = 1e6
    clipped = clip_outliers(table)
    assert 4 < clipped[7, 0] < 7
    np.testing.assert_array_equal(np.delete(clipped, 7, axis=0), np.delete(table, 7, axis=0))
