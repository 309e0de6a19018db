"""Compiled functions that compute how the SVM cost changes when a feature is removed.

The cost is half the sum of ``P * K``, where ``P`` is the sum of ``b b'`` over all pairs of classes.
Each entry of ``K`` without a feature follows from the same entry of ``K``, so each feature takes
one pass over the pairs of support vectors.

All arrays are ``float64``. ``columns`` has shape (n_features, n_rows), with one feature per row.
``distances``, ``inner`` and ``products``, of shape (n_rows, n_rows), are the squared distances, the
inner products and ``P``. Each function returns the changes, of shape (n_features,).
"""

from __future__ import annotations

import math

import numpy as np

from . import compiled

# Largest z, after halvings, for which exp(z) - 1 is computed by its Taylor series.
SERIES_LIMIT = 0.5

# For larger exponents z, the product of exp(z) and a tiny kernel value is inaccurate.
MAX_EXPONENT = 30.0


@compiled(reassociate=True)
def exponential_sum(values, a, factor, scaled, halvings):
    """Return the sum over c < a of ``scaled[c] * (exp(factor (values[a] - values[c])^2) - 1)``.

    The Taylor series gives ``e = exp(z / 2**halvings) - 1``. Each doubling of the exponent then
    replaces ``e`` by ``e (e + 2)``. There are no branches or library calls, so that the compiler
    can vectorize the loop.
    """
    total, here = 0.0, values[a]
    scaled_factor = factor / 2.0**halvings
    for c in range(a):
        z = scaled_factor * (here - values[c]) ** 2
        e = 1.0 + z * (1.0 / 14.0)
        e = 1.0 + z * (1.0 / 13.0) * e
        e = 1.0 + z * (1.0 / 12.0) * e
        e = 1.0 + z * (1.0 / 11.0) * e
        e = 1.0 + z * (1.0 / 10.0) * e
        e = 1.0 + z * (1.0 / 9.0) * e
        e = 1.0 + z * (1.0 / 8.0) * e
        e = 1.0 + z * (1.0 / 7.0) * e
        e = 1.0 + z * (1.0 / 6.0) * e
        e = 1.0 + z * (1.0 / 5.0) * e
        e = 1.0 + z * (1.0 / 4.0) * e
        e = 1.0 + z * (1.0 / 3.0) * e
        e = z * (1.0 + z * (1.0 / 2.0) * e)
        for _ in range(halvings):
            e = e * (e + 2.0)
        total += scaled[c] * e
    return total


@compiled
def rbf_changes(columns, distances, products, gamma):
    """Return, for each feature, the decrease in cost if it is removed (RBF kernel)."""
    n_rows = len(distances)
    kernel = np.exp(-gamma * distances)
    scaled = products * kernel
    changes = np.zeros(len(columns))
    for j in range(len(columns)):
        values = columns[j]
        largest_exponent = gamma * (values.max() - values.min()) ** 2
        total = 0.0
        if largest_exponent <= MAX_EXPONENT:
            halvings = max(0, math.ceil(math.log2(max(largest_exponent, 1e-300) / SERIES_LIMIT)))
            for a in range(1, n_rows):
                total += exponential_sum(values, a, gamma, scaled[a], halvings)
        else:
            for a in range(1, n_rows):
                for c in range(a):
                    reduced_distance = max(distances[a, c] - (values[a] - values[c]) ** 2, 0.0)
                    total += products[a, c] * (math.exp(-gamma * reduced_distance) - kernel[a, c])
        changes[j] = -total  # each pair occurs twice; the diagonal does not change
    return changes


@compiled
def polynomial_changes(columns, inner, products, gamma, coef0, degree):
    """Return, for each feature, the decrease in cost if it is removed (polynomial kernel)."""
    changes = np.zeros(len(columns))
    for j in range(len(columns)):
        values = columns[j]
        total = 0.0
        for a in range(len(inner)):
            for c in range(len(inner)):
                whole = gamma * inner[a, c] + coef0
                part = whole - gamma * values[a] * values[c]
                total += products[a, c] * (whole**degree - part**degree)
        changes[j] = 0.5 * total
    return changes


@compiled
def sigmoid_changes(columns, inner, products, gamma, coef0):
    """Return, for each feature, the decrease in cost if it is removed (sigmoid kernel)."""
    changes = np.zeros(len(columns))
    kernel = np.tanh(gamma * inner + coef0)
    for j in range(len(columns)):
        values = columns[j]
        total = 0.0
        for a in range(len(inner)):
            for c in range(len(inner)):
                part = math.tanh(gamma * (inner[a, c] - values[a] * values[c]) + coef0)
                total += products[a, c] * (kernel[a, c] - part)
        changes[j] = 0.5 * total
    return changes
