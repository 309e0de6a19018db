"""Fast solver for largest and smallest weights: simplex method on a small dense dictionary.

The baseline is a vertex of the l1-regularized problem. :class:`Vertex` factorizes its basis, and
:class:`Dictionary` is its dictionary for :mod:`allrelevant.native.simplex`. :class:`SimplexSolver`
solves every LP from this vertex, over a working set of constraints and features. Row
generation adds constraints that a solution violates, and column generation adds features with
negative reduced cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, qr

from ..._typing import Matrix, Table, Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import Budget, EquivalentModels, StartingVertex
from ..programs.hinge import DISTANT_SLACK, HingeRows
from .interface import (
    EXACT_TOL,
    Extreme,
    ExtremeSolutions,
    NotAVertexError,
    Objectives,
    SolverStats,
    concatenate,
)
from .proofs import Certificates, largest_norm

if TYPE_CHECKING:
    from ...native.simplex import DictionaryState, SimplexData

# Largest absolute slack of an active constraint.
ACTIVE_TOL = 1e-7

# Largest violation of hard constraints by the start, relative to its norm.
VIOLATION_TOL = 1e-9

# Maximum number of pivots per extreme.
MAX_PIVOTS = 20_000

# Dictionary cells per call, over all extremes, which limits the memory for their columns.
CELLS_PER_CALL = 2_000_000

# Extremes in the first batch. Each further batch has twice as many. The first extremes add most of
# the constraints and features that are missing in the working set, so few are solved twice.
FIRST_BATCH = 8

# Largest slack of a solution in a constraint outside the working set.
SLACK_TOL = 1e-10

# Features are added if their reduced cost is below minus this, relative to the norm price.
REDUCED_COST_TOL = 1e-9

# Up to this number of features, all are in the working set. Above it, the working set starts with
# the features whose ``multipliers @ table`` at the baseline is at least NEARLY_USED in absolute
# value; it is 1, the norm price, for the features in use. At most MAX_NEARLY_USED features that are
# not in use are included.
ALL_FEATURES_UP_TO = 400
NEARLY_USED = 0.95
IN_USE = 1.0 - 1e-6
MAX_NEARLY_USED = 100

# Number of further features with the largest ``multipliers @ table`` at the baseline in the
# working set. These candidates enter the dictionary of an LP when they are needed. Features that
# are missing in a solution become candidates. Above twice their number, they are reset.
MAX_CANDIDATES = 1000

# Maximum number of features added per solution.
FEATURES_PER_SOLUTION = 100


class Vertex:
    """Vertex of the l1-regularized problem, with its active constraints and factorized basis.

    The number of active constraints equals the number of nonzero weights and offsets, which they
    determine. The basic variables are, in this order, the nonzero weights, the offsets and the
    slack variables of the inactive constraints. The nonbasic variables are the other weights and
    the slack variables of the active constraints.
    """

    def __init__(self, rows: HingeRows, coef: Vector, offset: Vector) -> None:
        self.rows = rows
        self.used = np.flatnonzero(coef)
        self.active = _independent_active_rows(
            rows, self.used, rows.slack(coef[None], offset[None])[0]
        )
        self.inactive = np.setdiff1d(np.arange(rows.n_rows), self.active)
        block = np.hstack([_dense(rows.table[:, self.used]), rows.offset_table])
        self._factors = lu_factor(block[self.active])
        self._inactive_block = block[self.inactive]

    def values(self) -> Vector:
        """Return the values of the basic variables."""
        target = self.rows.target[:, None]
        return self._dictionary_columns(target[self.active], target[self.inactive])[:, 0]

    def weight_columns(self, features: NDArray[np.intp]) -> Matrix:
        """Return the dictionary columns of the given features' weights, which must be nonbasic."""
        table = _dense(self.rows.table[:, features])
        return self._dictionary_columns(table[self.active], table[self.inactive])

    def slack_columns(self) -> Matrix:
        """Return the dictionary columns of the active constraints' slack variables."""
        n_active = len(self.active)
        return self._dictionary_columns(np.eye(n_active), np.zeros((len(self.inactive), n_active)))

    def _dictionary_columns(self, active_part: Matrix, inactive_part: Matrix) -> Matrix:
        """Transform columns of the constraint matrix to columns of the dictionary."""
        structural = lu_solve(self._factors, active_part)
        return np.vstack([structural, inactive_part - self._inactive_block @ structural])


def _independent_active_rows(
    rows: HingeRows, used: NDArray[np.intp], slack: Vector
) -> NDArray[np.intp]:
    """Return independent active constraints that determine the nonzero weights and the offsets."""
    candidates = np.flatnonzero(np.abs(slack) <= ACTIVE_TOL)
    n_needed = len(used) + rows.n_offsets
    if n_needed == 0:
        return np.empty(0, dtype=np.intp)
    if len(candidates) < n_needed:
        raise NotAVertexError(
            f"A vertex requires {n_needed} active constraints (got {len(candidates)}). Use "
            "HighsSolver."
        )
    block = np.hstack([_dense(rows.table[candidates][:, used]), rows.offset_table[candidates]])
    triangle, order = qr(block.T, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    if size[n_needed - 1] <= 1e-9 * max(1.0, size[0]):
        raise NotAVertexError("The active constraints do not determine the model. Use HighsSolver.")
    return np.sort(candidates[order[:n_needed]])


def _dense(table: Table) -> Matrix:
    return table.toarray() if sp.issparse(table) else table


class Dictionary:
    """Simplex dictionary of a vertex, from which every LP is solved.

    Its weights are those in use, then those of the other ``features``, then those of the
    ``candidates``, then a placeholder for a further feature whose weight is maximized. Candidates
    enter the dictionary of an LP when their reduced cost is negative. ``prices``, of shape (2,),
    are the prices of norm and loss at which the vertex is optimal.
    """

    def __init__(
        self,
        vertex: Vertex,
        features: NDArray[np.intp],
        budgets: Sequence[Budget],
        prices: Vector,
        candidates: NDArray[np.intp] | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self._deadline = deadline
        unused = np.setdiff1d(features, vertex.used)
        self._vertex = vertex
        inside = np.concatenate([vertex.used, unused])
        outside = np.setdiff1d(() if candidates is None else candidates, inside).astype(np.intp)
        self._features = np.concatenate([inside, outside])
        n_weights = len(self._features) + 1
        # Candidates are maximized in the place of the placeholder.
        self._place = np.full(vertex.rows.n_weights, n_weights - 1)
        self._place[inside] = np.arange(len(inside))
        self._candidate = np.full(vertex.rows.n_weights, -1)
        self._candidate[outside] = np.arange(len(outside))
        self._candidate_columns = np.ascontiguousarray(vertex.weight_columns(outside).T)
        first_row = n_weights + vertex.rows.n_offsets
        value = vertex.values()
        self._data = simplex_data(vertex.rows, n_weights, budgets, prices)
        self._state = dictionary_state(
            self._data,
            T=np.hstack(
                [vertex.weight_columns(unused), vertex.slack_columns(), np.zeros((len(value), 1))]
            ),
            value=value,
            basis=np.concatenate(
                [
                    np.arange(len(vertex.used)),
                    np.arange(n_weights, first_row),
                    first_row + vertex.inactive,
                ]
            ),
            nonbasic=np.concatenate(
                [
                    np.arange(len(vertex.used), len(inside)),
                    first_row + vertex.active,
                    [n_weights - 1],
                ]
            ),
        )

    @property
    def extremes_per_call(self) -> int:
        return max(1, CELLS_PER_CALL // self._state.T.size)

    def solve(self, extremes: Sequence[Extreme]) -> tuple[ExtremeSolutions, int]:
        """Solve an LP for each largest or smallest weight; return solutions and number of pivots.

        All LPs start from this vertex. The weights are NaN where the solver failed.
        """
        from ...native.simplex import OPTIMAL, solve_extremes

        rows = self._vertex.rows
        n, n_weights = len(extremes), self._data.n_weights
        objectives = Objectives.from_extremes(extremes)
        place = self._place[objectives.weights]
        entries = np.flatnonzero(place == n_weights - 1)
        absent, features = objectives.rows[entries], objectives.weights[entries]
        columns = np.zeros((n, len(self._state.value)))
        excluded = np.full(n, -1)
        if len(absent):
            columns[absent] = self._vertex.weight_columns(features).T
            excluded[absent] = self._candidate[features]
        found = solve_extremes(
            self._state,
            self._data,
            objectives.starts,
            place,
            objectives.gains,
            columns,
            self._candidate_columns,
            excluded,
            MAX_PIVOTS,
            self._deadline.check,
        )
        coef = np.zeros((n, rows.n_weights))
        coef[:, self._features] = found.coef[:, :-1]
        coef[absent, features] = found.coef[absent, -1]
        coef[found.status != OPTIMAL] = np.nan
        return ExtremeSolutions(coef, found.offset, found.multipliers), found.pivots

    def minimize(self, C: float) -> StartingVertex | None:
        """Minimize ``|w|_1 + C * loss``. Return the solution, or None if the solver failed.

        This modifies the dictionary, which can then no longer be used by ``solve``.
        """
        from ...native.simplex import OPTIMAL, minimize

        rows = self._vertex.rows
        found = minimize(self._state, self._data, 1.0, C, MAX_PIVOTS, self._deadline.check)
        coef = np.zeros(rows.n_weights)
        coef[self._features] = found.coef[:-1]
        if found.status != OPTIMAL:
            return None
        return StartingVertex(coef, found.offset, found.multipliers, rows)


def simplex_data(
    rows: HingeRows, n_weights: int, budgets: Sequence[Budget], prices: Vector
) -> SimplexData:
    """Convert constraints and budgets to the arrays that the compiled simplex code requires."""
    from ...native.simplex import SimplexData

    limits = [(b.norm_coefficient, b.loss_coefficient, b.limit) for b in budgets]
    return SimplexData(
        n_weights, rows.n_offsets, rows.weight, np.array(limits).reshape(-1, 3), prices
    )


def dictionary_state(
    data: SimplexData,
    T: Matrix,
    value: Vector,
    basis: NDArray[np.intp],
    nonbasic: NDArray[np.intp],
) -> DictionaryState:
    """Convert a simplex dictionary to the arrays that the compiled simplex code requires."""
    from ...native.simplex import DictionaryState, initialize

    n_columns, first_row = T.shape[1], data.n_weights + data.n_offsets
    is_positive = value > 0
    is_slack = basis >= first_row  # a hard constraint is satisfied up to rounding
    is_positive[is_slack] &= np.isfinite(data.row_weight[basis[is_slack] - first_row])
    state = DictionaryState(
        T=np.ascontiguousarray(T),
        value=value,
        perturbed=value.copy(),
        side=np.where(is_positive, 1.0, -1.0),
        basis=basis.astype(np.int64),
        nonbasic=nonbasic.astype(np.int64),
        norm=np.empty(n_columns),
        loss=np.empty(n_columns),
        edge_norm2=np.empty(n_columns),
    )
    initialize(state, data)
    return state


def append_features(
    state: DictionaryState, data: SimplexData, features: NDArray[np.intp], table: Matrix
) -> DictionaryState:
    """Append features to a dictionary that was started at the zero model.

    ``table``, of shape (n_rows, k), has the columns of the features at the zero model, where all
    slack variables are basic. The current column of a slack variable is a column of the dictionary,
    or a unit vector.
    """
    first_row = data.n_weights + data.n_offsets
    is_slack, is_basic_slack = state.nonbasic >= first_row, state.basis >= first_row
    columns = state.T[:, is_slack] @ table[state.nonbasic[is_slack] - first_row]
    rows_of_slack = state.basis[is_basic_slack] - first_row
    columns[is_basic_slack] += table[rows_of_slack]
    loss_weight = np.zeros(len(state.basis))
    loss_weight[is_basic_slack] = data.row_weight[rows_of_slack] * (state.side[is_basic_slack] > 0)
    side = np.where(state.basis < data.n_weights, state.side, 0.0)
    return replace(
        state,
        T=np.hstack([state.T, columns]),
        nonbasic=np.concatenate([state.nonbasic, features]),
        norm=np.concatenate([state.norm, side @ columns]),
        loss=np.concatenate([state.loss, loss_weight @ columns]),
        edge_norm2=np.concatenate([state.edge_norm2, 1.0 + (columns**2).sum(axis=0)]),
    )


def take_columns(state: DictionaryState, columns: NDArray[np.bool_]) -> DictionaryState:
    """Return a dictionary that contains only the given nonbasic variables."""
    return replace(
        state,
        T=np.ascontiguousarray(state.T[:, columns]),
        nonbasic=state.nonbasic[columns],
        norm=state.norm[columns],
        loss=state.loss[columns],
        edge_norm2=state.edge_norm2[columns],
    )


class SimplexSolver:
    """Simplex solver for largest and smallest weights, with a working set.

    The working set consists of constraints and features. Every LP is solved from the starting point
    of the set. :class:`NotAVertexError` is raised if the start is not a vertex. ``active_rows`` are
    constraints to include in the working set, in addition to those that are nearly active at the
    start. ``tol`` is the gap that solutions may have because of missing features, relative to the
    largest norm in the set.
    """

    is_reference = False

    def __init__(
        self,
        models: EquivalentModels,
        active_rows: NDArray[np.intp] | Sequence[int] = (),
        tol: float = EXACT_TOL,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        if models.start is None:
            raise NotAVertexError("No feasible starting point is available. Use HighsSolver.")
        self.models, self._start, self._deadline = models, models.start, deadline
        self._allowed_gap = tol * largest_norm(models) if tol > EXACT_TOL else 0.0
        rows, coef, offset = models.rows, models.start.coef, models.start.offset
        combination = np.abs(rows.row_combination(self._start.multipliers))
        # Prices of norm and loss at which the start is optimal.
        self._prices = np.array([combination.max(), (self._start.multipliers / rows.weight).max()])
        violation = rows.violation(coef[None], offset[None])[0]
        if violation > VIOLATION_TOL * (1.0 + np.abs(coef).sum()):
            raise NotAVertexError("The starting point violates hard constraints. Use HighsSolver.")
        is_near = rows.slack(coef[None], offset[None])[0] > -DISTANT_SLACK
        is_near[np.asarray(active_rows, dtype=np.intp)] = True
        self._rows = np.flatnonzero(is_near)
        self._features = nearly_used_features(combination)
        self._candidates = self._first_candidates = likely_features(
            combination, len(self._features)
        )
        self._dictionary = self._new_dictionary()
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        self._reset_features()
        parts, start, size = [], 0, FIRST_BATCH
        while start < len(extremes):
            parts.append(self._solve_batch(extremes[start : start + size]))
            start, size = start + size, 2 * size
        return concatenate(parts)

    def _solve_batch(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        """Solve a batch of LPs and extend the working set until no extension is needed."""
        self._add_features_of(extremes)
        solutions = self._solve(extremes)
        again = self._extend_working_set(extremes, solutions)
        while len(again):
            self._deadline.check()
            self._dictionary = self._new_dictionary()
            repeated = [extremes[int(e)] for e in again]
            solutions = solutions.with_replaced(again, self._solve(repeated))
            again = again[self._extend_working_set(repeated, solutions.take(again))]
        return solutions

    def _add_features_of(self, extremes: Sequence[Extreme]) -> None:
        """Add the weights of functions of several weights to the working set.

        A single weight may be absent, because the dictionary has a placeholder for one.
        """
        weights = [extreme.weights for extreme in extremes if len(extreme.weights) > 1]
        missing = np.setdiff1d(np.array([w for each in weights for w in each]), self._features)
        if len(missing):
            self._features = np.union1d(self._features, missing.astype(np.intp))
            self._dictionary = self._new_dictionary()

    def _reset_features(self) -> None:
        """Reset the candidates to the initial ones if there are too many."""
        if len(self._candidates) > 2 * max(MAX_CANDIDATES, len(self._first_candidates)):
            self._candidates = self._first_candidates
            self._dictionary = self._new_dictionary()

    def _new_dictionary(self) -> Dictionary:
        """Return the dictionary of the starting vertex for the current working set."""
        rows = self.models.rows.take(self._rows)
        vertex = Vertex(rows, self._start.coef, self._start.offset)
        return Dictionary(
            vertex,
            self._features,
            self.models.budgets,
            self._prices,
            self._candidates,
            self._deadline,
        )

    def _solve(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        dictionary, size = self._dictionary, self._dictionary.extremes_per_call
        parts = [dictionary.solve(extremes[i : i + size]) for i in range(0, len(extremes), size)]
        self.effort.programs += len(extremes)
        self.effort.pivots += sum(pivots for _, pivots in parts)
        solutions = concatenate([part for part, _ in parts])
        multipliers = np.zeros((len(extremes), self.models.rows.n_rows))
        multipliers[:, self._rows] = solutions.multipliers
        return ExtremeSolutions(solutions.coef, solutions.offset, multipliers)

    def _extend_working_set(
        self, extremes: Sequence[Extreme], solutions: ExtremeSolutions
    ) -> NDArray[np.intp]:
        """Add violated constraints, and features with negative reduced cost, to the working set.

        Return the indices of the solutions concerned, which must be solved again.
        """
        # HiGHS solves these extremes later.
        unsolved = np.flatnonzero(~np.isfinite(solutions.coef).all(axis=1))
        is_violated = self.models.rows.slack(solutions.coef, solutions.offset) > SLACK_TOL
        is_violated[:, self._rows] = False
        is_violated[unsolved] = False
        missing = {
            e: features
            for e, features in self._entering_features(extremes, solutions)
            if e not in unsolved
        }
        if self._allowed_gap > 0:
            for e in self._accurate(extremes, solutions, sorted(missing)):
                del missing[e]
        self._rows = np.union1d(self._rows, np.flatnonzero(is_violated.any(axis=0)))
        self._candidates = reduce(np.union1d, missing.values(), self._candidates)
        return np.union1d(np.flatnonzero(is_violated.any(axis=1)), sorted(missing)).astype(np.intp)

    def _accurate(
        self, extremes: Sequence[Extreme], solutions: ExtremeSolutions, which: Sequence[int]
    ) -> list[int]:
        """Return those of the given solutions whose certified gap is at most the allowed one."""
        if not which:
            return []
        objectives = Objectives.from_extremes([extremes[e] for e in which])
        certificates = Certificates(self.models, solutions.multipliers[which])
        attained = objectives.signs * objectives.values(solutions.coef[which])
        gap = certificates.maxima(objectives) - attained
        return [e for e, is_small in zip(which, gap <= self._allowed_gap, strict=True) if is_small]

    def _entering_features(
        self, extremes: Sequence[Extreme], solutions: ExtremeSolutions
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield pairs of a solution index and the features with negative reduced cost for it."""
        combination = self.models.rows.row_combination(solutions.multipliers)
        np.abs(combination, out=combination)
        objectives = Objectives.from_extremes(extremes)
        combination[objectives.rows, objectives.weights] = 0.0
        used = np.flatnonzero(self._start.coef)
        working = reduce(np.union1d, [self._features, self._candidates, used])
        norm_price = combination[:, working].max(axis=1, initial=0.0)
        combination[:, working] = 0.0
        limit = norm_price * (1 + REDUCED_COST_TOL) + REDUCED_COST_TOL
        for e in np.flatnonzero(combination.max(axis=1, initial=0.0) > limit):
            features = np.flatnonzero(combination[e] > limit[e])
            if len(features) > FEATURES_PER_SOLUTION:
                order = np.argpartition(-combination[e, features], FEATURES_PER_SOLUTION)
                features = features[order[:FEATURES_PER_SOLUTION]]
            yield int(e), features


def nearly_used_features(combination: Vector) -> NDArray[np.intp]:
    """Return the features with small reduced cost at the baseline; if there are few, all features.

    Equivalent models are likely to use these. ``combination``, of shape (d,), is the absolute value
    of ``multipliers @ table`` at the baseline, which is 1 for features in use.
    """
    if len(combination) <= ALL_FEATURES_UP_TO:
        return np.arange(len(combination))
    n_used = int((combination >= IN_USE).sum())
    n_nearly = min(int((combination >= NEARLY_USED).sum()), n_used + MAX_NEARLY_USED)
    return _largest(combination, n_nearly)


def likely_features(combination: Vector, n_features: int) -> NDArray[np.intp]:
    """Return the candidates, given the number of features that are in the dictionary anyway."""
    return _largest(combination, min(len(combination), n_features + MAX_CANDIDATES))


def _largest(values: Vector, n: int) -> NDArray[np.intp]:
    """Return the indices of the n largest values in ascending order; ties favor the first."""
    return np.sort(np.argsort(-values, kind="stable")[:n])
