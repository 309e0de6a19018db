"""The fast solver of extremes: the simplex method on a small dense dictionary.

The baseline is a vertex of the l1-regularized problem. :class:`Vertex` factorizes it,
:class:`Dictionary` lays it out for :mod:`allrelevant.native.simplex`, and :class:`SimplexSolver`
solves every extreme from there, over the rows and features that matter: others are added when a
solution violates a row that was left out, or when a feature that was left out has a negative
reduced cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, qr

from ..._typing import Matrix, Table, Vector
from ..programs.equivalent_models import Budget, EquivalentModels, StartingVertex
from ..programs.hinge import DISTANT_SLACK, HingeRows
from .interface import Extreme, ExtremeSolutions, NotAVertexError, SolverStats, concatenate

if TYPE_CHECKING:
    from ...native.simplex import DictionaryState, SimplexData

# A row with less slack than this, on either side, is active at a vertex.
ACTIVE_TOL = 1e-7

# How far the start may violate hard rows, relative to its norm.
VIOLATION_TOL = 1e-9

# Pivots after which an extreme counts as not solved.
MAX_PIVOTS = 20_000

# Cells of all dictionaries of one call. Compiled code cannot be interrupted from the keyboard.
CELLS_PER_CALL = 2_000_000

# Extremes in the first batch; each further batch has twice as many. The rows and features that the
# first ones miss are those that others would miss as well.
FIRST_BATCH = 8

# How much slack a solution may need in a row that was left out.
SLACK_TOL = 1e-10

# By how much a reduced cost must be negative for a feature to be added, relative to the norm price.
REDUCED_COST_TOL = 1e-9

# With no more features than this, all are working features. Else those at which the multipliers of
# the baseline come at least this close to the norm price, which is 1.
ALL_FEATURES_UP_TO = 400
NEARLY_USED = 0.95

# The most features that one solution adds, and the number of working features above which they are
# reduced to those of the start.
FEATURES_PER_SOLUTION = 20
RESET_WORKING_SET_ABOVE = 1000


class Vertex:
    """A vertex of the l1-regularized problem.

    As many rows are active as there are weights in use and offsets, and determine both. So the
    basic variables are, in order, the weights in use, the offsets and the slacks of the inactive
    rows; nonbasic are the other weights and the slacks of the active rows.
    """

    def __init__(self, rows: HingeRows, coef: Vector, offset: Vector) -> None:
        self.rows = rows
        self.used = np.flatnonzero(coef)
        self.active = _determining_rows(rows, self.used, rows.slack(coef[None], offset[None])[0])
        self.inactive = np.setdiff1d(np.arange(rows.n_rows), self.active)
        block = np.hstack([_dense(rows.table[:, self.used]), rows.offset_table])
        self._factors = lu_factor(block[self.active])
        self._inactive_block = block[self.inactive]

    def values(self) -> Vector:
        """Values of the basic variables."""
        target = self.rows.target[:, None]
        return self._dictionary_columns(target[self.active], target[self.inactive])[:, 0]

    def weight_columns(self, features: NDArray[np.intp]) -> Matrix:
        """Dictionary columns of unused weights."""
        table = _dense(self.rows.table[:, features])
        return self._dictionary_columns(table[self.active], table[self.inactive])

    def slack_columns(self) -> Matrix:
        """Dictionary columns of the slacks of the active rows."""
        n_active = len(self.active)
        return self._dictionary_columns(np.eye(n_active), np.zeros((len(self.inactive), n_active)))

    def _dictionary_columns(self, active_part: Matrix, inactive_part: Matrix) -> Matrix:
        """Dictionary columns from columns of the rows."""
        structural = lu_solve(self._factors, active_part)
        return np.vstack([structural, inactive_part - self._inactive_block @ structural])


def _determining_rows(rows: HingeRows, used: NDArray[np.intp], slack: Vector) -> NDArray[np.intp]:
    """As many active rows as there are weights in use and offsets, that determine them."""
    candidates = np.flatnonzero(np.abs(slack) <= ACTIVE_TOL)
    n_needed = len(used) + rows.n_offsets
    if n_needed == 0:
        return np.empty(0, dtype=np.intp)
    if len(candidates) < n_needed:
        raise NotAVertexError(f"{len(candidates)} rows are active, {n_needed} are needed.")
    block = np.hstack([_dense(rows.table[candidates][:, used]), rows.offset_table[candidates]])
    triangle, order = qr(block.T, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    if size[n_needed - 1] <= 1e-9 * max(1.0, size[0]):
        raise NotAVertexError("The active rows do not determine the model.")
    return np.sort(candidates[order[:n_needed]])


def _dense(table: Table) -> Matrix:
    return table.toarray() if sp.issparse(table) else table


class Dictionary:
    """The dictionary of a vertex, from which every extreme is solved.

    Its weights are those in use, then those of the other working ``features``, then one place for
    the feature in question if it is none of these. ``prices`` are those of norm and loss, shape
    (2,), at which the vertex is optimal.
    """

    def __init__(
        self,
        vertex: Vertex,
        features: NDArray[np.intp],
        budgets: Sequence[Budget],
        prices: Vector,
    ) -> None:
        unused = np.setdiff1d(features, vertex.used)
        self._vertex = vertex
        self._features = np.concatenate([vertex.used, unused])
        self._place = np.full(vertex.rows.n_weights, len(self._features))
        self._place[self._features] = np.arange(len(self._features))
        n_weights = len(self._features) + 1
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
                    np.arange(len(vertex.used), n_weights - 1),
                    first_row + vertex.active,
                    [n_weights - 1],
                ]
            ),
        )

    @property
    def extremes_per_call(self) -> int:
        return max(1, CELLS_PER_CALL // self._state.T.size)

    def solve(self, extremes: Sequence[Extreme]) -> tuple[ExtremeSolutions, int]:
        """Solve extremes, each from this vertex; also the number of pivots.

        The weights of an extreme that was not solved are not a number.
        """
        from ...native.simplex import OPTIMAL, solve_extremes

        rows = self._vertex.rows
        n, n_weights = len(extremes), self._data.n_weights
        features = np.array([extreme.feature for extreme in extremes])
        place = self._place[features]
        absent = np.flatnonzero(place == n_weights - 1)
        columns = np.zeros((n, len(self._state.value)))
        if len(absent):
            columns[absent] = self._vertex.weight_columns(features[absent]).T
        weights, status = np.zeros((n, n_weights)), np.empty(n, dtype=np.int64)
        offset, multipliers = np.zeros((n, rows.n_offsets)), np.zeros((n, rows.n_rows))
        pivots = solve_extremes(
            self._state,
            self._data,
            place,
            np.array([float(extreme.sign) for extreme in extremes]),
            MAX_PIVOTS,
            columns,
            weights,
            offset,
            multipliers,
            status,
        )
        coef = np.zeros((n, rows.n_weights))
        coef[:, self._features] = weights[:, :-1]
        coef[absent, features[absent]] = weights[absent, -1]
        coef[status != OPTIMAL] = np.nan
        return ExtremeSolutions(coef, offset, multipliers), pivots

    def minimize(self, C: float) -> StartingVertex | None:
        """The model of least ``|w|_1 + C * loss``, or None if it is not found.

        This changes the dictionary: no extremes can be solved from it any more.
        """
        from ...native.simplex import OPTIMAL, minimize

        rows = self._vertex.rows
        weights, offset = np.zeros(self._data.n_weights), np.zeros(rows.n_offsets)
        multipliers = np.zeros(rows.n_rows)
        status, _ = minimize(
            self._state, self._data, 1.0, C, MAX_PIVOTS, weights, offset, multipliers
        )
        coef = np.zeros(rows.n_weights)
        coef[self._features] = weights[:-1]
        return StartingVertex(coef, offset, multipliers, rows) if status == OPTIMAL else None


def simplex_data(
    rows: HingeRows, n_weights: int, budgets: Sequence[Budget], prices: Vector
) -> SimplexData:
    """Rows and budgets, for compiled code."""
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
    """A dictionary, for compiled code."""
    from ...native.simplex import DictionaryState, initialize

    n_columns, first_row = T.shape[1], data.n_weights + data.n_offsets
    is_positive = value > 0
    is_slack = basis >= first_row  # that of a hard row counts as met, whatever the rounding
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


class SimplexSolver:
    """Solves every extreme on a dictionary at the start, over working rows and features.

    Raises :class:`NotAVertexError` if the start of the set is no vertex. ``active_rows`` are rows
    that are known to matter, besides those that do at the start.
    """

    is_reference = False

    def __init__(
        self, models: EquivalentModels, active_rows: NDArray[np.intp] | Sequence[int] = ()
    ) -> None:
        if models.start is None:
            raise NotAVertexError("The set has no model to start from.")
        self.models, self._start = models, models.start
        rows, coef, offset = models.rows, models.start.coef, models.start.offset
        combination = np.abs(rows.row_combination(self._start.multipliers))
        # The prices of norm and loss at which the start is optimal.
        self._prices = np.array([combination.max(), (self._start.multipliers / rows.weight).max()])
        violation = rows.violation(coef[None], offset[None])[0]
        if violation > VIOLATION_TOL * (1.0 + np.abs(coef).sum()):
            raise NotAVertexError("The model to start from violates hard rows.")
        is_near = rows.slack(coef[None], offset[None])[0] > -DISTANT_SLACK
        is_near[np.asarray(active_rows, dtype=np.intp)] = True
        self._rows = np.flatnonzero(is_near)
        self._features = self._first_features = nearly_used_features(combination)
        self._dictionary = self._new_dictionary()
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        self._reduce_features()
        parts, start, size = [], 0, FIRST_BATCH
        while start < len(extremes):
            parts.append(self._solve_batch(extremes[start : start + size]))
            start, size = start + size, 2 * size
        return concatenate(parts)

    def _solve_batch(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        """Solve these extremes, repeatedly until no row and no feature is missing."""
        solutions = self._solve(extremes)
        again = self._add_missing(extremes, solutions)
        while len(again):
            self._dictionary = self._new_dictionary()
            repeated = [extremes[int(e)] for e in again]
            solutions = solutions.with_replaced(again, self._solve(repeated))
            again = again[self._add_missing(repeated, solutions.take(again))]
        return solutions

    def _reduce_features(self) -> None:
        """Forget the features that former extremes added, once there are many."""
        if len(self._features) > max(RESET_WORKING_SET_ABOVE, 2 * len(self._first_features)):
            self._features = self._first_features
            self._dictionary = self._new_dictionary()

    def _new_dictionary(self) -> Dictionary:
        """The dictionary at the start, from the data."""
        rows = self.models.rows.take(self._rows)
        vertex = Vertex(rows, self._start.coef, self._start.offset)
        return Dictionary(vertex, self._features, self.models.budgets, self._prices)

    def _solve(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        dictionary, size = self._dictionary, self._dictionary.extremes_per_call
        parts = [dictionary.solve(extremes[i : i + size]) for i in range(0, len(extremes), size)]
        self.effort.programs += len(extremes)
        self.effort.pivots += sum(pivots for _, pivots in parts)
        solutions = concatenate([part for part, _ in parts])
        multipliers = np.zeros((len(extremes), self.models.rows.n_rows))
        multipliers[:, self._rows] = solutions.multipliers
        return ExtremeSolutions(solutions.coef, solutions.offset, multipliers)

    def _add_missing(
        self, extremes: Sequence[Extreme], solutions: ExtremeSolutions
    ) -> NDArray[np.intp]:
        """Add the rows and features that solutions miss; the solutions that miss any."""
        # Extremes that were not solved are left to HiGHS.
        unsolved = np.flatnonzero(~np.isfinite(solutions.coef).all(axis=1))
        is_violated = self.models.rows.slack(solutions.coef, solutions.offset) > SLACK_TOL
        is_violated[:, self._rows] = False
        is_violated[unsolved] = False
        missing = {
            e: features
            for e, features in self._missing_features(extremes, solutions)
            if e not in unsolved
        }
        self._rows = np.union1d(self._rows, np.flatnonzero(is_violated.any(axis=0)))
        self._features = reduce(np.union1d, missing.values(), self._features)
        return np.union1d(np.flatnonzero(is_violated.any(axis=1)), sorted(missing)).astype(np.intp)

    def _missing_features(
        self, extremes: Sequence[Extreme], solutions: ExtremeSolutions
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Solutions under whose multipliers other features have negative reduced costs."""
        combination = self.models.rows.row_combination(solutions.multipliers)
        np.abs(combination, out=combination)
        combination[np.arange(len(extremes)), [extreme.feature for extreme in extremes]] = 0.0
        working = np.union1d(self._features, np.flatnonzero(self._start.coef))
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
    """Features that equivalent models are likely to use, since the baseline nearly does.

    ``combination`` is the size of ``multipliers @ table`` at the baseline, shape (d,): 1 where it
    uses the feature.
    """
    if len(combination) <= ALL_FEATURES_UP_TO:
        return np.arange(len(combination))
    return np.flatnonzero(combination >= NEARLY_USED)
