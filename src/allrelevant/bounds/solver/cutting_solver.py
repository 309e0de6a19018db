"""Extremes over a set whose loss is known by its cuts only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ..programs.cut_rows import CutRows
from ..programs.equivalent_models import EquivalentModels
from ..programs.pairwise_loss import PairwiseLoss
from .extremes import Effort, Extrema, Extreme
from .highs_solver import HighsSolver
from .smooth_extremes import smooth_extreme
from .vertex import NotAVertexError

# How far an answer may be from the bound that its cuts prove, relative to its norm.
_TOLERANCE = 1e-7

# Rounds after which what was found stands, with its gap.
_MOST_ROUNDS = 30

# Steps from outside the set to its boundary, which are few: each goes as far as a cut allows.
_MOST_STEPS = 30

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
        self.effort = Effort()

    def __call__(self, extremes: Sequence[Extreme]) -> Extrema:
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
            is_open = self._away(asked, outside.coef, inside[pending]) > _TOLERANCE
            if not is_open.any():
                break
            pending = pending[is_open]
            self._cut_at(self._drawn_back(outside.coef[is_open]))
        loss = self._true_loss.values(inside)
        return Extrema(inside, loss[:, None], self._padded(multipliers))

    @property
    def _rows(self) -> CutRows:
        rows = self.models.rows
        assert isinstance(rows, CutRows)
        return rows

    @property
    def _true_loss(self) -> PairwiseLoss:
        return self._rows.true_loss

    def _under_cuts(self, extremes: Sequence[Extreme]) -> Extrema:
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
    for _ in range(_MOST_STEPS):
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
