"""Cutting-plane solvers for a loss that is approximated from below by linear functions (cuts).

The cuts describe an outer approximation of the set of equivalent models. The optimum over it bounds
the true optimum, and the cut at its solution tightens the approximation (Kelley's cutting-plane
method).

- :class:`CuttingPlaneBaseline` solves the l1-regularized problem by this method.
- :class:`CuttingPlaneSolver` finds the largest and smallest weights. With very many pairs, the loss
  is nearly smooth, and a few steps of sequential quadratic programming (SQP) nearly attain them.
  The solver adds cuts at the last SQP points, and then further cuts until the gap is closed.
- :func:`with_central_start` finds a model well inside a set with limits on weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from ..._typing import Matrix, Vector
from ...exceptions import SolverError
from ..programs.equivalent_models import (
    Budget,
    EquivalentModels,
    StartingVertex,
    baseline_program,
    budget_row,
)
from ..programs.pairwise import Cut, CuttingPlaneRows, PairwiseLoss
from .highs import HighsModel, HighsSolver, Solution
from .interface import (
    Extreme,
    ExtremeSolutions,
    NotAVertexError,
    SolverStats,
    features_and_signs,
)

# Largest gap of the baseline, relative to its objective value, and maximum number of cuts.
BASELINE_GAP_TOL = 1e-6
MAX_BASELINE_CUTS = 5_000

# Largest gap of an extreme, relative to the norm, and maximum number of rounds of cuts. After the
# last round, the solutions are returned with their remaining gaps.
EXTREME_GAP_TOL = 1e-7
MAX_ROUNDS = 30

# SQP: maximum number of iterations, number of last points at which cuts are added, and number of
# weights above which an iteration takes too long.
MAX_SQP_STEPS = 100
N_LAST_POINTS = 8
MAX_SQP_WEIGHTS = 300

# Maximum number of Newton steps from outside the set to its boundary, and tolerance for exceeding
# the limit on the loss.
MAX_NEWTON_STEPS = 30
LOSS_TOL = 1e-12

# Largest gap of the minimum loss, relative to the limit on the loss, and maximum number of cuts.
CENTER_GAP_TOL = 0.01
MAX_CENTER_CUTS = 300


class CuttingPlaneBaseline:
    """Cutting-plane solver for ``min |w|_1 + C * loss`` at successive values of C.

    Cuts are kept from one C to the next. Each round adds a cut at the solution, and one halfway
    between the solution and the best model so far.
    """

    def __init__(self, rows: CuttingPlaneRows) -> None:
        self._rows = rows
        self._program = baseline_program(rows, 0.0)
        slack = self._program.blocks["slack"]
        self._loss_column = np.array([slack.start], dtype=np.int32)  # slack of the first constraint
        self._highs = HighsModel(self._program)

    def solve(self, C: float) -> StartingVertex:
        self._highs.change_cost(self._loss_column, np.array([C]))
        best, best_value = np.zeros(self._rows.n_weights), np.inf
        while self._rows.n_rows < MAX_BASELINE_CUTS:
            start = self._start(self._highs.solve(f"the ranking baseline at C={C:g}"))
            norm = np.abs(start.coef).sum()
            loss, cut = self._rows.true_loss.loss_and_cut(start.coef)
            value = norm + C * loss
            if value < best_value:
                best, best_value = start.coef, value
            if value - (norm + C * max(0.0, start.offset[0])) <= BASELINE_GAP_TOL * value:
                return start
            self._add([cut, *self._rows.true_loss.cuts((start.coef + best)[None] / 2.0)])
        raise SolverError(
            f"Minimizing the pairwise loss at C={C:g} did not converge. The usual cause is badly "
            "scaled columns: set standardize=True, or use a smaller C."
        )

    def _start(self, solution: Solution) -> StartingVertex:
        coef, offset = self._program.model(solution.point)
        return StartingVertex(coef, offset, solution.row_dual, self._rows)

    def _add(self, cuts: Sequence[Cut]) -> None:
        self._rows = self._rows.with_cuts(cuts)
        slopes = np.array([cut.slope for cut in cuts])
        zeros = np.zeros((len(cuts), self._program.n_columns - 2 * self._rows.n_weights - 1))
        rows = np.hstack([slopes, -slopes, np.ones((len(cuts), 1)), zeros])
        self._highs.add_rows(sp.csr_array(rows), np.array([cut.height for cut in cuts]))


class CuttingPlaneSolver:
    """Cutting-plane solver for the largest and smallest weights over a set of models.

    Solutions over the outer approximation bound these weights, but lie outside the set. Moving them
    toward the start until they are feasible gives models of the set. Cuts at these models tighten
    the bounds. The solver stops when bounds and models agree. ``rows`` are the constraints of
    ``models``.
    """

    is_reference = False

    def __init__(self, models: EquivalentModels, rows: CuttingPlaneRows) -> None:
        if models.start is None:
            raise NotAVertexError("No feasible starting point is available. Use HighsSolver.")
        self.models, self._rows = models, rows
        self._start = models.start.coef
        self._norm_limit, self._loss_limit = (budget.limit for budget in models.budgets)
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        points = [self._approximate(extreme) for extreme in extremes]
        inside = self._shrink_to_feasible(np.array([visited[-1] for visited in points]))
        self._cut_at(np.vstack([*points, inside]))
        multipliers = np.zeros((len(extremes), 0))
        pending = np.arange(len(extremes))
        for _ in range(MAX_ROUNDS):
            outside = self._solve_under_cuts([extremes[int(e)] for e in pending])
            multipliers = self._pad(multipliers)
            multipliers[pending] = outside.multipliers
            features, signs = features_and_signs([extremes[int(e)] for e in pending])
            each = np.arange(len(pending))
            candidates = self._shrink_to_feasible(outside.coef)
            is_better = signs * candidates[each, features] > signs * inside[pending, features]
            inside[pending[is_better]] = candidates[is_better]
            size = np.maximum(1.0, np.abs(inside[pending]).sum(axis=1))
            gap = signs * (outside.coef[each, features] - inside[pending, features]) / size
            is_open = gap > EXTREME_GAP_TOL
            if not is_open.any():
                break
            pending = pending[is_open]
            self._cut_at(self._shrink_to_feasible(outside.coef[is_open]))
        loss = self._rows.true_loss.values(inside)
        return ExtremeSolutions(inside, loss[:, None], self._pad(multipliers))

    def _solve_under_cuts(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        self.effort.programs += len(extremes)
        return HighsSolver(self.models)(extremes)

    def _cut_at(self, coef: Matrix) -> None:
        self._rows = self._rows.with_cuts(self._rows.true_loss.cuts(coef))
        self.models = replace(self.models, rows=self._rows)

    def _pad(self, multipliers: Matrix) -> Matrix:
        """Append zeros to dual variables, one for each cut added after they were computed."""
        n_more = self._rows.n_rows - multipliers.shape[1]
        return np.hstack([multipliers, np.zeros((len(multipliers), n_more))])

    def _approximate(self, extreme: Extreme) -> Matrix:
        """Approximate a largest or smallest weight by sequential quadratic programming (SQP).

        Return the last iterates, shape (m, d). The final one nearly attains the extreme. With many
        weights, SQP is too slow, so only the starting point is returned. The variables are the
        positive and negative parts of the weights, so that the norm is linear. The iterates can be
        infeasible.
        """
        from scipy.optimize import minimize

        start, d = self._start, len(self._start)
        if d > MAX_SQP_WEIGHTS:
            return start[None]
        visited = [start]

        @lru_cache(maxsize=2)  # SLSQP evaluates value and gradient separately
        def loss_and_slope(point: bytes) -> tuple[float, Vector]:
            parts = np.frombuffer(point)
            value, cut = self._rows.true_loss.loss_and_cut(parts[:d] - parts[d:])
            return value, cut.slope

        def loss_slack(parts: Vector) -> float:
            return self._loss_limit - loss_and_slope(parts.tobytes())[0]

        def loss_slack_gradient(parts: Vector) -> Vector:
            visited.append(parts[:d] - parts[d:])
            slope = loss_and_slope(parts.tobytes())[1]
            return np.r_[slope, -slope]

        gain = np.zeros(2 * d)
        gain[[extreme.feature, d + extreme.feature]] = extreme.sign, -extreme.sign
        low, high = self._rows.weight_limits.T
        lower = np.r_[np.maximum(low, 0.0), np.maximum(-high, 0.0)]
        upper = np.r_[np.maximum(high, 0.0), np.maximum(-low, 0.0)]
        minimize(
            lambda parts: -gain @ parts,
            np.r_[np.maximum(start, 0.0), np.maximum(-start, 0.0)],
            jac=lambda parts: -gain,
            method="SLSQP",
            bounds=list(zip(lower, upper, strict=True)),
            constraints=[
                {"type": "ineq", "fun": loss_slack, "jac": loss_slack_gradient},
                {
                    "type": "ineq",
                    "fun": lambda parts: self._norm_limit - parts.sum(),
                    "jac": lambda parts: -np.ones(2 * d),
                },
            ],
            options={"maxiter": MAX_SQP_STEPS, "ftol": 1e-10},
        )
        return np.array(visited[-N_LAST_POINTS:])

    def _shrink_to_feasible(self, coef: Matrix) -> Matrix:
        """Move models toward the starting point until they are feasible, and return them."""
        coef = self._shrink_to_norm_limit(np.clip(coef, *self._rows.weight_limits.T))
        loss, start = self._rows.true_loss, self._start
        steps = _max_feasible_steps(loss, start, coef, self._loss_limit)
        return start + steps[:, None] * (coef - start)

    def _shrink_to_norm_limit(self, coef: Matrix) -> Matrix:
        """Shrink the weights of models until their norms are within the limit, and return them.

        Models are moved toward the smallest weights allowed, not toward the start. The start can
        itself be at the limit on the norm, where rounding would determine the step.
        """
        smallest = np.clip(0.0, *self._rows.weight_limits.T)
        min_norm, norm = np.abs(smallest).sum(), np.abs(coef).sum(axis=1)
        available = np.maximum(self._norm_limit - min_norm, 0.0)
        step = np.where(
            norm > self._norm_limit, available / np.maximum(norm - min_norm, 1e-300), 1.0
        )
        return np.where(step[:, None] < 1.0, smallest + step[:, None] * (coef - smallest), coef)


def _max_feasible_steps(loss: PairwiseLoss, start: Vector, ends: Matrix, limit: float) -> Vector:
    """Return the largest steps in [0, 1] from a start toward given ends with loss at most ``limit``.

    Newton's method starts at the far end. It does not overshoot, because the loss is convex.
    """
    direction, steps = ends - start, np.ones(len(ends))
    pending = np.arange(len(ends))
    for _ in range(MAX_NEWTON_STEPS):
        at = loss.smoothed(
            start + steps[pending, None] * direction[pending], np.zeros(len(pending))
        )
        excess = at.loss - limit
        is_open = excess > LOSS_TOL
        if not is_open.any():
            break
        pending = pending[is_open]
        increase = -(at.slope[is_open] * direction[pending]).sum(axis=1)
        reduced = steps[pending] - excess[is_open] / np.where(increase > 0, increase, 1.0)
        steps[pending] = np.where(increase > 0, np.maximum(0.0, reduced), 0.0)
    return steps


def with_central_start(models: EquivalentModels, rows: CuttingPlaneRows) -> EquivalentModels:
    """Return the set of models with added cuts and a starting point of nearly minimum loss.

    Solutions outside the set are moved toward the start, so it should be well inside the set. The
    set has no start if the loss of the model found exceeds the limit. ``rows`` are the constraints
    of ``models``.
    """
    limit = min(b.limit / b.loss_coefficient for b in models.budgets if b.loss_coefficient > 0)
    # Drop the limit on the loss, which is checked at the end.
    without_loss_limit = replace(
        models,
        budgets=tuple(b for b in models.budgets if b.norm_coefficient > 0),
        offset_range=np.array([[-np.inf, np.inf]]),
    )
    for _ in range(MAX_CENTER_CUTS):
        cost = budget_row(rows, Budget(0.0, 1.0, np.inf))
        program = replace(replace(without_loss_limit, rows=rows).program, cost=cost)
        solution = HighsModel(program).solve("the model of minimum loss under the limits")
        coef = program.model(solution.point)[0]
        coef = np.clip(coef, *rows.weight_limits.T)  # remove the rounding errors of HiGHS
        loss, cut = rows.true_loss.loss_and_cut(coef)
        if loss - solution.value <= CENTER_GAP_TOL * limit:
            break
        rows = rows.with_cuts([cut])
    if loss > limit:
        return replace(models, rows=rows, start=None)
    start = StartingVertex(coef, np.array([loss]), solution.row_dual[: rows.n_rows], rows)
    return replace(models, rows=rows, start=start)
