"""The l1-regularised problem, over the features that it takes: for tables with many.

An l1-regularised model uses no more features than there are rows, often far fewer. So the program
starts with some features, and takes in those whose weight would pay under the multipliers of its
solution, until there is none: column generation. One product with the table prices all features.

The l1-regularised problem, by a walk over its corners: for tables with many rows.

The l1-regularised problem, ``min |w|_1 + C * loss``, and the multipliers at its solution.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Vector
from ..programs.equivalent_models import StartingVertex, baseline_program
from ..programs.hinge import HingeRows
from ..programs.pairwise import CuttingPlaneRows
from .cutting import CuttingPlaneBaseline
from .highs import HighsModel
from .simplex import make_corner, make_problem

# With no more features than this, all are there from the start.
_FEW = 400


# Features to start with, and the most to take in at a time.
_AT_A_TIME = 100


# A weight pays if the pull of the multipliers exceeds its cost, which is 1, by more than this.
_PAYS = 1e-9


class ColumnGenerationBaseline:
    """Solves the problem for one C after the other, each from the last solution, by HiGHS."""

    def __init__(self, rows: HingeRows) -> None:
        self._rows = rows
        self._features = self._first_features()
        # HiGHS columns of the positive and of the negative part of each working feature.
        self._columns = np.arange(2 * len(self._features)).reshape(2, -1)
        working = HingeRows(
            rows.table[:, self._features], rows.offset_table, rows.target, rows.weight
        )
        program = baseline_program(working, 0.0)
        self._offset, slack = program.blocks["offset"], program.blocks["slack"]
        self._slack = np.arange(slack.start, slack.stop, dtype=np.int32)
        self._highs = HighsModel(program)
        self._n_columns = program.n_columns

    def solve(self, C: float) -> StartingVertex:
        self._highs.change_cost(self._slack, C * self._rows.weight_in_loss)
        what = f"the l1-regularised problem at C={C:g}"
        solution = self._highs.solve(what)
        while (paying := self._paying(solution.row_dual)).size:
            self._take_in(paying)
            solution = self._highs.solve(what)
        coef = np.zeros(self._rows.n_weights)
        positive, negative = solution.point[self._columns]
        coef[self._features] = positive - negative
        return StartingVertex(coef, solution.point[self._offset], solution.row_dual, self._rows)

    def _first_features(self) -> NDArray[np.intp]:
        """All if there are few; else those that the rows pull at most."""
        if self._rows.n_weights <= _FEW:
            return np.arange(self._rows.n_weights)
        pull = np.abs(self._rows.pull(np.where(self._rows.must_be_met, 1.0, self._rows.weight)))
        return np.argpartition(-pull, _AT_A_TIME)[:_AT_A_TIME]

    def _paying(self, multipliers: Vector) -> NDArray[np.intp]:
        """Features that are missing: those that would pay most."""
        pull = np.abs(self._rows.pull(multipliers))
        pull[self._features] = 0.0
        paying = np.flatnonzero(pull > 1.0 + _PAYS)
        if len(paying) > _AT_A_TIME:
            paying = paying[np.argpartition(-pull[paying], _AT_A_TIME)[:_AT_A_TIME]]
        return paying

    def _take_in(self, features: NDArray[np.intp]) -> None:
        table = sp.csc_array(self._rows.table[:, features])
        n_new = 2 * len(features)
        self._highs.add_columns(sp.hstack([table, -table], format="csc"), np.ones(n_new))
        columns = self._n_columns + np.arange(n_new).reshape(2, -1)
        self._columns = np.hstack([self._columns, columns])
        self._n_columns += n_new
        self._features = np.concatenate([self._features, features])


# Pivots after which a walk is given up, and how many to make between two looks at the keyboard.
_MOST_PIVOTS = 100_000


_CELLS_AT_A_TIME = 500_000_000


class SimplexBaseline:
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

    def solve(self, C: float) -> StartingVertex | None:
        """The model that costs least, or None if the walk did not get there."""
        from ...native.simplex import MOVED, OPTIMAL, minimize

        n, d, k = self._shape
        coef, offset, multipliers = np.zeros(d), np.zeros(k), np.zeros(n)
        some = max(1, _CELLS_AT_A_TIME // self._corner.T.size)
        pivots, status = 0, MOVED
        while status == MOVED and pivots < _MOST_PIVOTS:
            status, more = minimize(
                self._corner, self._problem, 1.0, C, some, coef, offset, multipliers
            )
            pivots += more
        return StartingVertex(coef, offset, multipliers, self._rows) if status == OPTIMAL else None


def finite_weights(rows: HingeRows) -> Vector:
    """The weights, with twice what any multiplier can come to for rows that must be met.

    Multipliers pull at no offset, so those of rows that must be met are balanced by the others.
    """
    reach = np.abs(rows.offset_table).max(axis=1, initial=1.0)
    return np.where(rows.must_be_met, 2.0 * (rows.weight_in_loss @ reach), rows.weight)


# A walk takes all features along. With more than these it pays to work with a few of them, unless
# there are even more rows; and a tableau of more cells than this is too large to be kept.
_FEW_FEATURES = 400


_MOST_CELLS = 50_000_000


# By how much a solution may fall short of rows that must be met.
_BREACH = 1e-9


# By how much of its value a solution may be off.
_TOLERANCE = 1e-8


class L1Baseline:
    """Solves the problem for one C after the other, each from the last solution."""

    def __init__(self, rows: HingeRows) -> None:
        self._rows = rows
        self._cutting = CuttingPlaneBaseline(rows) if isinstance(rows, CuttingPlaneRows) else None
        self._walk = None
        if self._cutting is not None:
            return
        few = rows.n_weights <= max(_FEW_FEATURES, rows.n_rows)
        small = rows.n_rows * rows.n_weights <= _MOST_CELLS
        if few and small:
            self._walk = SimplexBaseline(rows)

    def solve(self, C: float) -> StartingVertex:
        """Weights, offsets and multipliers of the rows at the optimum."""
        if self._cutting is not None:
            return self._cutting.solve(C)
        if self._walk is not None:
            found = self._walk.solve(C)
            if found is not None and excess(self._rows, C, found) <= _TOLERANCE:
                return found
        return self._growing.solve(C)

    @cached_property
    def _growing(self) -> ColumnGenerationBaseline:
        return ColumnGenerationBaseline(self._rows)


def excess(rows: HingeRows, C: float, found: StartingVertex) -> float:
    """By how much a solution can cost more than the best one, as a share of its cost.

    For multipliers between 0 and C times the weight of their row that pull no weight by more than
    1, and no offset at all, ``multipliers . target`` is what every model costs at least. What is
    missing to that counts against the solution.
    """
    coef, offset, multipliers = found.coef, found.offset, found.multipliers
    if rows.breach(coef[None], offset[None])[0] > _BREACH:
        return np.inf
    cost = np.abs(coef).sum() + C * rows.loss(coef[None], offset[None])[0]
    pull = np.abs(rows.pull(multipliers)).max(initial=0.0)
    reach = max(1.0, pull, (multipliers / rows.weight).max() / C)
    faults = [
        1.0 - multipliers @ rows.target / reach / cost,
        -multipliers.min() / C,
        np.abs(multipliers @ rows.offset_table).max(initial=0.0) / (C * rows.weight_in_loss.sum()),
    ]
    return float(max(faults)) if np.isfinite(faults).all() else np.inf
