"""Tests of weight ranges: agreement with the LPs of the papers, and feasible witnesses."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from allrelevant import SolverError
from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.solver import families
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.proofs import outer_ranges
from allrelevant.bounds.solver.ranges import (
    LOWER,
    UPPER,
    absolute,
    join_ranges,
    size_ranges,
    weight_ranges,
)
from allrelevant.datasets import make_linear_classification
from allrelevant.deadline import Deadline
from tests.bounds.generated import generated_samples
from tests.bounds.naive import naive_joint, naive_l1_svm, naive_separate

TOLERANCE = 1e-6


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return ClassificationData((X - X.mean(axis=0)) / X.std(axis=0), 2.0 * y - 1.0, np.ones(len(y)))


def equivalent_models(formulation, samples, C, slack):
    baseline = FORMULATIONS[formulation].fit(samples, C)
    return baseline, FORMULATIONS[formulation].equivalent_models(baseline, slack)


def naive_intervals(formulation, samples, baseline, slack):
    X, y, weight = samples.X, samples.y, samples.weight
    norm_limit = (1 + slack.norm_slack) * baseline.model.norm_
    loss_limit = (1 + slack.loss_slack) * baseline.model.loss_ + slack.loss_tol
    if formulation == "separate":
        return naive_separate(X, y, weight, norm_limit, loss_limit)
    return naive_joint(X, y, weight, baseline.model.C_, norm_limit + baseline.model.C_ * loss_limit)


CASES = [("breast cancer", 1.0, Tolerance(0.001, 0.0, 1e-6))] + [
    (seed, C, Tolerance(delta, loss_slack, 1e-6))
    for seed, (C, delta, loss_slack) in enumerate(
        [(0.3, 0.1, 0.1), (1.0, 0.01, 0.0), (10.0, 0.2, 0.05), (1.0, 0.0, 0.0)] * 5
    )
]


@pytest.mark.parametrize("formulation", ["separate", "joint"])
@pytest.mark.parametrize(("data", "C", "slack"), CASES, ids=lambda value: str(value))
def test_intervals_equal_those_of_the_papers_lps(formulation, data, C, slack):
    samples = breast_cancer() if data == "breast cancer" else generated_samples(data)
    baseline, models = equivalent_models(formulation, samples, C, slack)
    ranges = weight_ranges(models)

    if formulation == "separate":
        optimum = naive_l1_svm(samples.X, samples.y, C, samples.weight)
        assert baseline.model.norm_ + C * baseline.model.loss_ == pytest.approx(
            optimum, abs=TOLERANCE
        )
    naive = naive_intervals(formulation, samples, baseline, slack)
    np.testing.assert_allclose(ranges.interval, naive, atol=TOLERANCE, rtol=0)
    assert ranges.gap.max() <= TOLERANCE
    check_witnesses(models, ranges, samples)


def check_witnesses(models, ranges, samples):
    """Check with plain NumPy that each witness is feasible and attains its bound."""
    for index, feature in enumerate(ranges.features):
        for side in (LOWER, UPPER):
            coef, offset = ranges.witness(index, side)
            assert abs(coef[feature]) == pytest.approx(ranges.interval[index, side], abs=TOLERANCE)
            margin = samples.y * (samples.X @ coef + offset)
            norm = np.abs(coef).sum()
            loss = samples.weight @ np.maximum(0.0, 1.0 - margin)
            for budget in models.budgets:
                spent = budget.norm_coefficient * norm + budget.loss_coefficient * loss
                assert spent <= budget.limit + TOLERANCE


class ScaledSolver:
    """Faulty solver that multiplies correct solutions by constant factors."""

    is_reference = False

    def __init__(self, models, **factors):
        self.solver = HighsSolver(models)
        self.factors = factors
        self.effort, self.models = self.solver.effort, models

    def __call__(self, extremes):
        solutions = self.solver(extremes)
        changed = {name: factor * getattr(solutions, name) for name, factor in self.factors.items()}
        return replace(solutions, **changed)


@pytest.fixture
def models():
    _, models = equivalent_models("separate", generated_samples(3), 1.0, Tolerance(0.1, 0.0, 1e-6))
    return models


@pytest.mark.parametrize("factors", [{"multipliers": 0.5}, {"coef": 1.01}, {"coef": np.nan}])
def test_wrong_solutions_are_detected(models, factors):
    """HiGHS solves an LP again if its solution fails verification."""
    expected = weight_ranges(models)
    ranges = weight_ranges(models, solver=lambda models: ScaledSolver(models, **factors))
    assert ranges.effort.fallbacks > 0
    np.testing.assert_allclose(ranges.attained, expected.attained, atol=1e-8)
    assert ranges.gap.max() <= 1e-6


def test_without_fallback_bad_multipliers_only_widen_the_gap(models, monkeypatch):
    monkeypatch.setattr(families, "MAX_ROWS_FOR_HIGHS", 0)
    expected = weight_ranges(models)
    ranges = weight_ranges(models, solver=lambda models: ScaledSolver(models, multipliers=0.5))
    assert ranges.gap.max() > 0.01
    assert (ranges.proven[:, 0] <= expected.attained[:, 0] + 1e-9).all()
    assert (ranges.proven[:, 1] >= expected.attained[:, 1] - 1e-9).all()


def test_without_fallback_the_baseline_replaces_nan_solutions(models, monkeypatch):
    monkeypatch.setattr(families, "MAX_ROWS_FOR_HIGHS", 0)
    ranges = weight_ranges(models, solver=lambda models: ScaledSolver(models, coef=np.nan))
    np.testing.assert_allclose(ranges.coef.toarray(), np.tile(models.start.coef, (12, 1)))
    expected = weight_ranges(models)
    assert (ranges.proven[:, 0] <= expected.attained[:, 0] + 1e-9).all()
    assert (ranges.proven[:, 1] >= expected.attained[:, 1] - 1e-9).all()
    assert np.isfinite(ranges.gap).all()


def test_without_fallback_slightly_infeasible_solutions_become_feasible(monkeypatch):
    _, models = equivalent_models("separate", generated_samples(3), 1.0, Tolerance(0.1, 0.05, 1e-6))
    monkeypatch.setattr(families, "MAX_ROWS_FOR_HIGHS", 0)
    expected = weight_ranges(models)
    ranges = weight_ranges(models, solver=lambda models: ScaledSolver(models, coef=1.0 + 1e-5))
    assert models.violation(ranges.coef.toarray(), ranges.offset).max() <= 1e-12
    np.testing.assert_allclose(ranges.attained, expected.attained, atol=1e-2)
    assert (ranges.gap > 0).any()


def test_infeasible_witness_raises(models):
    class Infeasible(HighsSolver):
        def __call__(self, extremes):
            solutions = super().__call__(extremes)
            return replace(solutions, coef=1.01 * solutions.coef, offset=1.01 * solutions.offset)

    with pytest.raises(SolverError, match="violates the constraints"):
        weight_ranges(models, solver=Infeasible)


def test_no_feature_is_started_after_the_deadline(models):
    assert len(weight_ranges(models, deadline=Deadline.after(-1.0)).features) == 0
    assert len(weight_ranges(models, deadline=Deadline.after(60.0)).features) == models.n_weights


def test_outer_ranges_contain_every_range(models):
    outer, ranges = outer_ranges(models), weight_ranges(models)
    assert (outer[:, 0] <= ranges.attained[:, 0] + 1e-9).all()
    assert (outer[:, 1] >= ranges.attained[:, 1] - 1e-9).all()
    assert np.isfinite(outer).all()


def test_joined_ranges_equal_those_of_all_features():
    samples = generated_samples(2)
    _, models = equivalent_models("separate", samples, 1.0, Tolerance(0.1, 0.1, 1e-6))
    d = samples.n_features
    whole = weight_ranges(models)
    joined = join_ranges([weight_ranges(models, range(2)), weight_ranges(models, range(2, d))])
    np.testing.assert_array_equal(joined.features, whole.features)
    np.testing.assert_allclose(joined.attained, whole.attained, atol=1e-9)
    check_witnesses(models, joined, samples)


@pytest.mark.parametrize("formulation", ["separate", "joint"])
@pytest.mark.parametrize("norm_slack", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_size_ranges_equal_weight_ranges_with_fewer_lps(formulation, norm_slack, seed):
    samples = generated_samples(seed)
    _, models = equivalent_models(formulation, samples, 1.0, Tolerance(norm_slack, 0.05, 1e-6))
    features = np.arange(samples.n_features)[::-1]
    sizes, effort = size_ranges(models, features)
    np.testing.assert_allclose(sizes, weight_ranges(models, features).interval, atol=1e-9)
    assert 0 <= effort.spared <= samples.n_features


def test_irrelevant_features_take_one_lp_each():
    data = make_linear_classification(100, n_strong=2, n_weak=0, n_irrelevant=18, random_state=0)
    samples = ClassificationData(data.X, np.where(data.y > 0, 1.0, -1.0), np.ones(100))
    _, models = equivalent_models("separate", samples, 0.1, Tolerance(0.01, 0.0, 1e-6))
    _, effort = size_ranges(models, np.arange(20))
    assert effort.spared >= 14


def test_more_slack_never_narrows_an_interval():
    samples = generated_samples(1)
    baseline, tight = equivalent_models("separate", samples, 1.0, Tolerance(0.01, 0.0, 1e-6))
    loose = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.1, 0.1, 1e-6))
    narrow, wide = weight_ranges(tight).attained, weight_ranges(loose).attained
    assert (wide[:, 0] <= narrow[:, 0] + 1e-9).all()
    assert (wide[:, 1] >= narrow[:, 1] - 1e-9).all()


def test_interval_of_one_feature_has_a_closed_form():
    """The interval of the only feature is [1, norm limit] if y = x and x is -1 or +1."""
    samples = ClassificationData(
        np.array([[-1.0], [1.0]] * 5), np.array([-1.0, 1.0] * 5), np.ones(10)
    )
    baseline, models = equivalent_models("separate", samples, 10.0, Tolerance(0.25, 0.0, 0.0))
    assert baseline.model.norm_ == pytest.approx(1.0)
    np.testing.assert_allclose(weight_ranges(models).interval, [[1.0, 1.25]], atol=1e-9)


def test_copied_features_replace_each_other():
    samples = ClassificationData(
        np.array([[-1.0, -1.0], [1.0, 1.0]] * 5), np.array([-1.0, 1.0] * 5), np.ones(10)
    )
    _, models = equivalent_models("separate", samples, 10.0, Tolerance(0.0, 0.0, 0.0))
    np.testing.assert_allclose(weight_ranges(models).interval, [[0.0, 1.0]] * 2, atol=1e-9)


def test_smallest_weight_at_rounding_level_is_zero():
    """A smallest absolute weight at the level of rounding errors is set to zero.

    Otherwise, an unnecessary feature would appear necessary on some platforms.
    """
    signed = np.array([[1e-15, 1.0], [-1.0, -1e-15], [1e-9, 1.0], [-1e-15, 1.0]])
    np.testing.assert_array_equal(absolute(signed)[:, 0], [0.0, 0.0, 1e-9, 0.0])
    np.testing.assert_array_equal(absolute(signed)[:, 1], 1.0)
