"""Reference implementation of Algorithms 1 to 3 of Cancela et al. (2020), row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Settings of the paper: features and classes are used as they are.
PAPER: dict[str, Any] = {"standardize": False, "balanced": False}

Gradient = Callable[[np.ndarray, object], np.ndarray]


def naive_saliency(
    gradient: Gradient, X: np.ndarray, y: np.ndarray, *, classes: bool
) -> np.ndarray:
    """Compute saliency by Algorithm 2 (classification) or 3 (regression).

    ``gradient`` takes one row and its target.
    """
    rows = np.array([np.abs(gradient(x, target)) for x, target in zip(X, y, strict=True)])
    if not classes:
        return rows.sum(axis=0)
    total = np.zeros(X.shape[1])
    for label in np.unique(y):
        class_sum = rows[y == label].sum(axis=0)
        total += class_sum / np.abs(class_sum).sum()
    return total


def naive_ranking(
    train: Callable[[np.ndarray, np.ndarray], tuple[Gradient, float]],
    X: np.ndarray,
    y: np.ndarray,
    *,
    gamma: float,
    n_repeats: int = 1,
    classes: bool = True,
    stop: int = 1,
) -> list[int]:
    """Rank features by Algorithm 1, the most relevant first.

    ``train`` returns a function for the gradient of the gain of a row, and the weight of the model.
    """
    order = list(range(X.shape[1]))
    n_active = len(order)
    while n_active > stop:
        active = sorted(order[:n_active])
        saliency = np.zeros(n_active)
        for _ in range(n_repeats):
            gradient, weight = train(X[:, active], y)
            saliency += weight * naive_saliency(gradient, X[:, active], y, classes=classes)
        order[:n_active] = [active[place] for place in np.argsort(-saliency, kind="stable")]
        n_active = int(n_active * gamma)
    return order
