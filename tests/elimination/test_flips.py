"""Tests of BitFlip and AttributeFlip against an exhaustive search of neighboring subsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from allrelevant import SVMRFE, AttributeFlip, BitFlip, InputError
from tests.elimination import naive
from tests.elimination.naive import naive_scores

COSTS = (0.5, 2.0)
NAMES = ("class_weight", "standardize", "scoring", "repeat_in_folds")
ONCE = {name: naive.ONCE[name] for name in NAMES}


def generated(seed=0):
    return make_classification(
        50, 9, n_informative=4, n_redundant=0, flip_y=0.15, random_state=seed
    )


def worth(X, y, subset, kernel):
    folds = list(StratifiedKFold(3).split(X, y))
    means = naive_scores(X[:, list(subset)], y, folds, kernel, COSTS).mean(axis=0)
    return float(np.round(means, 12).max())


def bit_neighbors(subset, n_features):
    without = [subset - {j} for j in subset if len(subset) > 1]
    return [*without, *(subset | {j} for j in range(n_features) if j not in subset)]


def attribute_neighbors(subset, n_features):
    return [(subset - {i}) | {j} for i in subset for j in range(n_features) if j not in subset]


@pytest.mark.parametrize(
    ("method", "neighbors"), [(BitFlip, bit_neighbors), (AttributeFlip, attribute_neighbors)]
)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_each_round_moves_to_the_best_neighbor(method, neighbors, kernel):
    X, y = generated()
    ours = method(
        SelectKBest(k=3), **ONCE, kernel=kernel, C=COSTS, cv=StratifiedKFold(3), max_rounds=None
    ).fit(X, y)
    assert ours.optimistic_
    assert not hasattr(ours, "held_out_score_")
    subset = set(np.flatnonzero(SelectKBest(k=3).fit(X, y).get_support()).tolist())
    score, rounds = worth(X, y, sorted(subset), kernel), 0
    np.testing.assert_allclose(ours.scores_[0], score)
    while True:
        others = neighbors(subset, 9)
        scores = [worth(X, y, sorted(other), kernel) for other in others]
        best = max(zip(scores, (-len(other) for other in others), strict=True))
        if best <= (score, -len(subset)):
            break
        rounds += 1
        subset = set(np.flatnonzero(ours._steps[rounds].subset).tolist())
        assert subset in others
        assert (worth(X, y, sorted(subset), kernel), -len(subset)) == best
        score = best[0]
    assert len(ours.scores_) == rounds + 1
    assert set(np.flatnonzero(ours.support_)) == subset
    np.testing.assert_allclose(ours.best_score_, score)


def test_held_out_score_repeats_the_search_in_each_fold():
    X, y = generated(5)
    folds = StratifiedKFold(3)
    model = BitFlip(SelectKBest(k=2), cv=folds, C=COSTS, scoring="accuracy")
    ours = clone(model).fit(X, y)
    held_out = ours.held_out_score_
    for number, (train, test) in enumerate(folds.split(X, y)):
        alone = clone(model).fit(X[train], y[train])
        assert (held_out.support[number] == alone.support_).all()
        svm = SVC(
            kernel="linear", C=alone.history_["C"].iloc[-1], class_weight="balanced", tol=1e-8
        )
        pipe = make_pipeline(StandardScaler(), svm)
        pipe.fit(alone.transform(X[train]), y[train])
        assert pipe.score(alone.transform(X[test]), y[test]) == held_out.scores[number]
    assert held_out.nested
    assert ours.optimistic_
    assert not hasattr(ours.select(ours.n_features_), "held_out_score_")


def test_features_of_a_scaled_and_an_unscaled_table_are_the_same():
    X, y = load_wine(return_X_y=True)
    for method in (BitFlip, AttributeFlip):
        model = method(SVMRFE(n_features_to_select=3), max_evaluations=20, random_state=0)
        raw, scaled = clone(model).fit(X, y), model.fit(StandardScaler().fit_transform(X), y)
        assert (raw.support_ == scaled.support_).all()


def test_max_rounds_and_max_evaluations_are_respected():
    X, y = generated(1)
    one = BitFlip(SelectKBest(k=2), cv=3).fit(X, y)
    assert len(one.scores_) <= 2
    few = AttributeFlip(SelectKBest(k=3), cv=3, max_rounds=None, max_evaluations=5).fit(X, y)
    assert few.history_["candidates"].sum() <= 5


def test_history_feature_names_and_selection_rules():
    X, y = generated(2)
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    ours = BitFlip(SVMRFE(cv=None, n_features_to_select=1), cv=3, max_rounds=None).fit(frame, y)
    assert isinstance(ours.selector_, SVMRFE)
    history = ours.history_
    assert history["n_features"].tolist() == ours.n_subset_features_.tolist()
    assert set(history["added"].explode().dropna()) <= set(frame.columns)
    assert ours.get_feature_names_out().tolist() == frame.columns[ours.support_].tolist()
    assert (ours.ranking_ == np.where(ours.support_, 1, 2)).all()
    assert ours.select(1).n_features_ == 1
    with pytest.raises(InputError, match="no subset of 9 features"):
        ours.select(9)


def test_resumed_run_gives_the_same_result(tmp_path):
    X, y = generated(3)
    settings: dict[str, Any] = {
        "selector": SelectKBest(k=2),
        "cv": 3,
        "max_rounds": None,
        "kernel": "rbf",
        "random_state": 0,
    }
    uninterrupted = BitFlip(**settings).fit(X, y)
    first = BitFlip(**{**settings, "max_rounds": 1}, checkpoint=tmp_path / "a").fit(X, y)
    assert (first.fold_scores_ == uninterrupted.fold_scores_[:2]).all()
    path = tmp_path / "b"
    for _ in range(2):
        again = BitFlip(**settings, checkpoint=path).fit(X, y)
        assert (again.support_ == uninterrupted.support_).all()
        assert (again.fold_scores_ == uninterrupted.fold_scores_).all()
    with pytest.raises(InputError, match=r"different run \(different: data"):
        BitFlip(**{**settings, "selector": SelectKBest(k=3)}, checkpoint=path).fit(X, y)


def test_bad_input():
    X, y = generated(4)
    with pytest.raises(InputError, match="Set cv"):
        BitFlip(SelectKBest(k=2), cv=None).fit(X, y)
    with pytest.raises(InputError, match="selected no features"):
        BitFlip(_EmptySelector()).fit(X, y)


class _EmptySelector(VarianceThreshold):
    def get_support(self, indices=False):
        return np.zeros(self.n_features_in_, dtype=bool)
