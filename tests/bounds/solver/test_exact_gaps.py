"""Tests that gaps bound the errors of bounds, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from allrelevant import ClassificationBounds, SolverError
from allrelevant.bounds.baseline import JOINT, SEPARATE, Tolerance
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.solver.ranges import weight_ranges
from tests.bounds.exact import exact_maximum, exact_ranges

TOLERANCES = [Tolerance(0.1, 0.05, 1e-6), Tolerance(0.01, 0.0, 1e-6), Tolerance(0.3, 0.2, 0.0)]


def badly_scaled_table(seed):
    rng = np.random.RandomState(seed)
    n, d = rng.randint(5, 9), rng.randint(2, 4)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, d)) + np.outer(y, np.arange(d) == 0)
    X *= 10.0 ** (rng.randint(-8, 9, size=d) if seed % 2 else rng.choice([0, 15, -15, 7], size=d))
    return (X + 1e6 if seed % 5 == 0 else X), y


def test_exact_maximum_of_a_known_program():
    one = Fraction(1)
    constraints = [[one, one], [one, 0 * one], [-one, -one]]
    assert exact_maximum([3 * one, 2 * one], constraints, [4 * one, 2 * one, -one]) == 10


@pytest.mark.parametrize("formulation", [SEPARATE, JOINT])
def test_errors_do_not_exceed_gaps(formulation):
    n_checked = 0
    for seed in range(30):
        X, y = badly_scaled_table(seed)
        try:
            baseline = formulation.fit(ClassificationData(X, y, np.ones(len(y))), 1.0)
            models = formulation.equivalent_models(baseline, TOLERANCES[seed % 3])
            ranges = weight_ranges(models)
        except SolverError:
            continue
        n_checked += 1
        for j, (low, high) in enumerate(exact_ranges(models)):
            true = max(Fraction(0), low, -high), max(abs(low), abs(high))
            for side in (0, 1):
                error = abs(Fraction(float(ranges.interval[j, side])) - true[side])
                assert error <= Fraction(float(ranges.gap[j, side])), (seed, j, side)
    assert n_checked >= 15


def test_bounds_with_large_gaps_are_not_exact():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 3)) + np.outer(y, [2, 0, 0])
    scaled = X * [1.0, 1e12, 1e-3] + [0.0, 1e12, 0.0]
    estimator = ClassificationBounds(C=1.0, cutoff=0.1, random_state=0)
    exact = clone(estimator).fit(X, y)
    assert exact.exact_.all()
    assert exact.gap_.max() < 1e-9
    with pytest.warns(UserWarning, match=r"exact_ is False.*standardize=True"):
        rough = clone(estimator).set_params(standardize=False).fit(scaled / 10, y)
    assert not rough.exact_.all()
