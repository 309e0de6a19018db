"""Tests of closed-form gradients against finite differences of scikit-learn's outputs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNetCV,
    HuberRegressor,
    LassoCV,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDRegressor,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from allrelevant import explain
from allrelevant.saliency import as_differentiable, saliency

from ..differences import central_differences, check_gradients, class_table, regression_table

KERNELS = ("linear", "poly", "rbf", "sigmoid")


@pytest.mark.parametrize("frames", ["default", "pandas", "polars"])
@pytest.mark.parametrize(
    "scaler", [StandardScaler(), MinMaxScaler((-1, 2)), RobustScaler(), MaxAbsScaler()]
)
@pytest.mark.filterwarnings("error:X does not have valid feature names")
def test_pipelines_with_dataframe_output(scaler, frames) -> None:
    X, y = class_table(3)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = make_pipeline(StandardScaler(with_mean=False), scaler, SVC())
    model.set_output(transform=frames).fit(frame, y)
    found = explain(model, frame, y)
    np.testing.assert_array_equal(found.predicted, model.predict(frame))
    plain = make_pipeline(StandardScaler(with_mean=False), scaler, SVC())
    expected = explain(plain.set_output(transform="default").fit(X, y), X, y)
    np.testing.assert_allclose(found.saliency, expected.saliency, atol=1e-6)
    assert found.names == list("abcdef")


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("model", [LinearSVC(), RidgeClassifier()])
def test_linear_classifiers(n_classes, model) -> None:
    X, y = class_table(n_classes)
    fitted = model.fit(X, y)

    def outputs(Z):
        decisions = fitted.decision_function(Z)
        return np.column_stack([-decisions, decisions]) if n_classes == 2 else decisions

    check_gradients(as_differentiable(fitted), outputs, X[:8], np.eye(n_classes)[:2])


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize(
    "model",
    [LogisticRegression()]
    + [
        MLPClassifier((7, 5), activation=name, max_iter=30, random_state=0)
        for name in ("identity", "logistic", "tanh", "relu")
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classifiers_with_logits(n_classes, model) -> None:
    """Logits and their gradients agree with scikit-learn's predicted probabilities."""
    X, y = class_table(n_classes)
    fitted = model.fit(X, y)
    found = as_differentiable(fitted)
    np.testing.assert_allclose(softmax(found.outputs(X), axis=1), fitted.predict_proba(X))

    def log_odds(Z):
        logs = np.log(fitted.predict_proba(Z))
        return logs[:, -1] - logs[:, 0]

    output_gradient = np.zeros((8, n_classes))
    output_gradient[:, 0], output_gradient[:, -1] = -1.0, 1.0
    expected = central_differences(log_odds, X[:8])
    np.testing.assert_allclose(found.vjp(X[:8], output_gradient), expected, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        LassoCV(),
        ElasticNetCV(),
        BayesianRidge(),
        HuberRegressor(),
        SGDRegressor(random_state=0),
        MLPRegressor(hidden_layer_sizes=(7, 5), activation="tanh", max_iter=30, random_state=0),
        MLPRegressor(hidden_layer_sizes=(7, 5), activation="relu", max_iter=30, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_regression(model) -> None:
    X, y = regression_table()
    fitted = model.fit(X, y)
    check_gradients(
        as_differentiable(fitted), lambda Z: fitted.predict(Z)[:, None], X[:8], np.array([[1.5]])
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_poisson_regression() -> None:
    """Gradients of a Poisson network include its exponential output activation."""
    X, y = regression_table()
    fitted = MLPRegressor(hidden_layer_sizes=(6,), loss="poisson", max_iter=20, random_state=0).fit(
        X, np.exp(y)
    )
    check_gradients(
        as_differentiable(fitted), lambda Z: fitted.predict(Z)[:, None], X[:8], np.array([[1.0]])
    )


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel="rbf"),
        SVC(kernel="poly", coef0=1.0),
        SVC(kernel="linear"),
        LogisticRegression(),
        MLPClassifier((5,), max_iter=10, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sparse_rows(model) -> None:
    X, y = class_table(3)
    X[np.abs(X) < 0.4] = 0.0
    sparse = sp.csr_array(X)
    dense = saliency(as_differentiable(model.fit(X, y)), X, y)
    found = saliency(as_differentiable(model.fit(sparse, y)), sparse, y)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, dense, atol=1e-2 * np.abs(dense).max())
