"""The l1-regularised problem, by a walk over its corners: for tables with many rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...arrays import Vector
from ..programs.equivalent_models import Start
from ..programs.hinge_rows import HingeRows
from .tableau import make_corner, make_problem

# Pivots after which a walk is given up, and how many to make between two looks at the keyboard.
_MOST_PIVOTS = 100_000
_CELLS_AT_A_TIME = 500_000_000


class WalkingBaseline:
    """Solves the problem for one C after the other, each from the last solution.

    The walk starts at the model that is zero: no row is met exactly there, and the first steps
    bring in the offsets, which cost nothing. Rows that must be met are not all met there; they
    have a weight large enough that it pays to meet them.
    """

    def __init__(self, rows: HingeRows) -> None:
        n, d, k = rows.n_rows, rows.n_weights, rows.n_offsets
        table = rows.table.toarray() if sp.issparse(rows.table) else rows.table
        self._rows = rows
        finite = replace(rows, weight=finite_weights(rows))
        self._problem = make_problem(finite, d, budgets=(), prices=np.zeros(2))
        self._corner = make_corner(
            self._problem,
            T=np.hstack([table, rows.offset_table]),
            value=rows.target.copy(),
            basis=d + k + np.arange(n),
            nonbasic=np.arange(d + k),
        )
        self._shape = n, d, k

    def solve(self, C: float) -> Start | None:
        """The model that costs least, or None if the walk did not get there."""
        from .kernel import MOVED, OPTIMAL, minimize

        n, d, k = self._shape
        coef, offset, multipliers = np.zeros(d), np.zeros(k), np.zeros(n)
        some = max(1, _CELLS_AT_A_TIME // self._corner.T.size)
        pivots, status = 0, MOVED
        while status == MOVED and pivots < _MOST_PIVOTS:
            status, more = minimize(
                self._corner, self._problem, 1.0, C, some, coef, offset, multipliers
            )
            pivots += more
        return Start(coef, offset, multipliers, self._rows) if status == OPTIMAL else None


def finite_weights(rows: HingeRows) -> Vector:
    """The weights, with twice what any multiplier can come to for rows that must be met.

    Multipliers pull at no offset, so those of rows that must be met are balanced by the others.
    """
    reach = np.abs(rows.offset_table).max(axis=1, initial=1.0)
    return np.where(rows.must_be_met, 2.0 * (rows.weight_in_loss @ reach), rows.weight)
