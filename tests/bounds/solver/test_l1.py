"""Tests of solving the l1-regularized problem: optimality, and detection of wrong solutions."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning

from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.programs.equivalent_models import StartingVertex
from allrelevant.bounds.solver import l1
from allrelevant.bounds.solver.l1 import L1Baseline, SimplexBaseline, relative_gap
from tests.bounds.generated import generated_samples
from tests.bounds.naive import naive_l1_svm


def value(rows, C, solution):
    loss = rows.loss(solution.coef[None], solution.offset[None])[0]
    return np.abs(solution.coef).sum() + C * loss


@pytest.mark.parametrize("solver", ["simplex", "HiGHS"])
def test_column_generation_finds_the_optimum(monkeypatch, solver):
    """Column generation that starts with two features finds the optimum."""
    if solver == "HiGHS":
        monkeypatch.setattr(l1, "MAX_CELLS", -1)
    monkeypatch.setattr(l1, "ALL_FEATURES_UP_TO", 0)
    monkeypatch.setattr(l1, "COLUMNS_PER_ROUND", 2)
    for seed in (0, 5, 10):  # these have many columns
        samples = generated_samples(seed)
        for table in (samples.X, sp.csr_array(samples.X)):
            rows = samples.with_tables((table,)).rows
            solver = L1Baseline(rows)
            for C in (0.1, 1.0, 10.0):
                solution = solver.solve(C)
                optimum = naive_l1_svm(samples.X, samples.y, C, samples.weight)
                assert value(rows, C, solution) == pytest.approx(optimum, abs=1e-7)
                assert np.abs(solution.multipliers @ samples.rows.table).max() <= 1 + 1e-7


def test_wide_tables_do_not_need_highs(monkeypatch):
    """With far more features than rows, the simplex method solves every C, in any order."""
    monkeypatch.setattr(L1Baseline, "_column_generation", None)
    rng = np.random.RandomState(0)
    X = rng.standard_normal((40, 900))
    samples = ClassificationData(X, np.repeat([-1.0, 1.0], 20), np.ones(40))
    solver = L1Baseline(samples.rows)
    for C in (0.01, 0.1, 1.0, 10.0, 0.05):
        solution = solver.solve(C)
        assert relative_gap(samples.rows, C, solution) <= 1e-8


@pytest.mark.parametrize("is_refactored", [True, False])
def test_solution_with_large_duality_gap_is_solved_again(monkeypatch, is_refactored):
    samples = generated_samples(1)

    class Wrong:
        def __init__(self, rows, features, deadline=None):
            self.zero = StartingVertex(
                np.zeros(rows.n_weights), np.zeros(1), np.zeros(rows.n_rows), rows
            )

        def solve(self, C):
            return self.zero

        def refactor(self):
            return is_refactored

    assert relative_gap(samples.rows, 1.0, Wrong(samples.rows, None).zero) == pytest.approx(1.0)
    monkeypatch.setattr(l1, "SimplexBaseline", Wrong)
    solution = L1Baseline(samples.rows).solve(1.0)
    optimum = naive_l1_svm(samples.X, samples.y, 1.0, samples.weight)
    assert value(samples.rows, 1.0, solution) == pytest.approx(optimum, abs=1e-7)
    assert relative_gap(samples.rows, 1.0, solution) <= 1e-7


def test_rounding_errors_of_the_dictionary_are_removed(monkeypatch):
    """If the dictionary has become inaccurate, it is recomputed from its basis, without HiGHS."""
    monkeypatch.setattr(L1Baseline, "_column_generation", None)
    samples = generated_samples(1)
    solver = L1Baseline(samples.rows)
    before = solver.solve(1.0)
    simplex = solver._simplex
    assert simplex is not None
    state = simplex._state
    state.T[:] += 1e-4 * np.random.RandomState(0).standard_normal(state.T.shape)
    state.value[:] *= 1.001
    disturbed = simplex.solve(1.0)
    assert disturbed is not None
    assert relative_gap(samples.rows, 1.0, disturbed) > 1e-6
    solution = solver.solve(1.0)
    assert relative_gap(samples.rows, 1.0, solution) <= 1e-9
    assert value(samples.rows, 1.0, solution) == pytest.approx(value(samples.rows, 1.0, before))


def test_inaccurate_solutions_are_accepted_up_to_the_tolerance(monkeypatch):
    monkeypatch.setattr(SimplexBaseline, "refactor", lambda self: False)
    samples = generated_samples(1)
    solver = L1Baseline(samples.rows, tol=1e-2)
    monkeypatch.setattr(l1, "relative_gap", lambda rows, C, solution: 5e-3)
    assert solver.solve(1.0) is not None
    assert "_column_generation" not in vars(solver)
    strict = L1Baseline(samples.rows)
    strict.solve(1.0)
    assert "_column_generation" in vars(strict)


def test_singular_basis_is_not_recomputed(monkeypatch):
    def singular(*args):
        warnings.warn("singular", LinAlgWarning, stacklevel=1)

    samples = generated_samples(1)
    solver = L1Baseline(samples.rows)
    solver.solve(1.0)
    simplex = solver._simplex
    assert simplex is not None
    before = simplex._state
    monkeypatch.setattr(l1, "Vertex", singular)
    assert not simplex.refactor()
    assert simplex._state is before
