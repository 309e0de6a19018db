"""Tests of the parameters ``cv``, ``scoring`` and ``Cs``, which control the choice of C."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold

from allrelevant import (
    ClassificationBounds,
    InputError,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    SurvivalBounds,
    bounds_path,
    stability,
)
from allrelevant.bounds.tuning import N_FOLDS
from allrelevant.exceptions import RelevanceWarning
from allrelevant.resampling import draw_seeds

CS = [0.1, 0.4, 2.0]
PAIR_CS = [4.0, 20.0, 100.0]  # the loss is a mean over pairs, not a sum over samples


def make_table(seed=0, n=60, d=4):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=n)


def targets():
    X, value = make_table()
    value = (value - value.mean()) / value.std()
    return {
        "classes": (X, np.where(value > 0.3, "yes", "no")),
        "numbers": (X, value),
        "ordered": (X, np.digitize(value, [-0.5, 0.5])),
        "times": (X, np.column_stack([np.arange(60) % 3 > 0, np.exp(-value)])),
    }


# Estimator, target, scoring, and the scorer of a naive loop over the splits.
CASES = {
    "accuracy": (ClassificationBounds(), "classes", None, "accuracy"),
    "balanced": (ClassificationBounds(), "classes", "balanced_accuracy", "balanced_accuracy"),
    "auc": (ClassificationBounds(formulation="joint"), "classes", "roc_auc", "roc_auc"),
    "deviation": (RegressionBounds(epsilon=0.1), "numbers", None, "d2_absolute_error_score"),
    "r2": (RegressionBounds(epsilon=0.1), "numbers", "r2", "r2"),
    "mae": (
        RegressionBounds(epsilon=0.1),
        "numbers",
        "neg_mean_absolute_error",
        "neg_mean_absolute_error",
    ),
    "ordinal": (OrdinalBounds(), "ordered", "accuracy", "accuracy"),
    "ranking": (RankingBounds(), "classes", "roc_auc", "roc_auc"),
}


def unscaled(estimator, **parameters):
    """Return a copy without standardization, which would scale a target by all rows."""
    return clone(estimator).set_params(standardize=False, cutoff=0.1, **parameters)


@pytest.mark.parametrize("case", CASES)
def test_the_choice_of_C_equals_a_naive_loop_over_the_splits(case):
    estimator, target, scoring, name = CASES[case]
    values = PAIR_CS if case == "ranking" else CS
    X, y = targets()[target]
    splits = list(KFold(3, shuffle=True, random_state=1).split(X))
    scorer = get_scorer(name)
    naive = [
        np.mean(
            [
                scorer(unscaled(estimator, C=C).fit(X[train], y[train]), X[test], y[test])
                for train, test in splits
            ]
        )
        for C in values
    ]
    est = unscaled(estimator, Cs=values[::-1], cv=splits, scoring=scoring).fit(X, y)
    assert est.cv_score_ == pytest.approx(max(naive))
    assert values[int(np.argmax(naive))] == est.baseline_.C_


def test_survival_uses_given_splits():
    X, y = targets()["times"]
    splits = list(KFold(3, shuffle=True, random_state=1).split(X))
    est = unscaled(SurvivalBounds(), Cs=PAIR_CS, cv=splits).fit(X, y)
    C = float(est.baseline_.C_)
    scores = [
        unscaled(SurvivalBounds(), C=C).fit(X[train], y[train]).score(X[test], y[test])
        for train, test in splits
    ]
    assert est.cv_score_ == pytest.approx(np.mean(scores))


def test_scores_are_in_units_of_the_target():
    X, y = targets()["numbers"]
    settings: Any = {"Cs": CS, "cv": KFold(3), "scoring": "neg_mean_absolute_error", "cutoff": 0.1}
    small, large = (RegressionBounds(**settings).fit(X, y * unit) for unit in (1.0, 100.0))
    assert large.cv_score_ == pytest.approx(100 * small.cv_score_)


def test_ten_folds():
    """The ten stratified folds of Göpfert et al. (2018), by number and by splitter."""
    X, y = targets()["classes"]
    by_number = ClassificationBounds(cv=10, cutoff=0.1, random_state=3).fit(X, y)
    seed = draw_seeds(3, 3)[0]
    splitter = StratifiedKFold(10, shuffle=True, random_state=seed)
    by_splitter = ClassificationBounds(cv=splitter, cutoff=0.1, random_state=3).fit(X, y)
    folds = [list(splitter.split(X, y)), tuning_folds(by_number), tuning_folds(by_splitter)]
    for expected, *others in zip(*folds, strict=True):
        for fold in others:
            np.testing.assert_array_equal(fold[0], expected[0])
            np.testing.assert_array_equal(fold[1], expected[1])
    assert by_number.cv_score_ == pytest.approx(by_splitter.cv_score_)
    assert by_number.baseline_.C_ == by_splitter.baseline_.C_


def tuning_folds(est):
    return est._tuning.folds(est._result.subproblems[0].baseline.data)


def test_five_folds_are_the_default():
    X, y = targets()["classes"]
    default, five = (
        ClassificationBounds(cv=cv, random_state=0).fit(X, y) for cv in (None, N_FOLDS)
    )
    np.testing.assert_array_equal(default.interval_, five.interval_)
    np.testing.assert_array_equal(default.qvalue_, five.qvalue_)


def test_folds_never_separate_groups():
    X, y = targets()["classes"]
    groups = np.arange(60) // 3
    est = ClassificationBounds(cv=10, cutoff=0.1, random_state=0).fit(X, y, groups=groups)
    folds = tuning_folds(est)
    assert len(folds) == 10
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])


class RecordingSplitter(GroupKFold):
    def split(self, X, y=None, groups=None):
        self.seen = len(X), y, groups
        return super().split(X, y, groups)


def test_a_splitter_receives_target_and_groups():
    X, y = targets()["classes"]
    groups, splitter = np.arange(60) // 3, RecordingSplitter(4)
    ClassificationBounds(cv=splitter, cutoff=0.1).fit(X, y, groups=groups)
    n_rows, labels, seen_groups = splitter.seen
    assert n_rows == 60
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(seen_groups, groups)
    splits = list(KFold(4).split(X))
    with pytest.warns(RelevanceWarning, match="separate rows of the same group"):
        ClassificationBounds(cv=splits, cutoff=0.1).fit(X, y, groups=np.arange(60) % 20)


def test_splits_refer_to_rows_of_positive_weight():
    """Rows of weight zero are left out of given splits."""
    X, y = targets()["classes"]
    weight = np.ones(60)
    weight[::7] = 0.0
    present = np.flatnonzero(weight)
    splits = list(KFold(3).split(X))
    kept = [tuple(np.flatnonzero(np.isin(present, rows)) for rows in fold) for fold in splits]
    with_zeros = ClassificationBounds(cv=splits, cutoff=0.1).fit(X, y, weight)
    without = ClassificationBounds(cv=kept, cutoff=0.1).fit(X[present], y[present])
    assert with_zeros.cv_score_ == pytest.approx(without.cv_score_)
    np.testing.assert_allclose(with_zeros.interval_, without.interval_, atol=1e-8)


def test_scorers_receive_sample_weights_without_class_weights():
    X, y = targets()["classes"]
    weight = np.random.RandomState(0).uniform(0.5, 2, size=60)
    splits = list(KFold(3).split(X))
    settings: Any = {
        "Cs": CS,
        "cutoff": 0.1,
        "standardize": False,
        "class_weight": {"yes": 3, "no": 1},
    }
    est = ClassificationBounds(**settings, cv=splits, scoring="accuracy").fit(X, y, weight)
    fixed = ClassificationBounds(**settings, C=float(est.baseline_.C_))
    scores = [
        clone(fixed).fit(X[train], y[train], weight[train]).score(X[test], y[test], weight[test])
        for train, test in splits
    ]
    assert est.cv_score_ == pytest.approx(np.mean(scores))


class TestCalibration:
    def test_a_grid_of_one_value_equals_this_value_of_C(self):
        X, y = targets()["classes"]
        grid, fixed = (
            ClassificationBounds(random_state=0).set_params(**C).fit(X, y)
            for C in ({"Cs": [0.2]}, {"C": 0.2})
        )
        np.testing.assert_allclose(grid.interval_, fixed.interval_)
        np.testing.assert_allclose(grid.pvalue_, fixed.pvalue_)

    def test_scorer_and_splits_are_used_on_extended_tables(self):
        X, y = targets()["classes"]
        seen = set()

        def scorer(estimator, X, y):
            seen.add((X.shape[1], len(y)))
            return float((estimator.predict(X) == y).mean())

        splits = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
        ClassificationBounds(Cs=CS, cv=splits, scoring=scorer, random_state=0).fit(X, y)
        assert {(4, 20), (8, 20)} <= seen


class TestSubsetScores:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_scores_equal_a_naive_loop(self, n_classes):
        X, _ = make_table(n=90)
        y = X[:, :n_classes].argmax(axis=1)
        splits = list(StratifiedKFold(4).split(X, y))
        settings: Any = {"C": 0.5, "cutoff": 0.1}
        est = ClassificationBounds(**settings, cv=splits, scoring="balanced_accuracy").fit(X, y)
        scorer = get_scorer("balanced_accuracy")
        naive = [
            scorer(ClassificationBounds(**settings).fit(X[train], y[train]), X[test], y[test])
            for train, test in splits
        ]
        found, design = est.sufficiency(), est.cheapest(held_out_score=True)
        for score in (found.score_all, design.baseline_score):
            assert score == pytest.approx(np.mean(naive))
        assert found.score_all_error == pytest.approx(np.std(naive, ddof=1) / 2)
        assert "Cross-validated balanced_accuracy" in str(found)
        assert design.held_out_score is not None

    def test_a_single_split(self):
        X, y = targets()["classes"]
        est = ClassificationBounds(cv=[(np.arange(40), np.arange(40, 60))], cutoff=0.1).fit(X, y)
        assert est.sufficiency().score_all_error == pytest.approx(0.0, abs=1e-12)


def test_default_values_of_a_path_are_the_grid():
    X, y = targets()["classes"]
    path = bounds_path(ClassificationBounds(Cs=CS, cutoff=0.1), X, y)
    np.testing.assert_array_equal(path.values, CS)


def test_stability_uses_cv_and_scoring():
    X, y = targets()["classes"]
    est = ClassificationBounds(cv=3, scoring="balanced_accuracy", Cs=CS, cutoff=0.1)
    found = stability(est, X, y, n_splits=2, test_size=0.3, random_state=0)
    plain = stability(
        clone(est).set_params(scoring=None), X, y, n_splits=2, test_size=0.3, random_state=0
    )
    assert not np.allclose(found.test_score, plain.test_score)
    with pytest.raises(InputError, match="cv cannot be a list of splits"):
        stability(clone(est).set_params(cv=[([0], [1])]), X, y, n_splits=2)


@pytest.mark.parametrize(
    ("estimator", "target", "message"),
    [
        (ClassificationBounds(scoring="roc_auc"), "ordered", "The scorer failed"),
        (ClassificationBounds(scoring="neg_log_loss"), "classes", "there are no probabilities"),
        (ClassificationBounds(scoring="acuracy"), "classes", "is not a scikit-learn scorer"),
        (RegressionBounds(scoring="accuracy"), "numbers", "The scorer failed"),
        (RankingBounds(scoring="accuracy"), "classes", "The scorer failed"),
        (SurvivalBounds(scoring="r2"), "times", "does not support scoring"),
        (ClassificationBounds(Cs=[1.0, 0.0]), "classes", "positive and at most"),
        (ClassificationBounds(Cs=[]), "classes", "at least one number"),
        (ClassificationBounds(Cs=["a"]), "classes", "positive and at most"),
        (ClassificationBounds(cv=[([0, 1], [99])]), "classes", "not a pair of row indices"),
        (ClassificationBounds(cv=[([0, 1], [])]), "classes", "has no test rows"),
        (RegressionBounds(cv=LeaveOneOut(), scoring="r2"), "numbers", "not a finite number"),
        (RankingBounds(cv=LeaveOneOut()), "classes", "comparable pairs"),
    ],
)
@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_invalid_settings_have_clear_errors(estimator, target, message):
    with pytest.raises(InputError, match=message):
        clone(estimator).fit(*targets()[target])


def test_scoring_cannot_be_combined_with_queries():
    X, y = targets()["classes"]
    with pytest.raises(InputError, match="queries"):
        RankingBounds(scoring="roc_auc").fit(X, y, groups=np.arange(60) // 10)


def test_fewer_folds_than_requested_are_a_warning():
    X, value = make_table()
    y = value > np.sort(value)[-7]
    with pytest.warns(RelevanceWarning, match="6 folds instead of 10"):
        ClassificationBounds(cv=10, cutoff=0.1, Cs=[5.0]).fit(X, y)
