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
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import Budget, EquivalentModels
from ..programs.hinge import HingeRows
from .barrier import Costs
from .interface import Extreme, ExtremeSolutions, NotAVertexError, Objectives, SolverStats
from .own_rows import solve_with_own_rows
from .proofs import largest_norm
from .simplex import SimplexSolver
from .smoothed import LossRows, SmoothedResult, balance, solve_smoothed

# LPs that are solved together, in the first batch and in later ones. The first LPs show which
# features are missing in the working set.
FIRST_BATCH = 8
BATCH = 32

# The working set starts with the features whose reduced cost at the baseline is at most this
# fraction of the norm price.
NEARLY_USED = 0.75

# Maximum number of features added per LP and round, and of rounds.
FEATURES_PER_LP = 30
MAX_ROUNDS = 8

# Features that this fraction of the LPs of a batch require stay in the working set.
COMMON = 0.3

# Width of the first window, relative to the mean distance of a row from its breakpoint; and the
# largest gap with which the smoothed iterations end.
FIRST_WIDTH = 0.35
SMOOTHED_TOL = 1e-5

# Part of the tolerance that the iterations must reach. The rest is for moving the solutions into
# the set of models, and for features outside the working set.
INNER_TOL = 0.7

# Part of the tolerance by which a reduced cost may be negative.
REDUCED_COST_TOL = 0.2

# LPs per group that is solved again, if there are more working features than this.
SMALL_GROUP = 4
SMALL_WORKING_SET = 60

# Tolerance of the rounds that find the features required.
LOOSE_TOL = 5e-3

# Largest gap from which the iterations continue with rows of their own.
RESTART_GAP = 0.2

# Newton steps that move a solution into the set of models; relative rounding error of a sum.
MAX_MOVES = 20
ROUNDING = 1e-12

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

    def __init__(
        self, models: EquivalentModels, tol: float = 1e-9, deadline: Deadline = NO_DEADLINE
    ) -> None:
        if models.start is None or largest_norm(models) <= 0:
            raise NotAVertexError("No starting point inside the set is available. Use HighsSolver.")
        self.models, self.tol, self.deadline = models, tol, deadline
        self.effort = SolverStats()
        rows, start = models.rows, models.start
        self.soft, self.hard = np.flatnonzero(~rows.is_hard), np.flatnonzero(rows.is_hard)
        self.units = Units.of(models.budgets, float(rows.weight_in_loss.sum()))
        self.weight = rows.weight[self.soft] / self.units.loss
        combination = np.abs(rows.row_combination(start.multipliers))
        is_near = combination >= NEARLY_USED * combination.max()
        self._base = np.flatnonzero(is_near | (start.coef != 0))
        price = (start.multipliers / rows.weight).max() / max(combination.max(), 1e-300)
        self.start_prices = self._budget_prices(price * self.units.loss / self.units.norm)
        slack = rows.slack(start.coef[None], start.offset[None])[0, self.soft]
        self.first_width = FIRST_WIDTH * max(float(np.abs(slack).mean()), 1e-3)

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        rows = self.models.rows
        n = len(extremes)
        solutions = ExtremeSolutions(
            np.zeros((n, rows.n_weights)), np.zeros((n, rows.n_offsets)), np.zeros((n, rows.n_rows))
        )
        # Both extremes of a weight are solved together, which keeps the working set small.
        order = np.argsort([extreme.weights[0] for extreme in extremes], kind="stable")
        start = 0
        while start < n:
            size = BATCH if self.effort.programs else FIRST_BATCH
            which = order[start : start + size]
            part = self._solve_batch([extremes[int(e)] for e in which])
            solutions.with_replaced(which, part)
            self.effort.programs += len(which)
            start += size
        return solutions

    def _solve_batch(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        rows = self.models.rows
        objective = np.zeros((len(extremes), rows.n_weights + rows.n_offsets))
        goals = Objectives.from_extremes(extremes)
        objective[goals.rows, goals.weights] = goals.gains
        batch = _Batch(self, objective)
        concerned = np.flatnonzero(objective[:, : rows.n_weights].any(axis=0))
        batch.solve(
            np.arange(len(extremes)), np.union1d(self._base, concerned), max(self.tol, LOOSE_TOL)
        )
        self._base = np.union1d(self._base, batch.common_features())
        coef, offset = batch.u[:, : rows.n_weights] * self.units.norm, batch.u[:, rows.n_weights :]
        solutions = ExtremeSolutions(coef, offset, batch.multipliers)
        failed = np.flatnonzero(~(batch.gap <= self.tol))
        if len(failed):
            with suppress(NotAVertexError):
                solutions.with_replaced(failed, self._simplex([extremes[int(e)] for e in failed]))
                self.effort.fallbacks += len(failed)
        return solutions

    def _budget_prices(self, loss_price: float) -> Vector:
        """Return prices of the budgets at which the norm has price 1, and the loss a given one."""
        norm, loss, limit = self.units.budgets.T
        prices = np.where(
            norm > 0, 1.0 / np.maximum(norm, 1e-300), loss_price / np.maximum(loss, 1e-300)
        )
        used = self._used_budgets()
        gap = prices @ np.maximum(limit - used, 0.0)
        return prices * np.clip(0.3 / max(gap, 1e-9), 1e-3, 1.0)

    def _used_budgets(self) -> Vector:
        start, rows = self.models.start, self.models.rows
        assert start is not None
        norm = np.abs(start.coef).sum() / self.units.norm
        loss = rows.loss(start.coef[None], start.offset[None])[0] / self.units.loss
        return self.units.budgets[:, :2] @ [norm, loss]

    def loss_rows(self, features: NDArray[np.intp]) -> LossRows:
        """Return the soft constraints over the working features, in units of the iterations."""
        rows = self.models.rows
        is_all = len(self.hard) == 0
        return LossRows(
            self._columns(rows if is_all else rows.take(self.soft), features),
            rows.target[self.soft],
            self.weight,
        )

    def _columns(self, rows: HingeRows, features: NDArray[np.intp]) -> Matrix:
        columns = rows.table[:, features]
        table = np.empty((rows.n_rows, len(features) + rows.n_offsets))
        table[:, : len(features)] = columns.toarray() if sp.issparse(columns) else columns
        table[:, : len(features)] *= self.units.norm
        table[:, len(features) :] = rows.offset_table
        return table

    def costs(self, objective: Matrix, features: NDArray[np.intp]) -> Costs:
        hard = self.models.rows.take(self.hard)
        return Costs(
            objective=objective,
            n_weights=len(features),
            fixed=np.zeros(2),
            budgets=self.units.budgets,
            hard_table=self._columns(hard, features),
            hard_target=hard.target,
        )

    @cached_property
    def _simplex(self) -> SimplexSolver:
        return SimplexSolver(self.models, deadline=self.deadline)


class _Batch:
    """LPs that are solved together, with their solutions so far.

    ``objective`` has one row per LP, over all weights and offsets; offsets count in units of the
    norm.
    """

    def __init__(self, solver: InteriorSolver, objective: Matrix) -> None:
        self._solver, self._objective = solver, objective
        models, n = solver.models, len(objective)
        assert models.start is not None
        self._start = np.concatenate([models.start.coef / solver.units.norm, models.start.offset])
        self.u = np.tile(self._start, (n, 1))
        self._prices = np.tile(solver.start_prices, (n, 1))
        self._width = np.full(n, solver.first_width)
        self.gap = np.full(n, np.inf)
        self.multipliers = np.zeros((n, models.rows.n_rows))
        self._entered: list[NDArray[np.intp]] = []

    def common_features(self) -> NDArray[np.intp]:
        """Return the features that many LPs of the batch required."""
        if not self._entered:
            return np.empty(0, dtype=np.intp)
        features, counts = np.unique(np.concatenate(self._entered), return_counts=True)
        return features[counts >= max(2, COMMON * len(self.u))]

    def solve(
        self,
        which: NDArray[np.intp],
        features: NDArray[np.intp],
        tol: float,
        rounds: int = MAX_ROUNDS,
    ) -> None:
        """Solve LPs over working features, and again with features of negative reduced cost.

        The first rounds, which find the missing features, have a larger tolerance. The LPs require
        different features, so they are solved again in small groups.
        """
        self._iterate(which, features, INNER_TOL * tol)
        missing = self._missing_features(which, features, tol)
        self._entered += missing.values()
        final = self._solver.tol
        again = (
            which[~(self.gap[which] <= final)]
            if tol > final
            else np.array(sorted(missing), dtype=np.intp)
        )
        if rounds == 0 or len(again) == 0:
            return
        size = SMALL_GROUP if len(features) > SMALL_WORKING_SET else len(again)
        for start in range(0, len(again), size):
            group = again[start : start + size]
            entering = [missing[int(e)] for e in group if e in missing]
            self.solve(
                group,
                np.unique(np.concatenate([features, *entering])),
                tol if entering else final,
                rounds - 1,
            )

    def _iterate(self, which: NDArray[np.intp], features: NDArray[np.intp], tol: float) -> None:
        """Start or continue the iterations of some LPs over working features."""
        solver = self._solver
        n_weights, n_offsets = solver.models.rows.n_weights, solver.models.rows.n_offsets
        variables = np.concatenate([features, n_weights + np.arange(n_offsets)])
        loss_rows = solver.loss_rows(features)
        costs = solver.costs(self._objective[np.ix_(which, variables)], features)
        u, prices, width = self.u[np.ix_(which, variables)], self._prices[which], self._width[which]
        slopes = np.empty((len(which), len(loss_rows.target)))
        hard = np.zeros((len(which), costs.n_hard))
        # From a good solution, the iterations continue with rows of their own.
        gap = np.minimum(self.gap[which], 1.0)
        is_far = gap > RESTART_GAP
        unfinished = ~is_far
        if is_far.any():
            far = np.flatnonzero(is_far)
            n_pairs = 2 * len(features) + len(solver.units.budgets) + costs.n_hard
            mu = 0.5 * prices[far, 0] / n_pairs
            smoothed = solve_smoothed(
                costs.take(far),
                loss_rows,
                u[far],
                prices[far],
                mu,
                width[far],
                max(INNER_TOL * solver.tol, SMOOTHED_TOL),
                solver.deadline.check,
            )
            lost = ~smoothed.converged & ~self._is_useful(costs, smoothed)
            smoothed.u[lost], smoothed.prices[lost] = self._start[variables], solver.start_prices
            smoothed.width[lost] = solver.first_width
            u[far], prices[far], width[far] = smoothed.u, smoothed.prices, smoothed.width
            hard[far] = smoothed.multipliers
            converged = (
                np.abs(smoothed.gap) <= tol
                if tol > SMOOTHED_TOL
                else np.zeros(len(far), dtype=bool)
            )
            converged &= smoothed.converged | (tol > INNER_TOL * solver.tol)
            unfinished[far] = ~converged
            done = np.flatnonzero(converged)
            slopes[far[done]] = balance(costs.take(far[done]), loss_rows, smoothed.take(done))
        rest = np.flatnonzero(unfinished)
        if len(rest):
            own = solve_with_own_rows(
                costs.take(rest),
                loss_rows,
                u[rest],
                prices[rest],
                width[rest],
                np.where(is_far, np.inf, gap)[rest],
                tol,
                solver.deadline.check,
            )
            u[rest], prices[rest] = own.u, own.prices
            slopes[rest], hard[rest] = own.slopes, own.multipliers
        _, v = costs.prices(prices)
        norm = solver.units.norm
        self.multipliers[np.ix_(which, solver.soft)] = slopes * (v * norm)[:, None]
        self.multipliers[np.ix_(which, solver.hard)] = hard * norm
        self._prices[which], self._width[which] = prices, width
        self.u[which] = 0.0
        self.u[np.ix_(which, variables)] = _moved_inside(
            costs, loss_rows, u, self._start[variables]
        )

    def _is_useful(self, costs: Costs, smoothed: SmoothedResult) -> NDArray[np.bool_]:
        """Return which of the points that smoothing found are better than the start."""
        norm, loss = costs.prices(smoothed.prices)
        first_norm, first_loss = costs.prices(self._solver.start_prices[None])
        is_near = np.abs(smoothed.gap) < RESTART_GAP
        return is_near & (loss > 1e-3 * first_loss) & (norm > 1e-6 * first_norm)

    def _missing_features(
        self, which: NDArray[np.intp], features: NDArray[np.intp], tol: float
    ) -> dict[int, NDArray[np.intp]]:
        """Compute the gaps; return the features with negative reduced cost, by LP."""
        solver = self._solver
        rows, norm = solver.models.rows, solver.units.norm
        multipliers, objective = self.multipliers[which], self._objective[which, : rows.n_weights]
        reduced = np.abs(rows.row_combination(multipliers) + objective)
        largest, working = reduced.max(axis=1), reduced[:, features].max(axis=1)
        price = (multipliers[:, solver.soft] / (norm * solver.weight)).max(axis=1)
        costs = solver.costs(np.zeros((0, 0)), features[:0])
        imbalance = multipliers @ rows.offset_table
        imbalance += self._objective[which, rows.n_weights :] * norm
        low, high = solver.models.offset_range.T
        offset_part = np.maximum(imbalance, 0.0) @ high + np.minimum(imbalance, 0.0) @ low
        bound = costs.value(largest, price) + (offset_part - multipliers @ rows.target) / norm
        self.gap[which] = bound - np.einsum("bi,bi->b", self._objective[which], self.u[which])
        is_missing = largest > working + REDUCED_COST_TOL * tol
        missing = {}
        for e in np.flatnonzero(is_missing & ~(self.gap[which] <= solver.tol)):
            entering = np.flatnonzero(reduced[e] > working[e])
            if len(entering) > FEATURES_PER_LP:
                order = np.argpartition(-reduced[e, entering], FEATURES_PER_LP)
                entering = entering[order[:FEATURES_PER_LP]]
            missing[int(which[e])] = entering
        return missing


def _moved_inside(costs: Costs, rows: LossRows, u: Matrix, start: Vector) -> Matrix:
    """Move models toward the start until norm and loss are within the budgets.

    Norm and loss are convex along the way, so Newton's method approaches the limit from outside. If
    the start exceeds a budget itself, the models are not moved.
    """
    m, step = costs.n_weights, np.ones(len(u))
    norm_row, loss_row, limit = costs.budgets.T
    first = rows.distance(start[None])
    direction = rows.distance(u) - first
    first_norm = np.abs(start[:m]).sum()
    norm_change = np.abs(u[:, :m]).sum(axis=1) - first_norm
    first_loss = np.maximum(first[0], 0.0) @ rows.weight
    if (norm_row * first_norm + loss_row * first_loss > limit).any():
        return u
    for _ in range(MAX_MOVES):
        t = first + step[:, None] * direction
        weight = np.where(t > 0, rows.weight, 0.0)
        loss, slope = np.einsum("bi,bi->b", weight, t), np.einsum("bi,bi->b", weight, direction)
        norm = first_norm + step * norm_change  # at least the norm of the model
        excess = norm_row * norm[:, None] + loss_row * loss[:, None] - limit
        rate = norm_row * norm_change[:, None] + loss_row * slope[:, None]
        if not (excess > 0).any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            back = np.where(rate > 0, excess * (1.0 + ROUNDING) / rate + 1e-16, np.inf)
        step = np.maximum(step - np.where(excess > 0, back, 0.0).max(axis=1), 0.0)
    return start + step[:, None] * (u - start)
