"""Tests that certified bounds are valid for any dual variables."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.solver.interface import Extreme, ExtremeSolutions, Objectives
from allrelevant.bounds.solver.proofs import (
    Certificates,
    _rate,
    check_solutions,
    intersect,
    outer_ranges,
)
from allrelevant.bounds.solver.ranges import weight_ranges
from tests.bounds.generated import generated_samples


def equivalent_models(samples, formulation="separate"):
    baseline = FORMULATIONS[formulation].fit(samples, 1.0)
    return FORMULATIONS[formulation].equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    formulation=st.sampled_from(["separate", "joint"]),
    size=st.floats(1e-3, 10.0),
)
def test_random_multipliers_give_valid_bounds(seed, formulation, size):
    samples = generated_samples(seed % 20)
    rng = np.random.RandomState(seed)
    baseline = FORMULATIONS[formulation].fit(samples, 1.0)
    models = FORMULATIONS[formulation].equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
    feature = int(rng.randint(samples.n_features))
    smallest, largest = weight_ranges(models, [feature]).attained[0]
    multipliers = size * rng.exponential(size=(4, models.rows.n_rows))
    multipliers[2:] *= rng.uniform(size=multipliers[2:].shape) < 0.1
    signs = np.array([1, -1, 1, -1])
    objectives = Objectives.from_extremes([Extreme.of_weight(feature, sign) for sign in signs])
    proven = Certificates(models, multipliers).maxima(objectives)
    assert (proven >= np.where(signs > 0, largest, -smallest) - 1e-9).all()


def test_optimal_multipliers_give_tight_bounds():
    samples = generated_samples(4)
    baseline = FORMULATIONS["separate"].fit(samples, 1.0)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
    ranges = weight_ranges(models)
    np.testing.assert_allclose(ranges.proven, ranges.attained, atol=1e-8)


def test_zero_multipliers_give_the_norm_budget():
    """The certified bound on a weight is the norm budget if all dual variables are zero."""
    samples = generated_samples(4)
    baseline = FORMULATIONS["separate"].fit(samples, 1.0)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
    zeros = np.zeros((1, models.rows.n_rows))
    objectives = Objectives.from_extremes([Extreme.of_weight(0, 1)])
    proven = Certificates(models, zeros).maxima(objectives)
    np.testing.assert_allclose(proven, 1.1 * baseline.model.norm_)


def test_offsets_are_within_their_range():
    """The offset of every witness is within the range that the certificates assume."""
    for formulation in FORMULATIONS.values():
        samples = generated_samples(7)
        baseline = formulation.fit(samples, 1.0)
        models = formulation.equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
        offset = weight_ranges(models).offset[:, 0]
        low, high = models.offset_range[0]
        assert (low <= offset).all()
        assert (offset <= high).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), formulation=st.sampled_from(["separate", "joint"]))
def test_one_vector_of_multipliers_bounds_every_weight(seed, formulation):
    """The baseline's dual variables and random ones certify bounds that hold for all witnesses."""
    samples = generated_samples(seed % 20)
    baseline = FORMULATIONS[formulation].fit(samples, (0.1, 1.0, 10.0)[seed % 3])
    models = FORMULATIONS[formulation].equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
    assert models.start is not None
    ranges = weight_ranges(models, with_outer_ranges=True)
    attained = ranges.attained
    random = np.random.RandomState(seed).exponential(size=samples.n_samples)
    for multipliers in (models.start.multipliers, random):
        proven = Certificates(models, multipliers[None]).ranges()
        assert (proven[:, 0] <= attained[:, 0] + 1e-9).all()
        assert (proven[:, 1] >= attained[:, 1] - 1e-9).all()
    assert (ranges.outer[:, 0] <= attained[:, 0] + 1e-9).all()
    assert (ranges.outer[:, 1] >= attained[:, 1] - 1e-9).all()


def test_one_lp_tightens_the_bounds_of_other_features():
    samples = generated_samples(5)
    baseline = FORMULATIONS["separate"].fit(samples, 1.0)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
    before = outer_ranges(models)
    after = intersect(before, weight_ranges(models, [0], with_outer_ranges=True).outer)
    assert (after >= before)[:, 0].all()
    assert (after <= before)[:, 1].all()
    assert (np.ptp(after[1:], axis=1) < 0.99 * np.ptp(before[1:], axis=1)).any()


def test_baseline_multipliers_give_the_closed_form():
    """The bound certified by the baseline's dual variables has a closed form.

    It is the slack divided by ``1 - |multipliers @ table|`` at the feature.
    """
    samples = generated_samples(5)
    baseline = FORMULATIONS["separate"].fit(samples, 1.0)
    models = FORMULATIONS["separate"].equivalent_models(baseline, Tolerance(0.01, 0.0, 1e-6))
    assert baseline.start is not None
    combination = np.abs(baseline.start.multipliers @ samples.rows.table)
    unused = combination < 0.999
    upper = np.abs(Certificates(models, baseline.start.multipliers[None]).ranges()).max(axis=1)
    expected = (0.01 * baseline.model.norm_ + 1e-6) / (1 - combination[unused])
    np.testing.assert_allclose(upper[unused], expected, rtol=1e-6)
    assert unused.any()


@pytest.mark.parametrize("seed", range(5))
def test_directions_are_bounded_like_single_weights(seed):
    samples = generated_samples(seed)
    models = equivalent_models(samples)
    assert models.start is not None
    random = np.random.RandomState(seed).exponential(size=samples.n_samples)
    certificates = Certificates(models, np.array([models.start.multipliers, random]))
    weights = np.arange(models.n_weights)
    identity = np.eye(models.n_weights)
    low, high = certificates.ranges().T
    np.testing.assert_allclose(certificates.direction_maxima(identity, weights), high)
    np.testing.assert_allclose(certificates.direction_maxima(-identity, weights), -low)
    # No model exceeds the bound in any direction.
    directions = np.random.RandomState(seed).normal(size=(20, 3))
    some = weights[-3:]
    proven = certificates.direction_maxima(directions, some)
    attained = weight_ranges(models).coef[:, some] @ directions.T
    assert (attained <= proven + 1e-9).all()


def test_the_violation_of_a_large_model_is_relative_to_its_norm():
    models = equivalent_models(generated_samples(3))
    start = models.start
    assert start is not None
    extremes = [Extreme.of_weight(0, 1)] * 2
    coef = np.array([1e-3 * start.coef, 100 * start.coef])
    offset, multipliers = np.array([start.offset] * 2), np.array([start.multipliers] * 2)
    checked = check_solutions(models, extremes, ExtremeSolutions(coef, offset, multipliers))
    size = np.abs(coef).sum(axis=1)
    assert size[0] < 1 < size[1]
    expected = models.violations(coef, offset).max(axis=1) / [1.0, size[1]]
    np.testing.assert_allclose(checked.violation, expected)
    np.testing.assert_allclose(checked.gap, np.abs(checked.proven - checked.attained))


def test_all_results_of_a_solution_are_replaced():
    models = equivalent_models(generated_samples(3))
    start = models.start
    assert start is not None

    def checked(factors):
        coef = np.outer(factors, start.coef)
        n = len(factors)
        offset, multipliers = np.array([start.offset] * n), np.array([start.multipliers] * n)
        solutions = ExtremeSolutions(coef, offset, multipliers)
        return check_solutions(models, [Extreme.of_weight(0, 1)] * n, solutions)

    both, second = checked([1.0, 2.0]), checked([5.0])
    replaced = both.with_replaced(np.array([1]), second)
    for name in ("attained", "proven", "inner", "distance", "violation"):
        assert getattr(replaced, name)[1] == getattr(second, name)[0]


def test_a_price_without_a_budget_is_infinite():
    price = np.array([0.0, 2.0])
    assert _rate(price, 4.0).tolist() == [0.0, 0.5]
    assert _rate(price, 0.0).tolist() == [0.0, np.inf]


def test_prices_are_the_changes_of_a_bound_with_the_budgets():
    models = equivalent_models(generated_samples(4))
    assert models.start is not None
    extremes = [Extreme.of_weight(1, 1)]
    objectives = Objectives.from_extremes(extremes)
    multipliers = models.start.multipliers[None]
    before = Certificates(models, multipliers)
    prices = before.prices(objectives)[0]
    for k, budget in enumerate(models.budgets):
        budgets = list(models.budgets)
        budgets[k] = replace(budget, limit=budget.limit + 1.0)
        after = Certificates(replace(models, budgets=tuple(budgets)), multipliers)
        change = after.maxima(objectives) - before.maxima(objectives)
        np.testing.assert_allclose(change, prices[k], rtol=1e-9)
    assert prices[-1] == 0  # there are no hard constraints
