"""The gradients of scikit-learn's models, in closed form.

- ``machines``, ``kernels``: SVMs; ``linear``: models with weights; ``perceptrons``: networks
- ``pairs``: of many classes, from decisions between each two
- ``pipelines``: one of these behind scalers
"""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    HuberRegressor,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDRegressor,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR

from ..differentiable import DifferentiableModel
from ..gains import CrossEntropyGain, HingeGain, RegressionGain
from ..registry import register
from .linear import linear_form
from .machines import classifier_form, regression_form
from .perceptrons import classifier_network, regression_network
from .pipelines import scaled_model

# The one decision f of a binary classifier as two outputs: logits 0 and f, decisions -f and f.
_LOGITS, _DECISIONS = (0.0, 1.0), (-1.0, 1.0)


@register(SVC)
@register(NuSVC)
def _of_svc(fitted: Any) -> DifferentiableModel:
    return classifier_form(fitted, HingeGain())


@register(SVR)
@register(NuSVR)
def _of_svr(fitted: Any) -> DifferentiableModel:
    return regression_form(fitted, RegressionGain())


@register(LinearSVC)
@register(RidgeClassifier)
@register(RidgeClassifierCV)
def _of_linear_decisions(fitted: Any) -> DifferentiableModel:
    return linear_form(fitted, HingeGain(), _DECISIONS)


@register(LogisticRegression)
def _of_logistic_regression(fitted: Any) -> DifferentiableModel:
    return linear_form(fitted, CrossEntropyGain(), _LOGITS)


@register(LinearRegression)
@register(Ridge)
@register(RidgeCV)
@register(ElasticNet)
@register(ElasticNetCV)
@register(LassoCV)
@register(BayesianRidge)
@register(HuberRegressor)
@register(SGDRegressor)
@register(LinearSVR)
def _of_linear_regression(fitted: Any) -> DifferentiableModel:
    return linear_form(fitted, RegressionGain())


@register(MLPClassifier)
def _of_network_of_classes(fitted: Any) -> DifferentiableModel:
    return classifier_network(fitted)


@register(MLPRegressor)
def _of_network_of_numbers(fitted: Any) -> DifferentiableModel:
    return regression_network(fitted)


@register(Pipeline)
def _of_pipeline(fitted: Any) -> DifferentiableModel:
    return scaled_model(fitted)
