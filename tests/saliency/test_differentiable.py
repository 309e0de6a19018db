"""Tests of converting fitted estimators to differentiable models, and of their saliency."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
)
from sklearn.svm import SVC

from allrelevant import InputError
from allrelevant.saliency import OutputGain, SquaredHingeGain, as_differentiable, saliency

from .differences import central_differences, class_table, regression_table


def test_saliency_is_the_gradient_of_the_gain() -> None:
    X, y = class_table(3)
    svc = SVC(kernel="rbf", C=0.1, gamma=0.3, decision_function_shape="ovo").fit(X, y)
    model = as_differentiable(svc)
    gain = SquaredHingeGain()
    inside = np.abs(svc.decision_function(X)).max(axis=1) < 0.99  # no decision is clipped
    assert inside.sum() > 10
    expected = central_differences(lambda Z: gain.value(model.outputs(Z), y[inside]), X[inside])
    np.testing.assert_allclose(saliency(model, X[inside], y[inside], gain), expected, atol=1e-6)


def test_output_gradient_of_a_linear_model_is_its_weights() -> None:
    X, y = class_table(3)
    fitted = LogisticRegression().fit(X, y)
    found = saliency(as_differentiable(fitted), X, y, OutputGain())
    np.testing.assert_allclose(found, fitted.coef_[y])


def test_models_without_gradients_raise() -> None:
    X, y = class_table(2)
    with pytest.raises(InputError, match="not implemented for RandomForestClassifier"):
        as_differentiable(RandomForestClassifier(2).fit(X, y))
    with pytest.raises(InputError, match="kernel 'precomputed'"):
        as_differentiable(SVC(kernel="precomputed").fit(X @ X.T, y))


def test_subclass_of_a_supported_type() -> None:
    class CustomSVC(SVC):
        pass

    X, y = class_table(2)
    np.testing.assert_array_equal(
        as_differentiable(CustomSVC().fit(X, y)).outputs(X),
        as_differentiable(SVC().fit(X, y)).outputs(X),
    )


def test_differentiable_model_is_returned_unchanged() -> None:
    X, y = regression_table()
    model = as_differentiable(Ridge().fit(X, y))
    assert as_differentiable(model) is model
