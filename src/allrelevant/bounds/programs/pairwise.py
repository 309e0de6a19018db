"""The hinge loss over all pairs of a positive and a negative sample, without listing the pairs.

    loss(w) = sum_ij u_i v_j max(0, 1 - w . (x_i - x_j)),      sum_i u_i = sum_j v_j = 1.

A pair in the wrong order costs at least 1, so the loss is no less than the share of such pairs:
1 - AUC. Sorting the scores gives the loss in n log n steps, and with it a *cut*: the sum over the
pairs that fall short is a linear function of w that is nowhere above the loss, and touches it at w.

A loss that is known only by its cuts, as hinge rows.

The loss is an offset t of its own. It is at least as high as every cut, rows that must be met; and
its value is what a last row, ``-t >= 0``, falls short. With the cuts found so far the rows describe
a set that is too large; a model outside the true one gives another cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..._typing import Matrix, Table, Vector
from .hinge import HingeRows


@dataclass(frozen=True)
class Cut:
    """``loss(w) >= height - slope . w`` for every w.

    Attributes
    ----------
    slope : ndarray of shape (d,)
    height : float
    """

    slope: Vector
    height: float


@dataclass(frozen=True)
class PairwiseLoss:
    """The loss over the pairs of two groups of samples.

    Attributes
    ----------
    positive : ndarray or sparse array of shape (p, d)
        Samples that are to score higher.
    negative : ndarray or sparse array of shape (q, d)
        Than these.
    positive_weight, negative_weight : ndarray of shape (p,), (q,)
        Each adding up to 1.
    """

    positive: Table
    negative: Table
    positive_weight: Vector
    negative_weight: Vector

    def values(self, coef: Matrix) -> Vector:
        """Loss of each of several models, shape (m,)."""
        high, low = self.scores(coef)
        return np.array([self.loss(*pair) for pair in zip(high.T, low.T, strict=True)])

    def scores(self, coef: Matrix) -> tuple[Matrix, Matrix]:
        """Scores of the positive and the negative samples, a column for each model."""
        return np.asarray(self.positive @ coef.T), np.asarray(self.negative @ coef.T)

    def loss(self, high: Vector, low: Vector) -> float:
        """Loss of the scores of the positive and of the negative samples."""
        return self.loss_and_pull(high, low)[0]

    def loss_and_pull(self, high: Vector, low: Vector) -> tuple[float, Vector, Vector]:
        """The loss, how it falls as a positive score grows, and rises as a negative one does."""
        # Sorted against sorted: a search that jumps about in memory takes five times as long.
        by_high, by_low = np.argsort(high), np.argsort(low)
        high, low = high[by_high], low[by_low]
        u, v = self.positive_weight[by_high], self.negative_weight[by_low]
        first = np.searchsorted(low, high - 1.0, side="right")
        missed = _sums_from(v)[first]
        loss = u @ (missed * (1.0 - high) + _sums_from(v * low)[first])
        missed_by_negative = _sums_up_to(u)[np.searchsorted(high, low + 1.0, side="left")]
        of_positive, of_negative = np.empty_like(u), np.empty_like(v)
        of_positive[by_high], of_negative[by_low] = u * missed, v * missed_by_negative
        return float(loss), of_positive, of_negative

    def loss_and_cut(self, coef: Vector) -> tuple[float, Cut]:
        """The loss of a model, and the cut that touches it there."""
        high, low = self.scores(coef[None])
        loss, of_positive, of_negative = self.loss_and_pull(high[:, 0], low[:, 0])
        slope = np.asarray(of_positive @ self.positive) - np.asarray(of_negative @ self.negative)
        return loss, Cut(slope, float(of_positive.sum()))

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
    """The row of the loss, then the cuts.

    Attributes
    ----------
    true_loss : PairwiseLoss
        Where cuts come from.
    """

    true_loss: PairwiseLoss

    complete: ClassVar[bool] = False

    def loss(self, coef: Matrix, offset: Matrix) -> Vector:
        """The true loss, whatever the cuts say."""
        return self.true_loss.values(coef)

    def breach(self, coef: Matrix, offset: Matrix) -> Vector:
        """By how much each model misses limits on weights; the cuts follow from the loss."""
        low, high = self.weight_limits.T
        return np.maximum(low - coef, coef - high).max(axis=1)

    @cached_property
    def weight_limits(self) -> Matrix:
        """Limits on the weights, from the rows that are not about the loss, shape (d, 2)."""
        limits = np.tile([-np.inf, np.inf], (self.n_weights, 1))
        for i in np.flatnonzero(self.must_be_met & (self.offset_table == 0).all(axis=1)):
            (feature,) = np.flatnonzero(self.table[i])
            sign = self.table[i, feature]
            side = 0 if sign > 0 else 1
            tighter = max if sign > 0 else min
            limits[feature, side] = tighter(limits[feature, side], self.target[i] / sign)
        return limits

    def with_cuts(self, cuts: Sequence[Cut]) -> CuttingPlaneRows:
        """The same loss, known better."""
        n = len(cuts)
        return replace(
            self,
            table=np.vstack([self.table, *[cut.slope for cut in cuts]]),
            offset_table=np.vstack([self.offset_table, np.ones((n, 1))]),
            target=np.r_[self.target, [cut.height for cut in cuts]],
            weight=np.r_[self.weight, np.full(n, np.inf)],
        )


def first_rows(true_loss: PairwiseLoss) -> CuttingPlaneRows:
    """What the model that is zero says about the loss."""
    n_weights = int(true_loss.positive.shape[1])
    rows = CuttingPlaneRows(
        table=np.zeros((1, n_weights)),
        offset_table=np.array([[-1.0]]),
        target=np.zeros(1),
        weight=np.ones(1),
        true_loss=true_loss,
    )
    return rows.with_cuts([true_loss.cut(np.zeros(n_weights))])
