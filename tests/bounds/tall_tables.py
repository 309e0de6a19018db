"""Tables with more rows than features that are difficult for an interior-point method."""

import numpy as np

from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.classification import ClassificationData


def _heavy_tails(X, y, rng):
    return np.sign(X) * np.abs(X) ** 3, y


def _binary(X, y, rng):
    return (rng.normal(size=X.shape[1]) < X).astype(float), y


def _duplicates(X, y, rng):
    return np.hstack([X, X[:, :2], -X[:, :1]]), y


def _separable(X, y, rng):
    X[:, 0] += 4.0 * y
    return X, y


def _imbalanced(X, y, rng):
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 1.2, 1.0, -1.0)
    y[:5] = 1.0
    return X, y


def _repeated_rows(X, y, rng):
    half = len(X) // 2
    return np.vstack([X[:half], X[:half]]), np.concatenate([y[:half], y[:half]])


def _unchanged(X, y, rng):
    return X, y


KINDS = {
    "plain": _unchanged,
    "heavy tails": _heavy_tails,
    "binary": _binary,
    "duplicates": _duplicates,
    "separable": _separable,
    "imbalanced": _imbalanced,
    "repeated rows": _repeated_rows,
    "weights": _unchanged,
}


def tall_samples(kind, seed, n_rows=(200, 600), n_features=(3, 12)):
    """Return a scaled table of the given kind."""
    rng = np.random.RandomState(seed)
    n, d = rng.randint(*n_rows), rng.randint(*n_features)
    X = rng.normal(size=(n, d))
    X[:, 1:] += 0.5 * X[:, :1]
    y = np.where(X[:, 0] + 0.5 * X[:, -1] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    X, y = KINDS[kind](X, y, rng)
    weight = rng.exponential(size=len(y)) + 0.01 if kind == "weights" else np.ones(len(y))
    return ClassificationData((X - X.mean(axis=0)) / X.std(axis=0), y, weight)


def tall_models(kind, seed, formulation="separate", **size):
    """Return the models equivalent to the baseline of a table of the given kind."""
    samples = tall_samples(kind, seed, **size)
    values = [1000.0, 3000.0] if kind == "imbalanced" else [30.0, 100.0, 1000.0]
    C = np.random.RandomState(seed).choice(values) / samples.total_weight
    baseline = FORMULATIONS[formulation].fit(samples, C)
    tolerance = Tolerance(norm_slack=0.1, loss_slack=0.05, loss_tol=1e-6 if seed % 2 else 0.1)
    return FORMULATIONS[formulation].equivalent_models(baseline, tolerance)
