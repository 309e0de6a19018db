"""A loss that is known only by its cuts, as hinge rows.

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

from ...arrays import Matrix, Vector
from .hinge_rows import HingeRows
from .pairwise_loss import Cut, PairwiseLoss


@dataclass(frozen=True)
class CutRows(HingeRows):
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

    def with_cuts(self, cuts: Sequence[Cut]) -> CutRows:
        """The same loss, known better."""
        n = len(cuts)
        return replace(
            self,
            table=np.vstack([self.table, *[cut.slope for cut in cuts]]),
            offset_table=np.vstack([self.offset_table, np.ones((n, 1))]),
            target=np.r_[self.target, [cut.height for cut in cuts]],
            weight=np.r_[self.weight, np.full(n, np.inf)],
        )


def first_rows(true_loss: PairwiseLoss) -> CutRows:
    """What the model that is zero says about the loss."""
    n_weights = int(true_loss.positive.shape[1])
    rows = CutRows(
        table=np.zeros((1, n_weights)),
        offset_table=np.array([[-1.0]]),
        target=np.zeros(1),
        weight=np.ones(1),
        true_loss=true_loss,
    )
    return rows.with_cuts([true_loss.cut(np.zeros(n_weights))])
