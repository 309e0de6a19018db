"""Tests of the bounds of one mapping component against the LPs of the paper."""

import numpy as np
import pytest

from allrelevant.bounds.mapping.linear_mapping import data_space
from allrelevant.bounds.mapping.row_bounds import bound_row
from allrelevant.bounds.solver.ranges import LOWER, UPPER
from tests.bounds.mapping.naive import naive_interval, null_space


def random_case(seed):
    """Return a random table, a mapping component and an effective dimension.

    Some tables have copied columns, differences of columns or integer values.
    """
    rng = np.random.RandomState(seed)
    n, d = rng.randint(6, 40), rng.randint(3, 14)
    X = rng.normal(size=(n, d)) @ np.diag(rng.uniform(0.5, 2.0, d))
    if seed % 2:
        X[:, 1] = X[:, 0]
    if seed % 3 == 0:
        X[:, 2] = X[:, 0] - X[:, -1]
    if seed % 5 == 0:
        X = np.round(X)
    omega = np.eye(d)[0] if seed % 4 == 0 else rng.normal(size=d)
    return X, omega, rng.randint(1, data_space(X).rank + 1)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("slack", [0.0, 0.01, 0.05])
def test_bounds_equal_the_naive_programs(seed, slack):
    X, omega, dimension = random_case(seed)
    bounds = bound_row(omega, data_space(X).first(dimension), slack)
    interval, mu = naive_interval(omega, null_space(X, dimension), slack)
    assert bounds.norm == pytest.approx(mu, abs=1e-7)
    np.testing.assert_allclose(bounds.ranges.interval, interval, atol=1e-6)
    assert bounds.ranges.gap.max() <= 1e-9 * max(1.0, mu)
    assert bounds.ranges.effort.fallbacks == 0


@pytest.mark.parametrize("seed", range(10))
def test_witnesses_are_equivalent_and_within_the_norm(seed):
    X, omega, dimension = random_case(seed)
    directions = data_space(X).first(dimension)
    bounds = bound_row(omega, directions, 0.01)
    for side in (LOWER, UPPER):
        witnesses = bounds.witnesses(side)
        np.testing.assert_allclose(
            witnesses @ directions.T, np.tile(directions @ omega, (len(omega), 1)), atol=1e-8
        )
        assert np.abs(witnesses).sum(axis=1).max() <= 1.01 * bounds.norm * (1 + 1e-9)
        np.testing.assert_allclose(
            np.abs(np.diag(witnesses)), bounds.ranges.interval[:, side], atol=1e-9
        )


def test_bounds_scale_with_the_component():
    X, omega, dimension = random_case(7)
    directions = data_space(X).first(dimension)
    small, large = (bound_row(unit * omega, directions, 0.01) for unit in (1e-9, 1e9))
    np.testing.assert_allclose(small.ranges.interval * 1e18, large.ranges.interval, rtol=1e-9)
