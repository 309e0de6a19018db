"""Solvers for the l1-regularized problem, ``min |w|_1 + C * loss``, and its dual problem.

Two methods solve it for successive values of C, each warm-started from the last solution:

- :class:`SimplexBaseline`, for tables with many rows: the compiled simplex method on a dictionary
  of all constraints and features.
- :class:`ColumnGenerationBaseline`, for tables with many features: an l1-regularized model uses no
  more features than there are constraints, and often far fewer. The LP starts with a few features.
  Features with negative reduced cost at its solution are added until there are none.

:class:`L1Baseline` chooses between them, and verifies the solutions of the first by their duality
gap.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import StartingVertex, baseline_program
from ..programs.hinge import HingeRows
from .highs import HighsModel
from .simplex import dictionary_state, simplex_data

# The simplex method is used if there are at most this many features, or no more features than
# constraints. Otherwise, column generation is faster. Dictionaries with more than MAX_CELLS cells
# are too large.
SIMPLEX_UP_TO = 400
MAX_CELLS = 50_000_000

# Maximum number of pivots.
MAX_PIVOTS = 100_000

# Up to this number of features, column generation starts with all of them.
ALL_COLUMNS_UP_TO = 400

# Number of initial features, and maximum number of features added per round.
COLUMNS_PER_ROUND = 100

# Features are added if their reduced cost is below minus this; the norm price is 1.
REDUCED_COST_TOL = 1e-9

# Largest violation of hard constraints, and largest duality gap relative to the objective value.
VIOLATION_TOL = 1e-9
GAP_TOL = 1e-8


class SimplexBaseline:
    """Baseline solver by the simplex method, started at the zero model.

    The zero model can violate hard constraints. These get a finite weight, large enough that the
    optimum satisfies them (exact penalty).
    """

    def __init__(self, rows: HingeRows, deadline: Deadline = NO_DEADLINE) -> None:
        n, d, k = rows.n_rows, rows.n_weights, rows.n_offsets
        table = rows.table.toarray() if sp.issparse(rows.table) else rows.table
        self._rows, self._deadline = rows, deadline
        finite = replace(rows, weight=finite_weights(rows))
        self._data = simplex_data(finite, d, budgets=(), prices=np.zeros(2))
        self._state = dictionary_state(
            self._data,
            T=np.hstack([table, rows.offset_table]),
            value=rows.target.copy(),
            basis=d + k + np.arange(n),
            nonbasic=np.arange(d + k),
        )

    def solve(self, C: float) -> StartingVertex | None:
        """Return the minimizer of ``|w|_1 + C * loss``, or None if the simplex method failed."""
        from ...native.simplex import OPTIMAL, minimize

        found = minimize(self._state, self._data, 1.0, C, MAX_PIVOTS, self._deadline.check)
        if found.status != OPTIMAL:
            return None
        return StartingVertex(found.coef, found.offset, found.multipliers, self._rows)


def finite_weights(rows: HingeRows) -> Vector:
    """Return the weights of the constraints in the loss, with finite weights for hard constraints.

    The weight of a hard constraint is twice an upper bound on its dual variable. Dual
    feasibility requires ``multipliers @ offset_table = 0``, so the dual variables of the soft
    constraints bound those of the hard constraints.
    """
    max_coefficient = np.abs(rows.offset_table).max(axis=1, initial=1.0)
    return np.where(rows.is_hard, 2.0 * (rows.weight_in_loss @ max_coefficient), rows.weight)


class ColumnGenerationBaseline:
    """Baseline solver by column generation with HiGHS, for tables with many features.

    One product with the table gives all reduced costs.
    """

    def __init__(self, rows: HingeRows, deadline: Deadline = NO_DEADLINE) -> None:
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
        self._highs = HighsModel(program, deadline)
        self._n_columns = program.n_columns

    def solve(self, C: float) -> StartingVertex:
        self._highs.change_cost(self._slack, C * self._rows.weight_in_loss)
        what = f"the l1-regularized problem at C={C:g}"
        solution = self._highs.solve(what)
        while (entering := self._entering_features(solution.row_dual)).size:
            self._add_features(entering)
            solution = self._highs.solve(what)
        coef = np.zeros(self._rows.n_weights)
        positive, negative = solution.point[self._columns]
        coef[self._features] = positive - negative
        return StartingVertex(coef, solution.point[self._offset], solution.row_dual, self._rows)

    def _first_features(self) -> NDArray[np.intp]:
        """Return all features if there are few, else those with the largest absolute column sums.

        The rows are weighted as in the loss; hard constraints have weight 1.
        """
        rows = self._rows
        if rows.n_weights <= ALL_COLUMNS_UP_TO:
            return np.arange(rows.n_weights)
        sums = np.abs(rows.row_combination(np.where(rows.is_hard, 1.0, rows.weight)))
        return np.argpartition(-sums, COLUMNS_PER_ROUND)[:COLUMNS_PER_ROUND]

    def _entering_features(self, multipliers: Vector) -> NDArray[np.intp]:
        """Return the features to add: those with the most negative reduced costs, or none."""
        combination = np.abs(self._rows.row_combination(multipliers))
        combination[self._features] = 0.0
        entering = np.flatnonzero(combination > 1.0 + REDUCED_COST_TOL)
        if len(entering) > COLUMNS_PER_ROUND:
            order = np.argpartition(-combination[entering], COLUMNS_PER_ROUND)
            entering = entering[order[:COLUMNS_PER_ROUND]]
        return entering

    def _add_features(self, features: NDArray[np.intp]) -> None:
        table = sp.csc_array(self._rows.table[:, features])
        n_new = 2 * len(features)
        self._highs.add_columns(sp.hstack([table, -table], format="csc"), np.ones(n_new))
        columns = self._n_columns + np.arange(n_new).reshape(2, -1)
        self._columns = np.hstack([self._columns, columns])
        self._n_columns += n_new
        self._features = np.concatenate([self._features, features])


class L1Baseline:
    """Baseline solver that chooses between the simplex method and column generation.

    The simplex method is used if the table is not too large and does not have too many features.
    Column generation is also the fallback if the simplex method fails.
    """

    def __init__(self, rows: HingeRows, deadline: Deadline = NO_DEADLINE) -> None:
        self._rows, self._deadline = rows, deadline
        has_few_features = rows.n_weights <= max(SIMPLEX_UP_TO, rows.n_rows)
        is_small = rows.n_rows * rows.n_weights <= MAX_CELLS
        self._simplex: SimplexBaseline | None = None
        if has_few_features and is_small:
            self._simplex = SimplexBaseline(rows, deadline)

    def solve(self, C: float) -> StartingVertex:
        if self._simplex is not None:
            solution = self._simplex.solve(C)
            if solution is not None and relative_gap(self._rows, C, solution) <= GAP_TOL:
                return solution
        return self._column_generation.solve(C)

    @cached_property
    def _column_generation(self) -> ColumnGenerationBaseline:
        return ColumnGenerationBaseline(self._rows, self._deadline)


def relative_gap(rows: HingeRows, C: float, solution: StartingVertex) -> float:
    """Return the duality gap of a solution, relative to its objective value.

    Dual variables are feasible if each is between 0 and C times the weight of its constraint,
    ``|multipliers @ table| <= 1`` and ``multipliers @ offset_table = 0``. Then
    ``multipliers . target`` is a lower bound on the optimum. Violations of dual feasibility count
    as gaps. The gap is infinite if the solution violates a hard constraint.
    """
    coef, offset, multipliers = solution.coef, solution.offset, solution.multipliers
    if rows.violation(coef[None], offset[None])[0] > VIOLATION_TOL:
        return np.inf
    value = np.abs(coef).sum() + C * rows.loss(coef[None], offset[None])[0]
    if value == 0.0:
        return 0.0  # no model has a smaller norm or loss
    combination = np.abs(rows.row_combination(multipliers)).max(initial=0.0)
    scale = max(1.0, combination, (multipliers / rows.weight).max() / C)
    gaps = [
        1.0 - multipliers @ rows.target / scale / value,
        -multipliers.min() / C,
        np.abs(multipliers @ rows.offset_table).max(initial=0.0) / (C * rows.weight_in_loss.sum()),
    ]
    return float(max(gaps)) if np.isfinite(gaps).all() else np.inf
