"""The baseline as a vertex: every variable in terms of those that are zero there."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, qr

from ...arrays import Matrix, Table, Vector
from ..programs.hinge_rows import HingeRows

# A row whose target is met to within this is tight at a vertex.
_TIGHT = 1e-7


class NotAVertexError(Exception):
    """The model is not determined by the rows that it meets exactly."""


class Vertex:
    """A vertex of the l1-regularised problem.

    As many rows are tight there as there are weights in use and offsets: they determine both, and
    these determine the shortfalls of all other rows. So the basic variables are, in order, the
    weights in use, the offsets and the shortfalls of the other rows; zero are the weights not in
    use and the shortfalls of the tight rows.

    Attributes
    ----------
    used : ndarray of int
        Features whose weight is not zero.
    tight, rest : ndarray of int
        The rows that determine the vertex, and the others.
    """

    def __init__(self, rows: HingeRows, coef: Vector, offset: Vector) -> None:
        self.rows = rows
        self.used = np.flatnonzero(coef)
        shortfall = rows.shortfall(coef[None], offset[None])[0]
        self.tight = _determining_rows(rows, self.used, shortfall)
        self.rest = np.setdiff1d(np.arange(rows.n_rows), self.tight)
        block = np.hstack([_dense(rows.table[:, self.used]), rows.offset_table])
        self._square = lu_factor(block[self.tight])
        self._influence = block[self.rest]

    def values(self) -> Vector:
        """Values of the basic variables."""
        target = self.rows.target[:, None]
        return self._express(target[self.tight], target[self.rest])[:, 0]

    def columns_of_weights(self, features: NDArray[np.intp]) -> Matrix:
        """How the basic variables fall as an unused weight grows."""
        table = _dense(self.rows.table[:, features])
        return self._express(table[self.tight], table[self.rest])

    def columns_of_shortfalls(self) -> Matrix:
        """How they fall as the shortfall of a tight row grows."""
        n_tight = len(self.tight)
        return self._express(np.eye(n_tight), np.zeros((len(self.rest), n_tight)))

    def _express(self, tight_part: Matrix, rest_part: Matrix) -> Matrix:
        """Coefficients of columns in the dictionary, by what they add to the rows."""
        structural = lu_solve(self._square, tight_part)
        return np.vstack([structural, rest_part - self._influence @ structural])


def _determining_rows(
    rows: HingeRows, used: NDArray[np.intp], shortfall: Vector
) -> NDArray[np.intp]:
    """As many tight rows as there are weights in use and offsets, that determine them."""
    candidates = np.flatnonzero(np.abs(shortfall) <= _TIGHT)
    wanted = len(used) + rows.n_offsets
    if wanted == 0:  # nothing is in use, and nothing determines that
        return np.empty(0, dtype=np.intp)
    if len(candidates) < wanted:
        raise NotAVertexError(f"{len(candidates)} rows are tight, {wanted} are needed.")
    block = np.hstack([_dense(rows.table[candidates][:, used]), rows.offset_table[candidates]])
    triangle, order = qr(block.T, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    if size[wanted - 1] <= 1e-9 * max(1.0, size[0]):
        raise NotAVertexError("The tight rows do not determine the model.")
    return np.sort(candidates[order[:wanted]])


def _dense(table: Table) -> Matrix:
    return table.toarray() if sp.issparse(table) else table
