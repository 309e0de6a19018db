"""Change in the SVM objective when a feature is removed from the kernel.

``core/kernel_criterion.c`` explains and implements the method. ``columns`` has shape (n_features,
n_rows), with one feature per row. ``distances``, ``inner`` and ``products``, of shape (n_rows,
n_rows), are the squared distances, the inner products and the sum of ``b b'`` over all pairs of
classes. Each function returns the decreases in cost, of shape (n_features,).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._typing import Matrix, Vector
from .library import WORK_PER_CALL, load, pointer, real

__all__ = ["polynomial_changes", "rbf_changes", "sigmoid_changes"]

# Floating-point operations per pair of rows and feature, approximately.
WORK_PER_PAIR = 40


def rbf_changes(columns: Matrix, distances: Matrix, products: Matrix, gamma: float) -> Vector:
    """Return, for each feature, the decrease in cost if it is removed (RBF kernel)."""
    core, distances, products = load(), real(distances), real(products)
    work = np.empty((2, *distances.shape))

    def compute(part: Matrix, changes: Vector) -> None:
        core.ar_rbf_changes(
            *part.shape,
            pointer(part),
            pointer(distances),
            pointer(products),
            gamma,
            pointer(changes),
            pointer(work),
        )

    return _compute_in_parts(columns, compute)


def polynomial_changes(
    columns: Matrix, inner: Matrix, products: Matrix, gamma: float, coef0: float, degree: int
) -> Vector:
    """Return, for each feature, the decrease in cost if it is removed (polynomial kernel)."""
    core, inner, products = load(), real(inner), real(products)

    def compute(part: Matrix, changes: Vector) -> None:
        core.ar_polynomial_changes(
            *part.shape,
            pointer(part),
            pointer(inner),
            pointer(products),
            gamma,
            coef0,
            degree,
            pointer(changes),
        )

    return _compute_in_parts(columns, compute)


def sigmoid_changes(
    columns: Matrix, inner: Matrix, products: Matrix, gamma: float, coef0: float
) -> Vector:
    """Return, for each feature, the decrease in cost if it is removed (sigmoid kernel)."""
    core, inner, products = load(), real(inner), real(products)
    work = np.empty(inner.shape)

    def compute(part: Matrix, changes: Vector) -> None:
        core.ar_sigmoid_changes(
            *part.shape,
            pointer(part),
            pointer(inner),
            pointer(products),
            gamma,
            coef0,
            pointer(changes),
            pointer(work),
        )

    return _compute_in_parts(columns, compute)


def _compute_in_parts(columns: Matrix, compute: Callable[[Matrix, Vector], None]) -> Vector:
    """Call ``compute`` for parts of the features; Python handles signals between the calls."""
    columns = real(columns)
    n_features, n_rows = columns.shape
    size = max(1, int(WORK_PER_CALL / (WORK_PER_PAIR * max(1, n_rows**2))))
    changes = np.empty(n_features)
    for first in range(0, n_features, size):
        compute(columns[first : first + size], changes[first : first + size])
    return changes
