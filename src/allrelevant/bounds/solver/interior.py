"""Solver for largest and smallest weights over tables with many rows: an interior-point method.

With many rows, vertices are so close to each other that the simplex method needs thousands of
pivots. The interior-point method needs about ten Newton steps per LP. It has two stages:
iterations with a smoothed loss (:mod:`.smoothed`), and, where these end early or the tolerance is
small, iterations with rows of their own near the breakpoint of the loss (:mod:`.own_rows`).

Several LPs are solved together over a working set of features, so that products with the table are
products of matrices. Features with negative reduced cost are added, and the LPs concerned are
continued. All solutions are moved into the set of models. LPs whose gap exceeds the tolerance are
left to the simplex method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ..programs.equivalent_models import Budget, EquivalentModels
from ..programs.hinge import HingeRows
from .barrier import Costs
from .interface import Extreme, ExtremeSolutions, NotAVertexError, SolverStats
from .own_rows import solve_with_own_rows
from .simplex import SimplexSolver
from .smoothed import LossRows, balance, solve_smoothed

# LPs that are solved together, in the first batch and in later ones. The first LPs show which
# features are missing in the working set.
FIRST_BATCH = 8
BATCH = 32

# The working set starts with the features whose reduced cost at the baseline is at most this
# fraction of the norm price.
NEARLY_USED = 0.95

# Maximum number of features added per LP and round, and of rounds.
FEATURES_PER_LP = 30
MAX_ROUNDS = 8

# Features that this fraction of the LPs of a batch require stay in the working set.
COMMON = 0.3

# Width of the first window, relative to the median distance of a row from its breakpoint; and the
# largest gap with which the smoothed iterations end.
FIRST_WIDTH = 0.4
SMOOTHED_TOL = 1e-5

# Part of the tolerance that the iterations must reach. The rest is for moving the solutions into
# the set of models, and for features outside the working set.
INNER_TOL = 0.7

# Part of the tolerance by which a reduced cost may be negative.
REDUCED_COST_TOL = 0.2

# Largest number of hard constraints.
MAX_HARD_ROWS = 200


@dataclass(frozen=True)
class Units:
    """Units in which the iterations are well scaled: norm and loss of the largest allowed model."""

    norm: float
    loss: float
    budgets: Matrix  # (n_budgets, 3): coefficients of norm and loss, limit

    @classmethod
    def of(cls, budgets: Sequence[Budget], total_weight: float) -> Units:
        norm = min(b.limit / b.norm_coefficient for b in budgets if b.norm_coefficient > 0)
        largest_loss = min(b.limit / b.loss_coefficient for b in budgets if b.loss_coefficient > 0)
        loss = max(largest_loss, 1e-3 * total_weight)
        scaled = np.array(
            [(b.norm_coefficient * norm, b.loss_coefficient * loss, b.limit) for b in budgets]
        )
        return cls(norm, loss, scaled / scaled[:, :2].max(axis=1)[:, None])


class InteriorSolver:
    """Solver for extremes by an interior-point method, for tables with many rows.

    ``tol`` is the largest gap between a solution and its certified bound, relative to the limit on
    the norm.
    """

    is_reference = False

    def __init__(self, models: EquivalentModels, tol: float = 1e-9) -> None:
        if models.start is None:
            raise NotAVertexError("No starting point is available. Use HighsSolver.")
        self.models, self.tol = models, tol
        self.effort = SolverStats()
        rows, start = models.rows, models.start
        self._soft, self._hard = np.flatnonzero(~rows.is_hard), np.flatnonzero(rows.is_hard)
        self._units = Units.of(models.budgets, float(rows.weight_in_loss.sum()))
        self._weight = rows.weight[self._soft] / self._units.loss
        combination = np.abs(rows.row_combination(start.multipliers))
        is_near = combination >= NEARLY_USED * combination.max()
        self._base = np.flatnonzero(is_near | (start.coef != 0))
        price = (start.multipliers / rows.weight).max() / max(combination.max(), 1e-300)
        self._start_prices = self._budget_prices(price * self._units.loss / self._units.norm)
        slack = rows.slack(start.coef[None], start.offset[None])[0, self._soft]
        self._first_width = FIRST_WIDTH * max(float(np.median(np.abs(slack))), 1e-3)

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        rows = self.models.rows
        n = len(extremes)
        solutions = ExtremeSolutions(
            np.zeros((n, rows.n_weights)), np.zeros((n, rows.n_offsets)), np.zeros((n, rows.n_rows))
        )
        # Both extremes of a feature are solved together, which keeps the working set small.
        order = np.argsort([extreme.feature for extreme in extremes], kind="stable")
        start = 0
        while start < n:
            size = BATCH if self.effort.programs else FIRST_BATCH
            which = order[start : start + size]
            batch = _Batch(self, [extremes[int(e)] for e in which])
            solutions.with_replaced(which, batch.solve())
            self._base = np.union1d(self._base, batch.common_features())
            self.effort.programs += len(which)
            start += size
        return solutions

    def _budget_prices(self, loss_price: float) -> Vector:
        """Return prices of the budgets at which the norm has price 1, and the loss a given one."""
        norm, loss, limit = self._units.budgets.T
        prices = np.where(norm > 0, 1.0 / np.maximum(norm, 1e-300), loss_price / np.maximum(loss, 1e-300))
        used = self._used_budgets()
        gap = prices @ np.maximum(limit - used, 0.0)
        return prices * np.clip(0.3 / max(gap, 1e-9), 1e-3, 1.0)

    def _used_budgets(self) -> Vector:
        start, rows = self.models.start, self.models.rows
        assert start is not None
        norm = np.abs(start.coef).sum() / self._units.norm
        loss = rows.loss(start.coef[None], start.offset[None])[0] / self._units.loss
        return self._units.budgets[:, :2] @ [norm, loss]

    def loss_rows(self, features: NDArray[np.intp]) -> LossRows:
        """Return the soft constraints over the working features, in units of the iterations."""
        rows = self.models.rows
        is_all = len(self._hard) == 0
        return LossRows(
            self._columns(rows if is_all else rows.take(self._soft), features),
            rows.target[self._soft],
            self._weight,
        )

    def _columns(self, rows: HingeRows, features: NDArray[np.intp]) -> Matrix:
        columns = rows.table[:, features]
        table = np.empty((rows.n_rows, len(features) + rows.n_offsets))
        table[:, : len(features)] = columns.toarray() if sp.issparse(columns) else columns
        table[:, : len(features)] *= self._units.norm
        table[:, len(features) :] = rows.offset_table
        return table

    def costs(self, objective: Matrix, features: NDArray[np.intp]) -> Costs:
        hard = self.models.rows.take(self._hard)
        return Costs(
            objective=objective,
            n_weights=len(features),
            fixed=np.zeros(2),
            budgets=self._units.budgets,
            hard_table=self._columns(hard, features),
            hard_target=hard.target,
        )

    @cached_property
    def simplex(self) -> SimplexSolver:
        return SimplexSolver(self.models)


class _Batch:
    """LPs that are solved together, with their solutions so far."""

    def __init__(self, solver: InteriorSolver, extremes: Sequence[Extreme]) -> None:
        self._solver, self._extremes = solver, extremes
        models = solver.models
        rows, n = models.rows, len(extremes)
        assert models.start is not None
        self._features = np.union1d(solver._base, [e.feature for e in extremes]).astype(np.intp)
        self._objective = np.zeros((n, rows.n_weights))
        for e, extreme in enumerate(extremes):
            self._objective[e, extreme.feature] = extreme.sign
        self._start = np.concatenate([models.start.coef / solver._units.norm, models.start.offset])
        self._u = np.tile(self._start, (n, 1))
        self._prices = np.tile(solver._start_prices, (n, 1))
        self._width = np.full(n, solver._first_width)
        self._gap = np.ones(n)
        self._multipliers = np.zeros((n, rows.n_rows))
        self._entered: list[NDArray[np.intp]] = []

    def common_features(self) -> NDArray[np.intp]:
        """Return the features that many LPs of the batch required."""
        if not self._entered:
            return np.empty(0, dtype=np.intp)
        features, counts = np.unique(np.concatenate(self._entered), return_counts=True)
        return features[counts >= max(2, COMMON * len(self._extremes))]

    def solve(self) -> ExtremeSolutions:
        solver, rows = self._solver, self._solver.models.rows
        again = np.arange(len(self._extremes))
        for _ in range(MAX_ROUNDS):
            self._iterate(again)
            again = self._enter_features(again)
            if len(again) == 0:
                break
        d = rows.n_weights
        solutions = ExtremeSolutions(
            self._u[:, :d] * solver._units.norm, self._u[:, d:].copy(), self._multipliers
        )
        failed = np.flatnonzero(~(self._gap <= solver.tol))
        if len(failed):
            self._leave_to_simplex(solutions, failed)
        return solutions

    def _leave_to_simplex(self, solutions: ExtremeSolutions, failed: NDArray[np.intp]) -> None:
        try:
            better = self._solver.simplex([self._extremes[int(e)] for e in failed])
        except NotAVertexError:
            return
        self._solver.effort.fallbacks += len(failed)
        solutions.with_replaced(failed, better)

    def _iterate(self, which: NDArray[np.intp]) -> None:
        """Continue the iterations of some LPs over the current working features."""
        solver, F = self._solver, self._features
        rows, units = solver.models.rows, solver._units
        d, m = rows.n_weights, len(F)
        variables = np.concatenate([F, d + np.arange(rows.n_offsets)])
        objective = np.hstack([self._objective[np.ix_(which, F)], np.zeros((len(which), rows.n_offsets))])
        loss_rows, costs = solver.loss_rows(F), solver.costs(objective, F)
        tol = INNER_TOL * solver.tol
        n_pairs = 2 * m + len(units.budgets) + costs.n_hard
        mu = 0.5 * self._prices[which, 0] * np.minimum(1.0, self._gap[which]) / n_pairs
        smoothed = solve_smoothed(
            costs, loss_rows, self._u[np.ix_(which, variables)], self._prices[which], mu, self._width[which],
            max(tol, SMOOTHED_TOL),
        )
        u, prices, width = smoothed.u, smoothed.prices, smoothed.width
        slopes, hard = balance(costs, loss_rows, smoothed), smoothed.hard
        unfinished = np.flatnonzero(~(smoothed.converged & (smoothed.gap <= tol)))
        if len(unfinished):
            lost = unfinished[~self._is_useful(costs, smoothed, unfinished)]
            u[lost], prices[lost] = self._start[variables], solver._start_prices
            width[lost] = solver._first_width
            own = solve_with_own_rows(
                costs.take(unfinished), loss_rows, u[unfinished], prices[unfinished], width[unfinished], tol
            )
            u[unfinished], prices[unfinished] = own.u, own.prices
            slopes[unfinished], hard[unfinished] = own.slopes, own.hard
        _, v = costs.prices(prices)
        self._multipliers[np.ix_(which, solver._soft)] = slopes * (v * units.norm)[:, None]
        self._multipliers[np.ix_(which, solver._hard)] = hard * units.norm
        self._prices[which], self._width[which] = prices, width
        self._u[which] = 0.0
        self._u[np.ix_(which, variables)] = _moved_inside(costs, loss_rows, u, self._start[variables])

    def _is_useful(self, costs: Costs, smoothed, which) -> NDArray[np.bool_]:
        """Return which of the points that smoothing found are better than the start."""
        l, v = costs.prices(smoothed.prices[which])
        l0, v0 = costs.prices(self._solver._start_prices[None])
        return (np.abs(smoothed.gap[which]) < 0.2) & (v > 1e-3 * v0) & (l > 1e-6 * l0)

    def _enter_features(self, which: NDArray[np.intp]) -> NDArray[np.intp]:
        """Compute the gaps; add features with negative reduced cost. Return the LPs concerned."""
        solver = self._solver
        models, units = solver.models, solver._units
        rows = models.rows
        multipliers = self._multipliers[which]
        reduced = np.abs(rows.row_combination(multipliers) + self._objective[which])
        largest = reduced.max(axis=1)
        working = reduced[:, self._features].max(axis=1)
        soft = multipliers[:, solver._soft]
        price = (soft / solver._weight).max(axis=1) / units.norm
        costs = solver.costs(np.zeros((0, 0)), self._features[:0])
        bound = costs.value(largest, price) - multipliers @ rows.target / units.norm
        attained = np.einsum("bi,bi->b", self._objective[which], self._u[which, : rows.n_weights])
        self._gap[which] = bound - attained
        missing = (largest > working + REDUCED_COST_TOL * solver.tol) & (self._gap[which] > solver.tol)
        again = np.flatnonzero(missing)
        for e in again:
            features = np.flatnonzero(reduced[e] > working[e])
            if len(features) > FEATURES_PER_LP:
                order = np.argpartition(-reduced[e, features], FEATURES_PER_LP)
                features = features[order[:FEATURES_PER_LP]]
            self._entered.append(features)
        if len(again):
            self._features = np.unique(np.concatenate([self._features, *self._entered]))
            self._width[which[again]] = solver._first_width
        return which[again]


def _moved_inside(costs: Costs, rows: LossRows, u: Matrix, start: Vector) -> Matrix:
    """Move models toward the start until norm and loss are within the budgets."""
    m = costs.n_weights
    step = np.ones(len(u))
    norm_row, loss_row, limit = costs.budgets.T
    t0, t1 = rows.distance(start[None]), rows.distance(u)
    direction = t1 - t0
    norm0, norm1 = np.abs(start[:m]).sum(), np.abs(u[:, :m]).sum(axis=1)
    for _ in range(20):
        t = t0 + step[:, None] * direction
        is_positive = t > 0
        loss = np.where(is_positive, t, 0.0) @ rows.weight
        slope = np.einsum("bi,bi->b", is_positive * rows.weight, direction)
        norm = norm0 + step * (norm1 - norm0)  # at least the norm of the model
        excess = norm_row * norm[:, None] + loss_row * loss[:, None] - limit
        rate = norm_row * (norm1 - norm0)[:, None] + loss_row * slope[:, None]
        is_outside = excess > 0
        if not is_outside.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            back = np.where(is_outside, np.where(rate > 0, excess * (1 + 1e-12) / rate + 1e-16, np.inf), 0.0)
        step = np.maximum(step - back.max(axis=1), 0.0)
    return start + step[:, None] * (u - start)
