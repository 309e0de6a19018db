"""Tests of weight ranges under limits on weights: agreement with HiGHS, degenerate limits."""

import numpy as np
import pytest

from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.programs.equivalent_models import (
    WeightLimit,
    restrict_models,
    satisfies_limits,
)
from allrelevant.bounds.solver.constrained import ConstrainedModels
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.ranges import absolute, weight_ranges
from tests.bounds.generated import generated_samples


def solve_models(seed):
    samples = generated_samples(seed)
    formulation = FORMULATIONS["joint" if seed % 4 == 3 else "separate"]
    C = (0.1, 1.0)[seed % 2]
    baseline = formulation.fit(samples, C)
    models = formulation.equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
    return models, weight_ranges(models), C


def draw_limits(ranges, rng):
    """Return two random feasible limits on a weight: inside its range, at an end, or at zero."""
    j = int(rng.randint(len(ranges.features)))
    low, high = ranges.attained[j]
    middle = float(rng.uniform(low, high))
    return rng.permutation(
        np.array(
            [
                WeightLimit(j, middle, middle),
                WeightLimit(j, middle, np.inf),
                WeightLimit(j, -np.inf, middle),
                WeightLimit(j, high - 1e-6 * (1.0 + high), np.inf),  # almost infeasible
                WeightLimit(j, 0.0, 0.0) if low < 0 < high else WeightLimit(j, low, middle),
            ],
            dtype=object,
        )
    )[:2]


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_highs(seed):
    models, ranges, C = solve_models(seed)
    rng = np.random.RandomState(seed)
    for limit in draw_limits(ranges, rng):
        constrained = ConstrainedModels(models, [limit], C)
        updated = constrained.ranges(ranges)
        reference = weight_ranges(restrict_models(models, [limit]), solver=HighsSolver)
        np.testing.assert_allclose(updated.attained, reference.attained, atol=2e-6)
        relaxed = WeightLimit(limit.feature, limit.low - 1e-7, limit.high + 1e-7)
        assert satisfies_limits(updated.coef.toarray(), [relaxed]).all()
        sizes, effort = constrained.sizes(ranges.features, ranges, ranges.attained)
        np.testing.assert_allclose(sizes, absolute(reference.attained), atol=2e-6)
        assert effort.spared >= 0


def test_ends_with_feasible_witnesses_are_not_solved_again():
    models, ranges, C = solve_models(0)
    inactive = WeightLimit(0, *(1.1 * ranges.attained[0] + np.array([-1.0, 1.0])))
    updated = ConstrainedModels(models, [inactive], C).ranges(ranges)
    assert updated.effort.programs == 0
    assert updated.effort.spared == 2 * len(ranges.features)
    np.testing.assert_array_equal(updated.attained, ranges.attained)
