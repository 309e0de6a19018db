"""Central finite differences for checking gradients, and small tables for these checks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.datasets import make_classification


def central_differences(
    function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: float = 1e-4
) -> np.ndarray:
    """Approximate the gradient of a row-wise function by central differences.

    The differences are of fourth order, so that a large step keeps rounding errors small.
    """
    gradient = np.empty(at.shape)
    for column in range(at.shape[1]):
        values = []
        for steps in (-2, -1, 1, 2):
            moved = at.copy()
            moved[:, column] += steps * step
            values.append(function(moved))
        outer, inner = values[0] - values[3], values[2] - values[1]
        gradient[:, column] = (outer + 8 * inner) / (12 * step)
    return gradient


def check_gradients(model, outputs, X, output_gradients, values=None) -> None:
    """Check that outputs are as expected and that gradients agree with finite differences.

    For models with straight-through clipping, ``values`` computes the clipped outputs, and
    ``outputs`` the unclipped ones to differentiate.
    """
    np.testing.assert_allclose(model.outputs(X), (values or outputs)(X), atol=1e-9)
    for output_gradient in output_gradients:
        full = np.broadcast_to(output_gradient, outputs(X).shape)
        expected = central_differences(partial(_weighted_sum, outputs, full), X)
        gradient = model.vjp(X, np.ascontiguousarray(full))
        np.testing.assert_allclose(gradient, expected, atol=1e-6)


def _weighted_sum(outputs, output_gradient, X) -> np.ndarray:
    return (output_gradient * outputs(X)).sum(axis=1)


def class_table(n_classes: int, n_samples: int = 120) -> tuple[np.ndarray, np.ndarray]:
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


def regression_table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.normal(size=80)
