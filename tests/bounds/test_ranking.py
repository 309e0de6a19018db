"""Tests of the public interface of `RankingBounds`, and of the loss used to choose C."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from allrelevant import (
    InputError,
    RankingBounds,
)
from allrelevant.bounds.programs.comparable_pairs import class_pairs
from allrelevant.bounds.ranking import RankingData
from allrelevant.datasets import (
    make_ranking,
)
from allrelevant.relevance import RELEVANT

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 2}
EXPECTED = ["strong", "weak", "weak", "irrelevant", "irrelevant"]


@pytest.fixture(scope="module")
def ranking_data():
    return make_ranking(100, positive=0.2, random_state=0, **COUNTS)


class TestRanking:
    def test_classes_and_scores(self, ranking_data):
        X, y, _ = ranking_data
        bounds = RankingBounds(random_state=0).fit(X, y)
        found = np.where(np.isin(bounds.relevance_, RELEVANT), bounds.relevance_, "irrelevant")
        assert found.tolist() == EXPECTED
        assert bounds.auc_ == pytest.approx(roc_auc_score(y, bounds.decision_function(X)))
        assert bounds.score(X, y) == pytest.approx(bounds.auc_)
        # The loss is an upper bound of the fraction of pairs in the wrong order.
        assert bounds.baseline_.loss_ >= 1 - bounds.auc_

    def test_intervals_do_not_depend_on_the_class_proportions(self, ranking_data):
        """Repeating every negative row does not change the relevance intervals."""
        X, y, _ = ranking_data
        negative = y == 0
        settings: dict[str, Any] = {"C": 10.0, "cutoff": 0.1, "standardize": False, "tol": 1e-9}
        once = RankingBounds(**settings).fit(X, y)
        twice = RankingBounds(**settings).fit(np.vstack([X, X[negative]]), np.r_[y, y[negative]])
        weighted = RankingBounds(**settings).fit(X, y, sample_weight=np.where(negative, 2.0, 1.0))
        np.testing.assert_allclose(twice.interval_, once.interval_, atol=1e-6)
        np.testing.assert_allclose(weighted.interval_, once.interval_, atol=1e-6)

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.zeros(100, dtype=int), "single class"),
            (np.arange(100) % 3, "Only binary classification"),
            (np.linspace(0, 1, 100), "continuous"),
        ],
    )
    def test_bad_targets(self, ranking_data, y, message):
        with pytest.raises(ValueError, match=message):
            RankingBounds().fit(ranking_data.X, y)


def test_selection_score_is_the_negative_loss_over_all_pairs():
    rng = np.random.RandomState(0)
    samples = RankingData(
        rng.normal(size=(30, 3)), np.where(rng.rand(30) < 0.3, 1.0, -1.0), rng.rand(30) + 0.5
    )
    model = samples.model(rng.normal(size=3), np.empty(0), C=1.0)
    loss, total = 0.0, 0.0
    for i in np.flatnonzero(samples.y > 0):
        for j in np.flatnonzero(samples.y < 0):
            weight = samples.weight[i] * samples.weight[j]
            loss += weight * max(0.0, 1.0 - model.coef_ @ (samples.X[i] - samples.X[j]))
            total += weight
    assert samples.selection_score(model) == pytest.approx(-loss / total)


@pytest.fixture(scope="module")
def queries():
    """Documents whose relevance depends on x0, within queries of different levels of x0."""
    rng = np.random.RandomState(0)
    query = np.repeat(np.arange(12), 10)
    X = rng.normal(size=(120, 3))
    y = np.zeros(120, dtype=int)
    for q in range(12):
        rows = np.flatnonzero(query == q)
        y[rows[np.argsort(X[rows, 0])[-3:]]] = 1
    X[:, 0] += 5.0 * rng.normal(size=12)[query]
    return X, y, query


class TestQueries:
    def test_pairs_are_formed_within_queries(self, queries):
        X, y, query = queries
        within = RankingBounds(C=10.0, cutoff=0.5).fit(X, y, groups=query)
        assert class_pairs(y == 1, query).n_pairs == 12 * 3 * 7
        assert within.relevance_.tolist() == ["strong", "irrelevant", "irrelevant"]
        assert within.auc_ > 0.98
        assert within.score(X, y, groups=query) == pytest.approx(within.auc_)
        assert within.score(X, y) < 0.8  # scores of different queries are not comparable

    def test_default_fit_keeps_queries_together(self, queries):
        X, y, query = queries
        bounds = RankingBounds(random_state=0).fit(X, y, groups=query)
        assert bounds.relevance_[0] == "strong"
        assert bounds.cv_score_ > 0.9
        data = bounds._result.subproblems[0].baseline.data
        for train, test in data.folds(5, seed=0):
            assert not set(query[train]) & set(query[test])
        for order in data.draw_orders(3, seed=0):
            np.testing.assert_array_equal(query[order], query)
            assert (order != np.arange(120)).any()

    def test_queries_without_pairs_raise(self, queries):
        X, y, _ = queries
        with pytest.raises(InputError, match="No pair of rows is comparable"):
            RankingBounds(C=1.0).fit(X, y, groups=np.arange(120))

    def test_privileged_features_are_refused(self, queries):
        X, y, query = queries
        with pytest.raises(InputError, match="cannot be combined with groups"):
            RankingBounds().fit(X, y, privileged=X, groups=query)
