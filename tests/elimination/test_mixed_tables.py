"""Tests of elimination on data frames with categories and missing values, and of sample weights.

The expected results are computed with scikit-learn SVMs and columns encoded by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from allrelevant import EBRFE, SVMRFE, AttributeFlip, BitFlip
from allrelevant.exceptions import InputError

N_FOLDS = 3


def mixed_table(seed: int, n_samples: int = 90) -> tuple[pd.DataFrame, Any]:
    """Return a table with numbers, categories, booleans and missing values, and a target."""
    rng = np.random.default_rng(seed)
    site = rng.choice(["north", "south", "west", "east"], n_samples)
    dose, age = rng.normal(size=(2, n_samples))
    lab = np.where(rng.random(n_samples) < 0.2, np.nan, dose + rng.normal(size=n_samples))
    X = pd.DataFrame(
        {
            "age": age,
            "site": site,
            "lab": lab,
            "color": pd.Categorical(rng.choice(["red", "green", "blue"], n_samples)),
            "dose": dose,
            "smoker": rng.random(n_samples) < 0.4,
            "sex": rng.choice(["f", "m"], n_samples),
        }
    )
    signal = 1.5 * (site == "north") - (site == "west") + dose + 0.5 * rng.normal(size=n_samples)
    return X, np.where(signal > 0.2, "ill", "well")


def hand_encoded(X: pd.DataFrame) -> list[Any]:
    """Return the scaled columns of each feature, encoded by hand."""
    blocks = []
    for name in X:
        values = X[name]
        if values.dtype == bool or name == "sex":
            columns = (values == sorted(values.unique())[1]).to_numpy(float)[:, None]
        elif pd.api.types.is_numeric_dtype(values):
            columns = values.fillna(values.median()).to_numpy()[:, None]
            if values.isna().any():
                columns = np.column_stack([columns, values.isna()])
        else:
            columns = pd.get_dummies(values).to_numpy(float)
        variance = columns.var(axis=0)
        if columns.shape[1] > 2:  # the levels of a category have a common scale
            variance = variance.sum() / 2
        blocks.append((columns - columns.mean(axis=0)) / np.sqrt(variance))
    return blocks


def svm(C: float = 1.0) -> SVC:
    return SVC(kernel="linear", C=C, class_weight="balanced", tol=1e-6)


def naive_ranking(blocks: Sequence[Any], y: Any) -> list[int]:
    """Return the ranking of SVM-RFE that removes all columns of a feature at once."""
    remaining = list(range(len(blocks)))
    ranking = [0] * len(blocks)
    while remaining:
        coef = svm().fit(np.hstack([blocks[j] for j in remaining]), y).coef_[0]
        ends = np.cumsum([blocks[j].shape[1] for j in remaining])[:-1]
        weights = [float((part**2).sum()) for part in np.split(coef, ends)]
        worst = remaining[int(np.argmin(weights))]
        ranking[worst] = len(remaining)
        remaining.remove(worst)
    return ranking


def naive_scores(blocks: Sequence[Any], y: Any, features: Sequence[int]) -> list[float]:
    columns = np.hstack([blocks[j] for j in features])
    return [
        balanced_accuracy_score(y[test], svm().fit(columns[train], y[train]).predict(columns[test]))
        for train, test in StratifiedKFold(N_FOLDS).split(columns, y)
    ]


class FirstFeatures(SelectorMixin, BaseEstimator):
    """Selector of the first features of any table."""

    def __init__(self, number: int) -> None:
        self.number = number

    def fit(self, X: Any, y: Any) -> FirstFeatures:
        self.support_ = np.arange(X.shape[1]) < self.number
        return self

    def _get_support_mask(self) -> Any:
        return self.support_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", ["weights", "margin"])
def test_features_are_eliminated_as_a_whole(seed: int, criterion: Any) -> None:
    """A category is ranked like its one-hot columns, removed together."""
    X, y = mixed_table(seed)
    rfe = SVMRFE(n_features_to_select=2, step=1, criterion=criterion, tol=1e-8).fit(X, y)
    assert rfe.ranking_.tolist() == naive_ranking(hand_encoded(X), y)
    assert rfe.n_features_in_ == X.shape[1]
    assert rfe.feature_names_in_.tolist() == X.columns.tolist()
    kept = rfe.set_output(transform="pandas").transform(X)
    pd.testing.assert_frame_equal(kept, X.loc[:, rfe.support_])


@pytest.mark.parametrize(
    "selector",
    [
        SVMRFE(step=1),
        EBRFE(n_candidates=3),
        BitFlip(FirstFeatures(2), max_rounds=2),
        AttributeFlip(FirstFeatures(2), max_rounds=2),
    ],
    ids=lambda est: type(est).__name__,
)
def test_scores_of_all_visited_subsets(selector: Any) -> None:
    X, y = mixed_table(1, n_samples=60)
    cv = StratifiedKFold(N_FOLDS)
    selector.set_params(cv=cv, repeat_in_folds=False, tol=1e-6).fit(X, y)
    blocks, features = hand_encoded(X), set(range(X.shape[1]))
    if hasattr(selector, "selector_"):
        features = set(np.flatnonzero(selector.selector_.support_).tolist())
    names = X.columns.tolist()
    rows = selector._history_rows(names)
    assert len(rows) > 1
    for row, scores in zip(rows, selector.fold_scores_, strict=True):
        features -= {names.index(name) for name in row["dropped"]}
        features |= {names.index(name) for name in row.get("added", [])}
        assert len(features) == row["n_features"]
        np.testing.assert_allclose(scores, naive_scores(blocks, y, sorted(features)))


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_kernels_and_folds(kernel: Any) -> None:
    X, y = mixed_table(2)
    rfe = SVMRFE(kernel=kernel, criterion="margin", random_state=0, cv=3).fit(X, y)
    assert sorted(rfe.ranking_.tolist()) == list(range(1, X.shape[1] + 1))
    assert rfe.held_out_score_.score > rfe.held_out_score_.constant + 0.1


def test_text_of_any_library_gives_the_same_selection() -> None:
    polars = pytest.importorskip("polars")
    X, y = mixed_table(3)
    settings: dict[str, Any] = {"n_features_to_select": 3}
    expected = SVMRFE(**settings).fit(X, y).ranking_
    found = SVMRFE(**settings).fit(polars.from_pandas(X), y).ranking_
    assert found.tolist() == expected.tolist()


def test_numbers_in_a_data_frame_are_used_as_they_are() -> None:
    X, y = make_classification(60, 6, random_state=0)
    by_array = SVMRFE(random_state=0, cv=3).fit(X, y)
    by_frame = SVMRFE(random_state=0, cv=3).fit(pd.DataFrame(X), y)
    np.testing.assert_array_equal(by_array.ranking_, by_frame.ranking_)
    np.testing.assert_array_equal(by_array.fold_scores_, by_frame.fold_scores_)


def test_missing_values_of_arrays_are_refused_after_a_data_frame() -> None:
    X, y = mixed_table(0)
    rfe = SVMRFE(n_features_to_select=2).fit(X, y)
    numbers = X[["age", "lab", "dose"]].to_numpy()
    with pytest.raises(InputError, match="NaN values"):
        rfe.fit(numbers, y)


def test_numeric_target_is_refused_with_advice() -> None:
    X, _ = mixed_table(0)
    with pytest.raises(InputError, match=r"requires classes.* use SaliencySelector"):
        SVMRFE().fit(X, X["dose"])


def repeated(X: Any, y: Any, weight: Any, folds: Any) -> tuple[Any, Any, Any]:
    """Return each row as often as its weight says, and the folds of these rows."""
    source = np.repeat(np.arange(len(y)), weight)
    new_folds = [
        tuple(np.flatnonzero(np.isin(source, rows)) for rows in (train, test))
        for train, test in folds
    ]
    return X[source], y[source], new_folds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scoring", [None, "accuracy", "f1_macro"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_equal_repeated_rows(seed: int, scoring: Any, kernel: Any) -> None:
    X, y = make_classification(70, 6, n_informative=3, n_classes=3, random_state=seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    folds = list(StratifiedKFold(N_FOLDS).split(X, y))
    X_repeated, y_repeated, new_folds = repeated(X, y, weight, folds)
    settings: dict[str, Any] = {
        "kernel": kernel,
        "scoring": scoring,
        "tol": 1e-9,
        "C": [0.1, 1.0],
        "repeat_in_folds": False,
        "n_candidates": 2,
        "min_variance": 0.01,
    }
    weighted = EBRFE(cv=folds, **settings).fit(X, y, sample_weight=weight)
    expected = EBRFE(cv=new_folds, **settings).fit(X_repeated, y_repeated)
    assert weighted.ranking_.tolist() == expected.ranking_.tolist()
    np.testing.assert_allclose(weighted.fold_scores_, expected.fold_scores_)


def test_invalid_weights_are_refused() -> None:
    X, y = make_classification(40, 4, random_state=0)
    with pytest.raises(ValueError, match=r"(?i)zero"):
        SVMRFE().fit(X, y, sample_weight=np.zeros(40))
    with pytest.raises(ValueError, match=r"(?i)negative"):
        SVMRFE().fit(X, y, sample_weight=np.full(40, -1.0))


@pytest.mark.parametrize("flip", [BitFlip, AttributeFlip])
@pytest.mark.parametrize("seed", range(2))
def test_weights_of_local_search_equal_repeated_rows(flip: Any, seed: int) -> None:
    X, y = make_classification(70, 6, n_informative=3, n_classes=3, random_state=seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    folds = list(StratifiedKFold(N_FOLDS).split(X, y))
    X_repeated, y_repeated, new_folds = repeated(X, y, weight, folds)
    start = SVMRFE(cv=None, n_features_to_select=2, tol=1e-9)
    settings: dict[str, Any] = {"tol": 1e-9, "repeat_in_folds": False, "max_rounds": 2}
    weighted = flip(start, cv=folds, **settings).fit(X, y, sample_weight=weight)
    expected = flip(start, cv=new_folds, **settings).fit(X_repeated, y_repeated)
    assert weighted.support_.tolist() == expected.support_.tolist()
    np.testing.assert_allclose(weighted.fold_scores_, expected.fold_scores_)


def test_local_search_with_weights_in_folds() -> None:
    X, y = make_classification(60, 5, n_informative=2, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    start = SVMRFE(cv=None, n_features_to_select=2)
    fitted = BitFlip(start, cv=3, random_state=0).fit(X, y, sample_weight=weight)
    assert fitted.held_out_score_ is not None


def test_initial_selectors_without_weights_are_refused() -> None:
    X, y = make_classification(40, 4, random_state=0)
    with pytest.raises(InputError, match="sample_weight requires a selector"):
        BitFlip(SelectKBest(k=2)).fit(X, y, sample_weight=np.ones(40))
