"""Tests that bounds and relevance classes stay valid with screening, timeouts and crashes."""

import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds, InputError
from allrelevant.bounds import pipeline
from allrelevant.bounds.solver import families
from allrelevant.datasets import make_linear_classification
from allrelevant.exceptions import RelevanceWarning
from allrelevant.parallel.progress import JobBar
from allrelevant.report import render
from allrelevant.results import bounds_document
from tests.bounds.tall_tables import tall_samples


def fit(data, **kwargs):
    defaults = {"C": 1.0, "norm_slack": 0.02, "loss_slack": 0.0, "cutoff": 0.5}
    return ClassificationBounds(**{**defaults, **kwargs}).fit(data.X, data.y)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    formulation=st.sampled_from(["separate", "joint"]),
    cutoff=st.floats(0.01, 2.0),
)
def test_screening_does_not_change_relevance(seed, formulation, cutoff):
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
    # Inexact bounds are outer bounds, and the gap limits their error.
    assert (screened.interval_[:, 1] >= exact.interval_[:, 1] - 1e-9).all()
    assert (screened.interval_[:, 0] <= exact.interval_[:, 0] + 1e-9).all()
    error = np.abs(screened.interval_ - exact.interval_)
    assert (error <= screened.gap_ + 1e-7).all()


@pytest.mark.filterwarnings("ignore:There is no evidence")
@pytest.mark.parametrize("shape", [(60, 20), (40, 60)], ids=["tall", "wide"])
def test_screening_solves_only_the_features_of_the_baseline_if_there_is_no_evidence(shape):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal(shape), rng.permutation(shape[0]) % 2
    exact, screened = (
        ClassificationBounds(C=0.1, screen=screen, random_state=0).fit(X, y)
        for screen in (False, True)
    )
    assert (exact.relevance_ == screened.relevance_).all()
    assert exact.exact_.all()
    is_used = exact.baseline_.coef_ != 0
    assert 0 < is_used.sum() < shape[1]
    assert screened.exact_[is_used].all()
    assert not screened.exact_[~is_used].all()
    assert (screened.interval_[:, 1] >= exact.interval_[:, 1] - 1e-9).all()


def test_projections_leave_fewer_features_of_sparse_tables_to_lps(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 400), density=0.04, rng=rng, data_sampler=rng.standard_normal)
    X = sp.csr_array(X.tocsc()[:, np.flatnonzero(abs(X).sum(axis=0))])
    y = (X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(80) > 0).astype(int)

    def fitted(screen):
        return ClassificationBounds(C=0.2, cutoff=1.0, screen=screen).fit(X, y)

    exact, projected = fitted(False), fitted(True)
    monkeypatch.setattr(
        pipeline, "_project_certificates", lambda models, features, outer, *_: outer
    )
    without = fitted(True)
    assert (projected.relevance_ == exact.relevance_).all()
    assert (projected.relevance_ != "irrelevant").any()
    assert projected.exact_.sum() <= 0.6 * without.exact_.sum()
    assert (projected.interval_[:, 1] >= exact.interval_[:, 1] - 1e-9).all()
    assert (np.abs(projected.interval_ - exact.interval_) <= projected.gap_ + 1e-7).all()


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


def test_dropped_screened_feature_has_zero_weight():
    data = make_linear_classification(100, n_strong=2, n_weak=2, n_irrelevant=30, random_state=0)
    bounds = fit(data, screen=True)
    feature = int(np.flatnonzero(~bounds.exact_)[0])
    assert bounds.interval_[feature, 1] > 0
    without = bounds.what_if({feature: "drop"})
    assert without.interval_[feature].tolist() == without.gap_[feature].tolist() == [0.0, 0.0]
    assert without.exact_[feature]
    assert without.witness(feature, "upper").coef_[feature] == 0


def test_certificates_of_earlier_rounds_screen_more_features(monkeypatch):
    data = make_linear_classification(60, n_strong=2, n_weak=2, n_irrelevant=100, random_state=0)
    one_round = fit(data, screen=True, norm_slack=0.05)
    monkeypatch.setattr(pipeline, "FEATURES_IN_FIRST_ROUND", 5)
    in_rounds = fit(data, screen=True, norm_slack=0.05)
    assert in_rounds.exact_.sum() < 0.8 * one_round.exact_.sum()
    assert (in_rounds.relevance_ == one_round.relevance_).all()


def test_small_tables_are_not_screened_by_default():
    data = make_linear_classification(100, n_strong=2, n_weak=2, n_irrelevant=30, random_state=0)
    assert fit(data).exact_.all()


def test_one_feature_is_solved_if_the_cutoff_exceeds_all_bounds():
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


def assert_outer(bounds, exact, slack=0.0):
    """Check that unsolved features have valid outer bounds with errors of at most the gap.

    ``slack`` is the difference between the two baselines, relative to the norm.
    """
    slack *= exact.baseline_.norm_
    unsolved = ~bounds.exact_
    assert unsolved.any()
    assert (bounds.interval_[unsolved, 1] >= exact.interval_[unsolved, 1] - slack - 1e-9).all()
    assert (bounds.interval_[unsolved, 0] <= exact.interval_[unsolved, 0] + slack + 1e-9).all()
    assert (np.abs(bounds.interval_ - exact.interval_) <= bounds.gap_ + slack + 1e-7).all()
    solved = bounds.exact_
    np.testing.assert_allclose(bounds.interval_[solved], exact.interval_[solved], atol=1e-7)


def test_no_time_gives_certified_bounds(data):
    """Without time, a cheap baseline is fitted, and its outer bounds hold."""
    with (
        pytest.warns(RelevanceWarning, match="before the baseline of the target at C=1"),
        pytest.warns(RelevanceWarning, match="210 of 210 features were not solved within the time"),
    ):
        bounds = ClassificationBounds(C=1.0, cutoff=0.05, max_seconds=1e-9).fit(data.X, data.y)
    assert not bounds.exact_.any()
    C = float(bounds.baseline_.C_)
    assert 0 < C < 1.0
    assert_outer(bounds, ClassificationBounds(C=C, cutoff=0.05).fit(data.X, data.y), slack=0.01)


def test_unsolved_features_are_relevant_or_irrelevant_only_if_proven(data):
    est = ClassificationBounds(C=1.0, cutoff=0.3, max_seconds=1e-9)
    with pytest.warns(RelevanceWarning):
        est.fit(data.X, data.y)
    attained, proven = np.abs(est.baseline_.coef_), est.interval_[:, 1]
    expected = np.where(attained > 0.3, "weak", np.where(proven > 0.3, "unconfirmed", "irrelevant"))
    assert est.relevance_.tolist() == expected.tolist()
    assert {"weak", "unconfirmed"} <= set(expected)


def test_features_without_time_for_tests_are_unconfirmed(data):
    with pytest.warns(RelevanceWarning) as caught:
        bounds = ClassificationBounds(max_seconds=1e-9).fit(data.X, data.y)
    assert bounds.rule_ == "untested"
    assert set(bounds.relevance_) <= {"unconfirmed", "irrelevant"}
    assert (bounds.interval_[bounds.relevance_ == "irrelevant", 1] <= 1e-5).all()
    assert np.isnan(bounds.qvalue_).all()
    assert not bounds.get_support().any()
    assert any("no feature is called relevant" in str(note.message) for note in caught)


def test_large_time_limit_does_not_change_the_result(data):
    X, y = data.X[:, :20], data.y
    limited = ClassificationBounds(random_state=0, max_seconds=3600).fit(X, y)
    unlimited = ClassificationBounds(random_state=0).fit(X, y)
    for name in ("interval_", "signed_interval_", "gap_", "qvalue_", "relevance_", "exact_"):
        np.testing.assert_array_equal(getattr(limited, name), getattr(unlimited, name))


def test_features_of_a_crashed_worker_keep_certified_bounds(data, exact, monkeypatch):
    monkeypatch.setattr(pipeline, "weight_ranges", _kill_worker_of_feature_0)
    bounds = ClassificationBounds(C=1.0, cutoff=0.05, n_jobs=2)
    with (
        pytest.warns(RelevanceWarning, match="the bounds of 100 features: "),
        pytest.warns(RelevanceWarning, match="100 of 210 features were not solved"),
    ):
        bounds.fit(data.X, data.y)
    assert bounds.exact_.sum() == 110
    assert_outer(bounds, exact)


def _kill_worker_of_feature_0(models, features, **options):
    from allrelevant.bounds.solver.ranges import weight_ranges

    if 0 in features:
        os.kill(os.getpid(), signal.SIGKILL)
    return weight_ranges(models, features, **options)


def test_bounds_are_exactly_zero_if_the_baseline_uses_no_feature():
    """Rounding errors of the solver must not appear as weights."""
    X, y = load_breast_cancer(return_X_y=True)
    shuffled = np.random.RandomState(1).permutation(y)
    with pytest.warns(RelevanceWarning, match="No feature improves"):
        bounds = ClassificationBounds(C=5.5576, cutoff=0.1).fit(X, shuffled)
    assert not bounds.interval_.any()
    assert not bounds.gap_.any()
    witness = bounds.witness(0, "upper")
    assert not witness.coef_.any()
    assert witness.loss_ == pytest.approx(bounds.baseline_.loss_)


@pytest.mark.parametrize("cutoff", [0.05, "fdr"])
def test_classes_do_not_depend_on_the_tolerance(cutoff, monkeypatch):
    """Bounds that are too close to a decision are refined."""
    monkeypatch.setattr(families, "MIN_ROWS_FOR_INTERIOR", 100)
    data = tall_samples("plain", 0)
    C = 100.0 / len(data.y)
    loose, tight = (
        ClassificationBounds(C=C, cutoff=cutoff, fdr=0.2, tol=tol, random_state=0).fit(
            data.X, data.y
        )
        for tol in (1e-2, 1e-9)
    )
    norm = (1 + loose.norm_slack) * loose.baseline_.norm_
    assert tight.gap_.max() <= 1e-8 * norm < loose.gap_.max() <= 1e-2 * norm
    assert loose.relevance_.tolist() == tight.relevance_.tolist()
    assert loose.exact_.all()


def test_undecided_bounds_are_refined(monkeypatch):
    monkeypatch.setattr(families, "MIN_ROWS_FOR_INTERIOR", 100)
    data = tall_samples("plain", 0)
    C = 100.0 / len(data.y)
    upper = ClassificationBounds(C=C, cutoff=0.05, tol=1e-9).fit(data.X, data.y).interval_[:, 1]
    # A cutoff slightly below the largest weight of a feature: a loose bound cannot decide.
    est = ClassificationBounds(C=C, cutoff=float(upper[0]) - 1e-6, tol=1e-2).fit(data.X, data.y)
    assert est.relevance_[0] != "irrelevant"
    assert est.gap_[0].max() <= 1e-8 < est.gap_.max()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_bar_moves_in_every_round_of_screening(monkeypatch, is_sparse):
    monkeypatch.setattr(pipeline, "FEATURES_IN_FIRST_ROUND", 5)
    positions = []
    start = JobBar.start_items

    def record(self, width):
        if width > 0:  # the last loop, over categories, is empty
            positions.append(self._position)
        start(self, width)

    monkeypatch.setattr(JobBar, "start_items", record)
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 80)) * (rng.random_sample((60, 80)) < 0.5)
    table = sp.csr_array(X) if is_sparse else X
    y = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)
    ClassificationBounds(C=1.0, cutoff=0.01, screen=True, verbose=1).fit(table, y)
    assert len(np.unique(positions)) >= 4
    assert positions == sorted(positions)
    assert 0.7 <= positions[0] < positions[-1] < 1.0
