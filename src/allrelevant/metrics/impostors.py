"""Impostors: rows of another class inside the neighbourhood of a row, found and kept sparsely."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector

Codes = NDArray[np.intp]

# Numbers in one block of distances: 32 MB of them.
_BLOCK = 4_000_000

# How much further than needed a search looks, as a share of the radius. A wider one finds more
# pairs to watch, but holds for longer.
_FURTHER = 0.1


class Pairs(NamedTuple):
    """Pairs of rows: of each, the place of the one and of the other."""

    row: Codes
    other: Codes


class Impostors:
    """The pairs of rows of different classes that are near enough to matter, at any mapping.

    A search looks at all pairs, block by block, and keeps those within a radius that is a little
    larger than needed. While rows have not moved too far since, no other pair can have come near:
    the triangle inequality says so, and :meth:`near` checks it. Then the pairs that were kept are
    all there are. Otherwise it searches again. What it gives is exact either way, and memory
    grows with the number of pairs that are near, not with the square of the number of rows.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class of each row.

    Attributes
    ----------
    n_searches : int
        How often all pairs were looked at.
    """

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._mapped: Matrix | None = None
        self.n_searches = 0

    def near(self, mapped: Matrix, radius: Vector) -> Pairs:
        """Pairs of different classes, among them all that are nearer than the first row's radius.

        Parameters
        ----------
        mapped : ndarray of shape (n_samples, rank)
            Rows where Euclidean distances are those of the metric.
        radius : ndarray of shape (n_samples,)
        """
        if not self._still_holds(mapped, radius):
            self._search(mapped, radius * (1.0 + _FURTHER))
        return self._pairs

    def _still_holds(self, mapped: Matrix, radius: Vector) -> bool:
        if self._mapped is None:
            return False
        # A pair that was not kept was further apart than the searched radius. Scaled, and then
        # moved by no more than both its rows have moved, it is still further apart than this:
        scale = max(0.0, float(np.vdot(mapped, self._mapped) / np.vdot(self._mapped, self._mapped)))
        moved = np.linalg.norm(mapped - scale * self._mapped, axis=1)
        return bool(np.all(scale * self._searched - moved - moved.max() >= radius))

    def _search(self, mapped: Matrix, radius: Vector) -> None:
        # A pair is nearer than r where a.b - b.b / 2 > (a.a - r r) / 2: one product and one
        # comparison for each pair, the rest for each row.
        square = np.einsum("ij,ij->i", mapped, mapped)
        rows = np.column_stack([mapped, np.full(len(mapped), -0.5)])
        others = np.column_stack([mapped, square]).T
        threshold = 0.5 * (square - radius**2)
        step = max(1, _BLOCK // len(mapped))
        found = [
            self._search_block(rows, others, threshold, slice(first, first + step))
            for first in range(0, len(mapped), step)
        ]
        self._pairs = Pairs(*(np.concatenate(part) for part in zip(*found, strict=True)))
        self._mapped, self._searched = mapped.copy(), radius
        self.n_searches += 1

    def _search_block(self, rows: Matrix, others: Matrix, threshold: Vector, block: slice) -> Pairs:
        near = rows[block] @ others > threshold[block, np.newaxis]
        near &= self._codes[block, np.newaxis] != self._codes
        row, other = np.divmod(np.flatnonzero(near), near.shape[1])
        return Pairs(row + block.start, other)
