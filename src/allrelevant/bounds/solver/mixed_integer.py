"""A set of models by the rows that matter: for programs too hard to be solved with all of them.

The smallest and the largest sum of sizes of several weights over a set of models.

The smallest is a linear program. The largest is the maximum of a convex function: it is linear once
the signs are known. Weights that can have either sign get a column that says which, 0 or 1: a
mixed-integer program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ..programs.equivalent_models import EquivalentModels, LinearProgram
from ..programs.pairwise import CuttingPlaneRows
from .highs import HighsModel, IntegerSolution
from .ranges import WeightRanges

# Rows that every known model exceeds by more than this are left out at first.
_FAR = 0.25


# By how much of a limit a model may overstep the set.
_TOLERANCE = 1e-7


class WorkingSet:
    """Some of the rows of a set; others are taken in when a solution misses them.

    With rows left out, a set is too large: what is proven of it holds for the true one as well, and
    a model found that is of the true set is as good there.

    Parameters
    ----------
    models : EquivalentModels
    coef : ndarray of shape (m, d)
        Models of the set that are known.
    offset : ndarray of shape (m, n_offsets)
    """

    def __init__(self, models: EquivalentModels, coef: Matrix, offset: Matrix) -> None:
        self._all = models
        self._rows = np.arange(models.rows.n_rows)
        if models.rows.complete:
            shortfall = models.rows.shortfall(coef, offset)
            near = (shortfall > -_FAR).any(axis=0) | models.rows.must_be_met
            self._rows = np.flatnonzero(near)

    @property
    def models(self) -> EquivalentModels:
        """The set by its working rows."""
        if not self._all.rows.complete:
            return self._all
        return replace(self._all, rows=self._all.rows.take(self._rows), start=None)

    def miss(self, coef: Vector, offset: Vector) -> bool:
        """Take in what a model of the working set shows to be missing; whether it was anything."""
        violation = self._all.violation(coef[None], offset[None])[0]
        if violation <= _TOLERANCE * max(1.0, np.abs(coef).sum()):
            return False
        rows = self._all.rows
        if isinstance(rows, CuttingPlaneRows):
            self._all = replace(self._all, rows=rows.with_cuts([rows.true_loss.cut(coef)]))
            return True
        short = rows.shortfall(coef[None], offset[None])[0] > 0
        known = len(self._rows)
        self._rows = np.union1d(self._rows, np.flatnonzero(short))
        return len(self._rows) > known


class TotalWeight:
    """Sums of sizes over one set of models.

    Parameters
    ----------
    models : EquivalentModels
    known : WeightRanges
        Of the set; their witnesses tell which rows matter.
    signed : ndarray of shape (d, 2)
        What the weights cannot go beyond.
    """

    def __init__(self, models: EquivalentModels, known: WeightRanges, signed: Matrix) -> None:
        self._working = WorkingSet(models, known.coef.toarray(), known.offset)
        self._signed = signed

    def smallest(self, features: NDArray[np.intp]) -> float:
        """The least that the sizes of some weights come to together."""

        def point(program: LinearProgram) -> Vector:
            cost = program.cost.copy()
            cost[_parts(program, features)] = 1.0
            return HighsModel(replace(program, cost=cost)).solve("the least sum of a group").point

        return self._solved(point, features)

    def largest(self, features: NDArray[np.intp]) -> float:
        """The most that they can come to together."""
        low, high = self._signed[features].T
        open_ = features[(low < 0) & (high > 0)]

        def point(program: LinearProgram) -> Vector:
            signs = _with_signs(program, open_, self._signed)
            cost, upper = signs.cost.copy(), signs.column_upper.copy()
            positive, negative = _parts(program, features)
            cost[positive] = cost[negative] = -1.0
            upper[positive], upper[negative] = np.maximum(high, 0.0), np.maximum(-low, 0.0)
            model = HighsModel(replace(signs, cost=cost, column_upper=upper))
            columns = np.arange(program.n_columns, signs.n_columns, dtype=np.int32)
            found = model.solve_integer(columns, "the largest sum of a group")
            assert isinstance(found, IntegerSolution)  # the set has models, and each has signs
            return found.point

        return self._solved(point, features)

    def _solved(
        self, point: Callable[[LinearProgram], Vector], features: NDArray[np.intp]
    ) -> float:
        """The sum at a solution, with all rows that matter."""
        while True:
            program = self._working.models.program
            found, blocks = point(program), program.blocks
            coef = found[blocks["positive"]] - found[blocks["negative"]]
            if not self._working.miss(coef, found[blocks["offset"]]):
                return float(np.abs(coef[features]).sum())


def _parts(program: LinearProgram, features: NDArray[np.intp]) -> NDArray[np.intp]:
    """Columns of the positive and of the negative parts of weights, shape (2, m)."""
    starts = [program.blocks[block].start for block in ("positive", "negative")]
    return np.array([start + features for start in starts])


def _with_signs(
    program: LinearProgram, features: NDArray[np.intp], signed: Matrix
) -> LinearProgram:
    """The program with a column for the sign of each of some weights, 0 or 1.

    ``positive <= high sign``, ``negative <= -low (1 - sign)``.
    """
    m, each = len(features), np.arange(len(features))
    low, high = signed[features].T
    positive, negative = _parts(program, features)
    shape = (2 * m, program.n_columns)
    places = (np.r_[each, m + each], np.r_[positive, negative])
    parts = sp.csc_array((np.ones(2 * m), places), shape=shape)
    signs = sp.vstack([sp.diags_array(-high), sp.diags_array(-low)], format="csc")
    matrix = sp.vstack(
        [
            sp.hstack([program.matrix, sp.csc_array((program.n_rows, m))]),
            sp.hstack([parts, signs]),
        ],
        format="csc",
    )
    return replace(
        program,
        matrix=matrix,
        cost=np.r_[program.cost, np.zeros(m)],
        row_lower=np.r_[program.row_lower, np.full(2 * m, -np.inf)],
        row_upper=np.r_[program.row_upper, np.zeros(m), -low],
        column_lower=np.r_[program.column_lower, np.zeros(m)],
        column_upper=np.r_[program.column_upper, np.ones(m)],
    )
