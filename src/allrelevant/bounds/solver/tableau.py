"""A simplex tableau at a vertex, over some of the features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .extremes import Extrema, Extreme
from .vertex import Vertex

# Place of a variable that is neither basic nor stored: the other one of its pair is.
NOWHERE = -(2**60)

# Pivots after which one extreme is given up.
_MOST_PIVOTS = 20_000

# Cells of all tableaus together that are worked on between two looks at the keyboard.
_CELLS_AT_A_TIME = 2_000_000


class Tableau:
    """The dictionary ``x[basis] = rhs - T x[nonbasic]`` of a vertex.

    Variables are numbered: positive parts of the d weights, negative parts, offsets, slacks of the
    n rows, surpluses, and what is left of each budget. One of each mirrored pair is stored (see
    ``kernel``): ``partner`` is the other one, and the columns of the two add up to ``kappa``
    times the column of the variable ``budget``.

    Parameters
    ----------
    vertex : Vertex
    features : ndarray of int
        The features whose weights may become anything but zero, besides those in use already
        and the one in question.
    """

    def __init__(self, vertex: Vertex, features: NDArray[np.intp]) -> None:
        self._vertex = vertex
        self._number_variables()
        unused = np.setdiff1d(features, vertex.used)
        self._present = np.zeros(vertex.rows.n_weights, dtype=bool)
        self._present[vertex.used] = self._present[unused] = True
        self._T = np.hstack([vertex.columns_of_weights(unused), vertex.columns_of_surpluses()])
        self._nonbasic = np.concatenate([unused, self._surplus + vertex.tight]).astype(np.int64)
        self._rhs = vertex.values()
        negative = (self._rhs < 0) & ~self._free[self._basis]
        self._rhs[negative] = 0.0  # rounding: a vertex has none below zero
        self._where = np.full(len(self._partner), NOWHERE)

    @property
    def at_a_time(self) -> int:
        """How many extremes to solve in one go: compiled code cannot be interrupted."""
        return max(1, _CELLS_AT_A_TIME // self._T.size)

    def solve(self, extremes: Sequence[Extreme]) -> tuple[Extrema, int]:
        """Solve extremes, each from this vertex; also, by how many pivots.

        What was not solved to the end is not a number.
        """
        from . import kernel

        rows = self._vertex.rows
        d, k, n, m = rows.n_weights, rows.n_offsets, rows.n_rows, len(extremes)
        features = np.array([extreme.feature for extreme in extremes])
        absent, column_of = np.unique(features[~self._present[features]], return_inverse=True)
        extra = np.full(m, -1)
        extra[~self._present[features]] = column_of
        coef, offset, multipliers = np.zeros((m, d)), np.zeros((m, k)), np.zeros((m, n))
        status = np.empty(m, dtype=np.int64)
        pivots = kernel.solve_extremes(
            self._T, self._rhs, self._basis, self._nonbasic, self._where, self._partner,
            self._kappa, self._budget, self._free, _MOST_PIVOTS, features,
            np.array([float(extreme.sign) for extreme in extremes]), extra,
            np.ascontiguousarray(self._vertex.columns_of_weights(absent).T),
            d, k, n, coef, offset, multipliers, status,
        )  # fmt: skip
        coef[status != kernel.OPTIMAL] = np.nan
        return Extrema(coef, offset, multipliers), pivots

    def _number_variables(self) -> None:
        vertex, rows = self._vertex, self._vertex.rows
        d, k, n = rows.n_weights, rows.n_offsets, rows.n_rows
        slack, self._surplus, left = 2 * d + k, 2 * d + k + n, 2 * d + k + 2 * n
        n_variables = left + len(vertex.budgets)
        self._basis = np.concatenate(
            [
                np.where(vertex.sign > 0, vertex.used, d + vertex.used),
                2 * d + np.arange(k),
                np.where(vertex.short, slack, self._surplus) + vertex.rest,
                left + np.arange(len(vertex.budgets)),
            ]
        ).astype(np.int64)
        of_norm = next(i for i, b in enumerate(vertex.budgets) if b.norm_coefficient > 0)
        of_loss = next(i for i, b in enumerate(vertex.budgets) if b.loss_coefficient > 0)
        self._partner = np.full(n_variables, -1)
        self._partner[: 2 * d] = np.roll(np.arange(2 * d), d)
        self._partner[slack:left] = slack + np.roll(np.arange(2 * n), n)
        self._budget = np.full(n_variables, -1)
        self._budget[: 2 * d], self._budget[slack:left] = left + of_norm, left + of_loss
        self._kappa = np.zeros(n_variables)
        self._kappa[: 2 * d] = 2.0 * vertex.budgets[of_norm].norm_coefficient
        self._kappa[slack:left] = np.tile(vertex.budgets[of_loss].loss_coefficient * rows.weight, 2)
        self._free = np.zeros(n_variables, dtype=bool)
        self._free[2 * d : slack] = True
