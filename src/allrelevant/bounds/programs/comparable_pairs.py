"""Comparable pairs of samples, of which the first should score higher, as a union of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._typing import Vector


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


def _prefix_sums(values: Vector) -> Vector:
    """Return the sums of the first 0, 1, 2, ..., n values."""
    return np.concatenate([[0.0], np.cumsum(values)])
