"""Solvers for the l1-regularized problem, ``min |w|_1 + C * loss``, and its dual problem.

Two methods solve it for successive values of C, each warm-started from the last solution:

- :class:`SimplexBaseline`: the compiled simplex method on a dictionary of all constraints.
- :class:`ColumnGenerationBaseline`: HiGHS, for very large tables and as a fallback.

If there are more features than constraints, both use column generation. An l1-regularized model
uses no more features than there are constraints, and often far fewer. The LP starts with a few
features. Features with negative reduced cost at its solution are added until there are none.

:class:`L1Baseline` chooses between the methods, and verifies the solutions of the first by their
duality gap.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property
from typing import TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, LinAlgWarning

from ..._typing import Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import StartingVertex, baseline_program
from ..programs.hinge import HingeRows
from .dictionary import Vertex, append_features, dictionary_state, simplex_data, take_columns
from .highs import HighsModel

# The dictionary starts with all features if there are at most this many, or no more features than
# constraints. A dictionary with more than MAX_CELLS cells at the start is too large.
ALL_FEATURES_UP_TO = 400
MAX_CELLS = 50_000_000

# Maximum number of pivots.
MAX_PIVOTS = 100_000

# Otherwise, number of initial features, and maximum number of features added per round, which is
# larger if half as many features as are present exceed it. After a
# solve, unused features stay if their ``multipliers @ table`` is at least KEPT_COMBINATION, where
# 1 is the norm price.
COLUMNS_PER_ROUND = 100
KEPT_COMBINATION = 0.7

# Features are added if their reduced cost is below minus this; the norm price is 1.
REDUCED_COST_TOL = 1e-9

# Largest violation of hard constraints, and largest duality gap relative to the objective value.
VIOLATION_TOL = 1e-9
GAP_TOL = 1e-8


class SimplexBaseline:
    """Baseline solver by the simplex method, started at the zero model.

    The dictionary contains the given features. Others are added to it when their reduced cost is
    negative; one product with the table gives all reduced costs. The zero model can violate hard
    constraints. These get a finite weight, large enough that the optimum satisfies them (exact
    penalty).
    """

    def __init__(
        self, rows: HingeRows, features: NDArray[np.intp], deadline: Deadline = NO_DEADLINE
    ) -> None:
        n, d, k = rows.n_rows, rows.n_weights, rows.n_offsets
        self._rows, self._deadline = rows, deadline
        finite = replace(rows, weight=finite_weights(rows))
        self._data = simplex_data(finite, d, budgets=(), prices=np.zeros(2))
        self._state = dictionary_state(
            self._data,
            T=np.hstack([rows.columns(features), rows.offset_table]),
            value=rows.target.copy(),
            basis=d + k + np.arange(n),
            nonbasic=np.concatenate([features, np.arange(d, d + k)]),
        )
        self._is_inside = np.zeros(d, dtype=bool)
        self._is_inside[features] = True

    def solve(self, C: float) -> StartingVertex | None:
        """Return the minimizer of ``|w|_1 + C * loss``, or None if the simplex method failed."""
        from ...native.simplex import OPTIMAL, minimize

        while True:
            found = minimize(self._state, self._data, 1.0, C, MAX_PIVOTS, self._deadline.check)
            if found.status != OPTIMAL:
                return None
            if self._is_inside.all():
                break
            combination = np.abs(self._rows.row_combination(found.multipliers))
            entering = entering_features(combination, self._is_inside)
            if len(entering) == 0:
                self._remove_features(combination < KEPT_COMBINATION)
                break
            self._state = append_features(
                self._state, self._data, entering, self._rows.columns(entering)
            )
            self._is_inside[entering] = True
        return StartingVertex(found.coef, found.offset, found.multipliers, self._rows)

    def refactor(self) -> bool:
        """Recompute the dictionary from its basis, to remove accumulated rounding errors.

        Return whether this was possible: all offsets must be basic, and the basis regular.
        """
        rows, state = self._rows, self._state
        d, first_row = rows.n_weights, rows.n_weights + rows.n_offsets
        nonbasic = state.nonbasic
        if ((nonbasic >= d) & (nonbasic < first_row)).any():
            return False
        used = np.sort(state.basis[state.basis < d])
        active = np.sort(nonbasic[nonbasic >= first_row]) - first_row
        unused = nonbasic[nonbasic < d]
        try:
            with warnings.catch_warnings(action="error", category=LinAlgWarning):
                vertex = Vertex(rows, used, active)
        except (LinAlgWarning, LinAlgError):  # singular up to rounding
            return False
        self._state = dictionary_state(
            self._data,
            T=np.hstack([vertex.weight_columns(unused), vertex.slack_columns()]),
            value=vertex.values(),
            basis=np.concatenate([used, np.arange(d, first_row), first_row + vertex.inactive]),
            nonbasic=np.concatenate([unused, first_row + active]),
        )
        return True

    def _remove_features(self, is_far: NDArray[np.bool_]) -> None:
        """Remove nonbasic features with large reduced costs from the dictionary."""
        nonbasic = self._state.nonbasic
        removed = nonbasic < len(is_far)
        removed[removed] = is_far[nonbasic[removed]]
        self._is_inside[nonbasic[removed]] = False
        self._state = take_columns(self._state, ~removed)


def entering_features(combination: Vector, is_inside: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the features to add: those with the most negative reduced costs, or none.

    ``combination`` is the absolute value of ``multipliers @ table``, and the norm price is 1.
    """
    entering = np.flatnonzero((combination > 1.0 + REDUCED_COST_TOL) & ~is_inside)
    limit = max(COLUMNS_PER_ROUND, int(is_inside.sum()) // 2)
    if len(entering) > limit:
        entering = entering[np.argpartition(-combination[entering], limit)[:limit]]
    return entering


def first_features(rows: HingeRows) -> NDArray[np.intp]:
    """Return all features if there are few, else those with the largest absolute column sums.

    The rows are weighted as in the loss; hard constraints have weight 1.
    """
    if rows.n_weights <= max(ALL_FEATURES_UP_TO, COLUMNS_PER_ROUND):
        return np.arange(rows.n_weights)
    sums = np.abs(rows.row_combination(np.where(rows.is_hard, 1.0, rows.weight)))
    return np.argpartition(-sums, COLUMNS_PER_ROUND)[:COLUMNS_PER_ROUND]


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
        self._features = first_features(rows)
        self._is_inside = np.zeros(rows.n_weights, dtype=bool)
        self._is_inside[self._features] = True
        # HiGHS columns of the positive and of the negative part of each working feature.
        self._columns = np.arange(2 * len(self._features)).reshape(2, -1)
        table = rows.columns(self._features)
        working = HingeRows(table, rows.offset_table, rows.target, rows.weight)
        program = baseline_program(working, 0.0)
        self._offset, slack = program.blocks["offset"], program.blocks["slack"]
        self._slack = np.arange(slack.start, slack.stop, dtype=np.int32)
        self._highs = HighsModel(program, deadline)
        self._n_columns = program.n_columns

    def solve(self, C: float) -> StartingVertex:
        self._highs.change_cost(self._slack, C * self._rows.weight_in_loss)
        what = f"the l1-regularized problem at C={C:g}"
        solution = self._highs.solve(what)
        while True:
            combination = np.abs(self._rows.row_combination(solution.row_dual))
            entering = entering_features(combination, self._is_inside)
            if len(entering) == 0:
                break
            self._add_features(entering)
            solution = self._highs.solve(what)
        coef = np.zeros(self._rows.n_weights)
        positive, negative = solution.point[self._columns]
        coef[self._features] = positive - negative
        return StartingVertex(coef, solution.point[self._offset], solution.row_dual, self._rows)

    def _add_features(self, features: NDArray[np.intp]) -> None:
        table = sp.csc_array(self._rows.columns(features))
        n_new = 2 * len(features)
        self._highs.add_columns(sp.hstack([table, -table], format="csc"), np.ones(n_new))
        columns = self._n_columns + np.arange(n_new).reshape(2, -1)
        self._columns = np.hstack([self._columns, columns])
        self._n_columns += n_new
        self._features = np.concatenate([self._features, features])
        self._is_inside[features] = True


class L1Baseline:
    """Baseline solver by the simplex method, with HiGHS as a fallback.

    The dictionary starts with all features, unless there are many or more than constraints.
    Solutions are verified by their duality gap, relative to the objective value, which may be
    ``tol`` (at least :data:`GAP_TOL`). After many pivots, rounding errors can make it larger. The
    dictionary is then recomputed once.
    """

    def __init__(self, rows: HingeRows, deadline: Deadline = NO_DEADLINE, tol: float = 0.0) -> None:
        self._rows, self._deadline, self._tol = rows, deadline, max(tol, GAP_TOL)
        self._simplex: SimplexBaseline | None = None
        if rows.n_weights > max(ALL_FEATURES_UP_TO, rows.n_rows):
            features = first_features(rows)
        else:
            features = np.arange(rows.n_weights)
        if rows.n_rows * len(features) <= MAX_CELLS:
            self._simplex = SimplexBaseline(rows, features, deadline)

    def solve(self, C: float) -> StartingVertex:
        if self._simplex is not None:
            solution = self._simplex.solve(C)
            if self._is_accurate(solution, C):
                return solution
            if solution is not None and self._simplex.refactor():
                solution = self._simplex.solve(C)
                if self._is_accurate(solution, C):
                    return solution
        return self._column_generation.solve(C)

    def _is_accurate(self, solution: StartingVertex | None, C: float) -> TypeGuard[StartingVertex]:
        return solution is not None and relative_gap(self._rows, C, solution) <= self._tol

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
