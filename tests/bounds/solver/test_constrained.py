"""Sets under limits: the fast way and HiGHS agree, at awkward limits too."""

import numpy as np
import pytest

from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.programs.equivalent_models import (
    WeightLimit,
    limited_models,
    satisfies_limits,
)
from allrelevant.bounds.solver.constrained import ConstrainedModels
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.ranges import absolute, weight_ranges
from tests.bounds.generated import generated_samples


def solved(seed):
    samples = generated_samples(seed)
    formulation = FORMULATIONS["joint" if seed % 4 == 3 else "separate"]
    C = (0.1, 1.0)[seed % 2]
    baseline = formulation.fit(samples, C)
    models = formulation.equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
    return models, weight_ranges(models), C


def some_limits(ranges, rng):
    """Limits that some model keeps: between its extremes, at one of them, or zero."""
    j = int(rng.randint(len(ranges.features)))
    low, high = ranges.attained[j]
    middle = float(rng.uniform(low, high))
    return rng.permutation(
        np.array(
            [
                WeightLimit(j, middle, middle),
                WeightLimit(j, middle, np.inf),
                WeightLimit(j, -np.inf, middle),
                WeightLimit(j, high - 1e-6 * (1.0 + high), np.inf),  # next to nothing is left
                WeightLimit(j, 0.0, 0.0) if low < 0 < high else WeightLimit(j, low, middle),
            ],
            dtype=object,
        )
    )[:2]


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_highs(seed):
    models, known, C = solved(seed)
    rng = np.random.RandomState(seed)
    for limit in some_limits(known, rng):
        narrowed = ConstrainedModels(models, [limit], C)
        found = narrowed.ranges(known)
        reference = weight_ranges(limited_models(models, [limit]), solver=HighsSolver)
        np.testing.assert_allclose(found.attained, reference.attained, atol=2e-6)
        room = WeightLimit(limit.feature, limit.low - 1e-7, limit.high + 1e-7)
        assert satisfies_limits(found.coef.toarray(), [room]).all()
        sizes, effort = narrowed.sizes(known.features, known, known.attained)
        np.testing.assert_allclose(sizes, absolute(reference.attained), atol=2e-6)
        assert effort.spared >= 0


def test_what_is_known_is_not_solved_for_again():
    models, known, C = solved(0)
    wide = WeightLimit(0, *(1.1 * known.attained[0] + np.array([-1.0, 1.0])))
    found = ConstrainedModels(models, [wide], C).ranges(known)
    assert found.effort.programs == 0
    assert found.effort.spared == 2 * len(known.features)
    np.testing.assert_array_equal(found.attained, known.attained)
