"""A linear program as a value: it is built in one place and solved in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...arrays import Vector


@dataclass(frozen=True)
class LinearProgram:
    """Minimise ``cost . x`` over a polytope.

    The polytope is ``row_lower <= matrix x <= row_upper``, ``column_lower <= x <= column_upper``.

    Attributes
    ----------
    matrix : sparse array of shape (n_rows, n_columns)
        In compressed column format.
    cost : ndarray of shape (n_columns,)
        The objective. All zero where the program only describes a set.
    row_lower, row_upper : ndarray of shape (n_rows,)
    column_lower, column_upper : ndarray of shape (n_columns,)
    blocks : mapping of str to slice
        Which columns hold which variables, by name.
    """

    matrix: sp.csc_array
    cost: Vector
    row_lower: Vector
    row_upper: Vector
    column_lower: Vector
    column_upper: Vector
    blocks: Mapping[str, slice]

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.matrix.shape[1])


def name_blocks(sizes: Sequence[tuple[str, int]]) -> dict[str, slice]:
    """Slices of the columns from the names and sizes of their blocks, in order.

    Examples
    --------
    >>> name_blocks([("weights", 2), ("slack", 3)])
    {'weights': slice(0, 2, None), 'slack': slice(2, 5, None)}
    """
    stops = np.cumsum([size for _, size in sizes])
    return {
        name: slice(int(stop) - size, int(stop))
        for (name, size), stop in zip(sizes, stops, strict=True)
    }
