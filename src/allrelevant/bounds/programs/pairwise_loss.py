"""The hinge loss over all pairs of a positive and a negative sample, without listing the pairs.

    loss(w) = sum_ij u_i v_j max(0, 1 - w . (x_i - x_j)),      sum_i u_i = sum_j v_j = 1.

A pair in the wrong order costs at least 1, so the loss is no less than the share of such pairs:
1 - AUC. Sorting the scores gives the loss in n log n steps, and with it a *cut*: the sum over the
pairs that fall short is a linear function of w that is nowhere above the loss, and touches it at w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Matrix, Table, Vector


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
        missed, missed_score = self._missed_by_positive(high, low)
        return float(self.positive_weight @ (missed * (1.0 - high) + missed_score))

    def pull(self, high: Vector, low: Vector) -> tuple[Vector, Vector]:
        """How the loss falls as a positive score grows, and rises as a negative one does."""
        missed, _ = self._missed_by_positive(high, low)
        order = np.argsort(high, kind="stable")
        below = np.r_[0.0, np.cumsum(self.positive_weight[order])]
        missed_by_negative = below[np.searchsorted(high[order], low + 1.0, side="left")]
        return self.positive_weight * missed, self.negative_weight * missed_by_negative

    def cut(self, coef: Vector) -> Cut:
        """The cut that touches the loss at a model."""
        high, low = self.scores(coef[None])
        of_positive, of_negative = self.pull(high[:, 0], low[:, 0])
        slope = np.asarray(of_positive @ self.positive) - np.asarray(of_negative @ self.negative)
        return Cut(slope, float(of_positive.sum()))

    def _missed_by_positive(self, high: Vector, low: Vector) -> tuple[Vector, Vector]:
        """Weight of the negative samples that each positive one is not 1 above, and their score."""
        order = np.argsort(low, kind="stable")
        ordered, weight = low[order], self.negative_weight[order]
        above = np.r_[np.cumsum(weight[::-1])[::-1], 0.0]
        score_above = np.r_[np.cumsum((weight * ordered)[::-1])[::-1], 0.0]
        first = np.searchsorted(ordered, high - 1.0, side="right")
        return above[first], score_above[first]
