"""Tests of saliency-based selection on data frames with categories and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from allrelevant import SaliencySelector
from allrelevant.exceptions import InputError
from tests.elimination.test_mixed_tables import hand_encoded, mixed_table


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("keep_shape", [False, True])
def test_saliency_of_all_columns_of_a_feature(seed: int, keep_shape: bool) -> None:
    """A linear model ranks a feature by the norm of the weights of its columns."""
    X, y = mixed_table(seed)
    model = LogisticRegression(tol=1e-8)
    selector = SaliencySelector(
        model, keep_fraction=0.0, n_features_to_select=2, balanced=False, keep_shape=keep_shape
    ).fit(X, y)
    blocks = hand_encoded(X)
    coef = LogisticRegression(tol=1e-8).fit(np.hstack(blocks), y).coef_[0]
    parts = np.split(coef, np.cumsum([block.shape[1] for block in blocks])[:-1])
    weights = np.array([np.linalg.norm(part) for part in parts])
    np.testing.assert_allclose(selector.importances_, weights / weights.sum(), rtol=1e-4)
    assert selector.ranking_.tolist() == (np.argsort(np.argsort(-weights)) + 1).tolist()
    assert selector.transform(X).shape == (len(X), 2)


@pytest.mark.parametrize("standardize", [True, False])
def test_scores_and_regression(standardize: bool) -> None:
    X, y = mixed_table(0)
    settings: dict[str, Any] = {"standardize": standardize, "cv": 3, "keep_fraction": 0.6}
    selector = SaliencySelector(SVC(), random_state=0, **settings).fit(X, y)
    assert {"site", "dose"} <= set(selector.get_feature_names_out())
    assert selector.held_out_score_.score > 0.7
    numeric = SaliencySelector(Ridge(), random_state=0, **settings)
    target = X["dose"] + 2.0 * (X["site"] == "north")
    numeric.fit(X.drop(columns="lab"), target)
    assert set(numeric.select(2).get_feature_names_out()) == {"site", "dose"}


def test_explain_is_refused_with_advice() -> None:
    X, y = mixed_table(0)
    selector = SaliencySelector(SVC(), n_features_to_select=2).fit(X, y)
    with pytest.raises(InputError, match="requires a table of numbers"):
        selector.explain(X)
