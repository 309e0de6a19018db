"""Tests of relevance bounds for a learned metric."""

import pickle

import numpy as np
import pytest
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from allrelevant import GMLVQ, MetricBounds
from allrelevant.datasets import make_xor
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
