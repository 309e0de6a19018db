"""Bounds when time is limited, or when a worker dies: proven, and honest about what is missing."""

import os
import signal

import numpy as np
import pytest

from allrelevant import ClassificationBounds
from allrelevant.bounds import pipeline as problem
from allrelevant.datasets import make_linear_classification
from allrelevant.exceptions import RelevanceWarning


@pytest.fixture
def data():
    return make_linear_classification(
        60, n_strong=2, n_weak=3, n_irrelevant=205, flip=0.1, random_state=0
    )


@pytest.fixture
def exact(data):
    return ClassificationBounds(C=1.0, cutoff=0.05).fit(data.X, data.y)


def assert_outer(bounds, exact):
    """What is reported holds the truth, and the gap says how far from it."""
    left = ~bounds.exact_
    assert left.any()
    assert (bounds.interval_[left, 1] >= exact.interval_[left, 1] - 1e-9).all()
    assert (bounds.interval_[left, 0] <= exact.interval_[left, 0] + 1e-9).all()
    assert (np.abs(bounds.interval_ - exact.interval_) <= bounds.gap_ + 1e-7).all()
    done = bounds.exact_
    np.testing.assert_allclose(bounds.interval_[done], exact.interval_[done], atol=1e-7)


def test_no_time_at_all_gives_proven_bounds(data, exact):
    with pytest.warns(RelevanceWarning, match="within 1e-09 seconds"):
        bounds = ClassificationBounds(C=1.0, cutoff=0.05, max_seconds=1e-9).fit(data.X, data.y)
    assert not bounds.exact_.any()
    assert_outer(bounds, exact)


def test_when_time_is_up_what_was_solved_is_kept(data, exact, monkeypatch):
    clock = iter(np.arange(1000.0))  # a second passes at each look
    monkeypatch.setattr("time.time", lambda: next(clock))
    with pytest.warns(RelevanceWarning, match="were not solved for"):
        bounds = ClassificationBounds(C=1.0, cutoff=0.05, max_seconds=20).fit(data.X, data.y)
    assert bounds.exact_.any()
    assert_outer(bounds, exact)
    # Those about which least was known came first.
    upper = bounds.interval_[~bounds.exact_, 1]
    assert (exact.baseline_.coef_[~bounds.exact_] == 0).all()
    assert upper.max() < exact.baseline_.norm_


def test_enough_time_changes_nothing(data, exact):
    bounds = ClassificationBounds(C=1.0, cutoff=0.05, max_seconds=600).fit(data.X, data.y)
    assert bounds.exact_.all()
    np.testing.assert_allclose(bounds.interval_, exact.interval_, atol=1e-8)


def test_a_task_that_kills_its_worker_leaves_its_features_proven(data, exact, monkeypatch):
    monkeypatch.setattr(problem, "weight_ranges", _deadly_with_feature_0)
    bounds = ClassificationBounds(C=1.0, cutoff=0.05, n_jobs=2)
    with (
        pytest.warns(RelevanceWarning, match="the bounds of 100 features: "),
        pytest.warns(RelevanceWarning, match="100 of 210 features were not solved for"),
    ):
        bounds.fit(data.X, data.y)
    assert bounds.exact_.sum() == 110
    assert_outer(bounds, exact)


def _deadly_with_feature_0(models, features, **options):
    from allrelevant.bounds.solver.ranges import weight_ranges

    if 0 in features:
        os.kill(os.getpid(), signal.SIGKILL)
    return weight_ranges(models, features, **options)
