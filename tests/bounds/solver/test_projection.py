"""Tests that projected certificates are valid, and tighter than those of the baseline."""

import numpy as np
import pytest

from allrelevant.bounds.solver.projection import ProjectedCertificates
from allrelevant.bounds.solver.proofs import outer_ranges
from allrelevant.bounds.solver.ranges import weight_ranges
from allrelevant.deadline import Deadline
from allrelevant.exceptions import TimeLimitError
from tests.bounds.solver.wide_tables import wide_models


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("formulation", ["separate", "joint"])
@pytest.mark.parametrize("seed", range(3))
def test_no_model_is_outside(seed, formulation, dense):
    models = wide_models(seed, formulation, dense=dense)
    exact = weight_ranges(models).attained
    scale = np.abs(exact).max()
    features = np.arange(models.n_weights)
    for factor in (0.2, 1.0, 5.0):
        threshold = np.full(len(features), factor * np.median(np.abs(exact)))
        found = ProjectedCertificates(models).ranges(features, threshold)
        assert (found[:, 0] <= exact[:, 0] + 1e-8 * scale).all()
        assert (found[:, 1] >= exact[:, 1] - 1e-8 * scale).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_many_features_below_a_threshold_are_certified(seed):
    models = wide_models(seed, shape=(100, 800))
    projected = ProjectedCertificates(models)
    outer = np.abs(outer_ranges(models)).max(axis=1)
    threshold = 1.5 * np.quantile(outer, 0.05)  # the gap of the baseline's certificate
    features = np.flatnonzero(outer > threshold)
    threshold = np.full(len(features), threshold)
    assert projected.can_reach(threshold).all()
    assert not projected.can_reach(0.5 * threshold).any()
    size = np.abs(projected.ranges(features, threshold)).max(axis=1)
    exact = weight_ranges(models, features).interval[:, 1]
    is_below = exact <= threshold
    assert is_below.sum() >= 10
    assert (size[is_below] <= threshold[is_below]).mean() >= 0.4


def test_the_deadline_ends_the_projections():
    models = wide_models(0)
    with pytest.raises(TimeLimitError):
        ProjectedCertificates(models).ranges(np.arange(5), np.ones(5), Deadline.after(-1.0))
