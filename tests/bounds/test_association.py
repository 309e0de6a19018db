"""Tests of the permutation test of a whole table: level, power, agreement with brute force."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from allrelevant.bounds.association import PENALTY, association_pvalue, permuted_associations


def draw_orders(n, rng, n_orders=99):
    return [rng.permutation(n) for _ in range(n_orders)]


def naive_pvalue(X, y, orders):
    """Compute the p-value by permuting the rows of the table and recomputing each statistic."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = y - y.mean()
    d = Z.shape[1]
    values = []
    for order in [np.arange(len(y)), *(np.argsort(order) for order in orders)]:
        table = Z[order]
        squared = np.sort((table.T @ y) ** 2)[::-1]
        variance = np.linalg.eigvalsh(table.T @ table)
        penalty = PENALTY * variance[variance > 1e-9 * variance[-1]].mean()
        fitted = y @ table @ np.linalg.solve(table.T @ table + penalty * np.eye(d), table.T @ y)
        sums = [squared[:k].sum() for k in (min(5, d), int(np.ceil(np.sqrt(d))), d)]
        values.append([*sums, fitted])
    ranks = [[np.sum(column >= value - 1e-9) for value in column] for column in np.array(values).T]
    smallest = np.min(ranks, axis=0)
    return np.mean(smallest <= smallest[0])


@pytest.mark.parametrize("shape", [(30, 7), (20, 40)])
def test_agrees_with_the_definition(shape):
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=shape[0])
    y += 0.3 * X[:, 0]
    orders = draw_orders(len(y), rng)
    found = association_pvalue(X, y[:, None], np.ones(len(y)), orders)
    assert found == pytest.approx(naive_pvalue(X, y, orders))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_associations_agree_with_the_definition(form):
    """The rows of the columns are permuted; target and weights stay in place."""
    rng = np.random.RandomState(3)
    X, y, weight = rng.normal(size=(25, 4)), rng.normal(size=25), rng.rand(25)
    X[:, 2] = 1.0
    orders = draw_orders(25, rng, n_orders=5)
    found = permuted_associations(form(X), y, weight, orders)
    centered = weight * (y - np.average(y, weights=weight))
    for row, order in zip(found, [np.arange(25), *orders], strict=True):
        for j in (0, 1, 3):
            column = X[order, j]
            expected = abs(np.sum((column - column.mean()) / column.std() * centered))
            assert row[j] == pytest.approx(expected)
        assert row[2] == 0.0


def test_sparse_tables_give_the_same_pvalue():
    rng = np.random.RandomState(1)
    X = rng.normal(size=(50, 6)) * (rng.rand(50, 6) < 0.3)
    y = X[:, :1] + rng.normal(size=(50, 1))
    orders = draw_orders(50, rng)
    dense = association_pvalue(X, y, np.ones(50), orders)
    assert association_pvalue(sp.csr_array(X), y, np.ones(50), orders) == dense


@pytest.mark.parametrize("as_table", [np.asarray, sp.csr_array])
def test_outliers_do_not_hide_an_association(as_table):
    """A few extreme values of a heavy-tailed column must not outweigh all others."""
    rng = np.random.RandomState(4)
    X = rng.standard_cauchy((80, 5))
    X[0, 0] = 1e6
    y = np.where(rng.permutation(80) % 2, 1.0, -1.0)
    X[:, 0] = np.abs(X[:, 0]) * y  # the sign of the first column is the target
    X[0, 0] *= -1.0  # except for the outlier
    orders = draw_orders(80, rng)
    assert association_pvalue(as_table(X), y[:, None], np.ones(80), orders) <= 0.01
    found = permuted_associations(as_table(X), y, np.ones(80), orders)
    assert found[0, 0] > 1.3 * found[1:, 0].max()


def test_level_is_kept_on_independent_targets():
    """The test rejects independent targets no more often than its level allows.

    Columns are correlated and heavy-tailed, row weights are unequal, and there are two targets.
    """
    rng = np.random.RandomState(2)
    n_tables, level = 300, 0.05
    alarms = 0
    for _ in range(n_tables):
        X = np.cumsum(rng.standard_t(2, size=(40, 8)), axis=1)
        targets, weight = rng.normal(size=(40, 2)), rng.uniform(0.5, 2.0, size=40)
        pvalue = association_pvalue(X, targets, weight, draw_orders(40, rng, 39))
        alarms += pvalue <= level
    assert alarms <= stats.binom.ppf(0.999, n_tables, level)


def test_finds_one_relevant_column_among_many():
    rng = np.random.RandomState(3)
    X = rng.normal(size=(80, 200))
    y = X[:, [7]] + rng.normal(size=(80, 1))
    assert association_pvalue(X, y, np.ones(80), draw_orders(80, rng)) <= 0.05


def test_constant_columns_carry_no_evidence():
    rng = np.random.RandomState(4)
    X, y = np.ones((20, 3)), rng.normal(size=(20, 1))
    assert association_pvalue(X, y, np.ones(20), draw_orders(20, rng)) == 1.0
