"""The hinge loss over all pairs of a positive and a negative sample, and its cutting planes.

    loss(w) = sum_ij u_i v_j max(0, 1 - w . (x_i - x_j)),      sum_i u_i = sum_j v_j = 1.

A pair in the wrong order costs at least 1, so the loss is at least the share of such pairs,
1 - AUC. The pairs are not listed: sorted scores give the loss in n log n steps, and a subgradient.
It makes a *cut*: a linear function of w that is nowhere above the loss and equal to it at one w.

As hinge rows the loss is an offset t. Each cut is a hard row, ``t >= cut``, and a first row,
``-t >= 0``, has the loss as its slack. The set that the cuts describe contains the true one; a
model outside the true set gives a further cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Table, Vector
from .hinge import HingeRows


@dataclass(frozen=True)
class Cut:
    """``loss(w) >= height - slope . w`` for every w."""

    slope: Vector
    height: float


@dataclass(frozen=True)
class PairwiseLoss:
    """The loss over the pairs of p samples that should score higher than q others.

    ``positive`` has shape (p, d), ``negative`` (q, d). The weights of each group add up to 1.
    """

    positive: Table
    negative: Table
    positive_weight: Vector
    negative_weight: Vector

    def values(self, coef: Matrix) -> Vector:
        """Loss of each of m models, shape (m,)."""
        high, low = self.scores(coef)
        pairs = zip(high.T, low.T, strict=True)
        return np.array([self.loss_and_slopes(*scores)[0] for scores in pairs])

    def scores(self, coef: Matrix) -> tuple[Matrix, Matrix]:
        """Scores of the positive and of the negative samples, a column for each model."""
        return np.asarray(self.positive @ coef.T), np.asarray(self.negative @ coef.T)

    def loss_and_slopes(self, high: Vector, low: Vector) -> tuple[float, Vector, Vector]:
        """The loss, its decrease in each positive score and its increase in each negative one."""
        # Search sorted values in sorted values: random access takes five times as long.
        by_high, by_low = np.argsort(high), np.argsort(low)
        high, low = high[by_high], low[by_low]
        u, v = self.positive_weight[by_high], self.negative_weight[by_low]
        first = np.searchsorted(low, high - 1.0, side="right")
        negative_total = _sums_from(v)[first]
        loss = u @ (negative_total * (1.0 - high) + _sums_from(v * low)[first])
        positive_total = _sums_up_to(u)[np.searchsorted(high, low + 1.0, side="left")]
        positive_slope, negative_slope = np.empty_like(u), np.empty_like(v)
        positive_slope[by_high], negative_slope[by_low] = u * negative_total, v * positive_total
        return float(loss), positive_slope, negative_slope

    def loss_and_cut(self, coef: Vector) -> tuple[float, Cut]:
        """The loss of a model, and the cut that touches it there."""
        high, low = self.scores(coef[None])
        loss, positive_slope, negative_slope = self.loss_and_slopes(high[:, 0], low[:, 0])
        positive_part = np.asarray(positive_slope @ self.positive)
        negative_part = np.asarray(negative_slope @ self.negative)
        return loss, Cut(positive_part - negative_part, float(positive_slope.sum()))

    def cut(self, coef: Vector) -> Cut:
        """The cut that touches the loss at a model."""
        return self.loss_and_cut(coef)[1]


def _sums_up_to(values: Vector) -> Vector:
    """Sums of the first 0, 1, 2, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _sums_from(values: Vector) -> Vector:
    """Sums of all values, of all but the first, and so on to none."""
    return _sums_up_to(values[::-1])[::-1]


@dataclass(frozen=True)
class CuttingPlaneRows(HingeRows):
    """The row of the loss, then its cuts, among them or behind them limits on weights."""

    true_loss: PairwiseLoss

    def loss(self, coef: Matrix, offset: Matrix) -> Vector:
        """The true loss, whatever the cuts say."""
        return self.true_loss.values(coef)

    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        """How far each model is beyond limits on weights; the cuts follow from the loss."""
        low, high = self.weight_limits.T
        return np.maximum(low - coef, coef - high).max(axis=1)

    def working_rows(self, coef: Matrix, offset: Matrix) -> NDArray[np.intp]:
        """All cuts so far."""
        return np.arange(self.n_rows)

    def missing_rows(self, coef: Vector, offset: Vector) -> tuple[HingeRows, NDArray[np.intp]]:
        """The rows with the cut at a model, and the place of that cut."""
        return self.with_cuts([self.true_loss.cut(coef)]), np.array([self.n_rows])

    @cached_property
    def weight_limits(self) -> Matrix:
        """Limits on the weights, from the hard rows that are no cuts, shape (d, 2)."""
        limits = np.tile([-np.inf, np.inf], (self.n_weights, 1))
        for i in np.flatnonzero(self.is_hard & (self.offset_table == 0).all(axis=1)):
            (feature,) = np.flatnonzero(self.table[i])
            sign = self.table[i, feature]
            side = 0 if sign > 0 else 1
            tighter = max if sign > 0 else min
            limits[feature, side] = tighter(limits[feature, side], self.target[i] / sign)
        return limits

    def with_cuts(self, cuts: Sequence[Cut]) -> CuttingPlaneRows:
        """The same loss with further cuts."""
        n = len(cuts)
        return replace(
            self,
            table=np.vstack([self.table, *[cut.slope for cut in cuts]]),
            offset_table=np.vstack([self.offset_table, np.ones((n, 1))]),
            target=np.r_[self.target, [cut.height for cut in cuts]],
            weight=np.r_[self.weight, np.full(n, np.inf)],
        )


def first_rows(true_loss: PairwiseLoss) -> CuttingPlaneRows:
    """The row of the loss, and the cut at the zero model."""
    n_weights = int(true_loss.positive.shape[1])
    rows = CuttingPlaneRows(
        table=np.zeros((1, n_weights)),
        offset_table=np.array([[-1.0]]),
        target=np.zeros(1),
        weight=np.ones(1),
        true_loss=true_loss,
    )
    return rows.with_cuts([true_loss.cut(np.zeros(n_weights))])
