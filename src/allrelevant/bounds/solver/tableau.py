"""A dense simplex tableau over some of the features, as the kernel wants it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ..programs.equivalent_models import Budget, Start
from ..programs.hinge_rows import HingeRows
from .extremes import Extrema, Extreme
from .vertex import Vertex

if TYPE_CHECKING:
    from .kernel import Corner, Problem

# Pivots after which one extreme is given up.
_MOST_PIVOTS = 20_000

# Cells of all tableaus together that are worked on between two looks at the keyboard.
_CELLS_AT_A_TIME = 2_000_000


class Tableau:
    """The tableau of a vertex, from which every extreme is solved.

    Its weights are those of the features in use, then the other working features, then one spare
    place for the feature in question.

    Parameters
    ----------
    vertex : Vertex
    features : ndarray of int
        The features whose weights may become anything but zero, besides those in use already
        and the one in question.
    budgets : sequence of Budget
    prices : ndarray of shape (2,)
        Prices of norm and loss at which the vertex costs least.
    """

    def __init__(
        self,
        vertex: Vertex,
        features: NDArray[np.intp],
        budgets: Sequence[Budget],
        prices: Vector,
    ) -> None:
        self._vertex = vertex
        unused = np.setdiff1d(features, vertex.used)
        self._features = np.concatenate([vertex.used, unused])
        self._place = np.full(vertex.rows.n_weights, len(self._features))
        self._place[self._features] = np.arange(len(self._features))
        self._problem = make_problem(vertex.rows, len(self._features) + 1, budgets, prices)
        self._corner = self._make_corner(unused)

    @property
    def at_a_time(self) -> int:
        """How many extremes to solve in one go: compiled code cannot be interrupted."""
        return max(1, _CELLS_AT_A_TIME // self._corner.T.size)

    def solve(self, extremes: Sequence[Extreme]) -> tuple[Extrema, int]:
        """Solve extremes, each from this vertex; also, by how many pivots.

        What was not solved to the end is not a number.
        """
        from .kernel import OPTIMAL, solve_extremes

        rows = self._vertex.rows
        n, n_weights = len(extremes), self._problem.n_weights
        features = np.array([extreme.feature for extreme in extremes])
        place = self._place[features]
        found, status = np.zeros((n, n_weights)), np.empty(n, dtype=np.int64)
        offset, multipliers = np.zeros((n, rows.n_offsets)), np.zeros((n, rows.n_rows))
        pivots = solve_extremes(
            self._corner,
            self._problem,
            place,
            np.array([float(extreme.sign) for extreme in extremes]),
            _MOST_PIVOTS,
            self._columns_of_absent(features, place == n_weights - 1),
            found,
            offset,
            multipliers,
            status,
        )
        coef = np.zeros((n, rows.n_weights))
        coef[:, self._features] = found[:, :-1]
        absent = np.flatnonzero(place == n_weights - 1)
        coef[absent, features[absent]] = found[absent, -1]
        coef[status != OPTIMAL] = np.nan
        return Extrema(coef, offset, multipliers), pivots

    def cheapest(self, C: float) -> Start | None:
        """Walk from this vertex to the model of least ``|w|_1 + C * loss``; None if it has no end.

        The tableau stays where the walk ended: it is of no use for extremes after this.
        """
        from .kernel import OPTIMAL, minimize

        rows, n_weights = self._vertex.rows, self._problem.n_weights
        found, offset = np.zeros(n_weights), np.zeros(rows.n_offsets)
        multipliers = np.zeros(rows.n_rows)
        status, _ = minimize(
            self._corner, self._problem, 1.0, C, _MOST_PIVOTS, found, offset, multipliers
        )
        coef = np.zeros(rows.n_weights)
        coef[self._features] = found[:-1]
        return Start(coef, offset, multipliers, rows) if status == OPTIMAL else None

    def _columns_of_absent(self, features: NDArray[np.intp], absent: NDArray[np.bool_]) -> Matrix:
        """A column for the spare place, for each feature that has none of its own."""
        columns = np.zeros((len(features), len(self._corner.value)))
        if absent.any():
            columns[absent] = self._vertex.columns_of_weights(features[absent]).T
        return columns

    def _make_corner(self, unused: NDArray[np.intp]) -> Corner:
        vertex, problem = self._vertex, self._problem
        n_used, n_offsets = len(vertex.used), vertex.rows.n_offsets
        first_row = problem.n_weights + n_offsets
        value = vertex.values()
        return make_corner(
            problem,
            T=np.hstack(
                [
                    vertex.columns_of_weights(unused),
                    vertex.columns_of_shortfalls(),
                    np.zeros((len(value), 1)),
                ]
            ),
            value=value,
            basis=np.concatenate(
                [
                    np.arange(n_used),
                    problem.n_weights + np.arange(n_offsets),
                    first_row + vertex.rest,
                ]
            ),
            nonbasic=np.concatenate(
                [
                    np.arange(n_used, problem.n_weights - 1),
                    first_row + vertex.tight,
                    [problem.n_weights - 1],
                ]
            ),
        )


def make_problem(
    rows: HingeRows, n_weights: int, budgets: Sequence[Budget], prices: Vector
) -> Problem:
    """The rows and the budgets, as the kernel wants them."""
    from .kernel import Problem

    limits = [(b.norm_coefficient, b.loss_coefficient, b.limit) for b in budgets]
    return Problem(n_weights, rows.n_offsets, rows.weight, np.array(limits).reshape(-1, 3), prices)


def make_corner(
    problem: Problem,
    T: Matrix,
    value: Vector,
    basis: NDArray[np.intp],
    nonbasic: NDArray[np.intp],
) -> Corner:
    """A dictionary, as the kernel wants it."""
    from .kernel import Corner, prepare

    n_columns, first_row = T.shape[1], problem.n_weights + problem.n_offsets
    short = value > 0
    of_row = basis >= first_row  # a row that must be met counts as met, whatever rounding says
    short[of_row] &= np.isfinite(problem.row_weight[basis[of_row] - first_row])
    corner = Corner(
        T=np.ascontiguousarray(T),
        value=value,
        nudged=value.copy(),
        side=np.where(short, 1.0, -1.0),
        basis=basis.astype(np.int64),
        nonbasic=nonbasic.astype(np.int64),
        norm=np.empty(n_columns),
        loss=np.empty(n_columns),
        edge=np.empty(n_columns),
    )
    prepare(corner, problem)
    return corner
