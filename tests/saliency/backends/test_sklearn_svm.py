"""Tests of closed-form SVM gradients against finite differences of scikit-learn's outputs."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

from allrelevant.saliency import as_differentiable
from allrelevant.saliency.differentiable import linearize, predicted_codes

from ..differences import check_gradients, class_table, regression_table

KERNELS = ("linear", "poly", "rbf", "sigmoid")


def class_means(pairwise: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the mean of scikit-learn's one-vs-one decision values for each class."""
    means = np.zeros((len(pairwise), n_classes))
    for place, (first, second) in enumerate(combinations(range(n_classes), 2)):
        means[:, first] += pairwise[:, place] / (n_classes - 1)
        means[:, second] -= pairwise[:, place] / (n_classes - 1)
    return means


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("svm_class", [SVC, NuSVC])
def test_svc(kernel, n_classes, svm_class) -> None:
    X, y = class_table(n_classes)
    options = {"nu": 0.3} if svm_class is NuSVC else {}
    svc = svm_class(kernel=kernel, coef0=0.5, decision_function_shape="ovo", **options).fit(X, y)

    def outputs(Z, limit=np.inf):
        decisions = svc.decision_function(Z)
        if n_classes == 2:
            return np.column_stack([-decisions, decisions])
        return class_means(np.clip(decisions, -limit, limit), n_classes)

    rows = np.random.default_rng(1).normal(size=(8, X.shape[1]))
    output_gradients = np.random.default_rng(2).normal(size=(2, n_classes))
    check_gradients(
        as_differentiable(svc), outputs, rows, output_gradients, values=partial(outputs, limit=1.0)
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("break_ties", [False, True])
def test_svc_predicts_as_scikit_learn_does(kernel, n_classes, break_ties) -> None:
    """The predicted class is that of scikit-learn, even if another class has a higher output."""
    X, y = class_table(n_classes)
    svc = SVC(kernel=kernel, C=100.0, break_ties=break_ties).fit(X, y)
    rows = np.random.default_rng(1).normal(size=(400, X.shape[1])) * 2
    found = linearize(as_differentiable(svc), rows)
    np.testing.assert_array_equal(svc.classes_[predicted_codes(found)], svc.predict(rows))
    scaled = make_pipeline(StandardScaler(), svc).fit(X, y)
    found = linearize(as_differentiable(scaled), rows)
    np.testing.assert_array_equal(predicted_codes(found), scaled.predict(rows))


@pytest.mark.parametrize("break_ties", [False, True])
def test_decisions_of_exactly_zero(break_ties) -> None:
    X, y = np.repeat(np.eye(3), 3, axis=0), np.tile([0, 1, 2], 3)
    svc = SVC(kernel="linear", break_ties=break_ties).fit(X, y)
    found = linearize(as_differentiable(svc), X)
    np.testing.assert_array_equal(predicted_codes(found), svc.predict(X))


@pytest.mark.parametrize("kernel", KERNELS)
def test_svr(kernel) -> None:
    X, y = regression_table()
    svr = SVR(kernel=kernel, gamma=0.2, coef0=0.5).fit(X, y)
    check_gradients(
        as_differentiable(svr), lambda Z: svr.predict(Z)[:, None], X[:8], np.array([[1.0], [-2.0]])
    )
