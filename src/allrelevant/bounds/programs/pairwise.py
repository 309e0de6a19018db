"""Hinge loss over comparable pairs of samples, and its cutting planes.

    loss(w) = sum_ij v_i v_j max(0, 1 - w . (x_i - x_j)) / sum_ij v_i v_j

The sums are over the comparable pairs (i, j), in which sample i should score higher than sample j,
and v are the sample weights. A pair in the wrong order costs at least 1, so the loss is at least
the fraction of such pairs.

**Blocks.** The comparable pairs are a union of blocks. Within a block, every sample of one set
should score higher than every sample of another. Two classes form one block, and queries form one
block each. Censored times form O(n) blocks with O(n log n) entries (:func:`ordered_pairs`). Sorting
the scores within the blocks gives the loss and its derivatives without enumerating the pairs.

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
from .hinge import HingeRows

# Maximum number of pairs listed near given models.
MAX_NEAR_PAIRS = 600

# Losses of a pair above which it counts as lost, if its loss must not be close to the threshold.
THRESHOLDS = np.linspace(1e-7, 1e-5, 50)

# Numbers per batch of models, and per batch of columns of second derivatives.
NUMBERS_PER_BATCH = 2_000_000


@dataclass(frozen=True)
class Side:
    """One side of the comparable pairs: samples, each in a block; sorted by block."""

    sample: NDArray[np.intp]
    block: NDArray[np.intp]

    @classmethod
    def sorted(cls, sample: NDArray[np.intp], block: NDArray[np.intp]) -> Side:
        order = np.argsort(block, kind="stable")
        return cls(sample[order], block[order])

    def take(self, blocks: NDArray[np.intp]) -> Side:
        """Return the entries of the given blocks, renumbered in their order."""
        kept = np.isin(self.block, blocks)
        return Side(self.sample[kept], np.searchsorted(blocks, self.block[kept]))


@dataclass(frozen=True)
class ComparablePairs:
    """Pairs of samples of which the first should score higher, as a union of blocks.

    In each block, every sample of ``high`` should score higher than every sample of ``low``. Every
    block has samples on both sides. No pair is in two blocks.
    """

    n_samples: int
    high: Side
    low: Side

    @property
    def n_blocks(self) -> int:
        return int(self.high.block.max(initial=-1)) + 1

    @cached_property
    def n_pairs(self) -> int:
        """Number of comparable pairs."""
        n_high, n_low = np.bincount(self.high.block), np.bincount(self.low.block)
        return int(n_high.astype(object) @ n_low.astype(object)) if self.n_blocks else 0

    def concordance(self, scores: Vector, weight: Vector) -> float:
        """Return the weighted fraction of the pairs in the right order; ties count half."""
        span = float(np.ptp(scores)) + 1.0
        low_key = scores[self.low.sample] + span * self.low.block
        order = np.argsort(low_key, kind="stable")
        totals = _prefix_sums(weight[self.low.sample[order]])
        block_starts = np.searchsorted(self.low.block, np.arange(self.n_blocks + 1))
        block, key = self.high.block, scores[self.high.sample] + span * self.high.block
        below, not_above = (
            totals[np.searchsorted(low_key[order], key, side=side)] for side in ("left", "right")
        )
        start, end = totals[block_starts[block]], totals[block_starts[block + 1]]
        high_weight = weight[self.high.sample]
        right = high_weight @ ((below + not_above) / 2.0 - start)
        return float(right / (high_weight @ (end - start)))

    def list_pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the samples of each pair: those that should score higher, and the others."""
        starts = np.searchsorted(self.low.block, np.arange(self.n_blocks + 1))
        size = np.diff(starts)[self.high.block]
        first = np.repeat(np.arange(len(size)), size)
        within = np.arange(len(first)) - np.repeat(np.cumsum(size) - size, size)
        return (
            self.high.sample[first],
            self.low.sample[starts[self.high.block[first]] + within],
        )


def class_pairs(is_high: NDArray[np.bool_], groups: NDArray[np.intp] | None) -> ComparablePairs:
    """Return the pairs of a sample of a class and a sample of the other class.

    With groups, both samples are of the same group.
    """
    block = np.zeros(len(is_high), dtype=np.intp) if groups is None else groups
    high, low = np.flatnonzero(is_high), np.flatnonzero(~is_high)
    return _from_blocks(len(is_high), Side(high, block[high]), Side(low, block[low]))


def ordered_pairs(rank: NDArray[np.intp], can_precede: NDArray[np.bool_]) -> ComparablePairs:
    """Return the pairs (i, j) with ``rank_i < rank_j`` and ``can_precede_i``.

    Two ranks differ first, from the highest bit on, in one bit, which is 0 for the smaller rank.
    There is one block for each bit and each value of the bits above it.
    """
    highs, lows, blocks = [], [], 0
    for bit in range(int(rank.max(initial=0)).bit_length()):
        block, is_set = rank >> (bit + 1), (rank >> bit) & 1 == 1
        high, low = np.flatnonzero(~is_set & can_precede), np.flatnonzero(is_set)
        highs.append((high, block[high] + blocks))
        lows.append((low, block[low] + blocks))
        blocks += int(block.max()) + 1
    if not highs:
        highs, lows = [(rank[:0], rank[:0])], [(rank[:0], rank[:0])]
    high_side, low_side = (
        Side(*(np.concatenate(part) for part in zip(*side, strict=True))) for side in (highs, lows)
    )
    return _from_blocks(len(rank), high_side, low_side)


def _from_blocks(n_samples: int, high: Side, low: Side) -> ComparablePairs:
    """Return pairs without the blocks that have no samples on one side."""
    used = np.intersect1d(high.block, low.block)
    sides = [Side.sorted(side.sample, side.block).take(used) for side in (high, low)]
    return ComparablePairs(n_samples, *sides)


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
        return np.concatenate([np.empty(0), *(part.loss for part in self._batches(coef))])

    def cuts(self, coef: Matrix) -> list[Cut]:
        """Return the cutting planes that equal the loss at given models."""
        parts = self._batches(coef)
        return [
            Cut(slope, float(height))
            for part in parts
            for slope, height in zip(part.slope, part.height, strict=True)
        ]

    def loss_and_cut(self, coef: Vector) -> tuple[float, Cut]:
        """Return the loss of a model, and the cutting plane that equals the loss at this model."""
        part = self.smoothed(coef[None], np.zeros(1))
        return float(part.loss[0]), Cut(part.slope[0], float(part.height[0]))

    def _batches(self, coef: Matrix) -> list[SmoothedLoss]:
        n_entries = len(self.pairs.high.sample) + len(self.pairs.low.sample)
        size = max(1, NUMBERS_PER_BATCH // (n_entries + 1))
        starts = range(0, len(coef), size)
        return [self.smoothed(w, np.zeros(len(w))) for w in (coef[i : i + size] for i in starts)]

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
        m, pairs = len(coef), self.pairs
        high, low = pairs.high, pairs.low
        scores = np.asarray(self.table @ coef.T).T
        a, b = scores[:, high.sample], scores[:, low.sample]
        u, v = self._entry_weights
        # Scores are compared within a block and a model: a shift separates these from each other.
        span = float(np.ptp(scores)) + 4.0 + float(width.max(initial=0.0))
        model_shift = span * pairs.n_blocks * np.arange(m)[:, None]
        b_key = b + span * low.block
        order = np.argsort(b_key, axis=1, kind="stable")
        each = np.arange(m)[:, None]
        b_key = (b_key[each, order] + model_shift).ravel()
        b, v = b[each, order].ravel(), np.broadcast_to(v, (m, len(v)))[each, order].ravel()
        a_key = a + span * high.block + model_shift
        end = (self._block_end + len(low.sample) * each).ravel()
        # Pairs from ``begin`` to ``end`` have a positive loss; those before ``linear`` are within
        # the width.
        lost = a_key - 1.0 + np.broadcast_to(threshold, m)[:, None]
        begin = np.searchsorted(b_key, lost.ravel(), side="right")
        linear = begin
        if width.any():
            linear = np.searchsorted(b_key, (a_key - 1.0 + width[:, None]).ravel(), side="right")
        a, u = a.ravel(), np.tile(u, m)
        missing = 1.0 - a
        totals, sums = _prefix_sums(v), _prefix_sums(v * b)
        far, far_sum = totals[end] - totals[linear], sums[end] - sums[linear]
        near, near_sum = totals[linear] - totals[begin], sums[linear] - sums[begin]
        shortfall = missing * near + near_sum  # of the pairs within the width
        by_model = (m, -1)
        loss = (u * (missing * far + far_sum + shortfall)).reshape(by_model).sum(axis=1)
        inverse = np.repeat(1.0 / np.where(width > 0, width, np.inf), len(high.sample))
        high_slope = u * (far + inverse * shortfall)
        n_low = len(b)

        def opened(first: NDArray[np.intp], last: NDArray[np.intp], values: Vector) -> Vector:
            """Return the sum of the values whose interval contains each position."""
            change = np.bincount(first, values, n_low + 1) - np.bincount(last, values, n_low + 1)
            return np.cumsum(change)[:n_low]

        low_near = opened(begin, linear, u)
        low_inverse = np.repeat(1.0 / np.where(width > 0, width, np.inf), len(low.sample))
        low_slope = opened(linear, end, u)
        smooth = loss
        if width.any():
            low_slope = low_slope + low_inverse * (
                (1.0 + b) * low_near - opened(begin, linear, u * a)
            )
            squares = _prefix_sums(v * b * b)
            square = missing * (missing * near + 2.0 * near_sum) + squares[linear] - squares[begin]
            half = 0.5 * np.repeat(width, len(high.sample))
            parts = (missing - half) * far + far_sum + 0.5 * inverse * square
            smooth = (u * parts).reshape(by_model).sum(axis=1)
        low_slope = v * low_slope
        net = self._per_sample(high_slope.reshape(by_model), low_slope.reshape(by_model), order, -1)
        curvature = np.zeros((m, 0, 0))
        if with_curvature:
            diagonal = self._per_sample(
                (u * near).reshape(by_model), (v * low_near).reshape(by_model), order, 1
            )
            curvature = self._curvature(diagonal, u, v, order, begin, linear)
            curvature *= (1.0 / width)[:, None, None]
        return SmoothedLoss(
            loss=loss,
            smoothed=smooth,
            slope=np.asarray(net @ self.table),
            height=high_slope.reshape(by_model).sum(axis=1),
            near=(u * near).reshape(by_model).sum(axis=1),
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

    def _curvature(
        self,
        diagonal: Matrix,
        u: Vector,
        v: Vector,
        order: NDArray[np.intp],
        begin: NDArray[np.intp],
        linear: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Return ``sum u_i v_j (x_i - x_j) (x_i - x_j)'`` over the pairs within the width."""
        m, d, table = len(order), self.n_weights, self._dense
        n_high = len(self.pairs.high.sample)
        total = np.empty((m, d, d))
        mixed = np.empty((d, d))
        high = table[self.pairs.high.sample]
        for k in range(m):
            rows = slice(k * n_high, (k + 1) * n_high)
            start = k * order.shape[1]
            first, last = begin[rows] - start, linear[rows] - start
            ordered = table[self.pairs.low.sample[order[k]]]
            weighted = ordered * v[start : start + order.shape[1], None]
            sums = np.zeros((len(ordered) + 1, d))
            np.cumsum(weighted, axis=0, out=sums[1:])
            mixed = (high * u[rows, None]).T @ (sums[last] - sums[first])
            total[k] = (table * diagonal[k][:, None]).T @ table - mixed - mixed.T
        return total

    def _per_sample(self, high: Matrix, low: Matrix, order: NDArray[np.intp], sign: int) -> Matrix:
        """Add up the values of the entries of each sample, shape (m, n)."""
        unordered = np.empty_like(low)
        unordered[np.arange(len(low))[:, None], order] = low
        if self.pairs.n_blocks == 1:  # every sample is on one side only
            total = np.zeros((len(low), self.pairs.n_samples))
            total[:, self.pairs.high.sample] = high
            total[:, self.pairs.low.sample] = sign * unordered
            return total
        to_high, to_low = self._incidence
        return np.asarray((to_high @ high.T + sign * (to_low @ unordered.T)).T)

    @cached_property
    def _incidence(self) -> tuple[sp.csr_array, sp.csr_array]:
        n = self.pairs.n_samples
        return tuple(
            sp.csr_array(
                (np.ones(len(s.sample)), (s.sample, np.arange(len(s.sample)))),
                shape=(n, len(s.sample)),
            )
            for s in (self.pairs.high, self.pairs.low)
        )

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

    @property
    def _weights(self) -> tuple[Vector, Vector]:
        """Weights of the samples on both sides; their products over all pairs sum to 1."""
        total = self.weight[self.pairs.high.sample[0]] / self._entry_weights[0][0]
        return self.weight / total, self.weight

    @cached_property
    def _entry_weights(self) -> tuple[Vector, Vector]:
        """Weights of the entries of both sides; their products over all pairs sum to 1."""
        u, v = self.weight[self.pairs.high.sample], self.weight[self.pairs.low.sample]
        n_blocks = self.pairs.n_blocks
        total = np.bincount(self.pairs.high.block, u, n_blocks) @ np.bincount(
            self.pairs.low.block, v, n_blocks
        )
        return u / total, v


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


def _prefix_sums(values: Vector) -> Vector:
    """Return the sums of the first 0, 1, 2, ..., n values."""
    return np.concatenate([[0.0], np.cumsum(values)])


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
        return self.with_cuts(self.true_loss.cuts(coef[None])), np.array([self.n_rows])

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

    @property
    def has_limits(self) -> bool:
        return bool(np.isfinite(self.weight_limits).any())

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
