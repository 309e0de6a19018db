"""Change of the SVM cost when a feature is removed from the kernel, compiled.

With ``P = sum over pairs of classes of b b'`` the cost is half the sum of ``P * K``. Removing a
feature changes ``K`` entry by entry, so each feature takes one pass over the support vectors.

Arrays are ``float64``: ``columns`` (n_features, n_rows), one feature per row;
``distances``, ``inner`` and ``products`` (n_rows, n_rows) are squared distances, inner products and
``P``. Each function returns the changes, of shape (n_features,).
"""

from __future__ import annotations

import math

import numpy as np

from . import compiled

# exp(z) - 1 is computed by its series where z, after halvings, is at most this.
SERIES_LIMIT = 0.5

# For larger exponents exp(z) times a tiny kernel value is not precise.
MAX_EXPONENT = 30.0


@compiled(reassociate=True)
def exponential_sum(values, a, factor, scaled, halvings):
    """Sum over c < a of ``scaled[c] * (exp(factor (values[a] - values[c])^2) - 1)``.

    ``exp(2 z) - 1`` is ``e (e + 2)`` with ``e = exp(z) - 1``: the series at z over a power of two,
    then as many doublings. Without branches and library calls, so that it is vectorized.
    """
    total, here = 0.0, values[a]
    shrunk = factor / 2.0**halvings
    for c in range(a):
        z = shrunk * (here - values[c]) ** 2
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
    """Half the sum of ``P * (K - K without the feature)`` for each column."""
    n_rows = len(distances)
    kernel = np.exp(-gamma * distances)
    scaled = products * kernel
    changes = np.zeros(len(columns))
    for j in range(len(columns)):
        values = columns[j]
        reach = gamma * (values.max() - values.min()) ** 2
        total = 0.0
        if reach <= MAX_EXPONENT:
            halvings = max(0, math.ceil(math.log2(max(reach, 1e-300) / SERIES_LIMIT)))
            for a in range(1, n_rows):
                total += exponential_sum(values, a, gamma, scaled[a], halvings)
        else:
            for a in range(1, n_rows):
                for c in range(a):
                    nearer = max(distances[a, c] - (values[a] - values[c]) ** 2, 0.0)
                    total += products[a, c] * (math.exp(-gamma * nearer) - kernel[a, c])
        changes[j] = -total  # each pair of rows counts twice, and the diagonal does not change
    return changes


@compiled
def polynomial_changes(columns, inner, products, gamma, coef0, degree):
    """Half the sum of ``P * (K - K without the feature)`` for each column."""
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
    """Half the sum of ``P * (K - K without the feature)`` for each column."""
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
