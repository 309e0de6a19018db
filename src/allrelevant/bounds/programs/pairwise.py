"""Hinge loss over comparable pairs of samples, and its cutting planes.

    loss(w) = sum_ij v_i v_j max(0, 1 - w . (x_i - x_j)) / sum_ij v_i v_j

The sums are over the comparable pairs (i, j), in which sample i should score higher than sample j,
and v are the sample weights. A pair in the wrong order costs at least 1, so the loss is at least
the fraction of such pairs.

**Blocks.** The comparable pairs are a union of blocks. Within a block, every sample of one set
should score higher than every sample of another. Two classes form one block, and queries form one
block each. Censored times form O(n) blocks with O(n log n) entries
(:func:`.comparable_pairs.ordered_pairs`). Sorting the scores gives the loss and its derivatives
without enumerating the pairs (:mod:`allrelevant.native.pairs`).

**Cuts.** For any ``0 <= a_ij <= 1``, the function ``sum_ij a_ij v_i v_j (1 - w . (x_i - x_j))`` is
at most the loss everywhere. This is a *cut*. With ``a_ij = 1`` for the pairs of positive loss, it
is a subgradient, and it equals the loss at one w. Smoothing the hinge over a small width,

    max(0, r)  ->  max_a (a r - width a^2 / 2),     0 <= a <= 1,     r = 1 - w . (x_i - x_j),

gives cuts with fractional a, as dual certificates require, and a loss with second derivatives.

As hinge constraints, the loss is an offset t. The first constraint, ``-t >= 0``, has the loss as
its slack variable. Each cut is a hard constraint, ``t >= cut``. The cuts describe an outer
approximation of the set of equivalent models. A model outside the true set yields a new cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Table, Vector
from ...native.pairs import PairsData, SideData, pair_losses
from .comparable_pairs import ComparablePairs
from .hinge import UNIT_ROUNDOFF, HingeRows

# Maximum number of pairs listed near given models.
MAX_NEAR_PAIRS = 600

# Losses of a pair above which it counts as lost, if its loss must not be close to the threshold.
THRESHOLDS = np.linspace(1e-7, 1e-5, 50)


@dataclass(frozen=True)
class Cut:
    """Cutting plane: ``loss(w) >= height - slope . w`` for every w."""

    slope: Vector
    height: float


@dataclass(frozen=True)
class SmoothedLoss:
    """Loss of m models, smoothed over a width, with its derivatives and cuts.

    ``loss`` is the loss without smoothing. The cut of model k is ``slope[k]`` and ``height[k]``;
    the gradient of the smoothed loss is ``-slope``. ``near`` is the total weight of the pairs
    within the width, and ``curvature``, of shape (m, d, d), the matrix of second derivatives.
    """

    loss: Vector
    smoothed: Vector
    slope: Matrix
    height: Vector
    near: Vector
    curvature: NDArray[np.float64]

    def take(self, which: NDArray[np.bool_]) -> SmoothedLoss:
        """Return the values of some of the models."""
        return SmoothedLoss(**{name: value[which] for name, value in self._arrays.items()})

    def with_replaced(self, which: NDArray[np.intp], others: SmoothedLoss) -> SmoothedLoss:
        """Replace the values of some models in place and return ``self``."""
        for name, value in self._arrays.items():
            value[which] = getattr(others, name)
        return self

    @property
    def _arrays(self) -> dict[str, NDArray[np.float64]]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class PairwiseLoss:
    """Mean hinge loss over comparable pairs; ``weight`` is that of each sample."""

    table: Table
    pairs: ComparablePairs
    weight: Vector

    @property
    def n_weights(self) -> int:
        return int(self.table.shape[1])

    def values(self, coef: Matrix) -> Vector:
        """Return the loss of each of m models, shape (m,)."""
        return self.smoothed(coef, np.zeros(len(coef))).loss

    def cuts(self, coef: Matrix) -> list[Cut]:
        """Return the cutting planes that equal the loss at given models."""
        found = self.smoothed(coef, np.zeros(len(coef)))
        return [Cut(s, float(h)) for s, h in zip(found.slope, found.height, strict=True)]

    def rounding(self, coef: Matrix) -> Vector:
        """Return bounds on the rounding errors of :meth:`values`, shape (m,)."""
        n_terms = (coef != 0).sum(axis=1) + len(self.pairs.high.sample) + len(self.pairs.low.sample)
        return 2.0 * UNIT_ROUNDOFF * n_terms * (1.0 + 2.0 * np.abs(coef) @ self._largest_values)

    @cached_property
    def _largest_values(self) -> Vector:
        """Largest absolute value of each column, shape (d,)."""
        largest = abs(self.table).max(axis=0)
        return largest.toarray().ravel() if sp.issparse(largest) else np.asarray(largest)

    def loss_and_cut(self, coef: Vector) -> tuple[float, Cut]:
        """Return the loss of a model, and the cutting plane that equals the loss at this model."""
        found = self.smoothed(coef[None], np.zeros(1))
        return float(found.loss[0]), Cut(found.slope[0], float(found.height[0]))

    def smoothed(
        self,
        coef: Matrix,
        width: Vector,
        *,
        with_curvature: bool = False,
        threshold: Vector | float = 0.0,
    ) -> SmoothedLoss:
        """Compute the loss of m models, smoothed over a width for each, and its derivatives.

        A width of zero means no smoothing; such a loss has no curvature. Then, pairs count only if
        their loss exceeds the threshold, which gives other valid cuts.
        """
        found = pair_losses(
            self._core_data,
            np.asarray(self.table @ coef.T).T,
            width,
            np.broadcast_to(np.asarray(threshold, dtype=np.float64), len(coef)),
            self._dense if with_curvature else None,
        )
        loss, smoothed, height, near = found.sums.T
        curvature = found.curvature
        if with_curvature:
            curvature /= width[:, None, None]
        return SmoothedLoss(
            loss=loss,
            smoothed=smoothed,
            slope=np.asarray(found.slopes @ self.table),
            height=height,
            near=near,
            curvature=curvature,
        )

    def local_rows(self, points: Matrix, width: float) -> HingeRows:
        """Return constraints that describe the loss from below, and exactly near given models.

        There is one constraint for each pair with a positive loss, or almost, at one of the models.
        If these are too many, it is one for each pair whose loss is within the width of zero. The
        loss of the other pairs is an offset, as in :class:`CuttingPlaneRows`, with a cut at each of
        the models.
        """
        for upper in (np.inf, *(width * 0.5 ** np.arange(30))):
            listed = self._near_pairs(points, min(width, upper), upper)
            if listed is not None:
                break
        u, v = self._weights
        i, j = listed if listed is not None else (np.empty(0, np.intp), np.empty(0, np.intp))
        table, weight = self._dense[i] - self._dense[j], u[i] * v[j]
        n = len(weight)
        if upper == np.inf:
            cuts = []
        else:
            rest = 1.0 - table @ points.T
            threshold = _separating_thresholds(rest)
            value = self.smoothed(points, np.zeros(len(points)), threshold=threshold)
            is_positive = weight[:, None] * (rest > threshold)
            slopes = value.slope - is_positive.T @ table
            cuts = [*zip(slopes, value.height - is_positive.sum(axis=0), strict=True)]
        k = len(cuts)
        return HingeRows(
            table=np.vstack([np.zeros((1, self.n_weights)), table, *[slope for slope, _ in cuts]]),
            offset_table=np.r_[-1.0, np.zeros(n), np.ones(k)][:, None],
            target=np.r_[0.0, np.ones(n), [height for _, height in cuts]],
            weight=np.r_[1.0, weight, np.full(k, np.inf)],
        )

    def _near_pairs(
        self, points: Matrix, lower: float, upper: float
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """List pairs with ``-lower <= 1 - w . (x_i - x_j) <= upper`` at one of several models w.

        Return the samples of each pair, or None if there are too many.
        """
        high, low = self.pairs.high, self.pairs.low
        found = []
        for score in np.asarray(self.table @ points.T).T:
            span = float(np.ptp(score)) + 4.0
            key = score[low.sample] + span * low.block
            order = np.argsort(key, kind="stable")
            query = score[high.sample] + span * high.block - 1.0
            first = np.searchsorted(key[order], query - lower, side="left")
            last = np.searchsorted(key[order], query + min(upper, span - 2.0), side="right")
            first = np.maximum(first, self._block_start)
            last = np.minimum(last, self._block_end)
            size = np.maximum(last - first, 0)
            if size.sum() > MAX_NEAR_PAIRS:
                return None
            entry = np.repeat(np.arange(len(size)), size)
            within = np.arange(len(entry)) - np.repeat(np.cumsum(size) - size, size)
            found.append((high.sample[entry], low.sample[order[first[entry] + within]]))
        n = self.pairs.n_samples
        codes = np.unique(np.concatenate([i * n + j for i, j in found]))
        return None if len(codes) > MAX_NEAR_PAIRS else (codes // n, codes % n)

    @cached_property
    def _core_data(self) -> PairsData:
        """Arrays of the pairs, as the compiled core requires them."""
        pairs = self.pairs
        high, low = (
            SideData.from_entries(side.sample, side.block, pairs.n_samples, pairs.n_blocks)
            for side in (pairs.high, pairs.low)
        )
        return PairsData(high, low, *self._weights)

    @cached_property
    def _dense(self) -> Matrix:
        return self.table.toarray() if sp.issparse(self.table) else self.table

    @cached_property
    def _block_end(self) -> NDArray[np.intp]:
        """Position of the end of its block on the low side, for each entry of the high side."""
        return np.searchsorted(self.pairs.low.block, self.pairs.high.block, side="right")

    @cached_property
    def _block_start(self) -> NDArray[np.intp]:
        return np.searchsorted(self.pairs.low.block, self.pairs.high.block, side="left")

    @cached_property
    def _weights(self) -> tuple[Vector, Vector]:
        """Weights of the samples on both sides; their products over all pairs sum to 1."""
        high, low = (
            np.bincount(side.block, self.weight[side.sample], self.pairs.n_blocks)
            for side in (self.pairs.high, self.pairs.low)
        )
        return self.weight / (high @ low), self.weight


def _separating_thresholds(values: Matrix) -> Vector:
    """Return a small threshold for each column, as far as possible from all of its values.

    Whether a pair counts as lost must not depend on rounding: the cut of all pairs and the sum over
    listed pairs would otherwise disagree. Any threshold gives a valid cut.
    """
    candidates = THRESHOLDS
    if len(values) == 0:
        return np.full(values.shape[1], candidates[0])
    distance = np.abs(values[:, :, None] - candidates).min(axis=0)
    return candidates[distance.argmax(axis=1)]


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
        """Return each model's largest violation of a limit on weights.

        Cuts need no check, because the true loss satisfies them all.
        """
        low, high = self.weight_limits.T
        violation = np.maximum(low - coef, coef - high).max(axis=1)
        table, target = self.coupled_limits
        return np.maximum(violation, (target - coef @ table.T).max(axis=1, initial=-np.inf))

    def rounding(self, coef: Matrix, offset: Matrix) -> tuple[Vector, Vector]:
        """Return bounds on the rounding errors of the true loss; limits are compared exactly."""
        error = self.true_loss.rounding(coef)
        return error, np.zeros_like(error)

    def working_rows(self, coef: Matrix, offset: Matrix) -> NDArray[np.intp]:
        """Return the indices of all constraints; none is omitted from the working set."""
        return np.arange(self.n_rows)

    def missing_rows(self, coef: Vector, offset: Vector) -> tuple[HingeRows, NDArray[np.intp]]:
        """Add the cutting plane at a model; return all constraints and the index of the new one."""
        return self.with_cuts(self.true_loss.cuts(coef[None])), np.array([self.n_rows])

    @cached_property
    def weight_limits(self) -> Matrix:
        """Limits on each weight, from hard constraints on one weight, shape (d, 2)."""
        limits = np.tile([-np.inf, np.inf], (self.n_weights, 1))
        for i in np.flatnonzero(self._is_limit & (self._n_entries == 1)):
            (feature,) = np.flatnonzero(self.table[i])
            sign = self.table[i, feature]
            side = 0 if sign > 0 else 1
            tighter = max if sign > 0 else min
            limits[feature, side] = tighter(limits[feature, side], self.target[i] / sign)
        return limits

    @cached_property
    def coupled_limits(self) -> tuple[Matrix, Vector]:
        """Limits ``table @ w >= target`` on functions of several weights, such as levels."""
        rows = np.flatnonzero(self._is_limit & (self._n_entries > 1))
        return self.table[rows], self.target[rows]

    @property
    def _is_limit(self) -> NDArray[np.bool_]:
        """Mask of the hard constraints on weights alone."""
        return self.is_hard & (self.offset_table == 0).all(axis=1)

    @property
    def _n_entries(self) -> NDArray[np.intp]:
        """Number of weights in each constraint."""
        return np.count_nonzero(self.table, axis=1)

    @property
    def has_limits(self) -> bool:
        return bool(np.isfinite(self.weight_limits).any()) or len(self.coupled_limits[1]) > 0

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
    n_weights = true_loss.n_weights
    rows = CuttingPlaneRows(
        table=np.zeros((1, n_weights)),
        offset_table=np.array([[-1.0]]),
        target=np.zeros(1),
        weight=np.ones(1),
        true_loss=true_loss,
    )
    return rows.with_cuts(true_loss.cuts(np.zeros((1, n_weights))))
