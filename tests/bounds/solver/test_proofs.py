"""Tests that certified bounds are valid for any dual variables."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.solver.interface import Extreme, Objectives
from allrelevant.bounds.solver.proofs import Certificates, intersect, outer_ranges
from allrelevant.bounds.solver.ranges import weight_ranges
from tests.bounds.generated import generated_samples


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
