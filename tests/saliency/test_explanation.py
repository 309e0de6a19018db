"""Tests of explanations of individual rows: values, misclassified rows and figures."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC

from allrelevant import InputError, SaliencySelector, explain, robustness
from allrelevant.saliency import OutputGain, as_differentiable, saliency

from .differences import central_differences

mpl.use("Agg")


def branches(n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return data whose class depends on feature 1 or 2, depending on the sign of feature 0."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n_samples, 3))
    return X, np.where(np.where(X[:, 0] < 0, X[:, 1], X[:, 2]) > 0, "up", "down")


def test_the_relevant_feature_of_each_row_is_most_salient() -> None:
    X, y = branches(600, 0)
    new = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.3, 0.3) for c in (-0.3, 0.3)])
    relevant = np.where(new[:, 0] < 0, 1, 2)
    signs = np.sign(new[np.arange(8), relevant])
    found = explain(SVC(C=10.0).fit(X, y), new, np.where(signs > 0, "up", "down"))
    assert not found.wrong.any()
    rows = np.arange(8)
    assert (found.absolute[rows, relevant] > found.absolute[rows, 3 - relevant]).all()
    # A larger value supports "up", a smaller one "down".
    np.testing.assert_array_equal(np.sign(found.saliency[rows, relevant]), signs)


def test_misclassified_rows_have_small_saliency_and_a_note() -> None:
    X, y = branches(600, 0)
    model = SVC(C=10.0, gamma=2.0).fit(X, y)
    sure = np.abs(model.decision_function(X)) > 1
    y, flipped = y.astype(object), np.where(y == "up", "down", "up").astype(object)
    correct, wrong = explain(model, X[sure], y[sure]), explain(model, X[sure], flipped[sure])
    assert not correct.wrong[:5].any()
    assert wrong.wrong[:5].all()
    assert wrong.absolute.sum() < correct.absolute.sum() / 100
    assert wrong.gains.max() < correct.gains.min()
    assert wrong.note(0) == (
        f"predicted as {y[sure][0]!r}, not {flipped[sure][0]!r}: few or no features "
        f"support {flipped[sure][0]!r}"
    )
    assert correct.note(0).startswith("predicted as")


def test_explanation_targets() -> None:
    X, y = branches(200, 0)
    model = SVC().fit(X, y)
    by_prediction = explain(model, X)
    np.testing.assert_array_equal(by_prediction.targets, model.predict(X))
    assert not by_prediction.wrong.any()
    for_class = explain(model, X, target="up")
    assert set(for_class.targets) == {"up"}
    codes = np.ones(len(X), dtype=int)
    expected = saliency(as_differentiable(model), X, codes)
    np.testing.assert_allclose(for_class.saliency, expected, rtol=1e-9, atol=1e-12)
    output_gain = explain(model, X, y, gain=OutputGain())
    assert np.abs(output_gain.saliency).max() < np.abs(by_prediction.saliency).max()


def test_regression() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    model = Ridge().fit(X, X @ [1.0, 0.0, -2.0])
    without = explain(model, X)
    np.testing.assert_allclose(without.saliency, np.tile(model.coef_, (50, 1)))
    y = without.predicted + 0.1
    found = explain(model, X, y)
    slope = 2 * 0.1 / (0.1**2 + 1e-3) ** 2
    np.testing.assert_allclose(found.saliency, slope * np.tile(model.coef_, (50, 1)))
    assert not found.wrong.any()
    assert found.note(0).startswith("predicted ")


def test_selector_explains_all_features() -> None:
    X, y = branches(300, 0)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(300, 3))])
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = SaliencySelector(SVC(gamma=1.0), n_features_to_select=3, standardize=False)
    found = selector.fit(frame, y)
    explanation = found.explain(frame, y)
    assert explanation.names == list("abcdef")
    used = found.get_support()
    assert (explanation.absolute[:, used] > 0).all()
    assert (explanation.saliency[:, ~used] == 0).all()
    direct = explain(found.estimator_, X[:, used], y)
    # The memory layouts of the two tables may differ, which affects rounding.
    np.testing.assert_allclose(
        explanation.saliency[:, used], direct.saliency, rtol=1e-9, atol=1e-12
    )
    found.select(2)  # does not change the explained model
    np.testing.assert_array_equal(found.explain(frame, y).saliency, explanation.saliency)
    rows = explanation.to_frame(0)
    assert rows.columns.tolist() == ["feature", "value", "percent", "saliency"]
    assert rows["saliency"].abs().is_monotonic_decreasing
    np.testing.assert_allclose(rows["percent"].abs().sum(), 100.0)
    top = rows["feature"][0]
    assert rows["value"][0] == frame.loc[0, top]
    assert explanation.to_frame().shape == (300, 6)


SCALERS = (MinMaxScaler(), MaxAbsScaler(), RobustScaler())


@pytest.mark.parametrize("scaler", [StandardScaler(), StandardScaler(with_std=False), *SCALERS])
def test_gradient_through_a_scaler(scaler) -> None:
    X, y = branches(100, 0)
    X = X * [1.0, 20.0, 0.1] + [5.0, 0.0, 0.0]
    model = make_pipeline(scaler, "passthrough", SVC(gamma=0.5)).fit(X, y)
    found = as_differentiable(model)
    expected = central_differences(lambda Z: model.decision_function(Z), X[:6], step=1e-5)
    output_gradient = np.tile([0.0, 1.0], (6, 1))
    np.testing.assert_allclose(found.vjp(X[:6], output_gradient), expected, atol=1e-6)


def test_bad_input() -> None:
    X, y = branches(60, 0)
    model = SVC().fit(X, y)
    for arguments, message in (
        (
            {"y": ["left"] * 60},
            "'left' is not a class of the model. Use one of its classes: 'down', 'up'",
        ),
        ({"target": "left"}, "'left' is not a class of the model"),
        ({"y": y, "target": "up"}, "cannot both be set"),
    ):
        with pytest.raises(InputError, match=message):
            explain(model, X, **arguments)
    with pytest.raises(InputError, match="2 features, but the model was trained on 3"):
        explain(model, X[:, :2])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        explain(model, X, y[:10])
    numbers = Ridge().fit(X, X[:, 0])
    with pytest.raises(InputError, match="requires a classifier"):
        explain(numbers, X, target="up")
    with pytest.raises(InputError, match="gradient of FunctionTransformer"):
        explain(make_pipeline(FunctionTransformer(), SVC()).fit(X, y), X)
    with pytest.raises(InputError, match="gradient of MinMaxScaler"):
        explain(make_pipeline(MinMaxScaler(clip=True), SVC()).fit(X, y), X)


def test_bar_chart() -> None:
    X, y = branches(60, 0)
    frame = pd.DataFrame(X, columns=["a $x$", "b", "c"])
    found = explain(SVC().fit(frame.to_numpy(), y), frame, y)
    display = found.plot(3, max_features=2)
    shown = np.argsort(-found.absolute[3])[:2]
    (bars,) = display.ax_.containers
    np.testing.assert_allclose([bar.get_width() for bar in bars], found.percent[3, shown])
    assert display.ax_.get_xlabel() == "saliency (% of the row's total)"
    (bars,) = found.plot(3, max_features=2, raw=True).ax_.containers
    np.testing.assert_allclose([bar.get_width() for bar in bars], found.saliency[3, shown])
    assert "1 less salient features not shown" in display.ax_.get_title(loc="left")
    assert found.note(3) in display.ax_.get_title(loc="left")
    assert display.plot(ax=display.ax_).ax_ is display.ax_


def test_percentages_keep_signs_and_add_up() -> None:
    X, y = branches(60, 0)
    found = explain(SVC().fit(X, y), X)
    np.testing.assert_allclose(np.abs(found.percent).sum(axis=1), 100.0)
    np.testing.assert_array_equal(np.sign(found.percent), np.sign(found.saliency))
    ratio = found.percent / found.saliency
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape))
    nothing = replace(found, saliency=np.zeros_like(found.saliency))
    assert (nothing.percent == 0).all()


def test_map_of_an_image() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    y = (X[:, 5] > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    found = explain(model, sp.csr_array(X), y)
    display = found.plot_map(2, shape=(3, 4))
    drawn = np.asarray(display.ax_.images[-1].get_array())
    np.testing.assert_allclose(drawn, found.absolute[2].reshape(3, 4))
    assert np.argmax(drawn) == 5
    colored = found.plot_map(2, shape=(2, 2, 3), scale=9.0).ax_.images[-1]
    np.testing.assert_allclose(
        np.asarray(colored.get_array()), found.absolute[2].reshape(2, 2, 3).sum(axis=2)
    )
    assert colored.get_clim() == (0.0, 9.0)
    with pytest.raises(InputError, match="12 features do not form an image"):
        found.plot_map(2)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_predictions_equal_those_of_the_model(kernel) -> None:
    X, y = load_iris(return_X_y=True)
    model = SVC(kernel=kernel).fit(X, y)
    np.testing.assert_array_equal(explain(model, X, y).predicted, model.predict(X))
    selector = SaliencySelector(
        model, keep_fraction=0.0, n_features_to_select=4, standardize=False
    ).fit(X, y)
    assert selector.history_["score"][0] == pytest.approx(model.score(X, y))


def test_rows_misclassified_by_votes_have_small_saliency() -> None:
    """Rows misclassified by one-vs-one votes have small saliency.

    A large decision value between two other classes must not increase it.
    """
    X, y = load_iris(return_X_y=True)
    found = explain(SVC(kernel="linear", C=10.0).fit(X, y), X, y)
    assert found.wrong.any()
    assert found.absolute[found.wrong].sum(axis=1).max() < (
        np.median(found.absolute[~found.wrong].sum(axis=1)) / 10
    )


def test_names_and_index_come_from_the_table() -> None:
    X, y = branches(100, 0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"row {i}" for i in range(100)])
    model = LogisticRegression().fit(frame, y)
    found = explain(model, frame, y)
    assert found.to_frame().index.tolist() == frame.index.tolist()
    assert explain(model, X, y).names == ["a", "b", "c"]
    for function in (explain, robustness):
        with pytest.raises(
            InputError, match="Column 1 of X is 'c', but the model was trained with"
        ):
            function(model, frame[["c", "b", "a"]])
    selector = SaliencySelector(LogisticRegression(), keep_fraction=0.0, n_repeats=1).fit(frame, y)
    assert selector.explain(frame, y).to_frame().index.tolist() == frame.index.tolist()


def test_unsupported_models_and_targets_raise() -> None:
    X, y = branches(100, 0)
    codes = np.unique(y, return_inverse=True)[1]
    model = LogisticRegression().fit(X, codes)
    with pytest.raises(
        InputError, match=r"'1' is not a class of the model\. Use one of its classes: 0, 1"
    ):
        explain(model, X, target="1")
    with pytest.raises(NotFittedError):
        explain(SVC(), X)
    with pytest.raises(InputError, match="best_estimator_"):
        explain(GridSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, y), X)
    with pytest.raises(InputError, match="does not accept a SaliencySelector"):
        explain(SaliencySelector(SVC(), keep_fraction=0.0, n_repeats=1).fit(X, y), X)
    with pytest.raises(ValueError, match="y contains NaN"):
        explain(Ridge().fit(X, codes), X, np.full(100, np.nan))
    with pytest.raises(InputError, match="predicts 2 numbers"):
        explain(Ridge().fit(X, X[:, :2]), X)


def test_a_single_logit_raises() -> None:
    torch = pytest.importorskip("torch")
    from allrelevant.saliency.backends.torch_modules import TorchModel

    model = TorchModel(torch.nn.Linear(3, 1), outputs="logits")
    with pytest.raises(InputError, match="1 output, but a classifier requires"):
        explain(model, branches(10, 0)[0])


def test_lists_have_a_default_index() -> None:
    X, y = branches(50, 0)
    frame = explain(SVC().fit(X, y), X[:3].tolist()).to_frame()
    assert frame.index.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "units", [[2.0], [1.0, 2.0], 2.0, [[1.0, 1.0, 1.0]], ["a"] * 3, [np.nan] * 3, [-1.0, 1.0, 1.0]]
)
def test_invalid_units_raise(units) -> None:
    X, y = branches(50, 0)
    with pytest.raises(InputError, match="units must be"):
        explain(SVC().fit(X, y), X, units=units)


class CustomGain:
    """Gain function for regression: the negative absolute error."""

    def value(self, outputs, targets):
        return -np.abs(outputs[:, 0] - targets)

    def gradient(self, outputs, targets):
        return -np.sign(outputs - np.asarray(targets)[:, None])


class CustomModel(RegressorMixin, BaseEstimator):
    gain = CustomGain()

    def fit(self, X, y):
        self.weights_ = np.linalg.lstsq(X, y)[0]
        return self

    def outputs(self, X):
        return X @ self.weights_[:, None]

    def vjp(self, X, output_gradient):
        return output_gradient * self.weights_


def test_custom_model_with_a_custom_gain() -> None:
    X, _ = branches(50, 0)
    y = X @ [1.0, 2.0, 3.0] + 0.1
    found = explain(CustomModel().fit(X, y), X, y)
    np.testing.assert_allclose(found.absolute, np.broadcast_to([1, 2, 3], X.shape), atol=0.2)
    selector = SaliencySelector(
        CustomModel(), keep_fraction=0.0, n_features_to_select=3, standardize=False
    ).fit(X, y)
    np.testing.assert_allclose(selector.explain(X, y).saliency, found.saliency)
