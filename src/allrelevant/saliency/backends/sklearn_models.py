"""Closed-form gradients of scikit-learn linear models, MLPs, and pipelines with scalers.

A linear model has one weight vector per output. An MLP is differentiated layer by layer. A
pipeline multiplies the gradient of its final model by the slopes of its scalers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
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
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from ..._typing import Matrix, Table, Vector
from ...exceptions import InputError
from ..differentiable import (
    DifferentiableModel,
    Linearization,
    as_differentiable,
    linearize,
    predicted_codes,
    register,
)
from ..gains import CrossEntropyGain, Gain, HingeGain, RegressionGain


@dataclass(frozen=True)
class LinearForm:
    """Linear model with closed-form gradients; the weights have shape (n_outputs, n_features)."""

    weights: Matrix
    offsets: Vector
    gain: Gain

    def outputs(self, X: Table) -> Matrix:
        return np.asarray(X @ self.weights.T) + self.offsets

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        return output_gradient @ self.weights


# Factors that turn the decision value f of a binary classifier into two outputs: logits (0, f) or
# decision values (-f, f).
_LOGIT_FACTORS, _DECISION_FACTORS = (0.0, 1.0), (-1.0, 1.0)


@register(LinearSVC)
@register(RidgeClassifier)
@register(RidgeClassifierCV)
def _from_linear_classifier(fitted: Any) -> LinearForm:
    return _linear_form(fitted, HingeGain(), _DECISION_FACTORS)


@register(LogisticRegression)
def _from_logistic_regression(fitted: Any) -> LinearForm:
    return _linear_form(fitted, CrossEntropyGain(), _LOGIT_FACTORS)


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
def _from_linear_regression(fitted: Any) -> LinearForm:
    return _linear_form(fitted, RegressionGain())


def _linear_form(fitted: Any, gain: Gain, factors: tuple[float, float] | None = None) -> LinearForm:
    """Convert a fitted scikit-learn linear model to a :class:`LinearForm`.

    ``factors`` expand the single decision value of a binary classifier into two outputs.
    """
    coef = fitted.coef_.toarray() if sp.issparse(fitted.coef_) else fitted.coef_
    weights = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    offsets = np.broadcast_to(np.asarray(fitted.intercept_, dtype=np.float64), (len(weights),))
    if factors is not None and len(weights) == 1:
        column = np.array(factors)
        return LinearForm(column[:, None] * weights, column * offsets, gain)
    return LinearForm(weights, offsets, gain)


# Activation function, and its derivative as a function of the activated value.
_ACTIVATIONS: dict[str, tuple[Callable[[Matrix], Matrix], Callable[[Matrix], Matrix]]] = {
    "identity": (lambda z: z, np.ones_like),
    "logistic": (expit, lambda a: a * (1.0 - a)),
    "tanh": (np.tanh, lambda a: 1.0 - a**2),
    "relu": (lambda z: np.maximum(z, 0.0), lambda a: (a > 0.0).astype(np.float64)),
    "exp": (np.exp, lambda a: a),
}


@dataclass(frozen=True)
class Perceptron:
    """Multilayer perceptron (MLP) with closed-form gradients.

    ``output_map``, of shape (n_last, k), maps the last layer to the outputs of the model. A binary
    classifier has one unit in its last layer and two outputs.
    """

    weights: tuple[Matrix, ...]
    offsets: tuple[Vector, ...]
    activations: tuple[str, ...]
    output_map: Matrix
    gain: Gain

    def outputs(self, X: Table) -> Matrix:
        """Return the outputs for each row; for a classifier, before the softmax."""
        return self._layers(X)[-1] @ self.output_map

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        gradient = output_gradient @ self.output_map.T
        layers = self._layers(X)
        for weights, name, values in zip(
            reversed(self.weights), reversed(self.activations), reversed(layers), strict=True
        ):
            _, derivative = _ACTIVATIONS[name]
            gradient = (gradient * derivative(values)) @ weights.T
        return gradient

    def _layers(self, X: Table) -> list[Matrix]:
        layers, values = [], X
        for weights, offsets, name in zip(
            self.weights, self.offsets, self.activations, strict=True
        ):
            activate, _ = _ACTIVATIONS[name]
            values = activate(np.asarray(values @ weights) + offsets)
            layers.append(values)
        return layers


@register(MLPClassifier)
def _from_mlp_classifier(fitted: Any) -> Perceptron:
    n_last = fitted.coefs_[-1].shape[1]
    if fitted.out_activation_ == "softmax":
        return _perceptron(fitted, "identity", np.eye(n_last), CrossEntropyGain())
    if n_last > 1:
        raise InputError(
            "The network was trained on multilabel targets, but saliency requires exactly one "
            "class per row. Train it on single-label targets."
        )
    return _perceptron(fitted, "identity", np.array([[0.0, 1.0]]), CrossEntropyGain())


@register(MLPRegressor)
def _from_mlp_regressor(fitted: Any) -> Perceptron:
    output_map = np.eye(fitted.coefs_[-1].shape[1])
    return _perceptron(fitted, fitted.out_activation_, output_map, RegressionGain())


def _perceptron(fitted: Any, last: str, output_map: Matrix, gain: Gain) -> Perceptron:
    hidden = [fitted.activation] * (len(fitted.coefs_) - 1)
    return Perceptron(
        tuple(np.asarray(weights, dtype=np.float64) for weights in fitted.coefs_),
        tuple(np.asarray(offsets, dtype=np.float64) for offsets in fitted.intercepts_),
        (*hidden, last),
        output_map,
        gain,
    )


@dataclass(frozen=True)
class ScaledModel:
    """Final model of a pipeline, applied to the scaled features ``slopes * X + offsets``."""

    slopes: Any
    offsets: Any
    model: DifferentiableModel

    @property
    def gain(self) -> Gain:
        return self.model.gain

    def outputs(self, X: Table) -> Matrix:
        return self.linearize(X).outputs

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        return self.linearize(X).vjp(output_gradient)

    def linearize(self, X: Table) -> LinearizedPipeline:
        return LinearizedPipeline(self.slopes, linearize(self.model, self._scale(X)))

    def _scale(self, X: Table) -> Table:
        if not sp.issparse(X):
            return X * self.slopes + self.offsets
        if np.any(self.offsets):
            raise InputError(
                "A scaler in the pipeline shifts the features, which is not possible with sparse "
                "data. Convert the table to a dense array."
            )
        return sp.csr_array(X.multiply(np.broadcast_to(self.slopes, X.shape[1])))


@dataclass(frozen=True)
class LinearizedPipeline:
    """Pipeline of scalers and a final model, linearized at given rows."""

    slopes: Any
    model: Linearization

    @property
    def outputs(self) -> Matrix:
        return self.model.outputs

    @property
    def codes(self) -> NDArray[np.int64]:
        return predicted_codes(self.model)

    def vjp(self, output_gradient: Matrix) -> Matrix:
        return self.model.vjp(output_gradient) * self.slopes


@register(Pipeline)
def _from_pipeline(fitted: Any) -> ScaledModel:
    slopes: Any = 1.0
    offsets: Any = 0.0
    for _, scaler in fitted.steps[:-1]:
        if scaler not in (None, "passthrough"):
            slope, offset = _affine(scaler)
            slopes, offsets = slopes * slope, offsets * slope + offset
    return ScaledModel(slopes, offsets, as_differentiable(fitted.steps[-1][1]))


def _affine(scaler: Any) -> tuple[Any, Any]:
    """Return the slopes and offsets that a scaler applies to the features.

    Its ``transform`` is not called, because it may return a DataFrame and warns if an array has no
    feature names.
    """
    if isinstance(scaler, StandardScaler):
        return _center_and_divide(scaler.mean_ if scaler.with_mean else None, scaler.scale_)
    if isinstance(scaler, RobustScaler):
        return _center_and_divide(scaler.center_, scaler.scale_)
    if isinstance(scaler, MaxAbsScaler):
        return _center_and_divide(None, scaler.scale_)
    if isinstance(scaler, MinMaxScaler) and not scaler.clip:
        return np.asarray(scaler.scale_), np.asarray(scaler.min_)
    raise InputError(
        f"The gradient of {type(scaler).__name__} in a pipeline is not implemented. Use "
        "StandardScaler, MinMaxScaler without clipping, MaxAbsScaler or RobustScaler, or transform "
        "the table first."
    )


def _center_and_divide(center: Any, scale: Any) -> tuple[Any, Any]:
    slope = 1.0 if scale is None else 1.0 / np.asarray(scale)
    return slope, 0.0 if center is None else -np.asarray(center) * slope
