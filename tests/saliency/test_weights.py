"""Tests of sample weights in saliency-based selection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from allrelevant import InputError, SaliencySelector
from allrelevant.saliency.rounds import balanced_weights
from tests.elimination.test_mixed_tables import mixed_table, repeated

ESTIMATORS = {
    "logistic": LogisticRegression(tol=1e-9, max_iter=10_000),
    "svm": SVC(gamma=0.2, tol=1e-9),  # "scale" is a variance without weights
    "pipeline": make_pipeline(MinMaxScaler(), LogisticRegression(tol=1e-9, max_iter=10_000)),
    "ridge": Ridge(),
}


def weighted_table(seed: int, name: str) -> tuple[Any, Any, Any, Any]:
    X, y = make_classification(60, 5, n_informative=3, n_redundant=0, random_state=seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    folds = list(StratifiedKFold(3).split(X, y))
    return X, (X @ [1.0, 2.0, 0.0, 0.5, 0.0] if name == "ridge" else y), weight, folds


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("scoring", [None, "scorer"])
def test_weights_equal_repeated_rows(name: str, scoring: str | None) -> None:
    X, y, weight, folds = weighted_table(0, name)
    X_repeated, y_repeated, new_folds = repeated(X, y, weight, folds)
    scorer = "neg_mean_absolute_error" if name == "ridge" else "accuracy"
    settings: Any = {
        "balanced": False,
        "keep_fraction": 0.6,
        "scoring": None if scoring is None else scorer,
        "random_state": 0,
    }
    weighted = SaliencySelector(ESTIMATORS[name], cv=folds, **settings)
    weighted.fit(X, y, sample_weight=weight)
    expected = SaliencySelector(ESTIMATORS[name], cv=new_folds, **settings)
    expected.fit(X_repeated, y_repeated)
    assert weighted.ranking_.tolist() == expected.ranking_.tolist()
    np.testing.assert_allclose(weighted.importances_, expected.importances_, rtol=1e-3)
    np.testing.assert_allclose(weighted.fold_scores_, expected.fold_scores_, rtol=1e-3)
    np.testing.assert_allclose(
        weighted.explain(X[:5]).saliency, expected.explain(X[:5]).saliency, rtol=1e-3, atol=1e-6
    )


def test_weights_on_mixed_tables_equal_repeated_rows() -> None:
    X, _ = mixed_table(0)
    y = (X["dose"] + (X["site"] == "north")).to_numpy()
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    settings: Any = {"keep_fraction": 0.0, "n_features_to_select": 3}
    weighted = SaliencySelector(Ridge(), **settings).fit(X, y, sample_weight=weight)
    expected = SaliencySelector(Ridge(), **settings).fit(
        X.iloc[rows].reset_index(drop=True), y[rows]
    )
    np.testing.assert_allclose(weighted.importances_, expected.importances_, rtol=1e-6)
    np.testing.assert_allclose(
        weighted.explain(X.iloc[:9]).saliency, expected.explain(X.iloc[:9]).saliency, rtol=1e-6
    )


def test_balanced_classes_have_the_same_total_weight() -> None:
    codes, weight = np.array([0, 0, 0, 1, 2, 2]), np.array([1.0, 2.0, 3.0, 0.5, 1.0, 0.0])
    balanced = balanced_weights(codes, weight)
    np.testing.assert_allclose(np.bincount(codes, balanced), 6.0)
    assert balanced[1] == pytest.approx(2 * balanced[0])
    X, y, weight, _ = weighted_table(1, "svm")
    selector = SaliencySelector(SVC(), n_features_to_select=3).fit(X, y, sample_weight=weight)
    assert selector.get_support().sum() == 3


@pytest.mark.parametrize("estimator", [KNeighborsClassifier(), "mlp"])
def test_estimators_without_weights_are_refused(estimator: Any) -> None:
    X, y, weight, _ = weighted_table(0, "svm")
    with pytest.raises(InputError, match="sample_weight requires an estimator whose fit"):
        SaliencySelector(estimator, n_features_to_select=3).fit(X, y, sample_weight=weight)


def test_invalid_weights_are_refused() -> None:
    X, y, weight, _ = weighted_table(0, "svm")
    with pytest.raises(ValueError, match=r"(?i)negative"):
        SaliencySelector(SVC()).fit(pd.DataFrame(X), y, sample_weight=-weight)
