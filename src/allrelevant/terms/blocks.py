"""Features with several columns, and the size of their weights.

Most features are a single number, and the size of the weight w of a number is |w|. A feature with
several columns, such as a category with one column per level, is a *block*. The size of its
weights is a polyhedral seminorm,

    size(w) = max over the directions v of v . w,

so that its largest and smallest value over a set of models are found by linear programs:

========  ============================================  =======================  ==================
kind      columns                                       directions               size
========  ============================================  =======================  ==================
category  one indicator per level                       e_a - e_b for all pairs  max(w) - min(w)
curve     one indicator per bin of a number             e_a - e_b for all pairs  max(w) - min(w)
group     columns declared to be one feature; a number  all combinations of      sum of |w|
          and the indicator of its missing values       signs, +-e_1 +-e_2 ...
========  ============================================  =======================  ==================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any, Literal

import numpy as np

from .._typing import Matrix, Vector

BlockKind = Literal["category", "curve", "group"]

# The number of directions of a group doubles with each column.
MAX_GROUP_COLUMNS = 8


@dataclass(frozen=True)
class Block:
    """Columns of one feature; ``labels`` names them (levels of a category, bins of a curve)."""

    kind: BlockKind
    labels: tuple[str, ...]

    @property
    def n_columns(self) -> int:
        return len(self.labels)

    @property
    def has_levels(self) -> bool:
        """Whether the columns are indicators of levels or bins, exactly one of which applies."""
        return self.kind != "group"

    @cached_property
    def directions(self) -> Matrix:
        """Directions whose largest product with the weights is the size, one per row."""
        unit = np.eye(self.n_columns)
        if self.has_levels:
            return np.array([unit[a] - unit[b] for a, b in permutations(range(len(unit)), 2)])
        return np.array(list(product((1.0, -1.0), repeat=self.n_columns)))

    def size(self, weights: Matrix | Vector) -> Any:
        """Return the size of the weights, which are the last axis of the array."""
        if self.has_levels:
            return weights.max(axis=-1) - weights.min(axis=-1)
        return np.abs(weights).sum(axis=-1)

    @cached_property
    def size_program(self) -> tuple[Matrix, Vector]:
        """Linear program for the size: the minimum of ``cost @ t`` with ``(w, -w) <= limits @ t``.

        Its variables t are the largest and the smallest weight of a category, or the absolute
        weights of a group. It is much smaller than the list of all directions.
        """
        unit = np.eye(self.n_columns)
        if not self.has_levels:
            return np.vstack([unit, unit]), np.ones(self.n_columns)
        largest_and_smallest = np.repeat([[1.0, 0.0], [0.0, -1.0]], self.n_columns, axis=0)
        return largest_and_smallest, np.array([1.0, -1.0])

    def as_combination(self, vector: Vector) -> Vector:
        """Return a vector as a convex combination of directions, after removing rounding errors."""
        if self.has_levels:
            vector = vector - vector.mean()
            return vector / max(1.0, float(np.abs(vector).sum()) / 2.0)
        return vector / max(1.0, float(np.abs(vector).max()))
