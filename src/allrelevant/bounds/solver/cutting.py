"""The l1-regularised problem where the loss is known by its cuts only.

An extreme of a set whose loss is all but smooth, by sequential quadratic programming.

Extremes over a set whose loss is known by its cuts only.

A model well inside a set whose loss is known by its cuts only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...exceptions import SolverError
from ..programs.equivalent_models import (
    Budget,
    EquivalentModels,
    StartingVertex,
    baseline_program,
    budget_row,
)
from ..programs.hinge import HingeRows
from ..programs.pairwise import Cut, CuttingPlaneRows, PairwiseLoss
from .highs import HighsModel, HighsSolver, Solution
from .interface import Extreme, ExtremeSolutions, SolverStats
from .simplex import NotAVertexError

# By how much of its value a solution may be off, and after how many cuts to give up.
BASELINE_CUT_TOL = 1e-6


MAX_BASELINE_CUTS = 5_000


class CuttingPlaneBaseline:
    """Solves the problem for one C after the other; the cuts are kept.

    The best model under the cuts found so far costs less than it should where they do not
    describe the loss well: a cut there, and one half-way to the best model known, put that right.
    """

    def __init__(self, rows: CuttingPlaneRows) -> None:
        self._rows = rows
        self._d = rows.n_weights
        program = baseline_program(rows, 0.0)
        slack = program.blocks["slack"]
        self._slack_of_loss = np.array([slack.start], dtype=np.int32)  # the first row is the loss
        self._n_columns = program.n_columns
        self._highs = HighsModel(program)

    def solve(self, C: float) -> StartingVertex:
        self._highs.change_cost(self._slack_of_loss, np.array([C]))
        best, best_value = np.zeros(self._d), np.inf
        while self._rows.n_rows < MAX_BASELINE_CUTS:
            found = self._start(self._highs.solve(f"the baseline of the ranking at C={C:g}"))
            norm = np.abs(found.coef).sum()
            loss, cut = self._rows.true_loss.loss_and_cut(found.coef)
            value = norm + C * loss
            if value < best_value:
                best, best_value = found.coef, value
            if value - (norm + C * max(0.0, found.offset[0])) <= BASELINE_CUT_TOL * value:
                return found
            self._add([cut, self._rows.true_loss.cut((found.coef + best) / 2.0)])
        raise SolverError(
            f"The loss over all pairs was not solved to the end at C={C:g}. Badly scaled columns "
            "are the usual cause: try standardize=True, or a smaller C."
        )

    def _start(self, solution: Solution) -> StartingVertex:
        positive, negative = solution.point[: 2 * self._d].reshape(2, -1)
        offset = solution.point[2 * self._d : 2 * self._d + 1]
        return StartingVertex(positive - negative, offset, solution.row_dual, self._rows)

    def _add(self, cuts: Sequence[Cut]) -> None:
        self._rows = self._rows.with_cuts(cuts)
        slopes = np.array([cut.slope for cut in cuts])
        n, nothing = len(cuts), self._n_columns - 2 * self._d - 1
        rows = np.hstack([slopes, -slopes, np.ones((n, 1)), np.zeros((n, nothing))])
        self._highs.add_rows(sp.csr_array(rows), np.array([cut.height for cut in cuts]))


# Steps of which the points are kept: around the last ones the set should be known well.
_LAST = 8


MAX_SMOOTH_STEPS = 100


# With more weights than this a step takes too long.
_MOST_WEIGHTS = 300


def smooth_extreme(models: EquivalentModels, loss: PairwiseLoss, extreme: Extreme) -> Matrix:
    """Models on the way to an extreme, the last one next to it, shape (m, d).

    Variables are the positive and the negative parts of the weights, so that the norm is linear.
    What comes out is nothing but a suggestion: it may lie outside the set.
    """
    from scipy.optimize import minimize

    assert models.start is not None
    start, d = models.start.coef, len(models.start.coef)
    if d > _MOST_WEIGHTS:
        return start[None]
    norm_budget, loss_budget = models.budgets
    visited = [start]

    @lru_cache(maxsize=2)  # the value and the slope of a point are asked for one after the other
    def loss_and_slope(point: bytes) -> tuple[float, Vector]:
        parts = np.frombuffer(point)
        value, cut = loss.loss_and_cut(parts[:d] - parts[d:])
        return value, cut.slope

    def spare_loss(parts: Vector) -> float:
        return loss_budget.limit - loss_and_slope(parts.tobytes())[0]

    def slope_of_spare_loss(parts: Vector) -> Vector:
        visited.append(parts[:d] - parts[d:])
        slope = loss_and_slope(parts.tobytes())[1]
        return np.r_[slope, -slope]

    gain = np.zeros(2 * d)
    gain[[extreme.feature, d + extreme.feature]] = extreme.sign, -extreme.sign
    minimize(
        lambda parts: -gain @ parts,
        np.r_[np.maximum(start, 0.0), np.maximum(-start, 0.0)],
        jac=lambda parts: -gain,
        method="SLSQP",
        bounds=_bounds_of_parts(models.rows),
        constraints=[
            {"type": "ineq", "fun": spare_loss, "jac": slope_of_spare_loss},
            {
                "type": "ineq",
                "fun": lambda parts: norm_budget.limit - parts.sum(),
                "jac": lambda parts: -np.ones(2 * d),
            },
        ],
        options={"maxiter": MAX_SMOOTH_STEPS, "ftol": 1e-10},
    )
    return np.array(visited[-_LAST:])


def _bounds_of_parts(rows: HingeRows) -> list[tuple[float, float]]:
    """Bounds of the positive, then of the negative parts of the weights."""
    assert isinstance(rows, CuttingPlaneRows)
    low, high = rows.weight_limits.T
    positive = zip(np.maximum(low, 0.0), np.maximum(high, 0.0), strict=True)
    negative = zip(np.maximum(-high, 0.0), np.maximum(-low, 0.0), strict=True)
    return [*positive, *negative]


# How far an answer may be from the bound that its cuts prove, relative to its norm.
CUT_TOL = 1e-7


# Rounds after which what was found stands, with its gap.
_MOST_ROUNDS = 30


# Steps from outside the set to its boundary, which are few: each goes as far as a cut allows.
MAX_CUTTING_STEPS = 30


# A loss this close to its limit is at it.
_ROUNDING = 1e-12


class CuttingSolver:
    """Finds extremes of a smooth stand-in, and proves them by cuts.

    Over very many pairs the loss is all but smooth, and a method for smooth problems comes close
    to an extreme in a few steps. The cuts at its last steps describe the set around there: the
    extreme under all cuts is a bound for the true one. An answer outside the set is drawn back
    towards the baseline until it is inside, which makes it a model, and the cut at that point of
    the boundary improves the description. When both are next to each other, that is it.
    """

    def __init__(self, models: EquivalentModels) -> None:
        if models.start is None:
            raise NotAVertexError("The set has no model to start from.")
        self.models = models
        self._start = models.start.coef
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        points = [smooth_extreme(self.models, self._true_loss, extreme) for extreme in extremes]
        inside = self._drawn_back(np.array([visited[-1] for visited in points]))
        self._cut_at(np.vstack([*points, inside]))
        multipliers = np.zeros((len(extremes), 0))
        pending = np.arange(len(extremes))
        for _ in range(_MOST_ROUNDS):
            asked = [extremes[int(e)] for e in pending]
            outside = self._under_cuts(asked)
            multipliers = self._padded(multipliers)
            multipliers[pending] = outside.multipliers
            self._keep_better(asked, pending, inside, self._drawn_back(outside.coef))
            is_open = self._away(asked, outside.coef, inside[pending]) > CUT_TOL
            if not is_open.any():
                break
            pending = pending[is_open]
            self._cut_at(self._drawn_back(outside.coef[is_open]))
        loss = self._true_loss.values(inside)
        return ExtremeSolutions(inside, loss[:, None], self._padded(multipliers))

    @property
    def _rows(self) -> CuttingPlaneRows:
        rows = self.models.rows
        assert isinstance(rows, CuttingPlaneRows)
        return rows

    @property
    def _true_loss(self) -> PairwiseLoss:
        return self._rows.true_loss

    def _under_cuts(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        self.effort.programs += len(extremes)
        return HighsSolver(self.models)(extremes)

    def _cut_at(self, coef: Matrix) -> None:
        cuts = [self._true_loss.cut(w) for w in coef]
        self.models = replace(self.models, rows=self._rows.with_cuts(cuts))

    def _padded(self, multipliers: Matrix) -> Matrix:
        """With multipliers of zero for cuts that were not known then."""
        n_more = self._rows.n_rows - multipliers.shape[1]
        return np.hstack([multipliers, np.zeros((len(multipliers), n_more))])

    def _keep_better(
        self,
        extremes: Sequence[Extreme],
        pending: NDArray[np.intp],
        inside: Matrix,
        candidates: Matrix,
    ) -> None:
        """Put candidates in the place of models that are further from their extreme."""
        features, signs = _features_and_signs(extremes)
        each = np.arange(len(extremes))
        better = signs * candidates[each, features] > signs * inside[pending, features]
        inside[pending[better]] = candidates[better]

    def _away(self, extremes: Sequence[Extreme], outside: Matrix, inside: Matrix) -> Vector:
        """How far models are from the bound that the cuts prove, relative to their norm."""
        features, signs = _features_and_signs(extremes)
        each = np.arange(len(extremes))
        size = np.maximum(1.0, np.abs(inside).sum(axis=1))
        return np.asarray(signs * (outside[each, features] - inside[each, features]) / size)

    def _drawn_back(self, coef: Matrix) -> Matrix:
        """The last models of the set on the way from the baseline to these."""
        norm_limits, loss_limits = self._limits(coef)
        coef = self._within_norm(np.clip(coef, *self._rows.weight_limits.T), norm_limits)
        shares = [
            _share_within(self._true_loss, self._start, end, most)
            for end, most in zip(coef, loss_limits, strict=True)
        ]
        return self._start + np.array(shares)[:, None] * (coef - self._start)

    def _within_norm(self, coef: Matrix, limits: Vector) -> Matrix:
        """Models within the limits of their weights, shrunk until they are within those of norm.

        They are drawn towards the least weights that are allowed, not towards the baseline: it may
        be at the limit of the norm itself, and rounding then decides how far they go.
        """
        least = np.clip(0.0, *self._rows.weight_limits.T)
        unavoidable, norm = np.abs(least).sum(), np.abs(coef).sum(axis=1)
        spare = np.maximum(limits - unavoidable, 0.0)
        share = np.where(norm > limits, spare / np.maximum(norm - unavoidable, 1e-300), 1.0)
        return np.where(share[:, None] < 1.0, least + share[:, None] * (coef - least), coef)

    def _limits(self, coef: Matrix) -> tuple[Vector, Vector]:
        """What the budgets allow of norm and of loss."""
        norm_budget, loss_budget = self.models.budgets
        return np.full(len(coef), norm_budget.limit), np.full(len(coef), loss_budget.limit)


def _features_and_signs(extremes: Sequence[Extreme]) -> tuple[NDArray[np.intp], NDArray[np.int_]]:
    return (
        np.array([extreme.feature for extreme in extremes], dtype=np.intp),
        np.array([extreme.sign for extreme in extremes]),
    )


def _share_within(loss: PairwiseLoss, start: Vector, end: Vector, limit: float) -> float:
    """How much of the way from one model to another stays within a limit of the loss.

    Newton's steps from the far end: the loss is convex along the way, so they stop short of no
    point that is within.
    """
    (high, low), (high_way, low_way) = (
        [scores[:, 0] for scores in loss.scores(model[None])] for model in (start, end - start)
    )
    share = 1.0
    for _ in range(MAX_CUTTING_STEPS):
        at = high + share * high_way, low + share * low_way
        value, of_positive, of_negative = loss.loss_and_pull(*at)
        excess = value - limit
        if excess <= _ROUNDING:
            break
        rise = of_negative @ low_way - of_positive @ high_way
        if rise <= 0:
            return 0.0
        share = max(0.0, float(share - excess / rise))
    return share


# By how much of the loss that is allowed the model may have more loss than the best one.
CENTER_TOL = 0.01


# Cuts after which the search is given up.
MAX_CENTER_CUTS = 300


def with_inner_start(models: EquivalentModels) -> EquivalentModels:
    """The set, known better, with the model of least loss within its norm to start from.

    Answers outside the set are drawn towards the start, so it should lie well inside. Without one
    if no model has as little loss as the set allows.
    """
    limit = min(b.limit / b.loss_coefficient for b in models.budgets if b.loss_coefficient > 0)
    for _ in range(MAX_CENTER_CUTS):
        rows = models.rows
        assert isinstance(rows, CuttingPlaneRows)
        cost = budget_row(rows, Budget(0.0, 1.0, np.inf))
        # As much loss as it takes: whether it is too much is seen in the end.
        free = replace(
            models,
            budgets=tuple(b for b in models.budgets if b.norm_coefficient > 0),
            offset_range=np.array([[-np.inf, np.inf]]),
        )
        program = replace(free.program, cost=cost)
        solution = HighsModel(program).solve("the model of least loss under the limits")
        coef = (
            solution.point[program.blocks["positive"]] - solution.point[program.blocks["negative"]]
        )
        coef = np.clip(coef, *rows.weight_limits.T)  # exactly, whatever the solver's rounding
        loss, cut = rows.true_loss.loss_and_cut(coef)
        if loss - solution.value <= CENTER_TOL * limit:
            break
        models = replace(models, rows=rows.with_cuts([cut]))
    if loss > limit:
        return replace(models, start=None)
    start = StartingVertex(
        coef, np.array([loss]), solution.row_dual[: models.rows.n_rows], models.rows
    )
    return replace(models, start=start)
