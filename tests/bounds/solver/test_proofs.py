"""A certificate is valid whatever duals it is made of."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.bounds.equivalence import FORMULATIONS, Slack, fit_baseline
from allrelevant.bounds.solver.intervals import weight_ranges
from allrelevant.bounds.solver.proofs import certified_minima
from tests.bounds.generated import generated_samples


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    formulation=st.sampled_from(["separate", "joint"]),
    size=st.floats(1e-3, 10.0),
)
def test_random_duals_never_prove_too_much(seed, formulation, size):
    samples = generated_samples(seed % 20)
    rng = np.random.RandomState(seed)
    baseline = fit_baseline(FORMULATIONS[formulation], samples, 1.0)
    models = FORMULATIONS[formulation].equivalent(samples, baseline, Slack(0.1, 0.05, 1e-6))
    feature = int(rng.randint(samples.n_features))
    smallest = weight_ranges(models, [feature]).attained[0, 0]
    cost = np.zeros((5, models.program.n_columns))
    cost[:, feature], cost[:, samples.n_features + feature] = 1.0, -1.0
    duals = size * rng.normal(size=(5, models.program.n_rows))
    assert (certified_minima(models, cost, duals) <= smallest + 1e-9).all()


def test_optimal_duals_prove_the_optimum():
    samples = generated_samples(4)
    baseline = fit_baseline(FORMULATIONS["separate"], samples, 1.0)
    models = FORMULATIONS["separate"].equivalent(samples, baseline, Slack(0.1, 0.05, 1e-6))
    ranges = weight_ranges(models)
    np.testing.assert_allclose(ranges.proven, ranges.attained, atol=1e-8)


def test_every_column_is_bounded_or_covered_once():
    """Otherwise a certificate could be minus infinity."""
    for formulation in FORMULATIONS.values():
        samples = generated_samples(7)
        baseline = fit_baseline(formulation, samples, 1.0)
        models = formulation.equivalent(samples, baseline, Slack(0.1, 0.05, 1e-6))
        covered = np.concatenate([cover.columns for cover in models.covers])
        unbounded = np.flatnonzero(np.isinf(models.program.column_upper))
        assert sorted(covered) == sorted(unbounded)
        assert np.isfinite(models.program.column_lower).all()
