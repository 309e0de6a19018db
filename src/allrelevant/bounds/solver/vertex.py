"""The baseline as a vertex of the set: every variable in terms of those that are zero there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, qr

from ...arrays import Matrix, Table, Vector
from ..programs.equivalent_models import Budget
from ..programs.hinge_rows import HingeRows

# A row whose target is met to within this is tight at a vertex.
_TIGHT = 1e-7


class NotAVertexError(Exception):
    """The model is not a vertex of the polytope that budgets leave slack at: no basis is there."""


class Vertex:
    """A vertex of the l1-regularised problem, where the budgets leave slack.

    As many rows are tight there as there are weights in use and offsets: they determine both, and
    these determine the slack or surplus of all other rows. So the basic variables are, in order,
    the weights in use, the offsets, the slack or surplus of the rows that are not tight, and what
    is left of each budget; zero are the weights not in use and the surpluses of the tight rows.

    Attributes
    ----------
    used : ndarray of int
        Features whose weight is not zero.
    sign : ndarray of shape (n_used,)
        Signs of their weights.
    tight, rest : ndarray of int
        The rows that determine the vertex, and the others.
    short : ndarray of shape (n_rest,)
        Which of the others fall short of their target.
    """

    def __init__(
        self, rows: HingeRows, budgets: Sequence[Budget], coef: Vector, offset: Vector
    ) -> None:
        self.rows, self.budgets = rows, budgets
        self.used = np.flatnonzero(coef)
        shortfall = rows.shortfall(coef[None], offset[None])[0]
        self.tight = _determining_rows(rows, self.used, shortfall)
        self.rest = np.setdiff1d(np.arange(rows.n_rows), self.tight)
        block = np.hstack([_dense(rows.table[:, self.used]), rows.offset_table])
        self._square = lu_factor(block[self.tight])
        self._influence = block[self.rest]
        self.sign = np.ones(len(self.used))
        self.short = np.ones(len(self.rest), dtype=bool)
        value = self._values()
        self.sign = np.where(value[: len(self.used)] < 0, -1.0, 1.0)
        self.short = value[len(self.tight) : len(self.tight) + len(self.rest)] > 0

    def values(self) -> Vector:
        """Values of the basic variables."""
        value = self._values()
        if value[-len(self.budgets) :].min() < -1e-9 * (1.0 + max(b.limit for b in self.budgets)):
            raise NotAVertexError("The model is not within the budgets.")
        return value

    def columns_of_weights(self, features: NDArray[np.intp]) -> Matrix:
        """How the basic variables fall as the positive part of an unused weight grows."""
        table = _dense(self.rows.table[:, features])
        return self._express(table[self.tight], table[self.rest], norm=1.0)

    def columns_of_surpluses(self) -> Matrix:
        """How they fall as the surplus of a tight row grows."""
        n_tight = len(self.tight)
        return self._express(-np.eye(n_tight), np.zeros((len(self.rest), n_tight)), norm=0.0)

    def _values(self) -> Vector:
        target = self.rows.target[:, None]
        value = self._express(target[self.tight], target[self.rest], norm=0.0)[:, 0]
        value[-len(self.budgets) :] += [budget.limit for budget in self.budgets]
        return value

    def _express(self, tight_part: Matrix, rest_part: Matrix, norm: float) -> Matrix:
        """Coefficients of columns in the dictionary, by what they add to the rows.

        ``norm`` is what they add to the norm themselves.
        """
        structural = lu_solve(self._square, tight_part)
        of_rest = rest_part - self._influence @ structural
        # A weight below zero is its negative part above zero, a shortfall below zero a surplus.
        structural[: len(self.used)] *= self.sign[:, None]
        of_rest[~self.short] *= -1.0
        spent_norm = structural[: len(self.used)].sum(axis=0)
        spent_loss = self.rows.weight[self.rest[self.short]] @ of_rest[self.short]
        left = [
            b.norm_coefficient * (norm - spent_norm) - b.loss_coefficient * spent_loss
            for b in self.budgets
        ]
        return np.vstack([structural, of_rest, *left])


def _determining_rows(
    rows: HingeRows, used: NDArray[np.intp], shortfall: Vector
) -> NDArray[np.intp]:
    """As many tight rows as there are weights in use and offsets, that determine them."""
    candidates = np.flatnonzero(np.abs(shortfall) <= _TIGHT)
    wanted = len(used) + rows.n_offsets
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
