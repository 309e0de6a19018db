"""Naive reference implementation of equivalent models under constraints on weights.

Limits on weights are hard constraints, as in ``naive_tasks``. Both signs of a nonzero weight are
tried.
"""

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.ordinal import OrdinalData
from allrelevant.bounds.ranking import RankingData
from allrelevant.bounds.regression import RegressionData
from allrelevant.bounds.survival import SurvivalData
from tests.bounds import naive_tasks


class NaiveSet:
    """Models equivalent to the baseline of a fitted problem, described by an LP."""

    def __init__(self, problem, slack):
        samples = problem.baseline.data
        self.rows, self.slack_weight = _requirements(samples)
        self.limits = (
            slack.norm_limit(problem.baseline.model),
            slack.loss_limit(problem.baseline.model),
        )
        self.d, self.k = len(self.rows[0][0]), len(self.rows[0][1])

    def optimum(self, cost_w, limits=(), cost_size=None):
        """Minimize ``cost_w . w + cost_size . |w|``; return None if the limits are infeasible."""
        d, k, m = self.d, self.k, len(self.slack_weight)
        A, b = naive_tasks._inequalities([*self.rows, *self._limit_rows(limits)], d, k, m)
        norm = np.r_[np.ones(d), np.zeros(d + k + m)]
        loss = np.r_[np.zeros(2 * d + k), self.slack_weight]
        A, b = np.vstack([A, norm, loss]), np.r_[b, self.limits]
        size = np.zeros(d) if cost_size is None else cost_size
        result = linprog(
            np.r_[size, cost_w, np.zeros(k + m)],
            A_ub=A,
            b_ub=b,
            bounds=[(0, None)] * d + [(None, None)] * (d + k) + [(0, None)] * m,
            method="highs",
        )
        assert result.status in (0, 2), result.message
        return result.fun if result.status == 0 else None

    def has_models(self, limits):
        return self.optimum(np.zeros(self.d), limits) is not None

    def sizes(self, limit_sets):
        """Compute the range of each absolute weight over models that satisfy any of the limits."""
        parts = [self._sizes(limits) for limits in limit_sets if self.has_models(limits)]
        if not parts:
            return None
        lower, upper = np.array(parts).transpose(2, 0, 1)
        return np.column_stack([lower.min(axis=0), upper.max(axis=0)])

    def _sizes(self, limits):
        found = np.empty((self.d, 2))
        for j in range(self.d):
            low = self.optimum(np.eye(self.d)[j], limits)
            high = -self.optimum(-np.eye(self.d)[j], limits)
            found[j] = max(0.0, low, -high), max(abs(low), abs(high))
        return found

    def sum_range(self, members):
        """Compute the smallest and the largest sum of the absolute weights of some features."""
        is_member = np.isin(np.arange(self.d), members).astype(float)
        smallest = self.optimum(np.zeros(self.d), cost_size=is_member)
        largest = -np.inf
        for signs in product([-1.0, 1.0], repeat=len(members)):
            cost = np.zeros(self.d)
            cost[list(members)] = signs
            largest = max(largest, -self.optimum(-cost))
        return smallest, largest

    def minimal_sets(self):
        """Return all minimal feature sets: sufficient sets without a sufficient proper subset."""
        found: list[frozenset[int]] = []
        for size in range(self.d + 1):
            for members in combinations(range(self.d), size):
                if any(other <= set(members) for other in found):
                    continue
                others = [(j, 0.0, 0.0) for j in range(self.d) if j not in members]
                if self.has_models(others):
                    found.append(frozenset(members))
        return found

    def _limit_rows(self, limits):
        nothing = np.zeros(self.k)
        for feature, low, high in limits:
            unit = np.eye(self.d)[feature]
            if np.isfinite(low):
                yield unit, nothing, low, None
            if np.isfinite(high):
                yield -unit, nothing, -high, None


def sign_combinations(constraints):
    """Return the limits on weights for each combination of signs.

    Each constraint is a tuple ``(feature, low, high, signed)``.
    """
    options = [
        [(j, low, high)]
        if signed
        else [(j, -high, high)]
        if low <= 0
        else [(j, low, high), (j, -high, -low)]
        for j, low, high, signed in constraints
    ]
    return [list(limits) for limits in product(*options)]


def _requirements(samples):
    X, y, weight, n = samples.X, samples.y, samples.weight, samples.n_samples
    if isinstance(samples, ClassificationData):
        rows = [(label * x, [label], 1.0, i) for i, (x, label) in enumerate(zip(X, y, strict=True))]
        found, sample = (rows, weight), list(range(n))
    elif isinstance(samples, RegressionData):
        found = naive_tasks.regression(X, y, weight, samples.epsilon)
        sample = [i for i in range(n) for _ in range(2)]
    elif isinstance(samples, OrdinalData):
        found, sample = naive_tasks.ordinal(X, y, weight), []
    elif isinstance(samples, SurvivalData):
        # Codes are twice the rank of the time, plus 1 if it is censored.
        found, sample = naive_tasks.survival(X, y % 2 == 0, y // 2, weight), []
    else:
        assert isinstance(samples, RankingData)
        found, sample = naive_tasks.ranking(X, y, weight), []
    if samples.privileged is None:
        return found
    return naive_tasks.explained(found[0], sample, samples.privileged, weight)
