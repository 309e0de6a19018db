"""Tests of the interior-point method for smoothed pairwise losses."""

import numpy as np

from allrelevant.bounds.solver.smoothing import _solve_systems


def test_a_singular_system_does_not_stop_the_others():
    rng = np.random.default_rng(0)
    matrices, right = rng.normal(size=(3, 4, 4)), rng.normal(size=(3, 4))
    matrices[1] = 0.0
    solutions = _solve_systems(matrices, right)
    for k in (0, 2):
        np.testing.assert_allclose(matrices[k] @ solutions[k], right[k])
    np.testing.assert_allclose(solutions[1], 0.0)
