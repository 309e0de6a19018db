"""Vertices of the l1-regularized problem, and the simplex dictionaries that describe them.

:class:`Vertex` factorizes the basis of a vertex, and :class:`Dictionary` is its dictionary, from
which :mod:`allrelevant.native.simplex` solves LPs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, qr

from ..._typing import Matrix, Table, Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import Budget, StartingVertex
from ..programs.hinge import HingeRows
from .interface import Extreme, ExtremeSolutions, NotAVertexError, Objectives

if TYPE_CHECKING:
    from ...native.simplex import DictionaryState, SimplexData

# Largest absolute slack of an active constraint.
ACTIVE_TOL = 1e-7

# Maximum number of pivots per extreme.
MAX_PIVOTS = 20_000

# Dictionary cells per call, over all extremes, which limits the memory for their columns.
CELLS_PER_CALL = 2_000_000


class Vertex:
    """Vertex of the l1-regularized problem, with its active constraints and factorized basis.

    The number of active constraints equals the number of nonzero weights and offsets, which they
    determine. The basic variables are, in this order, the nonzero weights, the offsets and the
    slack variables of the inactive constraints. The nonbasic variables are the other weights and
    the slack variables of the active constraints.
    """

    def __init__(self, rows: HingeRows, used: NDArray[np.intp], active: NDArray[np.intp]) -> None:
        self.rows, self.used, self.active = rows, used, active
        self.inactive = np.setdiff1d(np.arange(rows.n_rows), active)
        block = np.hstack([_dense(rows.table[:, used]), rows.offset_table])
        self._factors = lu_factor(block[active])
        self._inactive_block = block[self.inactive]

    @classmethod
    def of_model(cls, rows: HingeRows, coef: Vector, offset: Vector) -> Self:
        """Return the vertex of a model; raise :class:`NotAVertexError` if it is not a vertex."""
        used, slack = np.flatnonzero(coef), rows.slack(coef[None], offset[None])[0]
        return cls(rows, used, _independent_active_rows(rows, used, slack))

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
