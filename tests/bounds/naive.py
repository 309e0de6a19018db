"""Naive reference implementation of relevance intervals: the papers' LPs, with cold starts.

The implementation is deliberately simple and slow. Tests compare the results of the package with
it. The variables are ``w_hat (d), w (d), b (1), xi (n)``, with ``|w_j| <= w_hat_j``; there are
three LPs per feature.
"""

import numpy as np
from scipy.optimize import linprog


def naive_l1_svm(X, y, C, weight):
    """Return the minimal norm plus C times loss of the l1-SVM of Göpfert et al. (2018)."""
    n, d = X.shape
    cost = np.concatenate([np.ones(d), np.zeros(d + 1), C * weight])
    rows, limits = _model_rows(X, y)
    result = linprog(cost, A_ub=rows, b_ub=limits, bounds=_bounds(n, d), method="highs")
    assert result.status == 0, result.message
    return result.fun


def naive_separate(X, y, weight, norm_limit, loss_limit):
    """Return the relevance intervals of Göpfert et al. (2018), Theorems 2 and 3."""
    n, d = X.shape
    norm_row = np.concatenate([np.ones(d), np.zeros(d + 1 + n)])
    loss_row = np.concatenate([np.zeros(2 * d + 1), weight])
    return _intervals(X, y, [norm_row, loss_row], [norm_limit, loss_limit])


def naive_joint(X, y, weight, C, limit):
    """Return the relevance intervals of Göpfert et al. (2017), Theorems 1 and 2."""
    d = X.shape[1]
    row = np.concatenate([np.ones(d), np.zeros(d + 1), C * weight])
    return _intervals(X, y, [row], [limit])


def _intervals(X, y, budget_rows, budget_limits):
    n, d = X.shape
    rows, limits = _model_rows(X, y)
    rows = np.vstack([rows, *budget_rows])
    limits = np.concatenate([limits, budget_limits])
    interval = np.empty((d, 2))
    for j in range(d):
        cost = np.zeros(rows.shape[1])
        cost[j] = 1.0
        interval[j, 0] = _solve(cost, rows, limits, n, d)
        sides = []
        for sign in (1.0, -1.0):  # w_hat_j <= sign * w_j
            side = np.zeros(rows.shape[1])
            side[j], side[d + j] = 1.0, -sign
            value = _solve(-cost, np.vstack([rows, side]), np.append(limits, 0.0), n, d)
            sides.append(-value)
        interval[j, 1] = max(sides)
    return interval


def _solve(cost, rows, limits, n, d):
    result = linprog(cost, A_ub=rows, b_ub=limits, bounds=_bounds(n, d), method="highs")
    # One of the two sides may be infeasible. Then the other side attains the maximum.
    return result.fun if result.status == 0 else np.inf


def _model_rows(X, y):
    n, d = X.shape
    eye = np.eye(d)
    rows = np.vstack(
        [
            np.hstack([-eye, eye, np.zeros((d, 1 + n))]),
            np.hstack([-eye, -eye, np.zeros((d, 1 + n))]),
            np.hstack([np.zeros((n, d)), -y[:, None] * X, y[:, None], -np.eye(n)]),
        ]
    )
    return rows, np.concatenate([np.zeros(2 * d), -np.ones(n)])


def _bounds(n, d):
    return [(0, None)] * d + [(None, None)] * (d + 1) + [(0, None)] * n
