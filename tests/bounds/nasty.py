"""Small tables that are difficult for a simplex solver."""

import numpy as np

from allrelevant.bounds.classification import ClassificationData


def _duplicated_columns(X, y, rng):
    return np.hstack([X, X, -X[:, :1]]), y


def _duplicated_rows(X, y, rng):
    return np.vstack([X, X, X]), np.concatenate([y, y, -y])


def _collinear(X, y, rng):
    return np.hstack([X, X @ rng.normal(size=(X.shape[1], 3))]), y


def _integers(X, y, rng):
    return rng.randint(-2, 3, size=X.shape).astype(float), y


def _badly_scaled(X, y, rng):
    return X * 10.0 ** rng.randint(-3, 4, size=X.shape[1]), y


def _separable(X, y, rng):
    X[:, 0] += 3.0 * y
    return X, y


def _all_misclassified(X, y, rng):
    """Repeat each row with the opposite label, so that about half of the rows are misclassified."""
    X, y = np.vstack([X, X]), np.concatenate([y, -y])
    X[0] += 0.1
    return X, y


def _unchanged(X, y, rng):
    return X, y


# Range of the number of rows, range of the number of columns, and modification of the table.
KINDS = {
    "plain": ((8, 40), (1, 9), _unchanged),
    "duplicated columns": ((8, 40), (1, 9), _duplicated_columns),
    "duplicated rows": ((8, 40), (1, 9), _duplicated_rows),
    "collinear": ((8, 40), (1, 9), _collinear),
    "integers": ((8, 40), (1, 9), _integers),
    "badly scaled": ((8, 40), (1, 9), _badly_scaled),
    "separable": ((8, 40), (1, 9), _separable),
    "all misclassified": ((8, 40), (1, 9), _all_misclassified),
    "wide": ((6, 15), (20, 60), _unchanged),
    "tall": ((100, 200), (1, 4), _unchanged),
}


def nasty_samples(kind, seed):
    rows, columns, modify = KINDS[kind]
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(rng.randint(*rows), rng.randint(*columns)))
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X, y = modify(X, y, rng)
    weight = rng.uniform(0.2, 5.0, len(y)) if seed % 2 else np.ones(len(y))
    return ClassificationData(X, y, weight)
