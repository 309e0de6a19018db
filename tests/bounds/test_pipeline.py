"""Screening changes no class; bounds stay proven if time runs out or a worker dies."""

import os
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant import ClassificationBounds, InputError
from allrelevant.bounds import pipeline
from allrelevant.datasets import make_linear_classification
from allrelevant.exceptions import RelevanceWarning
from allrelevant.report import render
from allrelevant.results import bounds_document


def fit(data, **kwargs):
    defaults = {"C": 1.0, "norm_slack": 0.02, "loss_slack": 0.0, "cutoff": 0.5}
    return ClassificationBounds(**{**defaults, **kwargs}).fit(data.X, data.y)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    formulation=st.sampled_from(["separate", "joint"]),
    cutoff=st.floats(0.01, 2.0),
)
def test_the_classes_are_the_same(seed, formulation, cutoff):
    data = make_linear_classification(
        40, n_strong=2, n_weak=2, n_irrelevant=seed % 30, flip=0.1, random_state=seed
    )
    exact = fit(data, formulation=formulation, cutoff=cutoff, screen=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "FEATURES_IN_FIRST_ROUND", 2)
        screened = fit(data, formulation=formulation, cutoff=cutoff, screen=True)
    assert (exact.relevance_ == screened.relevance_).all()
    assert exact.exact_.all()
    solved = screened.exact_
    np.testing.assert_allclose(screened.interval_[solved], exact.interval_[solved], atol=1e-7)
    # What is not exact is an outer bound, and the gap says by how much at most.
    assert (screened.interval_[:, 1] >= exact.interval_[:, 1] - 1e-9).all()
    assert (screened.interval_[:, 0] <= exact.interval_[:, 0] + 1e-9).all()
    away = np.abs(screened.interval_ - exact.interval_)
    assert (away <= screened.gap_ + 1e-7).all()


def test_screened_features_are_marked_and_have_no_witness():
    data = make_linear_classification(100, n_strong=2, n_weak=2, n_irrelevant=30, random_state=0)
    bounds = fit(data, screen=True)
    assert 0 < (~bounds.exact_).sum() < 34
    assert (bounds.relevance_[~bounds.exact_] == "irrelevant").all()
    assert bounds.to_frame()["exact"].tolist() == bounds.exact_.tolist()
    page = render(bounds_document(bounds, data.X, data.y))
    assert page.count("&le;&nbsp;") == (~bounds.exact_).sum()
    with pytest.raises(InputError, match="screen=False"):
        bounds.witness(int(np.flatnonzero(~bounds.exact_)[0]), "upper")


def test_a_screened_feature_that_is_dropped_has_no_weight():
    data = make_linear_classification(100, n_strong=2, n_weak=2, n_irrelevant=30, random_state=0)
    bounds = fit(data, screen=True)
    feature = int(np.flatnonzero(~bounds.exact_)[0])
    assert bounds.interval_[feature, 1] > 0
    without = bounds.what_if({feature: "drop"})
    assert without.interval_[feature].tolist() == without.gap_[feature].tolist() == [0.0, 0.0]
    assert without.exact_[feature]
    assert without.witness(feature, "upper").coef_[feature] == 0


def test_what_programs_prove_of_other_features_spares_more_of_them(monkeypatch):
    data = make_linear_classification(60, n_strong=2, n_weak=2, n_irrelevant=100, random_state=0)
    at_once = fit(data, screen=True, norm_slack=0.05)
    monkeypatch.setattr(pipeline, "FEATURES_IN_FIRST_ROUND", 5)
    in_rounds = fit(data, screen=True, norm_slack=0.05)
    assert in_rounds.exact_.sum() < 0.8 * at_once.exact_.sum()
    assert (in_rounds.relevance_ == at_once.relevance_).all()


def test_small_tables_are_not_screened_by_default():
    data = make_linear_classification(100, n_strong=2, n_weak=2, n_irrelevant=30, random_state=0)
    assert fit(data).exact_.all()


def test_a_cutoff_above_everything_leaves_one_feature_to_solve():
    data = make_linear_classification(100, n_strong=0, n_weak=2, n_irrelevant=10, random_state=0)
    bounds = fit(data, screen=True, cutoff=1e6)
    assert (bounds.relevance_ == "irrelevant").all()
    assert bounds.exact_.any()


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
    monkeypatch.setattr(pipeline, "weight_ranges", _deadly_with_feature_0)
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
