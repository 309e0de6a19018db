"""Baseline, extremes and start where the loss is known by its cuts only.

Every set that cuts describe contains the true one. So the optimum under the cuts is a bound on the
true optimum, and the cut at its solution improves the description: Kelley's cutting-plane method.

- :class:`CuttingPlaneBaseline` solves the l1-regularized problem in this way.
- :class:`CuttingPlaneSolver` solves extremes. Over very many pairs the loss is nearly smooth, and
  sequential quadratic programming gets close to an extreme in a few steps. Cuts at its last points
  describe the set there; further cuts close the gap.
- :func:`with_central_start` finds a model well inside a set with limits.
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

# Gap at which the baseline counts as solved, relative to its value; cuts after which it fails.
BASELINE_GAP_TOL = 1e-6
MAX_BASELINE_CUTS = 5_000

# Gap at which an extreme counts as solved, relative to the norm; rounds of cuts after which the
# solutions are returned with the gap that they have.
EXTREME_GAP_TOL = 1e-7
MAX_ROUNDS = 30

# Sequential quadratic programming: iterations, number of last points to cut at, and the number of
# weights above which an iteration takes too long.
MAX_SQP_STEPS = 100
N_LAST_POINTS = 8
MAX_SQP_WEIGHTS = 300

# Newton steps from outside the set to its boundary; a loss this close to its limit is at it.
MAX_NEWTON_STEPS = 30
LOSS_TOL = 1e-12

# Gap of the least loss, relative to the limit of the loss, and cuts after which the search ends.
CENTER_GAP_TOL = 0.01
MAX_CENTER_CUTS = 300


class CuttingPlaneBaseline:
    """Solves ``min |w|_1 + C * loss`` for one C after the other; the cuts are kept.

    Each round adds a cut at the solution, and one half-way to the best model so far.
    """

    def __init__(self, rows: CuttingPlaneRows) -> None:
        self._rows = rows
        self._program = baseline_program(rows, 0.0)
        slack = self._program.blocks["slack"]
        self._loss_column = np.array([slack.start], dtype=np.int32)  # the first row is the loss
        self._highs = HighsModel(self._program)

    def solve(self, C: float) -> StartingVertex:
        self._highs.change_cost(self._loss_column, np.array([C]))
        best, best_value = np.zeros(self._rows.n_weights), np.inf
        while self._rows.n_rows < MAX_BASELINE_CUTS:
            start = self._start(self._highs.solve(f"the baseline of the ranking at C={C:g}"))
            norm = np.abs(start.coef).sum()
            loss, cut = self._rows.true_loss.loss_and_cut(start.coef)
            value = norm + C * loss
            if value < best_value:
                best, best_value = start.coef, value
            if value - (norm + C * max(0.0, start.offset[0])) <= BASELINE_GAP_TOL * value:
                return start
            self._add([cut, self._rows.true_loss.cut((start.coef + best) / 2.0)])
        raise SolverError(
            f"The loss over all pairs was not solved to the end at C={C:g}. Badly scaled columns "
            "are the usual cause: try standardize=True, or a smaller C."
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
    """Solves extremes approximately, and proves them by cuts.

    Solutions under the cuts, which are outside the set, bound the extremes. Moved towards the start
    of the set until they are inside, they are models of it, and the cuts there improve the bounds.
    The solver ends when bounds and models agree. ``rows`` are those of ``models``.
    """

    is_reference = False

    def __init__(self, models: EquivalentModels, rows: CuttingPlaneRows) -> None:
        if models.start is None:
            raise NotAVertexError("The set has no model to start from.")
        self.models, self._rows = models, rows
        self._start = models.start.coef
        self._norm_limit, self._loss_limit = (budget.limit for budget in models.budgets)
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        points = [self._approximate(extreme) for extreme in extremes]
        inside = self._moved_inside(np.array([visited[-1] for visited in points]))
        self._cut_at(np.vstack([*points, inside]))
        multipliers = np.zeros((len(extremes), 0))
        pending = np.arange(len(extremes))
        for _ in range(MAX_ROUNDS):
            outside = self._solve_under_cuts([extremes[int(e)] for e in pending])
            multipliers = self._padded(multipliers)
            multipliers[pending] = outside.multipliers
            features, signs = features_and_signs([extremes[int(e)] for e in pending])
            each = np.arange(len(pending))
            candidates = self._moved_inside(outside.coef)
            is_better = signs * candidates[each, features] > signs * inside[pending, features]
            inside[pending[is_better]] = candidates[is_better]
            size = np.maximum(1.0, np.abs(inside[pending]).sum(axis=1))
            gap = signs * (outside.coef[each, features] - inside[pending, features]) / size
            is_open = gap > EXTREME_GAP_TOL
            if not is_open.any():
                break
            pending = pending[is_open]
            self._cut_at(self._moved_inside(outside.coef[is_open]))
        loss = self._rows.true_loss.values(inside)
        return ExtremeSolutions(inside, loss[:, None], self._padded(multipliers))

    def _solve_under_cuts(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        self.effort.programs += len(extremes)
        return HighsSolver(self.models)(extremes)

    def _cut_at(self, coef: Matrix) -> None:
        self._rows = self._rows.with_cuts([self._rows.true_loss.cut(w) for w in coef])
        self.models = replace(self.models, rows=self._rows)

    def _padded(self, multipliers: Matrix) -> Matrix:
        """With multipliers of zero for cuts that were added since."""
        n_more = self._rows.n_rows - multipliers.shape[1]
        return np.hstack([multipliers, np.zeros((len(multipliers), n_more))])

    def _approximate(self, extreme: Extreme) -> Matrix:
        """Points of sequential quadratic programming, the last one next to the extreme, (m, d).

        Variables are the positive and the negative parts of the weights, so that the norm is
        linear. The points may be outside the set.
        """
        from scipy.optimize import minimize

        start, d = self._start, len(self._start)
        if d > MAX_SQP_WEIGHTS:
            return start[None]
        visited = [start]

        @lru_cache(maxsize=2)  # the value and the slope of a point are asked for one by one
        def loss_and_slope(point: bytes) -> tuple[float, Vector]:
            parts = np.frombuffer(point)
            value, cut = self._rows.true_loss.loss_and_cut(parts[:d] - parts[d:])
            return value, cut.slope

        def spare_loss(parts: Vector) -> float:
            return self._loss_limit - loss_and_slope(parts.tobytes())[0]

        def slope_of_spare_loss(parts: Vector) -> Vector:
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
                {"type": "ineq", "fun": spare_loss, "jac": slope_of_spare_loss},
                {
                    "type": "ineq",
                    "fun": lambda parts: self._norm_limit - parts.sum(),
                    "jac": lambda parts: -np.ones(2 * d),
                },
            ],
            options={"maxiter": MAX_SQP_STEPS, "ftol": 1e-10},
        )
        return np.array(visited[-N_LAST_POINTS:])

    def _moved_inside(self, coef: Matrix) -> Matrix:
        """The last models of the set on the way from its start to these."""
        coef = self._within_norm(np.clip(coef, *self._rows.weight_limits.T))
        loss, start = self._rows.true_loss, self._start
        shares = [_share_within(loss, start, end, self._loss_limit) for end in coef]
        return start + np.array(shares)[:, None] * (coef - start)

    def _within_norm(self, coef: Matrix) -> Matrix:
        """Models shrunk until they are within the limit of the norm.

        They are moved towards the smallest weights allowed, not towards the start: it may be at the
        limit of the norm itself, and rounding would decide how far they go.
        """
        least = np.clip(0.0, *self._rows.weight_limits.T)
        unavoidable, norm = np.abs(least).sum(), np.abs(coef).sum(axis=1)
        spare = np.maximum(self._norm_limit - unavoidable, 0.0)
        share = np.where(
            norm > self._norm_limit, spare / np.maximum(norm - unavoidable, 1e-300), 1.0
        )
        return np.where(share[:, None] < 1.0, least + share[:, None] * (coef - least), coef)


def _share_within(loss: PairwiseLoss, start: Vector, end: Vector, limit: float) -> float:
    """Share of the way from one model to another that stays within a limit of the loss.

    Newton's method from the far end: the loss is convex, so that no step goes too far.
    """
    (high, low), (high_way, low_way) = (
        [scores[:, 0] for scores in loss.scores(model[None])] for model in (start, end - start)
    )
    share = 1.0
    for _ in range(MAX_NEWTON_STEPS):
        at = high + share * high_way, low + share * low_way
        value, positive_slope, negative_slope = loss.loss_and_slopes(*at)
        excess = value - limit
        if excess <= LOSS_TOL:
            break
        slope = negative_slope @ low_way - positive_slope @ high_way
        if slope <= 0:
            return 0.0
        share = max(0.0, float(share - excess / slope))
    return share


def with_central_start(models: EquivalentModels, rows: CuttingPlaneRows) -> EquivalentModels:
    """The set with further cuts, and with its model of least loss as the start.

    Solutions outside the set are moved towards the start, so it should be well inside. There is no
    start if no model has as little loss as the set allows. ``rows`` are those of ``models``.
    """
    limit = min(b.limit / b.loss_coefficient for b in models.budgets if b.loss_coefficient > 0)
    # Without a limit of the loss: whether the least loss is too large is seen in the end.
    unlimited = replace(
        models,
        budgets=tuple(b for b in models.budgets if b.norm_coefficient > 0),
        offset_range=np.array([[-np.inf, np.inf]]),
    )
    for _ in range(MAX_CENTER_CUTS):
        cost = budget_row(rows, Budget(0.0, 1.0, np.inf))
        program = replace(replace(unlimited, rows=rows).program, cost=cost)
        solution = HighsModel(program).solve("the model of least loss under the limits")
        coef = program.model(solution.point)[0]
        coef = np.clip(coef, *rows.weight_limits.T)  # exactly, whatever the solver's rounding
        loss, cut = rows.true_loss.loss_and_cut(coef)
        if loss - solution.value <= CENTER_GAP_TOL * limit:
            break
        rows = rows.with_cuts([cut])
    if loss > limit:
        return replace(models, rows=rows, start=None)
    start = StartingVertex(coef, np.array([loss]), solution.row_dual[: rows.n_rows], rows)
    return replace(models, rows=rows, start=start)
