"""Naive reference implementations of metric learning costs, written as in the papers."""

import numpy as np


def squared_distance(omega, a, b):
    difference = omega @ (a - b)
    return float(difference @ difference)


def naive_gmlvq(X, codes, prototypes, labels, omega, beta):
    """Compute the GMLVQ cost of Schneider et al. (2009) with the sigmoid of Sato and Yamada."""
    total = 0.0
    for x, code in zip(X, codes, strict=True):
        own = min(
            squared_distance(omega, x, w)
            for w, c in zip(prototypes, labels, strict=True)
            if c == code
        )
        other = min(
            squared_distance(omega, x, w)
            for w, c in zip(prototypes, labels, strict=True)
            if c != code
        )
        total += 1.0 / (1.0 + np.exp(-beta * (own - other) / (own + other)))
    return total / len(X)


def naive_lmnn(X, codes, targets, omega, push):
    """Compute the LMNN cost (Weinberger and Saul 2009, equation 13) pair by pair."""
    total, n_pairs = 0.0, 0
    for i, neighbors in enumerate(targets):
        for j in neighbors:
            if j < 0:
                continue
            n_pairs += 1
            near = squared_distance(omega, X[i], X[j])
            total += (1.0 - push) * near
            for k in range(len(X)):
                if codes[k] != codes[i]:
                    overlap = 1.0 + near - squared_distance(omega, X[i], X[k])
                    total += push * max(0.0, overlap)
    return total / n_pairs


def numeric_gradient(value, matrix, step=1e-6):
    """Compute the gradient by central differences, entry by entry."""
    gradient = np.empty_like(matrix)
    for index in np.ndindex(matrix.shape):
        up, down = matrix.copy(), matrix.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (value(up) - value(down)) / (2 * step)
    return gradient


def random_problem(seed, n_samples=40, n_features=5, n_classes=3):
    """Return samples scattered around one mean per class, their classes and the generator."""
    rng = np.random.RandomState(seed)
    codes = np.arange(n_samples) % n_classes
    means = rng.normal(size=(n_classes, n_features))
    return means[codes] + rng.normal(size=(n_samples, n_features)), codes, rng


def correlated(n_samples=30, n_features=6):
    """Return centered rows of correlated features."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features))
    return X - X.mean(axis=0)
