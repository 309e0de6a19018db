"""scikit-learn's networks: the gradient by going back through the layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from ...arrays import Matrix, Table, Vector
from ...exceptions import InputError
from ..gains import CrossEntropyGain, Gain, RegressionGain

# Activation of a layer, and its derivative as a function of the activation's own value.
_ACTIVATIONS: dict[str, tuple[Callable[[Matrix], Matrix], Callable[[Matrix], Matrix]]] = {
    "identity": (lambda z: z, np.ones_like),
    "logistic": (expit, lambda a: a * (1.0 - a)),
    "tanh": (np.tanh, lambda a: 1.0 - a**2),
    "relu": (lambda z: np.maximum(z, 0.0), lambda a: (a > 0.0).astype(np.float64)),
    "exp": (np.exp, lambda a: a),
}


@dataclass(frozen=True)
class Perceptron:
    """A network of dense layers.

    Attributes
    ----------
    weights : tuple of ndarray of shape (n_inputs, n_outputs)
    offsets : tuple of ndarray of shape (n_outputs,)
    activations : tuple of str
        Of each layer.
    spread : ndarray of shape (n_last, k)
        From the outputs of the last layer to those of the model: two of a binary classifier.
    gain : Gain
    """

    weights: tuple[Matrix, ...]
    offsets: tuple[Vector, ...]
    activations: tuple[str, ...]
    spread: Matrix
    gain: Gain

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row, before the softmax of a classifier."""
        return self._layers(X)[-1] @ self.spread

    def pull_back(self, X: Table, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``."""
        gradient = cotangent @ self.spread.T
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


def classifier_network(fitted: Any) -> Perceptron:
    """Of a fitted MLPClassifier, up to its logits."""
    n_last = fitted.coefs_[-1].shape[1]
    if fitted.out_activation_ == "softmax":
        return _perceptron(fitted, "identity", np.eye(n_last), CrossEntropyGain())
    if n_last > 1:
        raise InputError(
            "The network was trained on several labels a row: saliency needs one class a row."
        )
    return _perceptron(fitted, "identity", np.array([[0.0, 1.0]]), CrossEntropyGain())


def regression_network(fitted: Any) -> Perceptron:
    """Of a fitted MLPRegressor."""
    spread = np.eye(fitted.coefs_[-1].shape[1])
    return _perceptron(fitted, fitted.out_activation_, spread, RegressionGain())


def _perceptron(fitted: Any, last: str, spread: Matrix, gain: Gain) -> Perceptron:
    hidden = [fitted.activation] * (len(fitted.coefs_) - 1)
    return Perceptron(
        tuple(np.asarray(weights, dtype=np.float64) for weights in fitted.coefs_),
        tuple(np.asarray(offsets, dtype=np.float64) for offsets in fitted.intercepts_),
        (*hidden, last),
        spread,
        gain,
    )
