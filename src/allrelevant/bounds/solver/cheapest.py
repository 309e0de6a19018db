"""Which features a model uses, as columns of 0 and 1 beside those of its weights.

A weight can differ from zero only if its feature is used, and then it keeps within the bounds that
are known of it anyway: ``positive <= high use``, ``negative <= -low use``. These bounds are as
tight as any, which is what such programs need. Problems of several classes are put side by side,
and have the columns of use in common.

Sets of features of the least cost that some equally good model gets by with.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...exceptions import SolverError
from ..programs.equivalent_models import Budget, EquivalentModels, LinearProgram, budget_row
from .highs import HighsModel, IntegerSolution, NoPoint
from .mixed_integer import WorkingSet
from .ranges import WeightRanges


@dataclass(frozen=True)
class SelectionProgram:
    """Models of each problem, and the features they use.

    Attributes
    ----------
    program : LinearProgram
        Its columns are those of the problems, one problem after the other, then those of use.
    parts : list of LinearProgram
        The problems by themselves.
    n_features : int
        Number of columns of use.
    """

    program: LinearProgram
    parts: list[LinearProgram]
    n_features: int

    @property
    def use(self) -> NDArray[np.int32]:
        """The columns of use."""
        n_columns = self.program.n_columns
        return np.arange(n_columns - self.n_features, n_columns, dtype=np.int32)

    def models(self, point: Vector) -> list[tuple[Vector, Vector]]:
        """Weights and offsets of the model of each problem."""
        starts = np.cumsum([0, *(part.n_columns for part in self.parts)])
        return [
            (
                own[part.blocks["positive"]] - own[part.blocks["negative"]],
                own[part.blocks["offset"]],
            )
            for part, start in zip(self.parts, starts[:-1], strict=True)
            for own in [point[start : start + part.n_columns]]
        ]

    def without(self, sets: Sequence[NDArray[np.intp]]) -> LinearProgram:
        """The program without models that use all features of any of these sets."""
        rows = np.zeros((len(sets), self.program.n_columns))
        for row, members in zip(rows, sets, strict=True):
            row[self.use[members]] = 1.0
        program = self.program
        return replace(
            program,
            matrix=sp.vstack([program.matrix, sp.csc_array(rows)], format="csc"),
            row_lower=np.r_[program.row_lower, np.full(len(sets), -np.inf)],
            row_upper=np.r_[program.row_upper, [len(members) - 1.0 for members in sets]],
        )


def use_program(
    parts: Sequence[LinearProgram], signed: Sequence[Matrix], costs: Vector, fixed: Matrix
) -> SelectionProgram:
    """Models of the least total cost of the features that they use.

    Parameters
    ----------
    parts : sequence of LinearProgram
        The set of models of each problem.
    signed : sequence of ndarray of shape (n_weights, 2)
        What the weights of each problem cannot go beyond.
    costs : ndarray of shape (n_features,)
        Of the first weights of each problem; the others cost nothing.
    fixed : ndarray of shape (n_features, 2)
        Bounds of use: (0, 1), or (1, 1) and (0, 0) for features with no choice.
    """
    n = len(costs)
    blocks = [_use_rows(part, ends[:n]) for part, ends in zip(parts, signed, strict=True)]
    matrix = sp.vstack(
        [
            sp.hstack(
                [sp.block_diag([part.matrix for part in parts]), _nothing(parts, n)], format="csc"
            ),
            sp.hstack(
                [
                    sp.block_diag([weights for weights, _ in blocks]),
                    sp.vstack([use for _, use in blocks]),
                ],
                format="csc",
            ),
        ],
        format="csc",
    )
    n_use_rows = 2 * n * len(blocks)
    program = LinearProgram(
        matrix=sp.csc_array(matrix),
        cost=np.r_[np.concatenate([part.cost for part in parts]), costs],
        row_lower=np.r_[*[part.row_lower for part in parts], np.full(n_use_rows, -np.inf)],
        row_upper=np.r_[*[part.row_upper for part in parts], np.zeros(n_use_rows)],
        column_lower=np.r_[*[part.column_lower for part in parts], fixed[:, 0]],
        column_upper=np.r_[*[part.column_upper for part in parts], fixed[:, 1]],
        blocks={},
    )
    return SelectionProgram(program, list(parts), n)


def _use_rows(part: LinearProgram, signed: Matrix) -> tuple[sp.csc_array, sp.csc_array]:
    """What the rows ``positive <= high use`` and ``negative <= -low use`` have of each block."""
    n, each = len(signed), np.arange(len(signed))
    low, high = np.minimum(signed[:, 0], 0.0), np.maximum(signed[:, 1], 0.0)
    columns = np.r_[part.blocks["positive"].start + each, part.blocks["negative"].start + each]
    places = (np.arange(2 * n), columns)
    weights = sp.csc_array((np.ones(2 * n), places), shape=(2 * n, part.n_columns))
    use = sp.vstack([sp.diags_array(-high), sp.diags_array(low)], format="csc")
    return weights, sp.csc_array(use)


def _nothing(parts: Sequence[LinearProgram], n: int) -> sp.csc_array:
    return sp.csc_array((sum(part.n_rows for part in parts), n))


# A weight below this, relative to the norm, is not in use.
_UNUSED = 1e-9


# By how much of its norm a model may overstep the set.
_VIOLATION = 1e-6


@dataclass(frozen=True)
class FeatureSet:
    """Features that suffice.

    Attributes
    ----------
    members : ndarray of int
    cost : float
    bound : float
        No set that was looked for costs less: proven.
    proven : bool
        Whether this one costs least.
    models : list of (weights, offsets)
        Of each problem, with no other features in use.
    """

    members: NDArray[np.intp]
    cost: float
    bound: float
    proven: bool
    models: list[tuple[Vector, Vector]]


class CheapestSearch:
    """Looks for one set after the other, in order of their costs.

    ``timed_out`` says whether the search ended for want of time.

    Parameters
    ----------
    sets : sequence of EquivalentModels
        The equally good models of each problem.
    known : sequence of WeightRanges
        Of each problem; their witnesses tell which rows matter.
    signed : sequence of ndarray of shape (n_weights, 2)
        What the weights of each problem cannot go beyond.
    costs : ndarray of shape (n_features,)
    fixed : ndarray of shape (n_features, 2)
        See :func:`~allrelevant.bounds.programs.feature_use.use_program`.
    C : sequence of float
        Of each problem: of the models of a set that of the least ``|w|_1 + C * loss`` is taken.
    """

    def __init__(
        self,
        sets: Sequence[EquivalentModels],
        known: Sequence[WeightRanges],
        signed: Sequence[Matrix],
        costs: Vector,
        fixed: Matrix,
        C: Sequence[float],
    ) -> None:
        self._sets, self._signed, self._C = list(sets), list(signed), list(C)
        self._costs, self._fixed, self._known = costs, fixed, list(known)
        self._working = [
            WorkingSet(models, ranges.coef.toarray(), ranges.offset)
            for models, ranges in zip(sets, known, strict=True)
        ]
        self._found: list[NDArray[np.intp]] = []
        self.timed_out = False

    def search(self, deadline: float | None) -> Iterator[FeatureSet]:
        """Yield sets until there are no more, or until the time is up.

        A set that holds another one found before is left out: what it adds is not needed.

        Parameters
        ----------
        deadline : float or None
            As in ``time.time()``.
        """
        while (found := self._next(deadline)) is not None:
            yield found
            free = found.members[self._fixed[found.members, 0] == 0]
            if len(free) == 0 or self.timed_out:
                return
            self._found.append(free)

    def _next(self, deadline: float | None) -> FeatureSet | None:
        """The cheapest set that is none of those found, with all rows that matter."""
        bound = 0.0
        while not self.timed_out:
            parts = [working.models.program for working in self._working]
            program = use_program(parts, self._signed, self._costs, self._fixed)
            model = HighsModel(program.without(self._found))
            seconds = None if deadline is None else deadline - time.time()
            solution = model.solve_integer(program.use, "the cheapest set of features", seconds)
            if isinstance(solution, NoPoint):
                if not solution.timed_out:
                    return None
                self.timed_out = True
                break
            bound, self.timed_out = solution.bound, not solution.proven
            missed = [
                working.miss(*own)
                for working, own in zip(self._working, program.models(solution.point), strict=True)
            ]
            if not any(missed):
                return self._as_set(program, solution)
        return None if self._found else self._best_known(bound)

    def _best_known(self, bound: float) -> FeatureSet:
        """When time is up before any set was found: the cheapest that a known model uses."""
        used = self._fixed[:, 0] > 0
        for ranges in self._known:
            own = np.abs(ranges.coef[:, : len(self._costs)].toarray()) > 0
            allowed = ~own[:, self._fixed[:, 1] == 0].any(axis=1)
            if not allowed.any():
                raise SolverError(
                    "No set of features was found in time. Allow more of it (max_seconds)."
                )
            costs = np.where(allowed, own @ self._costs, np.inf)
            used = used | own[int(np.argmin(costs))]
        return self._make_set(np.flatnonzero(used), bound, proven=False)

    def _as_set(self, program: SelectionProgram, solution: IntegerSolution) -> FeatureSet:
        n = len(self._costs)
        used = np.zeros(n, dtype=bool)
        for coef, _ in program.models(solution.point):
            used |= np.abs(coef[:n]) > _UNUSED * max(1.0, np.abs(coef).sum())
        used &= solution.point[program.use] > 0.5
        members = np.flatnonzero(self._slimmed(used | (self._fixed[:, 0] > 0)))
        return self._make_set(members, solution.bound, solution.proven)

    def _make_set(self, members: NDArray[np.intp], bound: float, proven: bool) -> FeatureSet:
        models = [self._best_with(i, members) for i in range(len(self._sets))]
        cost = float(self._costs[members].sum())
        return FeatureSet(members, cost, min(cost, bound), proven, models)

    def _slimmed(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Without features that cost nothing and are not needed: no cost speaks against them."""
        for j in np.flatnonzero(used & (self._costs == 0) & (self._fixed[:, 0] == 0)):
            fewer = used.copy()
            fewer[j] = False
            if all(self._suffices(i, np.flatnonzero(fewer)) for i in range(len(self._sets))):
                used = fewer
        return used

    def _suffices(self, index: int, members: NDArray[np.intp]) -> bool:
        try:
            self._best_with(index, members)
        except SolverError:
            return False
        return True

    def _best_with(self, index: int, members: NDArray[np.intp]) -> tuple[Vector, Vector]:
        """The model of least ``|w|_1 + C * loss`` in the set with these features, checked."""
        models, n = self._sets[index], len(self._costs)
        working = self._working[index]
        while True:
            small = working.models
            program = small.program
            upper = program.column_upper.copy()
            # A weight with no room at all stays zero even if its feature must be a member.
            others = np.union1d(
                np.setdiff1d(np.arange(n), members),
                np.flatnonzero((self._signed[index] == 0).all(axis=1)),
            )
            for block in ("positive", "negative"):
                upper[program.blocks[block].start + others] = 0.0
            cost = budget_row(small.rows, Budget(1.0, self._C[index], np.inf))
            solver = HighsModel(replace(program, cost=cost, column_upper=upper))
            point = solver.solve("the best model with some features").point
            coef = point[program.blocks["positive"]] - point[program.blocks["negative"]]
            coef[others] = 0.0
            offset = point[program.blocks["offset"]]
            if not working.miss(coef, offset):
                break
        violation = models.violation(coef[None], offset[None])[0]
        if violation > _VIOLATION * max(1.0, np.abs(coef).sum()):
            raise SolverError(
                f"The cheapest model found oversteps the set by {violation:.1e}. Badly scaled "
                "columns are the usual cause: try standardize=True."
            )
        return coef, offset
