"""Tests of saliency-based selection on data frames with categories and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from allrelevant import SaliencySelector, explain
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


def naive_saliency(X: Any, blocks: list[Any], coef: Any) -> Any:
    """Return the signed saliency of a linear model: a norm, with the sign of the row's level."""
    parts = np.split(coef, np.cumsum([block.shape[1] for block in blocks])[:-1])
    expected = np.empty((len(X), len(blocks)))
    for j, (name, block, part) in enumerate(zip(X.columns, blocks, parts, strict=True)):
        effect = block @ part  # the columns have mean zero
        slope = np.full(len(X), part[0])
        is_level = X[name].isna() | (name in ("site", "color", "sex"))
        expected[:, j] = np.where(is_level, np.sign(effect), np.sign(slope)) * np.linalg.norm(part)
    return expected


@pytest.mark.parametrize("keep_shape", [False, True])
def test_explanations_of_rows(keep_shape: bool) -> None:
    X, _ = mixed_table(0)
    target = X["dose"] + 2.0 * (X["site"] == "north") - 0.3 * X["lab"].isna()
    selector = SaliencySelector(
        Ridge(), keep_fraction=0.0, n_features_to_select=7, keep_shape=keep_shape
    ).fit(X, target)
    blocks = hand_encoded(X)
    coef = Ridge().fit(np.hstack(blocks), target).coef_
    expected = naive_saliency(X, blocks, coef)
    found = selector.explain(X)
    np.testing.assert_allclose(found.saliency, expected, atol=1e-10)
    np.testing.assert_allclose(
        found.predicted, Ridge().fit(np.hstack(blocks), target).predict(np.hstack(blocks))
    )
    assert found.names == list(X.columns)
    table = found.to_frame(0).set_index("feature")
    assert table["value"]["site"] == X["site"][0]
    assert table["value"]["age"] == X["age"][0]
    # New rows are encoded and centered by the training rows, and unknown levels are average.
    new = X.iloc[[3, 4]].assign(color="purple")
    known = [j for j, name in enumerate(X.columns) if name != "color"]
    np.testing.assert_allclose(selector.explain(new).saliency[:, known], expected[3:5][:, known])


def test_features_that_were_not_selected_have_saliency_zero() -> None:
    X, y = mixed_table(0)
    selector = SaliencySelector(SVC(), n_features_to_select=2, random_state=0).fit(X, y)
    found = selector.explain(X.iloc[:3])
    selected = selector.get_support()
    assert (found.absolute[:, selected] > 0).all()
    assert (found.saliency[:, ~selected] == 0).all()


def test_two_level_categories_without_other_blocks() -> None:
    """Without features of several columns, the estimator scales the columns itself."""
    X = mixed_table(0)[0][["dose", "sex"]]
    selector = SaliencySelector(Ridge(), keep_fraction=0.0, n_features_to_select=2, balanced=False)
    target = X["dose"] + (X["sex"] == "m")
    found = selector.fit(X, target).explain(X)
    sign = np.where(X["sex"] == "m", 1.0, -1.0)
    np.testing.assert_array_equal(np.sign(found.saliency[:, 1]), sign)
    std = np.std(X["sex"] == "m")
    np.testing.assert_allclose(found.absolute[:, 1], std, rtol=0.05)


def test_models_of_numbers_refuse_words_with_advice() -> None:
    X, y = mixed_table(0)
    model = LogisticRegression().fit(X[["age", "dose"]], y)
    with pytest.raises(InputError, match="Column 'dose' has words or missing values"):
        explain(model, X[["age", "dose"]].assign(dose="high"))
