"""Tests of SVMRFE: ranking, scores and selection rules against scikit-learn; input types."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.feature_selection import RFE, RFECV
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from allrelevant import SVMRFE, InputError, RelevanceWarning
from tests.elimination.naive import (
    ONCE,
    PLAIN,
    naive_margin_rfe,
    naive_scores,
    naive_weights,
)


def scaled(X):
    return StandardScaler().fit_transform(X)


def generated(seed, n_samples, n_features, n_classes=2):
    return make_classification(
        n_samples,
        n_features,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        flip_y=0.1,
        random_state=seed,
    )


def sklearn_ranking(X, y, **settings):
    svm = SVC(kernel="linear", tol=1e-6, **settings)
    return RFE(svm, n_features_to_select=1, step=1).fit(X, y).ranking_


SETS = {
    "breast cancer": lambda: (scaled(load_breast_cancer().data), load_breast_cancer().target),
    "wine, three classes": lambda: (scaled(load_wine().data), load_wine().target),
    "more rows than features": lambda: generated(0, 120, 20),
    "as many rows as features": lambda: generated(1, 60, 60),
    "more features than rows": lambda: generated(2, 40, 300),
    "four classes": lambda: generated(3, 100, 40, n_classes=4),
    "constant and equal columns": lambda: with_nuisances(*generated(4, 60, 15)),
}


def with_nuisances(X, y):
    X = X[:, [0, 1, 2, 2, 3, 4, 5, 6]]
    X[:, 4] = 7.0
    return X, y


@pytest.mark.parametrize("name", [name for name in SETS if "constant" not in name])
def test_ranking_equals_that_of_scikit_learn(name):
    X, y = SETS[name]()
    ours = SVMRFE(**PLAIN, n_features_to_select=1).fit(X, y)
    assert (ours.ranking_ == sklearn_ranking(X, y)).all()
    assert len(ours.scores_) == 0


@pytest.mark.parametrize("class_weight", ["balanced", {0: 5.0}])
def test_ranking_with_class_weights_equals_that_of_scikit_learn(class_weight):
    X, y = generated(5, 80, 25)
    settings = {**PLAIN, "C": 0.3, "class_weight": class_weight}
    ours = SVMRFE(**settings, n_features_to_select=1).fit(X, y)
    assert (ours.ranking_ == sklearn_ranking(X, y, C=0.3, class_weight=class_weight)).all()


def test_ranking_does_not_depend_on_the_order_of_rows_or_on_shifts():
    X, y = generated(6, 70, 50)
    order = np.random.RandomState(0).permutation(len(y))
    for settings in ({}, PLAIN):
        model = SVMRFE(**settings, n_features_to_select=1)
        expected = clone(model).fit(X, y).ranking_
        assert (clone(model).fit(X[order], y[order]).ranking_ == expected).all()
        assert (clone(model).fit(X + 1000.0, y).ranking_ == expected).all()


def test_constant_columns_are_dropped_first_and_ties_by_index():
    X, y = SETS["constant and equal columns"]()
    with pytest.warns(RelevanceWarning, match=r"1 constant column.*'x4'") as caught:
        ranking = SVMRFE(n_features_to_select=1).fit(X, y).ranking_
    assert caught[0].filename == __file__
    assert ranking[4] == 8
    assert ranking[2] > ranking[3]  # of two equal columns, the first is dropped first
    assert sorted(ranking) == list(range(1, 9))


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_margin_criterion_equals_brute_force(kernel):
    X, y = generated(7, 40, 14)
    ours = SVMRFE(**PLAIN, kernel=kernel, criterion="margin", n_features_to_select=1, C=2.0).fit(
        X, y
    )
    expected = naive_margin_rfe(X, y, kernel=kernel, C=2.0, n_steps=13)
    assert np.argsort(-ours.ranking_)[:13].tolist() == expected


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_criterion_with_a_nonlinear_kernel(n_classes):
    X, y = generated(8, 60, 10, n_classes)
    ours = SVMRFE(
        **PLAIN, kernel="rbf", n_features_to_select=9, min_features_to_select=9, C=2.0
    ).fit(X, y)
    model = SVC(C=2.0, gamma=1 / 10, tol=1e-8).fit(X, y)
    assert ours.ranking_.argmax() == naive_weights(model, X, y).argmin()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_every_subset(kernel, n_classes):
    X, y = generated(9, 75, 8, n_classes)
    costs = [0.1, 1.0, 10.0]
    folds = list(StratifiedKFold(4).split(X, y))
    ours = SVMRFE(**ONCE, kernel=kernel, C=costs[::-1], cv=folds).fit(X, y)
    assert ours.optimistic_
    assert not hasattr(ours, "held_out_score_")
    for index, size in enumerate(ours.n_subset_features_):
        part = X[:, ours.ranking_ <= size]
        expected = naive_scores(part, y, folds, kernel, costs)
        best = np.round(expected.mean(axis=0), 12).argmax()
        assert ours.history_["C"][index] == costs[best]
        np.testing.assert_allclose(ours.fold_scores_[index], expected[:, best])


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1_macro", "roc_auc", "neg_hinge"])
def test_scorers(scoring):
    X, y = generated(10, 60, 5)
    scorer = scoring
    if scoring == "neg_hinge":

        def scorer(model, X, y):
            return -np.maximum(0, 1 - np.where(y == 1, 1, -1) * model.decision_function(X)).mean()

    ours = SVMRFE(**PLAIN, scoring=scorer, cv=StratifiedKFold(3), C=0.5).fit(X, y)
    expected = cross_val_score(
        SVC(kernel="linear", C=0.5, tol=1e-8), X, y, cv=3, scoring=get_scorer(scorer)
    )
    np.testing.assert_allclose(ours.fold_scores_[0], expected, atol=1e-4)


def test_string_labels_do_not_change_scores():
    X, y = generated(11, 60, 5)
    words = np.array(["no", "yes"])[y]
    model = SVMRFE(scoring="roc_auc", random_state=0)
    expected = clone(model).fit(X, y)
    assert (model.fit(X, words).fold_scores_ == expected.fold_scores_).all()


def test_groups_stay_together():
    X, y = generated(12, 60, 5)
    groups = np.repeat(np.arange(20), 3)
    ours = SVMRFE(**PLAIN, scoring="accuracy", cv=GroupKFold(4)).fit(X, y, groups=groups)
    expected = naive_scores(X, y, list(GroupKFold(4).split(X, y, groups)), "linear", [1.0])
    np.testing.assert_allclose(ours.fold_scores_[0], expected[:, 0])
    numbered = SVMRFE(cv=4, random_state=0)
    with_groups = clone(numbered).fit(X, y, groups=groups).fold_scores_
    assert (with_groups != numbered.fit(X, y).fold_scores_).any()


def test_steps_of_several_features():
    X, y = generated(13, 50, 30)
    ours = SVMRFE(step=0.3, min_features_to_select=2).fit(X, y)
    assert ours.n_subset_features_.tolist() == [30, 21, 15, 11, 8, 6, 5, 4, 3, 2]
    assert sorted(ours.ranking_) == [1, *range(1, 30)]
    one = SVMRFE(**{**PLAIN, "step": 10}, n_features_to_select=20).fit(X, y)
    weights = np.abs(SVC(kernel="linear", tol=1e-8).fit(X, y).coef_[0])
    assert (~one.support_ == (weights < np.sort(weights)[10])).all()


def test_selection_rules():
    X, y = generated(14, 60, 12)
    ours = SVMRFE(n_features_to_select="smallest_best").fit(X, y)
    best = ours.n_features_
    at_best = ours.n_subset_features_ == best
    assert ours.scores_[at_best] == ours.best_score_
    assert not (ours.scores_[ours.n_subset_features_ < best] >= ours.best_score_).any()
    ours.select("one_se")
    at = int(ours.scores_.argmax())
    error = ours.fold_scores_[at].std(ddof=1) / np.sqrt(5)
    within = ours.scores_ >= ours.best_score_ - error
    assert ours.n_features_ == ours.n_subset_features_[within].min()
    assert (ours.select(3).support_ == (ours.ranking_ <= 3)).all()
    assert ours.transform(X).shape == (60, 3)
    with pytest.raises(InputError, match="no subset of 13 features"):
        ours.select(13)
    with pytest.raises(InputError, match="n_features_to_select must be"):
        ours.select("worst")  # type: ignore[arg-type]


def test_scores_and_held_out_scores_equal_those_of_rfecv():
    X, y = generated(15, 80, 12)
    folds = StratifiedKFold(4)
    expected = RFECV(SVC(kernel="linear", tol=1e-6), cv=folds, step=1).fit(X, y)
    splits = [expected.cv_results_[f"split{fold}_test_score"][::-1] for fold in range(4)]
    model = SVMRFE(**PLAIN, scoring="accuracy", n_features_to_select="smallest_best", cv=folds)
    ours = clone(model).fit(X, y)
    np.testing.assert_allclose(ours.fold_scores_, np.transpose(splits))
    assert not ours.optimistic_
    assert (ours.support_ == expected.support_).all()
    five = ours.select(5).held_out_score_
    np.testing.assert_allclose(five.scores, [scores[7] for scores in splits])
    nested = model.set_params(n_features_to_select=5, nested_cv=folds).fit(X, y)
    assert len(nested.scores_) == 0
    np.testing.assert_allclose(nested.held_out_score_.scores, five.scores)
    assert (nested.held_out_score_.support == five.support).all()
    assert nested.held_out_score_.nested
    np.testing.assert_allclose(nested.held_out_score_.all_features, five.all_features)


def test_held_out_scores_of_permuted_classes_are_at_chance():
    """Ranking once gives optimistic scores; repeated rankings do not."""
    X, y = generated(16, 60, 400)
    noise = np.random.RandomState(0).permutation(y)
    ours = SVMRFE(random_state=0).fit(X, noise)
    once = SVMRFE(random_state=0, repeat_in_folds=False).fit(X, noise)
    assert once.best_score_ > 0.9
    score = ours.held_out_score_
    assert abs(score.score - 0.5) < 2 * score.standard_error + 0.02
    assert score.constant == 0.5


def test_nested_score_does_not_use_held_out_rows():
    X, y = generated(16, 60, 30)
    folds = StratifiedKFold(4)
    for rank_once in (True, False):
        model = SVMRFE(cv=folds, C=[0.1, 1], repeat_in_folds=not rank_once, scoring="accuracy")
        ours = clone(model).set_params(nested_cv=folds).fit(X, y)
        train, test = next(folds.split(X, y))
        alone = model.fit(X[train], y[train])
        assert (alone.support_ == ours.held_out_score_.support[0]).all()
        step = int(np.flatnonzero(alone.n_subset_features_ == alone.n_features_)[0])
        scaler = StandardScaler().fit(X[train])
        svm = SVC(
            kernel="linear", C=alone.history_["C"][step], tol=1e-8, class_weight="balanced"
        ).fit(alone.transform(scaler.transform(X[train])), y[train])
        held_out = svm.score(alone.transform(scaler.transform(X[test])), y[test])
        assert held_out == ours.held_out_score_.scores[0]


def test_features_of_a_scaled_and_an_unscaled_table_are_the_same():
    X, y = load_wine(return_X_y=True)
    for kernel in ("linear", "rbf"):
        model = SVMRFE(kernel=kernel, random_state=0)
        raw, standardized = clone(model).fit(X, y), clone(model).fit(scaled(X), y)
        assert (raw.ranking_ == standardized.ranking_).all()
        assert (raw.support_ == standardized.support_).all()
        np.testing.assert_allclose(raw.fold_scores_, standardized.fold_scores_)


def test_folds_are_shuffled_with_the_seed():
    X, y = generated(25, 60, 8)
    order = np.argsort(y, kind="stable")
    fits = [SVMRFE(random_state=seed).fit(X[order], y[order]) for seed in (0, 0, 1)]
    assert (fits[0].fold_scores_ == fits[1].fold_scores_).all()
    assert (fits[0].fold_scores_ != fits[2].fold_scores_).any()


def test_a_rare_class_reduces_the_number_of_folds():
    X, y = generated(26, 60, 6)
    y = np.r_[np.zeros(57), np.ones(3)]
    with pytest.warns(RelevanceWarning, match="'1.0' has only 3 rows, so there are 3 folds") as got:
        assert SVMRFE(random_state=0).fit(X, y).fold_scores_.shape[1] == 3
    assert got[0].filename == __file__


def test_scores_do_not_reward_a_constant_prediction():
    """One of ten rows is positive; accuracy hardly falls if no feature is left."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], [180, 20])
    X = rng.randn(200, 30)
    X[:, :6] += 0.9 * y[:, None]
    ours = SVMRFE(random_state=0).fit(X, y)
    assert ours.support_[:6].sum() >= 3
    assert ours.held_out_score_.score > 0.65
    assert ours.held_out_score_.constant == 0.5


def test_variance_pruning():
    X, y = generated(17, 60, 8)
    X[:, 2] *= 0.01 / X[:, 2].std()
    X[:, 6] *= 0.02 / X[:, 6].std()
    ours = SVMRFE(min_variance=0.001, random_state=0).fit(X, y)
    assert ours.ranking_[[2, 6]].tolist() == [8, 7]
    assert ours.n_subset_features_[0] == 6
    rest = np.delete(np.arange(8), [2, 6])
    assert (ours.ranking_[rest] == SVMRFE().fit(X[:, rest], y).ranking_).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_sparse(kernel):
    X, y = generated(18, 50, 20)
    X[np.abs(X) < 1] = 0
    for criterion in ("weights", "margin"):
        model = SVMRFE(kernel=kernel, criterion=criterion, cv=3, standardize=False, random_state=0)
        dense, other = clone(model).fit(X, y), clone(model).fit(sparse.csr_matrix(X), y)
        assert (dense.ranking_ == other.ranking_).all()
        np.testing.assert_allclose(dense.scores_, other.scores_)


def test_data_frames_keep_their_column_names():
    X, y = generated(19, 50, 6)
    names = list("abcdef")
    frame = pd.DataFrame(X, columns=names)
    ours = SVMRFE(random_state=0).fit(frame, y).select(2)
    chosen = [name for name, kept in zip(names, ours.support_, strict=True) if kept]
    assert ours.get_feature_names_out().tolist() == chosen
    assert ours.set_output(transform="pandas").transform(frame).columns.tolist() == chosen
    polars = ours.set_output(transform="polars").transform(pl.DataFrame(frame.to_dict("list")))
    assert polars.columns == chosen
    history = ours.history_
    assert set(history["dropped"].explode().dropna()) < set(names)
    assert history["n_features"].tolist() == [6, 5, 4, 3, 2, 1]
    np.testing.assert_allclose(history["score"], ours.scores_)


def test_clone_pickle_pipeline_and_two_workers():
    X, y = generated(20, 60, 10)
    ours = SVMRFE(C=[0.1, 1.0], kernel="rbf", random_state=0)
    fitted = clone(ours).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.transform(X) == fitted.transform(X)).all()
    workers = clone(ours).set_params(n_jobs=2).fit(X, y)
    assert (workers.ranking_ == fitted.ranking_).all()
    assert (workers.fold_scores_ == fitted.fold_scores_).all()
    pipe = make_pipeline(StandardScaler(), ours.set_params(n_features_to_select=3), SVC()).fit(X, y)
    assert pipe[:-1].transform(X).shape == (60, 3)


def test_progress_is_shown(capsys):
    X, y = generated(21, 40, 5)
    SVMRFE(verbose=1).fit(X, y)
    assert "SVMRFE, all rows" in capsys.readouterr().err


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "scorer that requires probabilities": ({"scoring": "neg_log_loss"}, "no probabilities"),
    "unknown scorer": ({"scoring": "speed"}, "get_scorer_names"),
    "selection rule without cv": ({"cv": None}, "requires cross-validation"),
    "several C without cv": (
        {"cv": None, "n_features_to_select": 2, "C": [1, 2]},
        "Several values of C require cross-validation",
    ),
    "negative C": ({"C": [1.0, -2.0]}, "positive"),
    "too many features": ({"n_features_to_select": 40}, "exceeds the number of features"),
    "n_features below the minimum": (
        {"n_features_to_select": 2, "min_features_to_select": 3},
        "less than min_features_to_select",
    ),
    "weight of an unknown class": ({"class_weight": {5: 1.0}}, "5, which is not a class"),
    "too little variance": ({"min_variance": 1e9}, "Reduce min_variance"),
    "list of inner folds": (
        {"cv": [(np.r_[:20, 53:57], [21, 58])], "nested_cv": 3},
        "cv cannot be a list of folds",
    ),
    "nested_cv without folds": (
        {"cv": None, "n_features_to_select": 2, "nested_cv": True},
        "requires cv",
    ),
    "a fold of one class": ({"cv": [(np.arange(20), [59])]}, "have a single class"),
    "outer folds that the scorer cannot use": (
        {"scoring": "roc_auc", "cv": 2, "nested_cv": [(np.r_[:40, 53:60], np.arange(40, 53))]},
        "The scorer failed|every class",
    ),
    "missing folder of the checkpoint": ({"checkpoint": "/absent/run.ckpt"}, "does not exist"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_settings_raise_before_any_training(name, monkeypatch):
    settings, message = BAD[name]
    X, _ = generated(22, 60, 8)
    y = np.r_[np.zeros(53), np.ones(7)]
    monkeypatch.setattr("allrelevant.elimination.svm.PairwiseSVMs.solve", None)
    with pytest.raises(InputError, match=message) as caught:
        SVMRFE(**settings).fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda X: np.where(X[3, 2] == X, np.nan, X),
            "NaN values .1 in total., first in feature 'x2'",
        ),
        (
            lambda X: np.where(X[3, 2] == X, np.inf, X),
            "infinite values .1 in total., first in feature 'x2'",
        ),
        (
            lambda X: sparse.csr_array(np.where(X > 1, np.nan, X)),
            "NaN values .* first in feature 'x0'",
        ),
        (lambda X: np.ones_like(X), "All columns are constant"),
        (lambda X: X[:, :1], "1 feature"),
    ],
)
def test_invalid_tables_raise_one_line_errors(change, message):
    X, y = generated(23, 30, 6)
    with pytest.raises(ValueError, match=message) as caught:
        SVMRFE(cv=3).fit(change(X), y)
    assert "\n" not in str(caught.value)


def test_bad_targets():
    X, y = generated(24, 30, 6)
    with pytest.raises(InputError, match=r"'1\.0' has only one row \(cv\)"):
        SVMRFE().fit(X, np.r_[np.zeros(29), 1.0])
    with pytest.raises(InputError, match="single class"):
        SVMRFE().fit(X, np.zeros(30))
    with pytest.raises(InputError, match="Cannot split the rows"):
        SVMRFE(cv=GroupKFold(4)).fit(X, y, groups=np.repeat([0, 1], 15))
    with pytest.raises(ValueError, match="continuous"):
        SVMRFE().fit(X, X[:, 0])
