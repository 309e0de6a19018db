"""Approximate solver for the l1-regularized problem over tables with many rows.

It uses the interior-point method of :mod:`.interior` with fixed prices of norm and loss, and column
generation. It starts without features: if none has negative reduced cost, the zero model is
optimal. Each C starts from the solution of the previous one. The duality gap of every solution is
computed from the data; the exact solver replaces solutions whose gap is too large.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Vector
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

# Part of the tolerance that the iterations must reach.
INNER_TOL = 0.3

# Widths of the first window from the zero model and from another solution, relative to the mean
# distance of a row from its breakpoint.
FIRST_WIDTH = 1.5
NEXT_WIDTH = 0.4


class InteriorBaseline:
    """Baseline solver whose solutions have a relative duality gap of at most ``tol``."""

    def __init__(self, rows: HingeRows, tol: float) -> None:
        self._rows, self._tol = rows, tol
        self._features = np.empty(0, dtype=np.intp)
        self._coef, self._offset = np.zeros(rows.n_weights), np.zeros(rows.n_offsets)
        self.fallbacks = 0

    def solve(self, C: float) -> StartingVertex:
        solution = self._solve(C)
        if solution is None:
            self.fallbacks += 1
            return self._exact.solve(C)
        self._coef, self._offset = solution.coef, solution.offset
        self._features = np.flatnonzero(solution.coef)
        return solution

    @cached_property
    def _exact(self) -> L1Baseline:
        return L1Baseline(self._rows)

    @cached_property
    def _zero_loss(self) -> float:
        """Loss of the zero model, the unit of the loss."""
        rows = self._rows
        return float(np.maximum(rows.target, 0.0) @ rows.weight) or float(rows.weight.sum())

    def _solve(self, C: float) -> StartingVertex | None:
        """Return a solution within the tolerance, or None."""
        rows = self._rows
        features = self._features
        for _ in range(MAX_ROUNDS):
            self._coef, self._offset, multipliers = self._iterate(C, features)
            if not np.isfinite(multipliers).all():
                return None
            combination = np.abs(rows.row_combination(multipliers))
            solution = StartingVertex(self._cleaned(C), self._offset, multipliers, rows)
            if relative_gap(rows, C, solution) <= self._tol:
                return solution
            combination[features] = 0.0
            entering = np.flatnonzero(combination > 1.0 + 0.1 * self._tol)
            if len(entering) == 0:
                return None
            most = max(MIN_ENTERING, int(GROWTH * len(features)))
            if len(entering) > most:
                entering = entering[np.argpartition(-combination[entering], most)[:most]]
            features = np.union1d(features, entering)
        return None

    def _cleaned(self, C: float) -> Vector:
        """Return the weights, without those that are negligible compared with the tolerance."""
        negligible = 0.1 * self._tol * C * self._zero_loss / max(1, len(self._coef))
        return np.where(np.abs(self._coef) > negligible, self._coef, 0.0)

    def _iterate(
        self, C: float, features: NDArray[np.intp]
    ) -> tuple[Vector, Vector, Vector]:
        """Return weights, offsets and multipliers of the solution over working features."""
        rows, m = self._rows, len(features)
        if m + rows.n_offsets == 0:
            return self._coef, self._offset, np.where(rows.target > 0, C * rows.weight, 0.0)
        # The zero model has loss 1 and costs 1, so that no solution has a larger norm than 1.
        norm = C * self._zero_loss
        table = np.empty((rows.n_rows, m + rows.n_offsets))
        columns = rows.table[:, features]
        table[:, :m] = columns.toarray() if sp.issparse(columns) else columns
        table[:, :m] *= norm
        table[:, m:] = rows.offset_table
        loss_rows = LossRows(table, rows.target, rows.weight / self._zero_loss)
        costs = Costs(
            objective=np.zeros((1, m + rows.n_offsets)),
            n_weights=m,
            fixed=np.ones(2),
            budgets=np.empty((0, 3)),
            hard_table=np.empty((0, m + rows.n_offsets)),
            hard_target=np.empty(0),
        )
        u = np.concatenate([self._coef[features] / norm, self._offset])[None]
        distance = np.abs(loss_rows.distance(u)[0])
        is_zero = not self._coef.any()
        width = (FIRST_WIDTH if is_zero else NEXT_WIDTH) * np.average(distance, weights=rows.weight)
        mu = np.full(1, 0.02 / max(1, 2 * m))
        no_prices = np.empty((1, 0))
        tol = INNER_TOL * self._tol
        found = solve_smoothed(costs, loss_rows, u, no_prices, mu, np.full(1, width), tol)
        if found.converged[0]:
            u, slopes = found.u, balance(costs, loss_rows, found)
        else:
            start = found if np.abs(found.gap[0]) < 0.5 else None
            u = u if start is None else start.u
            widths = np.full(1, width) if start is None else start.width
            own = solve_with_own_rows(costs, loss_rows, u, no_prices, widths, np.full(1, np.inf), tol)
            u, slopes = own.u, own.slopes
        coef = np.zeros(rows.n_weights)
        coef[features] = u[0, :m] * norm
        return coef, u[0, m:], slopes[0] * norm
