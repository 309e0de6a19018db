"""Hinge loss over comparable pairs of samples, and its derivatives.

``core/pairs.c`` explains and implements the method, and ``core/core.h`` describes the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from .library import (
    POINTER,
    SIZE,
    WORK_PER_CALL,
    Struct,
    integer,
    load,
    pointer,
    real,
    work_memory,
)

# Floating-point operations per entry of a block, and per entry and column, approximately.
WORK_PER_ENTRY, WORK_PER_CELL = 50, 6

# Numbers per call in the largest array.
NUMBERS_PER_CALL = 4_000_000


class _Pairs(Struct):
    _fields_ = (
        *((name, SIZE) for name in ("n_samples", "n_blocks", "n_weights")),
        *((name, POINTER) for name in ("high_starts", "high_blocks", "high_begin")),
        *((name, POINTER) for name in ("low_starts", "low_blocks", "low_begin")),
        *((name, POINTER) for name in ("high_weight", "low_weight", "table")),
    )


@dataclass(frozen=True)
class SideData:
    """One side of the blocks: the blocks of each sample, and the first place of each block."""

    starts: NDArray[np.int64]  # (n_samples + 1,): first entry of each sample in ``blocks``
    blocks: NDArray[np.int64]  # (n_entries,)
    begin: NDArray[np.int64]  # (n_blocks + 1,)

    @classmethod
    def from_entries(
        cls, sample: NDArray[np.intp], block: NDArray[np.intp], n_samples: int, n_blocks: int
    ) -> SideData:
        """Return the side whose entries are the given samples, each in a block."""
        order = np.argsort(sample, kind="stable")
        return cls(
            starts=integer(_cumulated(np.bincount(sample, minlength=n_samples))),
            blocks=integer(block[order]),
            begin=integer(_cumulated(np.bincount(block, minlength=n_blocks))),
        )


def _cumulated(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([[0], np.cumsum(counts)])


@dataclass(frozen=True)
class PairsData:
    """Blocks of comparable pairs, and the weights of the samples on each side."""

    high: SideData
    low: SideData
    high_weight: Vector  # (n_samples,)
    low_weight: Vector  # (n_samples,)

    def struct(self, table: Matrix) -> _Pairs:
        high, low = self.high, self.low
        return _Pairs(
            len(self.high_weight),
            len(high.begin) - 1,
            table.shape[1],
            high.starts,
            high.blocks,
            high.begin,
            low.starts,
            low.blocks,
            low.begin,
            real(self.high_weight),
            real(self.low_weight),
            table,
        )


class PairLosses(NamedTuple):
    """Result of :func:`pair_losses`, with one row per model."""

    sums: Matrix  # (n_models, 4): loss, smoothed loss, sum of the slopes, weight of near pairs
    slopes: Matrix  # (n_models, n_samples): derivative by the samples' scores, with opposite sign
    curvature: NDArray[np.float64]  # (n_models, n_weights, n_weights), or (n_models, 0, 0)


def pair_losses(
    data: PairsData, scores: Matrix, width: Vector, threshold: Vector, table: Matrix | None
) -> PairLosses:
    """Compute the hinge loss over pairs for several models, smoothed over a width for each.

    ``scores`` has shape (n_models, n_samples). With a table of shape (n_samples, n_weights), the
    result includes the curvature: the sum over the pairs within the width of weight times
    ``(x_i - x_j) (x_i - x_j)'``.
    """
    m, n = scores.shape
    columns = np.empty((n, 0)) if table is None else real(table)
    d = columns.shape[1]
    scores, order = real(scores), integer(np.argsort(scores, axis=1, kind="stable"))
    width, threshold = real(width), real(threshold)
    result = PairLosses(np.zeros((m, 4)), np.zeros((m, n)), np.zeros((m, d, d)))
    core, pairs = load(), data.struct(columns)
    work = work_memory(core.ar_pairs_bytes(pairs.address))
    n_entries = len(data.high.blocks) + len(data.low.blocks)
    operations = n_entries * (WORK_PER_ENTRY + WORK_PER_CELL * d)
    size = int(min(WORK_PER_CALL / (operations + 1), NUMBERS_PER_CALL / (n * max(d, 1) + 1)))
    for first in range(0, m, max(1, size)):
        part = slice(first, first + max(1, size))
        n_models = len(scores[part])
        near, cross = np.zeros((n_models, n)), np.zeros((n_models, n, d))
        core.ar_pair_losses(
            pairs.address,
            n_models,
            pointer(scores[part]),
            pointer(order[part]),
            pointer(width[part]),
            pointer(threshold[part]),
            pointer(result.sums[part]),
            pointer(result.slopes[part]),
            pointer(near) if d else None,
            pointer(cross) if d else None,
            pointer(work),
        )
        if d:
            # With s the near weights: X' diag(s) X - X' cross - cross' X, as a sum of transposes.
            half = columns.T @ (0.5 * near[:, :, None] * columns - cross)
            np.add(half, half.transpose(0, 2, 1), out=result.curvature[part])
    return result
