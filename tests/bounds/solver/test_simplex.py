"""Tests that the simplex solver and HiGHS agree on difficult tables."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp

from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.programs.equivalent_models import WeightLimit, restrict_models
from allrelevant.bounds.solver import simplex
from allrelevant.bounds.solver.dictionary import Vertex
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.interface import NotAVertexError
from allrelevant.bounds.solver.ranges import weight_ranges
from allrelevant.bounds.solver.simplex import SimplexSolver
from allrelevant.datasets import make_linear_classification
from tests.bounds.generated import generated_samples
from tests.bounds.nasty import KINDS, nasty_samples

SLACKS = (Tolerance(0.1, 0.05, 1e-6), Tolerance(0.01, 0.0, 1e-6), Tolerance(0.5, 0.5, 1e-3))


def comparisons(kind, n_tables, first_seed=0):
    """Yield each table's seed, the largest difference between solvers, and solver statistics.

    The difference is relative to the norm. Tables whose baseline uses no feature are skipped.
    """
    compared = 0
    for seed in count(first_seed):
        samples = nasty_samples(kind, seed)
        formulation = FORMULATIONS["joint" if seed % 5 == 0 else "separate"]
        baseline = formulation.fit(samples, (0.1, 1.0, 10.0)[seed % 3])
        if not baseline.model.uses_features:
            continue
        models = formulation.equivalent_models(baseline, SLACKS[seed % len(SLACKS)])
        fast, reference = weight_ranges(models), weight_ranges(models, solver=HighsSolver)
        difference = np.abs(fast.interval - reference.interval).max()
        yield seed, difference / max(1.0, baseline.model.norm_), fast.effort
        compared += 1
        if compared == n_tables:
            return


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_the_reference(kind):
    for seed, difference, _ in comparisons(kind, 12):
        assert difference <= 1e-6, f"seed {seed}"


@pytest.mark.parametrize("seed", [18, 58, 66])
def test_rays_whose_slope_is_zero_up_to_rounding_do_not_stop_the_search(seed):
    """With few nonzero values per column, many columns are parallel, and LPs are degenerate."""
    rng = np.random.default_rng(seed)
    X = sp.random_array(
        (60, 600), density=0.025, rng=rng, data_sampler=rng.standard_normal
    ).toarray()
    X[:, :5] = rng.standard_normal((60, 5)) * (rng.random((60, 5)) < 0.3)
    y = np.where(X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(60) > 0, 1.0, -1.0)
    X /= np.maximum(X.std(axis=0), 1e-6)
    samples = ClassificationData(sp.csr_array(X), y, np.ones(60))
    baseline = FORMULATIONS["separate"].fit(samples, (0.3, 1.0, 10.0)[seed % 3])
    models = FORMULATIONS["separate"].equivalent_models(baseline, SLACKS[0])
    features = np.flatnonzero(X.any(axis=0))[::3]
    ranges = weight_ranges(models, features)
    assert ranges.effort.fallbacks <= 2
    assert ranges.effort.pivots <= 100 * ranges.effort.programs
    assert np.abs(ranges.proven - ranges.attained).max() <= 1e-6


def test_few_lps_need_the_fallback():
    efforts = [effort for _, _, effort in comparisons("plain", 20)]
    programs = sum(effort.programs for effort in efforts)
    assert sum(effort.fallbacks for effort in efforts) <= 0.01 * programs  # because of rounding
    assert sum(effort.pivots for effort in efforts) > 0


def test_row_and_column_generation_find_the_optimum(monkeypatch):
    """Weight ranges do not change if the working set starts with very few rows and features."""
    data = make_linear_classification(
        80, n_strong=3, n_weak=4, n_irrelevant=30, flip=0.1, random_state=0
    )
    samples = ClassificationData(data.X, np.where(data.y == 1, 1.0, -1.0), np.ones(80))
    baseline = FORMULATIONS["separate"].fit(samples, 0.5)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.3, 0.1, 1e-6))
    full = weight_ranges(models, solver=SimplexSolver)
    monkeypatch.setattr(simplex, "ALL_FEATURES_UP_TO", 0)
    monkeypatch.setattr(simplex, "NEARLY_USED", 1.1)
    monkeypatch.setattr(simplex, "MAX_CANDIDATES", 0)
    monkeypatch.setattr(simplex, "DISTANT_SLACK", 1e-6)
    generated = weight_ranges(models, solver=SimplexSolver)
    np.testing.assert_allclose(generated.interval, full.interval, atol=1e-8)
    assert generated.effort.programs > full.effort.programs


@pytest.mark.parametrize("n_features", [450, 2000])
def test_candidates_enter_when_they_are_needed(n_features):
    """LPs that start with few features have the solutions of HiGHS, in every role of a feature."""
    rng = np.random.RandomState(n_features)
    X = rng.standard_normal((30, n_features))
    samples = ClassificationData(X, np.repeat([-1.0, 1.0], 15), np.ones(30))
    baseline = FORMULATIONS["separate"].fit(samples, 0.2)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.3, 0.1, 1e-6))
    assert models.start is not None
    likely = np.argsort(-np.abs(models.start.rows.row_combination(models.start.multipliers)))
    features = np.concatenate([likely[:8], likely[60:66], likely[-6:]])
    ranges = weight_ranges(models, features, solver=SimplexSolver)
    assert ranges.effort.fallbacks == 0
    reference = weight_ranges(models, features, solver=HighsSolver)
    np.testing.assert_allclose(ranges.attained, reference.attained, atol=1e-7)


def test_solutions_may_need_more_than_128_candidates():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((400, 2000))
    samples = ClassificationData(X, rng.choice([-1.0, 1.0], 400), np.ones(400))
    baseline = FORMULATIONS["separate"].fit(samples, 0.1)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.2, 0.0, 1e-6))
    ranges = weight_ranges(models, [0], tol=1e-4)
    assert ranges.effort.fallbacks == 0
    used, witnesses = np.flatnonzero(baseline.model.coef_), ranges.coef.toarray()
    assert max(len(np.setdiff1d(np.flatnonzero(w), used)) for w in witnesses) > 128


def vertex_at(factor):
    """Return the baseline, and the vertex at the baseline's weights times a factor."""
    samples = generated_samples(3)
    baseline = FORMULATIONS["separate"].fit(samples, 1.0)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.1, 0.0, 1e-6))
    offset = np.array([baseline.model.intercept_])
    return baseline, Vertex.of_model(models.rows, factor * baseline.model.coef_, offset)


def test_vertex_has_the_weights_of_the_baseline():
    baseline, vertex = vertex_at(1.0)
    weights = vertex.values()[: len(vertex.used)]
    np.testing.assert_allclose(weights, baseline.model.coef_[vertex.used], atol=1e-8)


def test_model_that_is_not_a_vertex_raises():
    with pytest.raises(NotAVertexError):
        vertex_at(0.9)


def test_start_that_exceeds_a_budget_is_allowed():
    samples = generated_samples(3)
    baseline = FORMULATIONS["separate"].fit(samples, 1.0)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.1, 0.0, 1e-6))
    norm, loss = models.budgets
    budgets = (
        replace(norm, limit=0.8 * baseline.model.norm_),
        replace(loss, limit=2.0 * loss.limit),
    )
    tightened = replace(models, budgets=budgets)
    assert (
        tightened.violation(baseline.model.coef_[None], np.array([[baseline.model.intercept_]]))[0]
        > 0
    )
    ranges = weight_ranges(tightened)
    assert ranges.effort.fallbacks == 0
    reference = weight_ranges(tightened, solver=HighsSolver)
    np.testing.assert_allclose(ranges.attained, reference.attained, atol=1e-7)


def test_start_that_violates_hard_constraints_raises():
    samples = generated_samples(3)
    baseline = FORMULATIONS["separate"].fit(samples, 1.0)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.1, 0.0, 1e-6))
    used = int(np.argmax(np.abs(baseline.model.coef_)))
    limited = restrict_models(models, [WeightLimit(used, 0.0, 0.0)])
    assert models.start is not None
    multipliers = np.r_[models.start.multipliers, 0.0, 0.0]
    start = replace(models.start, multipliers=multipliers, rows=limited.rows)
    limited = replace(limited, start=start)
    with pytest.raises(NotAVertexError, match="hard constraints"):
        SimplexSolver(limited)
