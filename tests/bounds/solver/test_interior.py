"""Tests of the interior-point solvers, compared with HiGHS and the simplex method."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from allrelevant.bounds.baseline import FORMULATIONS, SEPARATE, Tolerance
from allrelevant.bounds.ordinal import OrdinalData
from allrelevant.bounds.programs.equivalent_models import (
    WeightLimit,
    restrict_models,
    satisfies_limits,
)
from allrelevant.bounds.regression import RegressionData
from allrelevant.bounds.solver import families, interior, own_rows
from allrelevant.bounds.solver.families import solvers_for
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.interface import Extreme, NotAVertexError
from allrelevant.bounds.solver.interior import InteriorSolver
from allrelevant.bounds.solver.interior_baseline import InteriorBaseline
from allrelevant.bounds.solver.l1 import L1Baseline, relative_gap
from allrelevant.bounds.solver.proofs import check_solutions, largest_norm
from allrelevant.bounds.solver.ranges import directed_maxima, weight_ranges
from allrelevant.bounds.solver.simplex import SimplexSolver
from tests.bounds.tall_tables import KINDS, tall_models, tall_samples

TOLERANCE = Tolerance(norm_slack=0.1, loss_slack=0.05, loss_tol=1e-6)


def all_extremes(models):
    return [Extreme.of_weight(j, sign) for sign in (-1, 1) for j in range(models.n_weights)]


def assert_agrees(models, tol=1e-9, max_fallbacks=0):
    """Compare the interior-point solver with HiGHS; check its proofs and witnesses."""
    found = weight_ranges(models, solver=partial(InteriorSolver, tol=tol), tol=tol)
    expected = weight_ranges(models, solver=HighsSolver)
    norm = largest_norm(models)
    assert found.effort.fallbacks <= max_fallbacks
    assert found.effort.programs == 2 * models.n_weights
    np.testing.assert_allclose(found.attained, expected.attained, rtol=0, atol=2 * tol * norm)
    # No certified bound is inside the range that HiGHS attains.
    assert (found.proven[:, 0] <= expected.attained[:, 0] + 1e-7 * norm).all()
    assert (found.proven[:, 1] >= expected.attained[:, 1] - 1e-7 * norm).all()
    assert np.abs(found.proven - found.attained).max() <= tol * norm
    assert models.violation(found.coef.toarray(), found.offset).max() <= 1e-9 * norm
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_extremes_agree_with_highs(kind, formulation, tol):
    assert_agrees(tall_models(kind, 1, formulation), tol, max_fallbacks=2)


@pytest.mark.parametrize("kind", ["plain", "weights"])
def test_extremes_agree_with_the_simplex_method_at_medium_size(kind):
    models = tall_models(kind, 0, n_rows=(2000, 2500), n_features=(30, 31))
    extremes = all_extremes(models)[::7]
    solver = InteriorSolver(models, 1e-9)
    found = check_solutions(models, extremes, solver(extremes))
    simplex = SimplexSolver(models)
    expected = check_solutions(models, extremes, simplex(extremes))
    atol = 2e-9 * largest_norm(models)
    assert solver.effort.fallbacks == 0
    np.testing.assert_allclose(found.attained, expected.attained, rtol=0, atol=atol)
    assert found.violation.max() <= 1e-12


def regression_data(rng, n=300):
    X = rng.normal(size=(n, 6))
    y = X[:, 0] - 0.5 * X[:, 1] + rng.standard_t(3, size=n)
    return RegressionData(X, y / y.std(), np.ones(n), epsilon=0.1)


def ordinal_data(rng, n=300):
    X = rng.normal(size=(n, 5))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-1.0, 0.0, 0.8]).astype(float)
    return OrdinalData(X, y, rng.uniform(0.5, 2.0, n))


@pytest.mark.parametrize("make_data", [regression_data, ordinal_data])
def test_extremes_of_other_tasks_agree_with_highs(make_data):
    data = make_data(np.random.RandomState(0))
    baseline = SEPARATE.fit(data, 100.0 / data.total_weight)
    assert_agrees(SEPARATE.equivalent_models(baseline, TOLERANCE))


def test_extremes_of_a_sparse_table_agree_with_those_of_the_dense_table():
    models = tall_models("binary", 2)
    rows = replace(models.rows, table=sp.csr_array(models.rows.table))
    start = replace(models.start, rows=rows)
    sparse = replace(models, rows=rows, start=start)
    extremes = all_extremes(models)
    dense_found = InteriorSolver(models)(extremes)
    found = InteriorSolver(sparse)(extremes)
    norm = largest_norm(models)
    np.testing.assert_allclose(found.coef, dense_found.coef, rtol=0, atol=1e-6 * norm)


def test_extremes_within_limits_on_weights_agree_with_highs():
    models = tall_models("plain", 3)
    norm = largest_norm(models)
    ranges = weight_ranges(models, [0, 1])
    middle = ranges.attained.mean(axis=1)
    limits = [WeightLimit(0, float(middle[0]), np.inf), WeightLimit(1, -norm, float(middle[1]))]
    limited = restrict_models(models, limits)
    limited = solvers_for(limited.rows).with_start(limited, models.start, 100.0 / 400)
    found = assert_agrees(limited)
    assert satisfies_limits(found.coef.toarray(), [WeightLimit(0, middle[0] - 1e-9, np.inf)]).all()


def test_working_sets_of_features_give_the_same_extremes(monkeypatch):
    models = tall_models("plain", 5, n_features=(25, 26))
    monkeypatch.setattr(interior, "SMALL_WORKING_SET", 3)  # LPs are solved again in small groups
    assert_agrees(models)


def test_unsolved_extremes_are_left_to_the_simplex_method(monkeypatch):
    models = tall_models("plain", 1)
    monkeypatch.setattr(own_rows, "MAX_STEPS", 1)
    found = assert_agrees(models, max_fallbacks=np.inf)
    assert found.effort.fallbacks > 0


def test_offsets_can_be_maximized():
    """The objective is a vector over weights and offsets."""
    models = tall_models("plain", 4)
    rows = models.rows
    solver = InteriorSolver(models)
    objective = np.zeros((2, rows.n_weights + 1))
    objective[:, -1] = [1.0, -1.0]
    objective[0, 0], objective[0, 1] = 1.0, -1.0
    batch = interior._Batch(solver, objective / [*[1.0] * rows.n_weights, solver.units.norm])
    batch.solve(np.arange(2), np.arange(rows.n_weights), 1e-9)
    program = models.program
    for row, u in zip(objective, batch.u, strict=True):
        cost = np.zeros(program.n_columns)
        cost[program.blocks["positive"]], cost[program.blocks["negative"]] = -row[:-1], row[:-1]
        cost[program.blocks["offset"]] = -row[-1:]
        hinge = np.isfinite(program.row_lower)
        matrix = program.matrix.toarray()
        A = np.vstack([-matrix[hinge], matrix[~hinge]])
        b = np.r_[-program.row_lower[hinge], program.row_upper[~hinge]]
        bounds = np.column_stack([program.column_lower, program.column_upper])
        best = -linprog(cost, A, b, bounds=bounds).fun
        value = row[:-1] @ u[:-1] * solver.units.norm + row[-1] * u[-1]
        assert value == pytest.approx(best, abs=1e-6)


def test_a_start_is_required():
    with pytest.raises(NotAVertexError):
        InteriorSolver(replace(tall_models("plain", 0), start=None))


def test_many_constraints_select_the_interior_point_method(monkeypatch):
    models = tall_models("plain", 0)
    family = solvers_for(models.rows)
    assert isinstance(family.extremes(models), SimplexSolver)
    assert isinstance(family.baseline(1e-3), L1Baseline)
    monkeypatch.setattr(families, "MIN_ROWS_FOR_INTERIOR", 100)
    assert isinstance(family.extremes(models), InteriorSolver)
    assert isinstance(family.baseline(1e-3), InteriorBaseline)
    assert isinstance(family.baseline(), L1Baseline)
    hard = solvers_for(replace(models.rows, weight=np.full(models.rows.n_rows, np.inf)))
    assert isinstance(hard.baseline(1e-3), L1Baseline)


def test_the_tolerance_limits_the_gap(monkeypatch):
    monkeypatch.setattr(families, "MIN_ROWS_FOR_INTERIOR", 100)
    models = tall_models("plain", 6)
    norm = largest_norm(models)
    loose, tight = (weight_ranges(models, tol=tol) for tol in (1e-3, 1e-9))
    assert tight.gap.max() <= 1e-9 * norm < loose.gap.max() <= 1e-3 * norm
    features = np.arange(models.n_weights)
    largest = directed_maxima(models, features, 0.0, 1e-3)
    assert (largest <= tight.interval[:, 1] + 1e-9 * norm).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_baselines_are_within_the_tolerance(kind, tol):
    rows = tall_samples(kind, 2).rows
    solver = InteriorBaseline(rows, tol)
    exact = L1Baseline(rows)
    for C in np.array([0.1, 10.0, 100.0, 1000.0]) / rows.weight.sum():
        found, expected = solver.solve(C), exact.solve(C)
        assert relative_gap(rows, C, found) <= tol
        cost, best = (
            np.abs(s.coef).sum() + C * rows.loss(s.coef[None], s.offset[None])[0]
            for s in (found, expected)
        )
        assert best * (1 - 1e-9) <= cost <= best * (1 + tol)
    assert solver.fallbacks <= 2  # separable tables at large C


@pytest.mark.parametrize("make_data", [regression_data, ordinal_data])
def test_baselines_of_other_tasks_are_within_the_tolerance(make_data):
    rows = make_data(np.random.RandomState(1)).rows
    solver = InteriorBaseline(rows, 1e-3)
    for C in np.array([1.0, 30.0, 300.0]) / rows.weight_in_loss.sum():
        assert relative_gap(rows, C, solver.solve(C)) <= 1e-3
    assert solver.fallbacks == 0
