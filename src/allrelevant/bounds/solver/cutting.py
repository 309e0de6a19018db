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
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...deadline import NO_DEADLINE, Deadline
from ...exceptions import SolverError
from ..programs.equivalent_models import (
    Budget,
    EquivalentModels,
    StartingVertex,
    baseline_program,
    budget_row,
    separate_budgets,
)
from ..programs.hinge import HingeRows
from ..programs.pairwise import Cut, CuttingPlaneRows, PairwiseLoss
from .highs import HighsModel, HighsSolver, Solution
from .interface import (
    Extreme,
    ExtremeSolutions,
    NotAVertexError,
    Objectives,
    SolverStats,
)
from .l1 import L1Baseline
from .smoothing import SmoothedSolution, extremes_smoothed, minimize_smoothed

# Largest gap of the baseline, relative to its objective value, and maximum number of cuts.
BASELINE_GAP_TOL = 1e-6
MAX_BASELINE_CUTS = 5_000

# Largest gap of an extreme, relative to the norm, and maximum number of rounds of cuts. After the
# last round, the solutions are returned with their remaining gaps.
EXTREME_GAP_TOL = 1e-7
MAX_ROUNDS = 30

# Gap at which the interior-point method stops, relative to the objective value or the norm, and
# maximum number of weights for which it is used.
SMOOTHED_TOL = 1e-4
MAX_SMOOTHED_WEIGHTS = 300

# With at least this many pairs, the loss is so smooth that the interior-point method itself reaches
# this gap, in fewer steps than cuts would take.
MANY_PAIRS = 1_000_000
MANY_PAIRS_TOL = 1e-6

# Values of C that are solved at once.
VALUES_AT_ONCE = 4

# Tolerance from which the solution of the interior-point method is accepted even if the gap remains
# open. Smaller tolerances close all gaps to EXTREME_GAP_TOL.
ROUGH_TOL = 1e-3

# Width around the margin within which pairs get a constraint each, and maximum numbers of rounds
# and of models whose pairs are listed. If the classes or times are ordered almost perfectly, few
# pairs are near the margin, and a smaller width takes many rounds.
LOCAL_WIDTH = 0.05
MAX_LOCAL_ROUNDS = 12
MAX_LOCAL_POINTS = 6

# SQP: maximum number of iterations, number of last points at which cuts are added, and number of
# weights above which an iteration takes too long.
MAX_SQP_STEPS = 100
N_LAST_POINTS = 8
MAX_SQP_WEIGHTS = 300

# Maximum number of Newton steps from outside the set to its boundary, and tolerance for exceeding
# the limit on the loss.
MAX_NEWTON_STEPS = 30
LOSS_TOL = 1e-12

# Violation of a limit on several weights, relative to the norm, that counts as rounding.
LIMIT_TOL = 1e-8

# Largest gap of the minimum loss, relative to the limit on the loss, and maximum number of cuts.
CENTER_GAP_TOL = 0.01
MAX_CENTER_CUTS = 300


class CuttingPlaneBaseline:
    """Cutting-plane solver for ``min |w|_1 + C * loss`` at successive values of C.

    An interior-point method solves several of the values of C given as ``values`` at once. Cuts
    improve its solutions where their gaps exceed ``tol``. They are kept from one C to the next.
    Each round adds a cut at the solution, and one halfway between the solution and the best model
    so far.
    """

    def __init__(
        self,
        rows: CuttingPlaneRows,
        tol: float = 0.0,
        values: Sequence[float] = (),
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self._initial = self._rows = rows
        many = rows.true_loss.pairs.n_pairs >= MANY_PAIRS
        self._tol = max(tol, MANY_PAIRS_TOL) if many else tol
        self._smoothed_tol = max(tol, MANY_PAIRS_TOL if many else SMOOTHED_TOL)
        self._values, self._deadline = values, deadline
        self._smoothed: dict[float, SmoothedSolution] = {}
        self._program = baseline_program(rows, 0.0)
        slack = self._program.blocks["slack"]
        self._loss_column = np.array([slack.start], dtype=np.int32)  # slack of the first constraint
        self._highs = HighsModel(self._program, deadline)

    def solve(self, C: float) -> StartingVertex:
        if self._is_zero_optimal(C):
            return self._with_cut(np.zeros(self._rows.n_weights), self._zero_cut, C)
        if self._rows.n_weights > MAX_SMOOTHED_WEIGHTS:
            return self._solve_by_cuts(C)
        found = self._solve_smoothed(C)
        value = np.abs(found.coef).sum() + C * self._rows.true_loss.values(found.coef[None])[0]
        if found.gap <= self._tol * value:
            return self._with_cut(found.coef, Cut(found.slope, found.height), found.loss_price)
        return self._solve_near(C, found.coef, float(value)) or self._solve_by_cuts(C)

    @property
    def _zero_cut(self) -> Cut:
        return Cut(self._initial.table[1], float(self._initial.target[1]))

    def _is_zero_optimal(self, C: float) -> bool:
        return bool(C * np.abs(self._zero_cut.slope).max(initial=0.0) <= 1.0)

    def _solve_smoothed(self, C: float) -> SmoothedSolution:
        """Return an approximate solution.

        If approximate solutions suffice, the next values of C are solved at once.
        """
        if C not in self._smoothed:
            following = [C, *sorted(value for value in self._values if value > C)]
            values = following[: VALUES_AT_ONCE if self._tol > 0 else 1]
            start = np.zeros((len(values), self._rows.n_weights))
            found = minimize_smoothed(
                self._rows.true_loss,
                np.array(values),
                start,
                self._smoothed_tol,
                self._deadline.check,
            )
            self._smoothed |= zip(values, found, strict=True)
        return self._smoothed[C]

    def _solve_near(self, C: float, coef: Vector, best: float) -> StartingVertex | None:
        """Minimize the loss of the pairs near the margin; return None without convergence."""
        loss, points = self._rows.true_loss, coef[None]
        for _ in range(MAX_LOCAL_ROUNDS):
            rows = loss.local_rows(points, LOCAL_WIDTH)
            start = L1Baseline(rows, self._deadline).solve(C)
            norm = np.abs(start.coef).sum()
            bound = norm + C * rows.loss(start.coef[None], start.offset[None])[0]
            value = norm + C * loss.values(start.coef[None])[0]
            if value <= best:
                best, coef = value, start.coef
            if best - bound <= max(self._tol, BASELINE_GAP_TOL) * best:
                return self._with_cut(coef, *local_cut(rows, start.multipliers))
            points = np.vstack([points, start.coef])[-MAX_LOCAL_POINTS:]
        return None

    def _with_cut(self, coef: Vector, cut: Cut, price: float) -> StartingVertex:
        """Return a model with the cut that certifies it, and the dual variable of the cut."""
        rows = self._initial.with_cuts([cut])
        multipliers = np.zeros(rows.n_rows)
        multipliers[[0, -1]] = price
        return StartingVertex(coef, rows.true_loss.values(coef[None]), multipliers, rows)

    def _solve_by_cuts(self, C: float) -> StartingVertex:
        self._highs.change_cost(self._loss_column, np.array([C]))
        best, best_value = np.zeros(self._rows.n_weights), np.inf
        while self._rows.n_rows < MAX_BASELINE_CUTS:
            start = self._start(self._highs.solve(f"the ranking baseline at C={C:g}"))
            norm = np.abs(start.coef).sum()
            loss, cut = self._rows.true_loss.loss_and_cut(start.coef)
            value = norm + C * loss
            if value < best_value:
                best, best_value = start.coef, value
            tol = max(self._tol, BASELINE_GAP_TOL)
            if value - (norm + C * max(0.0, start.offset[0])) <= tol * value:
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

    def __init__(
        self,
        models: EquivalentModels,
        rows: CuttingPlaneRows,
        tol: float = 0.0,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        if models.start is None:
            raise NotAVertexError("No feasible starting point is available. Use HighsSolver.")
        self.models, self._rows, self._deadline = models, rows, deadline
        self._start = models.start.coef
        many = rows.true_loss.pairs.n_pairs >= MANY_PAIRS
        self._tol = tol if tol >= ROUGH_TOL else MANY_PAIRS_TOL if many else EXTREME_GAP_TOL
        self._smoothed_tol = 0.5 * MANY_PAIRS_TOL if many else SMOOTHED_TOL
        self._norm_limit, self._loss_limit = (budget.limit for budget in models.budgets)
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        each, m = np.arange(len(extremes)), len(extremes)
        self.effort.programs += m
        if self._rows.has_limits or self._rows.n_weights > MAX_SMOOTHED_WEIGHTS:
            points = [self._approximate(extreme) for extreme in extremes]
            inside = self._shrink_to_feasible(np.array([visited[-1] for visited in points]))
            self._cut_at(np.vstack([*points, inside]))
            multipliers, pending = np.zeros((m, 0)), each
        else:
            gain = self._gain(extremes)
            inside, cuts, prices, gap = self._solve_smoothed(gain)
            if self._tol >= ROUGH_TOL:
                gap = np.zeros(m)  # accurate enough, even where the iterations did not converge
            for k in np.flatnonzero(gap > self._tol * self._norm_limit):
                inside[k], cuts[k], prices[k], gap[k] = self._solve_near(
                    extremes[int(k)], inside[k], cuts[k], prices[k], gap[k]
                )
            n_before = self._rows.n_rows
            self._rows = self._rows.with_cuts(cuts)
            self.models = replace(self.models, rows=self._rows)
            multipliers = np.zeros((m, self._rows.n_rows))
            multipliers[:, 0] = multipliers[each, n_before + each] = prices
            pending = np.flatnonzero(gap > self._tol * self._norm_limit)
        multipliers = self._close_gaps(extremes, pending, inside, multipliers)
        loss = self._rows.true_loss.values(inside)
        return ExtremeSolutions(inside, loss[:, None], self._pad(multipliers))

    def _close_gaps(
        self,
        extremes: Sequence[Extreme],
        pending: NDArray[np.intp],
        inside: Matrix,
        multipliers: Matrix,
    ) -> Matrix:
        """Add cuts until the gaps of the pending extremes are closed.

        Replace their models in place, and return the dual variables of all extremes.
        """
        for _ in range(MAX_ROUNDS if len(pending) else 0):
            outside = self._solve_under_cuts([extremes[int(e)] for e in pending])
            multipliers = self._pad(multipliers)
            multipliers[pending] = outside.multipliers
            goals = Objectives.from_extremes([extremes[int(e)] for e in pending])
            candidates = self._shrink_to_feasible(outside.coef)
            improvement = goals.values(candidates) - goals.values(inside[pending])
            is_better = goals.signs * improvement > 0
            inside[pending[is_better]] = candidates[is_better]
            size = np.maximum(1.0, np.abs(inside[pending]).sum(axis=1))
            gap = goals.signs * goals.values(outside.coef - inside[pending]) / size
            is_open = gap > self._tol
            if not is_open.any():
                break
            pending = pending[is_open]
            self._cut_at(self._shrink_to_feasible(outside.coef[is_open]))
        return multipliers

    def _gain(self, extremes: Sequence[Extreme]) -> Matrix:
        """Return the function that each extreme maximizes, as coefficients of all weights."""
        goals = Objectives.from_extremes(extremes)
        gain = np.zeros((len(extremes), self._rows.n_weights))
        gain[goals.rows, goals.weights] = goals.gains
        return gain

    def _solve_smoothed(self, gain: Matrix) -> tuple[Matrix, list[Cut], Vector, Vector]:
        """Maximize gains by an interior-point method.

        Return models of the set, the cuts that certify them, the dual variables of the cuts and the
        gaps.
        """
        found = extremes_smoothed(
            self._rows.true_loss,
            gain,
            self._start,
            self._norm_limit,
            self._loss_limit,
            max(0.5 * self._tol, self._smoothed_tol),
            self._deadline.check,
        )
        inside = self._shrink_to_feasible(found.coef)
        cuts = [Cut(s, float(h)) for s, h in zip(found.slope, found.height, strict=True)]
        bound = self._bounds(gain, cuts, found.loss_price)
        return inside, cuts, found.loss_price, bound - (gain * inside).sum(axis=1)

    def _bounds(self, gain: Matrix, cuts: Sequence[Cut], prices: Vector) -> Vector:
        """Return upper bounds on the gains, from one cut and its dual variable for each."""
        slope = np.array([cut.slope for cut in cuts])
        height = np.array([cut.height for cut in cuts])
        norm_price = np.abs(gain + prices[:, None] * slope).max(axis=1)
        return norm_price * self._norm_limit + prices * (self._loss_limit - height)

    def _solve_near(
        self, extreme: Extreme, inside: Vector, cut: Cut, price: float, gap: float
    ) -> tuple[Vector, Cut, float, float]:
        """Improve an extreme with one constraint for each pair near the margin."""
        loss, points = self._rows.true_loss, inside[None]
        gain = self._gain([extreme])
        bound = gap + float(gain[0] @ inside)
        for _ in range(MAX_LOCAL_ROUNDS):
            rows = loss.local_rows(points, LOCAL_WIDTH)
            models = separate_budgets(rows, self._norm_limit, self._loss_limit)
            solution = HighsSolver(models, self._deadline)([extreme])
            candidate, new_price = local_cut(rows, solution.multipliers[0])
            new_bound = float(self._bounds(gain, [candidate], np.array([new_price]))[0])
            if new_bound < bound:
                bound, cut, price = new_bound, candidate, new_price
            feasible = self._shrink_to_feasible(solution.coef)[0]
            if gain[0] @ feasible > gain[0] @ inside:
                inside = feasible
            gap = bound - float(gain[0] @ inside)
            if gap <= self._tol * self._norm_limit:
                break
            points = np.vstack([points, solution.coef])[-MAX_LOCAL_POINTS:]
        return inside, cut, price, gap

    def _solve_under_cuts(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        return HighsSolver(self.models, self._deadline)(extremes)

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
            self._deadline.check()
            visited.append(parts[:d] - parts[d:])
            slope = loss_and_slope(parts.tobytes())[1]
            return np.r_[slope, -slope]

        gain = np.zeros(2 * d)
        weights = np.array(extreme.weights)
        gain[weights] = extreme.sign * np.array(extreme.coefficients)
        gain[d + weights] = -gain[weights]
        low, high = self._rows.weight_limits.T
        lower = np.r_[np.maximum(low, 0.0), np.maximum(-high, 0.0)]
        upper = np.r_[np.maximum(high, 0.0), np.maximum(-low, 0.0)]
        table, target = self._rows.coupled_limits
        signed = np.hstack([table, -table])
        coupled = {
            "type": "ineq",
            "fun": lambda parts: signed @ parts - target,
            "jac": lambda parts: signed,
        }
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
                *([coupled] if len(target) else []),
            ],
            options={"maxiter": MAX_SQP_STEPS, "ftol": 1e-10},
        )
        return np.array(visited[-N_LAST_POINTS:])

    def _shrink_to_feasible(self, coef: Matrix) -> Matrix:
        """Move models toward the starting point until they are feasible, and return them."""
        coef = self._shrink_to_norm_limit(np.clip(coef, *self._rows.weight_limits.T))
        coef = self._shrink_to_coupled_limits(coef)
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

    def _shrink_to_coupled_limits(self, coef: Matrix) -> Matrix:
        """Move models toward the start until they satisfy all limits on several weights."""
        table, target = self._rows.coupled_limits
        if len(target) == 0:
            return coef
        tol = LIMIT_TOL * self._norm_limit
        room = np.maximum(table @ self._start - target, 0.0) + tol  # at the start
        excess = target - tol - coef @ table.T
        steps = np.where(excess > 0, room / (room + np.maximum(excess, 0.0)), 1.0).min(axis=1)
        return self._start + steps[:, None] * (coef - self._start)


def _max_feasible_steps(loss: PairwiseLoss, start: Vector, ends: Matrix, limit: float) -> Vector:
    """Return the largest steps in [0, 1] from a start toward several ends within a loss limit.

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


def local_cut(rows: HingeRows, multipliers: Vector) -> tuple[Cut, float]:
    """Return the cut that dual variables of local constraints define, and its dual variable.

    The cut is valid for any dual variables, because its coefficients are divided by the largest
    price of a pair, and by the total price of the cuts of the other pairs.
    """
    multipliers = np.maximum(multipliers, 0.0)
    price = max(float((multipliers / rows.weight).max()), float(multipliers[rows.is_hard].sum()))
    if price <= 0:
        return Cut(np.zeros(rows.n_weights), 0.0), 0.0
    slope = rows.row_combination(multipliers) / price
    return Cut(slope, float(multipliers @ rows.target) / price), price


def with_central_start(
    models: EquivalentModels, rows: CuttingPlaneRows, deadline: Deadline = NO_DEADLINE
) -> EquivalentModels:
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
        deadline.check()
        solution = HighsModel(program, deadline).solve("the model of minimum loss under the limits")
        coef = program.model(solution.point)[0]
        coef = np.clip(coef, *rows.weight_limits.T)  # remove the rounding errors of HiGHS
        loss, cut = rows.true_loss.loss_and_cut(coef)
        is_decided = loss <= limit or solution.value > limit
        if loss - solution.value <= (CENTER_GAP_TOL if is_decided else BASELINE_GAP_TOL) * limit:
            break
        rows = rows.with_cuts([cut])
    if loss > limit:
        return replace(models, rows=rows, start=None)
    start = StartingVertex(coef, np.array([loss]), solution.row_dual[: rows.n_rows], rows)
    return replace(models, rows=rows, start=start)
