"""Tests of relevance bounds for a learned metric."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from allrelevant import GMLVQ, LMNN, MetricBounds
from allrelevant.datasets import make_xor
from allrelevant.exceptions import InputError
from tests.bounds.mapping.naive import copies


@pytest.mark.parametrize("seed", range(3))
def test_xor(seed):
    """The XOR data have one strong, three weak and two irrelevant features, as in the paper."""
    data = make_xor(noise=0.05, random_state=seed)
    learner = GMLVQ(prototypes_per_class=2, random_state=seed)
    bounds = MetricBounds(learner, random_state=seed).fit(data.X, data.y)
    assert bounds.effective_dimension_ == 3
    assert bounds.relevance_.tolist() == ["weak"] * 3 + ["strong"] + ["irrelevant"] * 2
    assert bounds.score(data.X, data.y) == 1.0
    curve = bounds.dimension_curve_
    assert curve.test_error.mean(axis=1)[2] < curve.test_error.mean(axis=1)[1]


def test_learner_without_prototypes():
    data = make_xor(n_samples=60, random_state=0)
    learner = NeighborhoodComponentsAnalysis(2, random_state=0, max_iter=30)
    bounds = MetricBounds(learner, effective_dimension=3).fit(data.X, data.y)
    assert bounds.relevance_[3] == "strong"
    assert bounds.score(data.X, data.y) > 0.9
    assert not hasattr(bounds, "dimension_curve_")


def test_result_does_not_depend_on_n_jobs():
    data = make_xor(n_samples=60, random_state=1)
    learner = GMLVQ(prototypes_per_class=2, max_iter=40, tol=1e-3, random_state=0)
    one, two = (
        MetricBounds(learner, random_state=0, n_jobs=n, max_dimension=3).fit(data.X, data.y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.interval_, two.interval_)
    np.testing.assert_array_equal(one.dimension_curve_.test_error, two.dimension_curve_.test_error)


def test_string_labels_and_pickling():
    data = make_xor(n_samples=60, random_state=2)
    y = np.where(data.y == data.y[0], "ill", "well")
    bounds = MetricBounds(GMLVQ(prototypes_per_class=2, random_state=0), effective_dimension=3).fit(
        data.X, y
    )
    assert set(bounds.predict(data.X)) == {"ill", "well"}
    again = pickle.loads(pickle.dumps(bounds))
    np.testing.assert_array_equal(again.predict(data.X), bounds.predict(data.X))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (copies(), np.zeros(80), "single class"),
        (copies(), np.r_[np.zeros(79), 1], "single row"),
        (np.full((4, 2), np.nan), [0, 0, 1, 1], "NaN"),
        (np.ones((6, 2)), [0, 0, 0, 1, 1, 1], "constant"),
    ],
)
def test_invalid_input_raises(X, y, message):
    with pytest.raises(ValueError, match=message):
        MetricBounds().fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_samples_of_weight_zero_are_ignored():
    data = make_xor(n_samples=60, random_state=0)
    weight = np.repeat([2.0, 0.0], [40, 20])
    groups = np.arange(60) // 2
    learner = GMLVQ(prototypes_per_class=2, max_iter=10, random_state=0)
    settings: Any = {"max_dimension": 3, "random_state": 0}
    weighted = MetricBounds(learner, **settings).fit(data.X, data.y, weight, groups)
    part = MetricBounds(learner, **settings).fit(data.X[:40], data.y[:40], groups=groups[:40])
    np.testing.assert_allclose(weighted.interval_, part.interval_, atol=1e-6)
    assert weighted.cv_score_ == pytest.approx(part.cv_score_)
    uneven = MetricBounds(learner, **settings).fit(data.X, data.y, 1.0 + 9.0 * (data.y == 0))
    assert np.abs(uneven.interval_ - weighted.interval_).max() > 1e-3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_folds_do_not_split_groups():
    """Copies of a sample with a random class do not improve the score."""
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(20), 3)
    X, y = rng.normal(size=(20, 3))[groups], rng.permutation(np.arange(20) % 2)[groups]
    learner = LMNN(n_neighbors=1, max_iter=5)
    split, kept = (
        MetricBounds(learner, max_dimension=3, random_state=0).fit(X, y, groups=g).cv_score_
        for g in (None, groups)
    )
    assert split > 0.9
    assert kept < 0.75


def test_weights_require_a_learner_that_accepts_them():
    data = make_xor(n_samples=60, random_state=0)
    learner = NeighborhoodComponentsAnalysis(2, random_state=0)
    with pytest.raises(InputError, match="does not accept sample weights"):
        MetricBounds(learner).fit(data.X, data.y, sample_weight=np.ones(60))
