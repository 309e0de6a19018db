"""Regression, ordered classes and rankings: what users see of them."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from allrelevant import (
    ClassificationBounds,
    InputError,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
)
from allrelevant.datasets import (
    make_linear_classification,
    make_linear_regression,
    make_ordinal_classification,
    make_privileged,
    make_ranking,
)

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 2}
EXPECTED = ["strong", "weak", "weak", "irrelevant", "irrelevant"]


@pytest.fixture(scope="module")
def regression_data():
    return make_linear_regression(100, target_noise=0.1, random_state=0, **COUNTS)


@pytest.fixture(scope="module")
def ordinal_data():
    return make_ordinal_classification(120, n_classes=4, random_state=0, **COUNTS)


@pytest.fixture(scope="module")
def ranking_data():
    return make_ranking(100, positive=0.2, random_state=0, **COUNTS)


class TestRegression:
    def test_classes_and_predictions(self, regression_data):
        X, y, _ = regression_data
        bounds = RegressionBounds(random_state=0).fit(X, 100.0 + 7.0 * y)
        assert bounds.relevance_.tolist() == EXPECTED
        assert bounds.score(X, 100.0 + 7.0 * y) > 0.9
        assert 0 < bounds.cv_score_ < 1
        assert bounds.gap_.max() <= 1e-7

    def test_the_scale_of_the_target_changes_no_interval(self, regression_data):
        X, y, _ = regression_data
        plain = RegressionBounds(C=0.1, epsilon=0.1, cutoff=0.1).fit(X, y)
        scaled = RegressionBounds(C=0.1, epsilon=1.0, cutoff=0.1).fit(X, 10.0 * y - 3.0)
        np.testing.assert_allclose(scaled.interval_, plain.interval_, atol=1e-7)
        np.testing.assert_allclose(scaled.predict(X), 10.0 * plain.predict(X) - 3.0, atol=1e-6)
        assert scaled.epsilon_ == pytest.approx(1.0)

    def test_within_epsilon_nothing_is_lost(self, regression_data):
        X, y, _ = regression_data
        wide = RegressionBounds(C=1.0, epsilon=100.0, cutoff=0.1)
        with pytest.raises(InputError, match="uses no feature"):
            wide.fit(X, y)

    def test_without_standardising_the_units_stay(self, regression_data):
        X, y, _ = regression_data
        bounds = RegressionBounds(standardize=False, random_state=0, cutoff=0.2).fit(X, y)
        assert bounds.interval_[0] == pytest.approx([1.0, 1.0], abs=0.3)
        assert bounds.score(X, y) > 0.9

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.full(100, 3.0), "single value, 3"),
            (np.array(["low", "high"] * 50), "could not convert string"),
            (np.r_[np.nan, np.zeros(99)], "NaN"),
        ],
    )
    def test_bad_targets(self, regression_data, y, message):
        with pytest.raises(ValueError, match=message):
            RegressionBounds().fit(regression_data.X, y)


class TestOrdinal:
    def test_classes_and_predictions(self, ordinal_data):
        X, y, _ = ordinal_data
        bounds = OrdinalBounds(random_state=0).fit(X, y)
        assert bounds.relevance_.tolist() == EXPECTED
        assert bounds.score(X, y) > 0.9
        thresholds = bounds.baseline_.thresholds_  # type: ignore[union-attr]
        assert thresholds is not None
        assert (np.diff(thresholds) >= -1e-9).all()
        np.testing.assert_array_equal(bounds.decision_function(X).argmax(axis=1), bounds.predict(X))

    def test_two_classes_are_the_classifiers(self):
        """One threshold is an offset with its sign turned: the same set of models."""
        X, y, _ = make_linear_classification(80, flip=0.1, random_state=0, **COUNTS)
        settings: dict[str, Any] = {"C": 1.0, "cutoff": 0.1}
        np.testing.assert_allclose(
            OrdinalBounds(**settings).fit(X, y).interval_,
            ClassificationBounds(**settings).fit(X, y).interval_,
            atol=1e-7,
        )

    def test_names_of_the_classes_are_kept_in_order(self, ordinal_data):
        X, y, _ = ordinal_data
        grades = np.array([10, 20, 30, 40])[y]
        bounds = OrdinalBounds(C=1.0, cutoff=0.1).fit(X, grades)
        assert set(bounds.predict(X)) <= {10, 20, 30, 40}
        assert bounds.classes_.tolist() == [10, 20, 30, 40]

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.zeros(120, dtype=int), "single class"),
            (np.linspace(0, 1, 120), "continuous"),
            (np.r_[np.nan, np.zeros(119)], "NaN"),
        ],
    )
    def test_bad_targets(self, ordinal_data, y, message):
        with pytest.raises(ValueError, match=message):
            OrdinalBounds().fit(ordinal_data.X, y)

    def test_a_class_of_one_row_cannot_be_cross_validated(self, ordinal_data):
        y = np.r_[7, ordinal_data.y[1:]]
        with pytest.raises(InputError, match="single row"):
            OrdinalBounds().fit(ordinal_data.X, y)


class TestRanking:
    def test_classes_and_scores(self, ranking_data):
        X, y, _ = ranking_data
        bounds = RankingBounds(random_state=0).fit(X, y)
        assert bounds.relevance_.tolist() == EXPECTED
        assert bounds.auc_ == pytest.approx(roc_auc_score(y, bounds.decision_function(X)))
        assert bounds.score(X, y) == pytest.approx(bounds.auc_)
        # The loss bounds the share of pairs in the wrong order.
        assert bounds.baseline_.loss_ >= 1 - bounds.auc_

    def test_the_share_of_the_classes_does_not_matter(self, ranking_data):
        """Every negative row twice: the same mean over pairs."""
        X, y, _ = ranking_data
        negative = y == 0
        settings: dict[str, Any] = {"C": 10.0, "cutoff": 0.1, "standardize": False}
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


PRIVILEGED: dict[str, Any] = {
    "classification": ClassificationBounds(C=0.1, cutoff=0.1),
    "regression": RegressionBounds(C=0.1, epsilon=0.1, cutoff=0.1),
    "ordinal": OrdinalBounds(C=0.1, cutoff=0.1),
    "ranking": RankingBounds(C=10.0, cutoff=0.1),
}


@pytest.mark.parametrize("task", PRIVILEGED)
class TestPrivileged:
    def data(self, task):
        return make_privileged(task, 120, random_state=0, n_irrelevant_privileged=1, **COUNTS)

    def test_both_tables_have_their_classes(self, task):
        data = self.data(task)
        bounds = clone(PRIVILEGED[task]).fit(data.X, data.y, privileged=data.privileged)
        assert bounds.relevance_.tolist() == data.relevance.tolist()
        assert bounds.privileged_relevance_.tolist() == data.privileged_relevance.tolist()
        assert bounds.privileged_interval_.shape == (4, 2)
        assert bounds.predict(data.X).shape == data.y.shape  # without privileged features
        assert bounds.transform(data.X).shape[1] == 3

    def test_dense_and_sparse_agree(self, task):
        data = self.data(task)
        est = clone(PRIVILEGED[task]).set_params(standardize=False)
        dense = clone(est).fit(data.X, data.y, privileged=data.privileged)
        sparse = est.fit(sp.csr_array(data.X), data.y, privileged=sp.csr_array(data.privileged))
        np.testing.assert_allclose(sparse.interval_, dense.interval_, atol=1e-7)
        np.testing.assert_allclose(
            sparse.privileged_interval_, dense.privileged_interval_, atol=1e-7
        )

    def test_witnesses_and_names(self, task):
        data = self.data(task)
        Z = pd.DataFrame(data.privileged, columns=["late", "later", "latest", "never"])
        bounds = clone(PRIVILEGED[task]).fit(data.X, data.y, privileged=Z)
        witness = bounds.witness("late", "upper")
        assert witness.privileged_coef_ is not None
        upper = bounds.privileged_interval_[0, 1]
        assert abs(witness.privileged_coef_[0]) == pytest.approx(upper, abs=1e-7)
        frame = bounds.to_frame(privileged=True)
        assert frame.index.tolist() == list(Z.columns)
        np.testing.assert_array_equal(frame["upper"], bounds.privileged_interval_[:, 1])
        assert pickle.loads(pickle.dumps(bounds)).privileged_names_in_.tolist() == list(Z.columns)

    def test_a_fit_without_them_forgets_them(self, task):
        data = self.data(task)
        bounds = clone(PRIVILEGED[task]).fit(data.X, data.y, privileged=data.privileged)
        bounds.fit(data.X, data.y)
        assert not hasattr(bounds, "privileged_interval_")
        assert not hasattr(bounds, "n_privileged_in_")
        with pytest.raises(InputError, match="no privileged features"):
            bounds.to_frame(privileged=True)

    def test_bad_privileged_tables(self, task):
        data = self.data(task)
        est = clone(PRIVILEGED[task])
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            est.fit(data.X, data.y, privileged=data.privileged[:-1])
        with pytest.raises(ValueError, match="privileged contains NaN"):
            est.fit(data.X, data.y, privileged=np.full_like(data.privileged, np.nan))


def test_the_common_svm_has_no_place_for_privileged_features():
    data = make_privileged("classification", 60, random_state=0, **COUNTS)
    with pytest.raises(InputError, match="separate"):
        ClassificationBounds(formulation="joint").fit(data.X, data.y, privileged=data.privileged)


def test_constant_columns_alone_are_refused():
    with pytest.raises(InputError, match="Every column is constant"):
        ClassificationBounds().fit(np.ones((20, 3)), [0, 1] * 10)
