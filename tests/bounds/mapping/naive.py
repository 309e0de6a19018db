"""Naive reference implementation of the LPs (6), (9) and (10) of Schulz et al. (2015)."""

import numpy as np
from scipy.optimize import linprog


def null_space(X, dimension):
    """Return the covariance eigenvectors after the first ``dimension`` ones, as columns."""
    centered = X - X.mean(axis=0)
    variance, vectors = np.linalg.eigh(centered.T @ centered)
    return vectors[:, np.argsort(-variance)[dimension:]]


def naive_interval(omega, null, slack):
    """Compute the range of each absolute weight over all equivalent rows of a mapping.

    Equivalent rows are ``omega + null @ alpha`` with an l1 norm within the slack of the smallest
    one.

    The variables are alpha (free), followed by the absolute weights.
    """
    d, m = null.shape
    sizes_above = np.vstack([np.hstack([null, -np.eye(d)]), np.hstack([-null, -np.eye(d)])])
    right = np.r_[-omega, omega]
    bounds = [(None, None)] * m + [(0, None)] * d
    total = np.r_[np.zeros(m), np.ones(d)]
    mu = _solve(total, sizes_above, right, bounds).fun
    A = np.vstack([sizes_above, total])
    b = np.r_[right, (1 + slack) * mu]
    interval = np.zeros((d, 2))
    for j in range(d):
        size = np.zeros(m + d)
        size[m + j] = 1.0
        interval[j, 0] = _solve(size, A, b, bounds).fun
        weight = np.r_[null[j], np.zeros(d)]
        for sign in (1.0, -1.0):  # with the constraint that the weight has this sign
            found = _solve(
                -sign * weight, np.vstack([A, -sign * weight]), np.r_[b, sign * omega[j]], bounds
            )
            if found is not None:
                interval[j, 1] = max(interval[j, 1], sign * omega[j] - found.fun)
    return interval, mu


def _solve(cost, A, b, bounds):
    found = linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs")
    if found.status == 2:  # infeasible
        return None
    assert found.status == 0, found.message
    return found


def copies(seed=0, n=80):
    """Return a table of two useful features, a copy of the second, and an irrelevant feature."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 3.0, 4.0]
    X[:, 2] = 1.5 * X[:, 1]
    return X
