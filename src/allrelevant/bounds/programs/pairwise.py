"""Hinge loss over all pairs of a positive and a negative sample, and its cutting planes.

    loss(w) = sum_ij u_i v_j max(0, 1 - w . (x_i - x_j)),      sum_i u_i = sum_j v_j = 1.

A pair in the wrong order costs at least 1, so the loss is at least the fraction of such pairs,
1 - AUC. Sorting the scores gives the loss and a subgradient in O(n log n) time, without
enumerating the pairs. A subgradient defines a *cut*: a linear function of w that is at most the
loss everywhere and equal to it at one w.

As hinge constraints, the loss is an offset t. The first constraint, ``-t >= 0``, has the loss as
its slack variable. Each cut is a hard constraint, ``t >= cut``. The cuts describe an outer
approximation of the set of equivalent models. A model outside the true set yields a new cut.
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
    """Cutting plane: ``loss(w) >= height - slope . w`` for every w."""

    slope: Vector
    height: float


@dataclass(frozen=True)
class PairwiseLoss:
    """Hinge loss over all pairs of a positive and a negative sample.

    ``positive`` has shape (p, d), ``negative`` has shape (q, d). The weights of the positive
    samples sum to 1, as do those of the negative samples.
    """

    positive: Table
    negative: Table
    positive_weight: Vector
    negative_weight: Vector

    def values(self, coef: Matrix) -> Vector:
        """Return the loss of each of m models, shape (m,)."""
        high, low = self.scores(coef)
        pairs = zip(high.T, low.T, strict=True)
        return np.array([self.loss_and_slopes(*scores)[0] for scores in pairs])

    def scores(self, coef: Matrix) -> tuple[Matrix, Matrix]:
        """Return the scores of the positive and negative samples, with one column per model."""
        return np.asarray(self.positive @ coef.T), np.asarray(self.negative @ coef.T)

    def loss_and_slopes(self, high: Vector, low: Vector) -> tuple[float, Vector, Vector]:
        """Return the loss and the absolute values of its derivatives with respect to each score."""
        # Both arrays are sorted before searchsorted: unsorted queries take five times as long.
        by_high, by_low = np.argsort(high), np.argsort(low)
        high, low = high[by_high], low[by_low]
        u, v = self.positive_weight[by_high], self.negative_weight[by_low]
        first = np.searchsorted(low, high - 1.0, side="right")
        negative_total = _suffix_sums(v)[first]
        loss = u @ (negative_total * (1.0 - high) + _suffix_sums(v * low)[first])
        positive_total = _prefix_sums(u)[np.searchsorted(high, low + 1.0, side="left")]
        positive_slope, negative_slope = np.empty_like(u), np.empty_like(v)
        positive_slope[by_high], negative_slope[by_low] = u * negative_total, v * positive_total
        return float(loss), positive_slope, negative_slope

    def loss_and_cut(self, coef: Vector) -> tuple[float, Cut]:
        """Return the loss of a model, and the cutting plane that equals the loss at this model."""
        high, low = self.scores(coef[None])
        loss, positive_slope, negative_slope = self.loss_and_slopes(high[:, 0], low[:, 0])
        positive_part = np.asarray(positive_slope @ self.positive)
        negative_part = np.asarray(negative_slope @ self.negative)
        return loss, Cut(positive_part - negative_part, float(positive_slope.sum()))

    def cut(self, coef: Vector) -> Cut:
        """Return the cutting plane that equals the loss at the given model."""
        return self.loss_and_cut(coef)[1]


def _prefix_sums(values: Vector) -> Vector:
    """Return the sums of the first 0, 1, 2, ..., n values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _suffix_sums(values: Vector) -> Vector:
    """Return the sums of the last n, n - 1, ..., 0 values."""
    return _prefix_sums(values[::-1])[::-1]


@dataclass(frozen=True)
class CuttingPlaneRows(HingeRows):
    """Hinge constraints that approximate a loss from below by cutting planes.

    The slack variable of the first constraint is the loss. Cuts and limits on weights follow.
    """

    true_loss: PairwiseLoss

    def loss(self, coef: Matrix, offset: Matrix) -> Vector:
        """Return the true loss of each model, not its approximation by cutting planes."""
        return self.true_loss.values(coef)

    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        """Return each model's largest violation of a limit on a weight.

        Cuts need no check, because the true loss satisfies them all.
        """
        low, high = self.weight_limits.T
        return np.maximum(low - coef, coef - high).max(axis=1)

    def working_rows(self, coef: Matrix, offset: Matrix) -> NDArray[np.intp]:
        """Return the indices of all constraints; none is omitted from the working set."""
        return np.arange(self.n_rows)

    def missing_rows(self, coef: Vector, offset: Vector) -> tuple[HingeRows, NDArray[np.intp]]:
        """Add the cutting plane at a model; return all constraints and the index of the new one."""
        return self.with_cuts([self.true_loss.cut(coef)]), np.array([self.n_rows])

    @cached_property
    def weight_limits(self) -> Matrix:
        """Limits on each weight, from hard constraints without offset, shape (d, 2)."""
        limits = np.tile([-np.inf, np.inf], (self.n_weights, 1))
        for i in np.flatnonzero(self.is_hard & (self.offset_table == 0).all(axis=1)):
            (feature,) = np.flatnonzero(self.table[i])
            sign = self.table[i, feature]
            side = 0 if sign > 0 else 1
            tighter = max if sign > 0 else min
            limits[feature, side] = tighter(limits[feature, side], self.target[i] / sign)
        return limits

    def with_cuts(self, cuts: Sequence[Cut]) -> CuttingPlaneRows:
        """Return a copy of the constraints with further cutting planes appended."""
        n = len(cuts)
        return replace(
            self,
            table=np.vstack([self.table, *[cut.slope for cut in cuts]]),
            offset_table=np.vstack([self.offset_table, np.ones((n, 1))]),
            target=np.r_[self.target, [cut.height for cut in cuts]],
            weight=np.r_[self.weight, np.full(n, np.inf)],
        )


def initial_rows(true_loss: PairwiseLoss) -> CuttingPlaneRows:
    """Return the constraints that define the loss, with the cutting plane at the zero model."""
    n_weights = int(true_loss.positive.shape[1])
    rows = CuttingPlaneRows(
        table=np.zeros((1, n_weights)),
        offset_table=np.array([[-1.0]]),
        target=np.zeros(1),
        weight=np.ones(1),
        true_loss=true_loss,
    )
    return rows.with_cuts([true_loss.cut(np.zeros(n_weights))])
