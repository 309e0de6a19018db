"""Closed forms against finite differences of what scikit-learn itself computes."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
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
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC

from allrelevant import InputError, explain
from allrelevant.saliency import OutputGain, SquaredHingeGain, as_differentiable, saliency
from allrelevant.saliency.differentiable import linearized, predicted_codes

from .differences import central_differences

KERNELS = ("linear", "poly", "rbf", "sigmoid")


def table(n_classes: int, n_samples: int = 120) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n_samples,
        6,
        n_informative=5,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=0,
    )
    return X / 2, y


def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.normal(size=80)


def class_means(pairwise: np.ndarray, n_classes: int) -> np.ndarray:
    """Mean decision of each class against the others, from scikit-learn's one-against-one."""
    means = np.zeros((len(pairwise), n_classes))
    for place, (first, second) in enumerate(combinations(range(n_classes), 2)):
        means[:, first] += pairwise[:, place] / (n_classes - 1)
        means[:, second] -= pairwise[:, place] / (n_classes - 1)
    return means


def weighted(outputs, output_gradient, X) -> np.ndarray:
    return (output_gradient * outputs(X)).sum(axis=1)


def require_gradients(model, outputs, X, output_gradients, values=None) -> None:
    """Outputs as expected, and gradients that are their finite differences.

    With straight-through clipping they are those of outputs without it, which differ from values.
    """
    np.testing.assert_allclose(model.outputs(X), (values or outputs)(X), atol=1e-9)
    for output_gradient in output_gradients:
        full = np.broadcast_to(output_gradient, outputs(X).shape)
        expected = central_differences(partial(weighted, outputs, full), X)
        found = model.vjp(X, np.ascontiguousarray(full))
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("machine", [SVC, NuSVC])
def test_svc(kernel, n_classes, machine) -> None:
    X, y = table(n_classes)
    options = {"nu": 0.3} if machine is NuSVC else {}
    svc = machine(kernel=kernel, coef0=0.5, decision_function_shape="ovo", **options).fit(X, y)

    def outputs(Z, limit=np.inf):
        decisions = svc.decision_function(Z)
        if n_classes == 2:
            return np.column_stack([-decisions, decisions])
        return class_means(np.clip(decisions, -limit, limit), n_classes)

    rows = np.random.default_rng(1).normal(size=(8, X.shape[1]))
    output_gradients = np.random.default_rng(2).normal(size=(2, n_classes))
    require_gradients(
        as_differentiable(svc), outputs, rows, output_gradients, values=partial(outputs, limit=1.0)
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("break_ties", [False, True])
def test_svc_predicts_as_scikit_learn_does(kernel, n_classes, break_ties) -> None:
    """By votes, which the highest of the class outputs does not always have."""
    X, y = table(n_classes)
    svc = SVC(kernel=kernel, C=100.0, break_ties=break_ties).fit(X, y)
    rows = np.random.default_rng(1).normal(size=(400, X.shape[1])) * 2
    found = linearized(as_differentiable(svc), rows)
    np.testing.assert_array_equal(svc.classes_[predicted_codes(found)], svc.predict(rows))
    scaled = make_pipeline(StandardScaler(), svc).fit(X, y)
    found = linearized(as_differentiable(scaled), rows)
    np.testing.assert_array_equal(predicted_codes(found), scaled.predict(rows))


@pytest.mark.parametrize("break_ties", [False, True])
def test_decisions_of_exactly_zero(break_ties) -> None:
    X, y = np.repeat(np.eye(3), 3, axis=0), np.tile([0, 1, 2], 3)
    svc = SVC(kernel="linear", break_ties=break_ties).fit(X, y)
    found = linearized(as_differentiable(svc), X)
    np.testing.assert_array_equal(predicted_codes(found), svc.predict(X))


@pytest.mark.parametrize("frames", ["default", "pandas", "polars"])
@pytest.mark.parametrize(
    "scaler", [StandardScaler(), MinMaxScaler((-1, 2)), RobustScaler(), MaxAbsScaler()]
)
@pytest.mark.filterwarnings("error:X does not have valid feature names")
def test_pipelines_that_make_frames(scaler, frames) -> None:
    X, y = table(3)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = make_pipeline(StandardScaler(with_mean=False), scaler, SVC())
    model.set_output(transform=frames).fit(frame, y)
    found = explain(model, frame, y)
    np.testing.assert_array_equal(found.predicted, model.predict(frame))
    plain = make_pipeline(StandardScaler(with_mean=False), scaler, SVC())
    expected = explain(plain.set_output(transform="default").fit(X, y), X, y)
    np.testing.assert_allclose(found.saliency, expected.saliency, atol=1e-6)
    assert found.names == list("abcdef")


@pytest.mark.parametrize("kernel", KERNELS)
def test_svr(kernel) -> None:
    X, y = numbers()
    svr = SVR(kernel=kernel, gamma=0.2, coef0=0.5).fit(X, y)
    require_gradients(
        as_differentiable(svr), lambda Z: svr.predict(Z)[:, None], X[:8], np.array([[1.0], [-2.0]])
    )


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("model", [LinearSVC(), RidgeClassifier()])
def test_linear_decisions(n_classes, model) -> None:
    X, y = table(n_classes)
    fitted = model.fit(X, y)

    def outputs(Z):
        decisions = fitted.decision_function(Z)
        return np.column_stack([-decisions, decisions]) if n_classes == 2 else decisions

    require_gradients(as_differentiable(fitted), outputs, X[:8], np.eye(n_classes)[:2])


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
def test_logits(n_classes, model) -> None:
    """Probabilities are what scikit-learn shows: those of the logits, and their gradients."""
    X, y = table(n_classes)
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
    X, y = numbers()
    fitted = model.fit(X, y)
    require_gradients(
        as_differentiable(fitted), lambda Z: fitted.predict(Z)[:, None], X[:8], np.array([[1.5]])
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_regression_of_rates() -> None:
    """A network whose last layer is an exponential."""
    X, y = numbers()
    fitted = MLPRegressor(hidden_layer_sizes=(6,), loss="poisson", max_iter=20, random_state=0).fit(
        X, np.exp(y)
    )
    require_gradients(
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
    X, y = table(3)
    X[np.abs(X) < 0.4] = 0.0
    sparse = sp.csr_array(X)
    dense = saliency(as_differentiable(model.fit(X, y)), X, y)
    found = saliency(as_differentiable(model.fit(sparse, y)), sparse, y)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, dense, atol=1e-2 * np.abs(dense).max())


def test_saliency_is_the_gradient_of_the_gain() -> None:
    X, y = table(3)
    svc = SVC(kernel="rbf", C=0.1, gamma=0.3, decision_function_shape="ovo").fit(X, y)
    model = as_differentiable(svc)
    gain = SquaredHingeGain()
    inside = np.abs(svc.decision_function(X)).max(axis=1) < 0.99  # where nothing is clipped
    assert inside.sum() > 10
    expected = central_differences(lambda Z: gain.value(model.outputs(Z), y[inside]), X[inside])
    np.testing.assert_allclose(saliency(model, X[inside], y[inside], gain), expected, atol=1e-6)


def test_classic_saliency_of_a_linear_model_is_its_weights() -> None:
    X, y = table(3)
    fitted = LogisticRegression().fit(X, y)
    found = saliency(as_differentiable(fitted), X, y, OutputGain())
    np.testing.assert_allclose(found, fitted.coef_[y])


def test_no_gradients() -> None:
    X, y = table(2)
    with pytest.raises(InputError, match="RandomForestClassifier has no gradients"):
        as_differentiable(RandomForestClassifier(2).fit(X, y))
    with pytest.raises(InputError, match="kernel 'precomputed'"):
        as_differentiable(SVC(kernel="precomputed").fit(X @ X.T, y))


def test_subclass_of_a_known_type() -> None:
    class Own(SVC):
        pass

    X, y = table(2)
    np.testing.assert_array_equal(
        as_differentiable(Own().fit(X, y)).outputs(X), as_differentiable(SVC().fit(X, y)).outputs(X)
    )


def test_a_model_that_is_differentiable_itself() -> None:
    X, y = numbers()
    model = as_differentiable(Ridge().fit(X, y))
    assert as_differentiable(model) is model
