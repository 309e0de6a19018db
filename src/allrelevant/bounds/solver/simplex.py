"""The baseline as a vertex: every variable in terms of those that are zero there.

A dense simplex tableau over some of the features, as the kernel wants it.

The fast way: a small dense tableau over the rows and features that matter.
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
from ..programs.hinge import HingeRows
from .interface import Extreme, ExtremeSolutions, SolverStats, concatenate

if TYPE_CHECKING:
    from ...native.simplex import DictionaryState, SimplexData


# A row whose target is met to within this is tight at a vertex.
_TIGHT = 1e-7


class NotAVertexError(Exception):
    """The model is not determined by the rows that it meets exactly."""


class Vertex:
    """A vertex of the l1-regularised problem.

    As many rows are tight there as there are weights in use and offsets: they determine both, and
    these determine the shortfalls of all other rows. So the basic variables are, in order, the
    weights in use, the offsets and the shortfalls of the other rows; zero are the weights not in
    use and the shortfalls of the tight rows.

    Attributes
    ----------
    used : ndarray of int
        Features whose weight is not zero.
    tight, rest : ndarray of int
        The rows that determine the vertex, and the others.
    """

    def __init__(self, rows: HingeRows, coef: Vector, offset: Vector) -> None:
        self.rows = rows
        self.used = np.flatnonzero(coef)
        shortfall = rows.shortfall(coef[None], offset[None])[0]
        self.tight = _determining_rows(rows, self.used, shortfall)
        self.rest = np.setdiff1d(np.arange(rows.n_rows), self.tight)
        block = np.hstack([_dense(rows.table[:, self.used]), rows.offset_table])
        self._square = lu_factor(block[self.tight])
        self._influence = block[self.rest]

    def values(self) -> Vector:
        """Values of the basic variables."""
        target = self.rows.target[:, None]
        return self._express(target[self.tight], target[self.rest])[:, 0]

    def columns_of_weights(self, features: NDArray[np.intp]) -> Matrix:
        """How the basic variables fall as an unused weight grows."""
        table = _dense(self.rows.table[:, features])
        return self._express(table[self.tight], table[self.rest])

    def columns_of_shortfalls(self) -> Matrix:
        """How they fall as the shortfall of a tight row grows."""
        n_tight = len(self.tight)
        return self._express(np.eye(n_tight), np.zeros((len(self.rest), n_tight)))

    def _express(self, tight_part: Matrix, rest_part: Matrix) -> Matrix:
        """Coefficients of columns in the dictionary, by what they add to the rows."""
        structural = lu_solve(self._square, tight_part)
        return np.vstack([structural, rest_part - self._influence @ structural])


def _determining_rows(
    rows: HingeRows, used: NDArray[np.intp], shortfall: Vector
) -> NDArray[np.intp]:
    """As many tight rows as there are weights in use and offsets, that determine them."""
    candidates = np.flatnonzero(np.abs(shortfall) <= _TIGHT)
    wanted = len(used) + rows.n_offsets
    if wanted == 0:  # nothing is in use, and nothing determines that
        return np.empty(0, dtype=np.intp)
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


# Pivots after which one extreme is given up.
_MOST_PIVOTS = 20_000


# Cells of all tableaus together that are worked on between two looks at the keyboard.
_CELLS_AT_A_TIME = 2_000_000


class Dictionary:
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

    def solve(self, extremes: Sequence[Extreme]) -> tuple[ExtremeSolutions, int]:
        """Solve extremes, each from this vertex; also, by how many pivots.

        What was not solved to the end is not a number.
        """
        from ...native.simplex import OPTIMAL, solve_extremes

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
        return ExtremeSolutions(coef, offset, multipliers), pivots

    def cheapest(self, C: float) -> StartingVertex | None:
        """Walk from this vertex to the model of least ``|w|_1 + C * loss``; None if it has no end.

        The tableau stays where the walk ended: it is of no use for extremes after this.
        """
        from ...native.simplex import OPTIMAL, minimize

        rows, n_weights = self._vertex.rows, self._problem.n_weights
        found, offset = np.zeros(n_weights), np.zeros(rows.n_offsets)
        multipliers = np.zeros(rows.n_rows)
        status, _ = minimize(
            self._corner, self._problem, 1.0, C, _MOST_PIVOTS, found, offset, multipliers
        )
        coef = np.zeros(rows.n_weights)
        coef[self._features] = found[:-1]
        return StartingVertex(coef, offset, multipliers, rows) if status == OPTIMAL else None

    def _columns_of_absent(self, features: NDArray[np.intp], absent: NDArray[np.bool_]) -> Matrix:
        """A column for the spare place, for each feature that has none of its own."""
        columns = np.zeros((len(features), len(self._corner.value)))
        if absent.any():
            columns[absent] = self._vertex.columns_of_weights(features[absent]).T
        return columns

    def _make_corner(self, unused: NDArray[np.intp]) -> DictionaryState:
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
) -> SimplexData:
    """The rows and the budgets, as the kernel wants them."""
    from ...native.simplex import SimplexData

    limits = [(b.norm_coefficient, b.loss_coefficient, b.limit) for b in budgets]
    return SimplexData(
        n_weights, rows.n_offsets, rows.weight, np.array(limits).reshape(-1, 3), prices
    )


def make_corner(
    problem: SimplexData,
    T: Matrix,
    value: Vector,
    basis: NDArray[np.intp],
    nonbasic: NDArray[np.intp],
) -> DictionaryState:
    """A dictionary, as the kernel wants it."""
    from ...native.simplex import DictionaryState, prepare

    n_columns, first_row = T.shape[1], problem.n_weights + problem.n_offsets
    short = value > 0
    of_row = basis >= first_row  # a row that must be met counts as met, whatever rounding says
    short[of_row] &= np.isfinite(problem.row_weight[basis[of_row] - first_row])
    corner = DictionaryState(
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


# Rows that exceed their target by more than this at the start rarely bind anywhere in the set: they
# are left out at first, and brought in when a solution falls short of them.
_FAR = 0.25


# Extremes to solve at first, before the rows and features that they missed are brought in; then
# twice as many each time. What the first ones miss, others would miss too.
_FIRST = 8


# By how much a solution may fall short of a row that was left out.
_SHORTFALL = 1e-10


# By how much the model to start from may fall short of a row that must be met.
_BREACH = 1e-9


# With no more features than this, all are worked with from the start.
_FEW = 400


# Else how close to being used by the baseline (1 is use) a feature must be.
_PROMISING = 0.95


# The most of the other features that one answer can bring in at a time, and the size at which the
# working features are cut back to those that were there at the start.
_AT_A_TIME = 20


_MANY = 1000


# By how much the weight of another feature must pay, relative to the price of norm, to be missed.
_PAYS = 1e-9


class SimplexSolver:
    """Solves every extreme on a tableau at the baseline, over working rows and working features.

    Raises :class:`NotAVertexError` if the set brings no vertex to start from.

    Parameters
    ----------
    models : EquivalentModels
    rows : ndarray of int, default=()
        Rows that are known to matter, besides those that do at the baseline.
    """

    def __init__(
        self, models: EquivalentModels, rows: NDArray[np.intp] | Sequence[int] = ()
    ) -> None:
        if models.start is None:
            raise NotAVertexError("The set has no model to start from.")
        self._models = self.models = models
        self._start = models.start
        coef, offset = self._start.coef, self._start.offset
        pull = np.abs(models.rows.pull(self._start.multipliers))
        # Prices of norm and loss at which this model costs least.
        self._prices = np.array([pull.max(), (self._start.multipliers / models.rows.weight).max()])
        if models.rows.breach(coef[None], offset[None])[0] > _BREACH * (1.0 + np.abs(coef).sum()):
            raise NotAVertexError("The model to start from falls short of rows that must be met.")
        shortfall = models.rows.shortfall(coef[None], offset[None])[0]
        near = shortfall > -_FAR
        near[np.asarray(rows, dtype=np.intp)] = True
        self._rows = np.flatnonzero(near)
        self._features = self._promising = promising_features(pull)
        self._tableau = self._fresh()
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        self._cut_back()
        parts, start, some = [], 0, _FIRST
        while start < len(extremes):
            parts.append(self._solve_all(extremes[start : start + some]))
            start, some = start + some, 2 * some
        return concatenate(parts)

    def _solve_all(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        """Solve these extremes, again and again until nothing was missed."""
        answer = self._solve(extremes)
        again = self._take_in_what_was_missed(extremes, answer)
        while len(again):
            self._tableau = self._fresh()
            answer = answer.replaced(again, self._solve([extremes[int(e)] for e in again]))
            again = again[
                self._take_in_what_was_missed(
                    [extremes[int(e)] for e in again], answer.taken(again)
                )
            ]
        return answer

    def _cut_back(self) -> None:
        """Forget the features that former extremes brought in, once there are many."""
        if len(self._features) > max(_MANY, 2 * len(self._promising)):
            self._features = self._promising
            self._tableau = self._fresh()

    def _fresh(self) -> Dictionary:
        """The tableau at the start, from the data."""
        rows = self._models.rows.take(self._rows)
        vertex = Vertex(rows, self._start.coef, self._start.offset)
        return Dictionary(vertex, self._features, self._models.budgets, self._prices)

    def _solve(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        some = self._tableau.at_a_time
        parts = [self._tableau.solve(extremes[i : i + some]) for i in range(0, len(extremes), some)]
        self.effort.programs += len(extremes)
        self.effort.pivots += sum(pivots for _, pivots in parts)
        found = concatenate([answer for answer, _ in parts])
        multipliers = np.zeros((len(extremes), self._models.rows.n_rows))
        multipliers[:, self._rows] = found.multipliers
        return ExtremeSolutions(found.coef, found.offset, multipliers)

    def _take_in_what_was_missed(
        self, extremes: Sequence[Extreme], answer: ExtremeSolutions
    ) -> NDArray[np.intp]:
        """Add the rows and features that some answer should have known; which answers those are.

        A row is missed by a model that falls short of it, a feature by multipliers under which
        its weight would pay.
        """
        # What was not solved is not a model at all: HiGHS will see to it.
        unsolved = np.flatnonzero(~np.isfinite(answer.coef).all(axis=1))
        short = self._models.rows.shortfall(answer.coef, answer.offset) > _SHORTFALL
        short[:, self._rows] = False
        short[unsolved] = False
        missed = {e: found for e, found in self._paying(extremes, answer) if e not in unsolved}
        self._rows = np.union1d(self._rows, np.flatnonzero(short.any(axis=0)))
        self._features = reduce(np.union1d, missed.values(), self._features)
        return np.union1d(np.flatnonzero(short.any(axis=1)), sorted(missed)).astype(np.intp)

    def _paying(
        self, extremes: Sequence[Extreme], answer: ExtremeSolutions
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Answers under whose multipliers the weights of other features would pay, and those."""
        pull = self._models.rows.pull(answer.multipliers)
        np.abs(pull, out=pull)
        pull[np.arange(len(extremes)), [extreme.feature for extreme in extremes]] = 0.0
        known = np.union1d(self._features, np.flatnonzero(self._start.coef))
        price_of_norm = pull[:, known].max(axis=1, initial=0.0)
        pull[:, known] = 0.0
        enough = price_of_norm * (1 + _PAYS) + _PAYS
        for e in np.flatnonzero(pull.max(axis=1, initial=0.0) > enough):
            paying = np.flatnonzero(pull[e] > enough[e])
            if len(paying) > _AT_A_TIME:  # those that pay most will do
                paying = paying[np.argpartition(-pull[e, paying], _AT_A_TIME)[:_AT_A_TIME]]
            yield int(e), paying


def promising_features(pull: Vector) -> NDArray[np.intp]:
    """Features that equivalent models are likely to use: the baseline nearly does.

    Parameters
    ----------
    pull : ndarray of shape (d,)
        Of the baseline's multipliers, in size; 1 where it uses the feature.
    """
    return np.arange(len(pull)) if len(pull) <= _FEW else np.flatnonzero(pull >= _PROMISING)
