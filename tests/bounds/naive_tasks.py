"""Naive reference implementation of the LPs of regression, ordinal regression and ranking.

The implementation is deliberately simple and slow. The variables are ``w_hat (d), w (d), offsets
(k), xi (m)`` with ``|w_j| <= w_hat_j``; each end of each range is a separate LP. A constraint is a
tuple ``(w part, offset part, right-hand side, slack)``, for ``w part . w + offset part . o + xi >=
rhs``. ``slack`` is the index of its slack variable, or None for a hard constraint.
"""

from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog


def regression(X, y, weight, epsilon):
    rows: list[Any] = []
    for i, (x, value) in enumerate(zip(X, y, strict=True)):
        rows.append((x, [1.0], value - epsilon, i))
        rows.append((-x, [-1.0], -value - epsilon, len(X) + i))
    return rows, np.r_[weight, weight]


def ordinal(X, y, weight):
    n_thresholds = int(y.max())
    rows: list[Any] = []
    slack_weight: list[float] = []
    for x, label, sample_weight in zip(X, y.astype(int), weight, strict=True):
        if label < n_thresholds:
            rows.append((-x, np.eye(n_thresholds)[label], 1.0, len(slack_weight)))
            slack_weight.append(sample_weight)
        if label > 0:
            rows.append((x, -np.eye(n_thresholds)[label - 1], 1.0, len(slack_weight)))
            slack_weight.append(sample_weight)
    for j in range(n_thresholds - 1):
        ascending = np.zeros(n_thresholds)
        ascending[j], ascending[j + 1] = -1.0, 1.0
        rows.append((np.zeros(X.shape[1]), ascending, 0.0, None))
    return rows, np.array(slack_weight)


def ranking(X, y, weight):
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    total = weight[positive].sum() * weight[negative].sum()
    rows: list[Any] = []
    slack_weight: list[float] = []
    for i, j in product(positive, negative):
        rows.append((X[i] - X[j], [], 1.0, len(slack_weight)))
        slack_weight.append(weight[i] * weight[j] / total)
    return rows, np.array(slack_weight)


def queries(X, y, weight, query):
    rows: list[Any] = []
    slack_weight: list[float] = []
    for i, j in product(np.flatnonzero(y > 0), np.flatnonzero(y < 0)):
        if query[i] == query[j]:
            rows.append((X[i] - X[j], [], 1.0, len(slack_weight)))
            slack_weight.append(weight[i] * weight[j])
    return rows, np.array(slack_weight) / sum(slack_weight)


def survival(X, event, time, weight):
    """Return one constraint for each pair of which the earlier time is an event."""
    rows: list[Any] = []
    slack_weight: list[float] = []
    for i, j in product(range(len(X)), repeat=2):
        is_earlier = time[i] < time[j] or (time[i] == time[j] and not event[j])
        if event[i] and is_earlier:
            rows.append((X[i] - X[j], [], 1.0, len(slack_weight)))
            slack_weight.append(weight[i] * weight[j])
    return rows, np.array(slack_weight) / sum(slack_weight)


def explained(rows, sample_of_row, Z, weight):
    """Model the slack of sample i as ``u . z_i + c >= 0``, with privileged features ``z_i``."""
    p, k = Z.shape[1], len(rows[0][1])
    d = len(rows[0][0])
    new: list[Any] = []
    for (w_part, o_part, rhs, _), i in zip(rows, sample_of_row, strict=True):
        z, one = (np.zeros(p), 0.0) if i is None else (Z[i], 1.0)
        new.append((np.r_[w_part, z], np.r_[o_part, one], rhs, None))
    for z in Z:
        new.append((np.r_[np.zeros(d), z], np.r_[np.zeros(k), 1.0], 0.0, None))
    # The loss is a separate slack variable: xi >= sum_i weight_i (u . z_i + c).
    total = (np.r_[np.zeros(d), -weight @ Z], np.r_[np.zeros(k), -weight.sum()], 0.0, 0)
    return [*new, total], np.ones(1)


def explained_ranking(X, y, Z, weight):
    """Return the constraints of all pairs, with slacks that depend on privileged features."""
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    d = X.shape[1]
    rows: list[Any] = [
        (np.r_[X[i] - X[j], Z[i] + Z[j]], [2.0], 1.0, None) for i, j in product(positive, negative)
    ]
    rows += [(np.r_[np.zeros(d), z], [1.0], 0.0, None) for z in Z]
    fraction = np.where(y > 0, weight / weight[positive].sum(), weight / weight[negative].sum())
    rows.append((np.r_[np.zeros(d), -fraction @ Z], [-fraction.sum()], 0.0, 0))
    return rows, np.ones(1)


def signed_ranges(rows, slack_weight, norm_limit, loss_limit):
    """Return the smallest and the largest weight of each feature, each from a cold-started LP."""
    d, k, m = len(rows[0][0]), len(rows[0][1]), len(slack_weight)
    A, b = _inequalities(rows, d, k, m)
    norm = np.r_[np.ones(d), np.zeros(d + k + m)]
    loss = np.r_[np.zeros(2 * d + k), slack_weight]
    A, b = np.vstack([A, norm, loss]), np.r_[b, norm_limit, loss_limit]
    ranges = np.empty((d, 2))
    for j in range(d):
        for side, sign in enumerate((1.0, -1.0)):
            cost = np.zeros(A.shape[1])
            cost[d + j] = sign
            ranges[j, side] = sign * _solve(cost, A, b, d, k, m)
    return ranges


def optimum(rows, slack_weight, C):
    """Return the minimum of norm plus C times loss over all models."""
    d, k, m = len(rows[0][0]), len(rows[0][1]), len(slack_weight)
    A, b = _inequalities(rows, d, k, m)
    return _solve(np.r_[np.ones(d), np.zeros(d + k), C * slack_weight], A, b, d, k, m)


def _inequalities(rows, d, k, m):
    eye = np.eye(d)
    A = [
        np.hstack([-eye, eye, np.zeros((d, k + m))]),
        np.hstack([-eye, -eye, np.zeros((d, k + m))]),
    ]
    b: list[Any] = [np.zeros(2 * d)]
    for w_part, o_part, rhs, slack in rows:
        xi = np.zeros(m)
        if slack is not None:
            xi[slack] = 1.0
        A.append(-np.r_[np.zeros(d), w_part, o_part, xi][None])
        b.append([-rhs])
    return np.vstack(A), np.concatenate(b)


def _solve(cost, A, b, d, k, m):
    bounds = [(0, None)] * d + [(None, None)] * (d + k) + [(0, None)] * m
    result = linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs")
    assert result.status == 0, result.message
    return result.fun
