"""Approximate solver for the l1-regularized problem over tables with many rows.

It uses the interior-point method of :mod:`.interior` with fixed prices of norm and loss, and column
generation. It starts without features: if none has negative reduced cost, the zero model is
optimal. Each C starts from the solution of the previous one. The duality gap of every solution is
computed from the data; the exact solver replaces solutions whose gap is too large.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import StartingVertex
from ..programs.hinge import HingeRows
from .barrier import Costs
from .l1 import L1Baseline, relative_gap
from .own_rows import solve_with_own_rows
from .smoothed import LossRows, balance, solve_smoothed

# Features added per round, relative to the number of working features, and at least.
GROWTH = 1.0
MIN_ENTERING = 10

MAX_ROUNDS = 30

# Features with at least this absolute value of ``multipliers @ table`` at one C, at most 1, are the
# first working features at the next.
NEARLY_USED = 0.7

# Tolerance of the rounds that find the features required.
LOOSE_TOL = 1e-2

# Features are added if this value exceeds 1; before the last rounds, if it exceeds this limit.
ALMOST_ENTERING = 0.99

# Part of the tolerance that the iterations must reach.
INNER_TOL = 0.3

# Widths of the first window from the zero model and from another solution, relative to the mean
# distance of a row from its breakpoint.
FIRST_WIDTH = 1.5
NEXT_WIDTH = 0.4

# Largest sum of the products with which the iterations start.
FIRST_PRODUCTS = 0.02


class InteriorBaseline:
    """Baseline solver whose solutions have a relative duality gap of at most ``tol``."""

    def __init__(self, rows: HingeRows, tol: float, deadline: Deadline = NO_DEADLINE) -> None:
        self._rows, self._tol, self._deadline = rows, tol, deadline
        self._features = np.empty(0, dtype=np.intp)
        self._coef, self._offset = np.zeros(rows.n_weights), np.zeros(rows.n_offsets)
        self._soft, self._hard = np.flatnonzero(~rows.is_hard), np.flatnonzero(rows.is_hard)
        self._soft_rows = rows.take(self._soft) if len(self._hard) else rows
        self.fallbacks = 0

    def solve(self, C: float) -> StartingVertex:
        solution = self._solve(C)
        if solution is None:
            self.fallbacks += 1
            return self._exact.solve(C)
        self._coef, self._offset = solution.coef, solution.offset
        return solution

    @cached_property
    def _exact(self) -> L1Baseline:
        return L1Baseline(self._rows, self._deadline)

    @cached_property
    def _zero_loss(self) -> float:
        """Loss of the zero model, the unit of the loss."""
        rows = self._soft_rows
        return float(np.maximum(rows.target, 0.0) @ rows.weight) or float(rows.weight.sum())

    def _solve(self, C: float) -> StartingVertex | None:
        """Return a solution within the tolerance, or None."""
        rows = self._rows
        point = _Point(self._coef, self._offset)
        features, tol = self._features, max(self._tol, LOOSE_TOL)
        loss_rows = self._loss_rows(C, features)
        for _ in range(MAX_ROUNDS):
            self._deadline.check()
            point = self._iterate(C, features, loss_rows, point, INNER_TOL * tol)
            if not np.isfinite(point.multipliers).all():
                return None
            solution = StartingVertex(
                self._cleaned(C, point.coef), point.offset, point.multipliers, rows
            )
            point.gap = relative_gap(rows, C, solution)
            combination = np.abs(rows.row_combination(point.multipliers))
            if point.gap <= self._tol:
                self._features = np.flatnonzero((solution.coef != 0) | (combination > NEARLY_USED))
                return solution
            combination[features] = 0.0
            limit = 1.0 + 0.1 * tol
            if combination.max(initial=0.0) <= limit:
                if tol == self._tol:
                    return None
                tol, limit = self._tol, ALMOST_ENTERING
            entering = np.flatnonzero(combination > limit)
            most = max(MIN_ENTERING, int(GROWTH * len(features)))
            if len(entering) > most:
                entering = entering[np.argpartition(-combination[entering], most)[:most]]
            if len(entering):
                features = np.union1d(features, entering)
                loss_rows = self._loss_rows(C, features)
        return None

    def _cleaned(self, C: float, coef: Vector) -> Vector:
        """Return the weights, without those that are negligible compared with the tolerance."""
        negligible = 0.1 * self._tol * C * self._zero_loss / max(1, len(coef))
        return np.where(np.abs(coef) > negligible, coef, 0.0)

    def _loss_rows(self, C: float, features: NDArray[np.intp]) -> LossRows:
        """Return the soft constraints over working features, in units of the iterations.

        The zero model has loss 1 and costs 1, so that no solution has a larger norm than 1.
        """
        rows = self._soft_rows
        table = self._columns(rows, C, features)
        return LossRows(table, rows.target, rows.weight / self._zero_loss)

    def _columns(self, rows: HingeRows, C: float, features: NDArray[np.intp]) -> Matrix:
        m = len(features)
        table = np.empty((rows.n_rows, m + rows.n_offsets))
        columns = rows.table[:, features]
        table[:, :m] = columns.toarray() if sp.issparse(columns) else columns
        table[:, :m] *= C * self._zero_loss
        table[:, m:] = rows.offset_table
        return table

    def _iterate(
        self,
        C: float,
        features: NDArray[np.intp],
        loss_rows: LossRows,
        start: _Point,
        tol: float,
    ) -> _Point:
        """Return the solution over working features."""
        rows, m = self._rows, len(features)
        order, norm = m + rows.n_offsets, C * self._zero_loss
        if order == 0:
            multipliers = np.where(rows.target > 0, C * rows.weight, 0.0)
            return _Point(start.coef, start.offset, multipliers)
        costs = Costs(
            objective=np.zeros((1, order)),
            n_weights=m,
            fixed=np.ones(2),
            budgets=np.empty((0, 3)),
            hard_table=self._columns(rows.take(self._hard), C, features),
            hard_target=rows.target[self._hard],
        )
        u = np.concatenate([start.coef[features] / norm, start.offset])[None]
        width = start.width
        if width is None:
            distance = np.abs(loss_rows.distance(u)[0])
            relative = NEXT_WIDTH if start.coef.any() else FIRST_WIDTH
            width = np.full(1, relative * np.average(distance, weights=loss_rows.weight))
        mu = np.full(1, min(FIRST_PRODUCTS, start.gap) / max(1, 2 * m))
        no_prices = np.empty((1, 0))
        check = self._deadline.check
        found = solve_smoothed(costs, loss_rows, u, no_prices, mu, width, tol, check)
        if found.converged[0]:
            u, width, slopes = found.u, found.width, balance(costs, loss_rows, found)
            hard = found.multipliers
        else:
            if np.abs(found.gap[0]) < 0.5:
                u, width = found.u, found.width
            own = solve_with_own_rows(
                costs, loss_rows, u, no_prices, width, np.full(1, np.inf), tol, check
            )
            u, slopes, hard = own.u, own.slopes, own.multipliers
        multipliers = np.empty(rows.n_rows)
        multipliers[self._soft], multipliers[self._hard] = slopes[0] * norm, hard[0] * norm
        coef = np.zeros(rows.n_weights)
        coef[features] = u[0, :m] * norm
        return _Point(coef, u[0, m:], multipliers, width)


@dataclass
class _Point:
    """Model and dual variables during the iterations, with the width of the last window."""

    coef: Vector
    offset: Vector
    multipliers: Vector = field(default_factory=lambda: np.empty(0))
    width: Vector | None = None
    gap: float = np.inf
