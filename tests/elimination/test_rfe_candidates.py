"""Tests of EBRFE against Algorithm 3 of Krupka (2016), and with one candidate against SVMRFE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from allrelevant import EBRFE, SVMRFE, InputError
from tests.elimination.naive import ONCE, naive_ebrfe


def generated(seed, n_samples=45, n_features=9, n_classes=2):
    return make_classification(
        n_samples, n_features, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=seed
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_path_equals_algorithm_3(kernel, n_classes):
    X, y = generated(0, n_classes=n_classes)
    costs = (0.25, 1.0, 4.0)
    folds = list(StratifiedKFold(3).split(X, y))
    ours = EBRFE(**ONCE, n_candidates=4, kernel=kernel, C=costs, cv=folds).fit(X, y)
    expected = list(naive_ebrfe(X, y, folds, n_candidates=4, kernel=kernel, costs=costs))
    steps = ours._path.whole.steps
    assert [step.dropped for step in steps[1:]] == [[feature] for feature, _, _ in expected[1:]]
    np.testing.assert_allclose(ours.scores_, [score for _, score, _ in expected])
    assert [step.C for step in steps] == [C for _, _, C in expected]


def test_one_candidate_is_equivalent_to_svm_rfe():
    X, y = generated(1, n_features=20)
    settings: dict[str, Any] = {"C": [0.1, 1.0], "cv": 4, "kernel": "rbf", "step": 2}
    settings["random_state"] = 0
    one, svm_rfe = EBRFE(n_candidates=1, **settings).fit(X, y), SVMRFE(**settings).fit(X, y)
    assert (one.ranking_ == svm_rfe.ranking_).all()
    assert (one.fold_scores_ == svm_rfe.fold_scores_).all()


def test_best_candidate_is_dropped_and_ties_by_criterion():
    X, y = generated(2, n_features=12)
    ours = EBRFE(**ONCE, n_candidates=5, cv=StratifiedKFold(3)).fit(X, y)
    n_overruled = 0
    for step in ours._path.whole.steps[1:]:
        best = max(step.candidate_scores)
        assert step.dropped == [step.candidates[step.candidate_scores.index(best)]]
        n_overruled += step.dropped[0] != step.candidates[0]
    assert n_overruled > 0  # cross-validation sometimes overrules the weights


def test_larger_steps_drop_the_least_important_features_in_any_case():
    X, y = generated(3, n_features=14)
    ours = EBRFE(n_candidates=3, step=4, cv=3, min_features_to_select=2).fit(X, y)
    first = ours._path.whole.steps[1]
    order = np.argsort(-SVMRFE(step=13, n_features_to_select=1).fit(X, y).ranking_)
    assert first.dropped[:3] == order[:3].tolist()
    assert first.candidates == order[3:6].tolist()
    assert ours.n_subset_features_.tolist() == [14, 10, 6, 2]


def test_automatic_number_of_candidates():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 30)
    signal = rng.randn(60, 4) + np.outer(2 * y - 1, [1.5, 1.2, 1.0, 0.8])
    noise = rng.randn(60, 30)
    ours = EBRFE(n_candidates="auto", cv=3).fit(np.c_[signal, noise], y)
    numbers = ours.history_["candidates"].str.len().to_numpy()
    assert numbers[1] >= 3  # thirty noise features with similar weights
    assert numbers[-2] == 1  # informative features with different weights
    assert numbers.max() <= 12
    clear = EBRFE(n_candidates="auto", cv=3).fit(np.c_[signal, 1e-3 * noise[:, :1]], y)
    assert clear.history_["candidates"].str.len()[1] == 1


def test_ebrfe_requires_cv():
    X, y = generated(4)
    with pytest.raises(InputError, match="requires cross-validation"):
        EBRFE(cv=None, n_features_to_select=2).fit(X, y)


def test_two_workers_give_the_same_result():
    X, y = generated(5, n_features=7)
    settings: dict[str, Any] = {"n_candidates": 3, "cv": 3, "C": [1, 10], "nested_cv": True}
    one = EBRFE(**settings, random_state=0).fit(X, y)
    two = EBRFE(**settings, random_state=0, n_jobs=2).fit(X, y)
    assert (one.ranking_ == two.ranking_).all()
    assert (one.fold_scores_ == two.fold_scores_).all()
    assert (one.held_out_score_.scores == two.held_out_score_.scores).all()
