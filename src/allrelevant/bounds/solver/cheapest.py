"""Sets of features of least total cost that some equivalent model gets by with.

:class:`SelectionProgram` adds a 0-1 column of use for each feature to the program of a set of
models. A weight is zero unless its feature is used, and then within its known bounds:
``positive <= high use``, ``negative <= -low use``. Bounds this tight make such programs solvable.
Subproblems of several classes are put side by side, and share the columns of use.
:class:`CheapestSearch` solves for one set of features after the other.
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
from .highs import HighsModel
from .mixed_integer import WorkingSet
from .ranges import WeightRanges

# A weight below this share of the norm is not in use.
UNUSED_SHARE = 1e-9

# How far a model may be outside the set, relative to its norm.
VIOLATION_TOL = 1e-6


@dataclass(frozen=True)
class SelectionProgram:
    """Models of each subproblem, and the features that they use.

    The columns of ``program`` are those of ``parts``, the programs of the subproblems, one after
    the other, then ``n_features`` columns of use.
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
        """Weights and offsets of the model of each subproblem."""
        starts = np.cumsum([0, *(part.n_columns for part in self.parts)])
        return [
            part.model(point[start : start + part.n_columns])
            for part, start in zip(self.parts, starts[:-1], strict=True)
        ]

    def without(self, sets: Sequence[NDArray[np.intp]]) -> LinearProgram:
        """The program without the models that use all features of any of these sets."""
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


def selection_program(
    parts: Sequence[LinearProgram], signed: Sequence[Matrix], costs: Vector, fixed: Matrix
) -> SelectionProgram:
    """Minimize the total cost of the features in use.

    ``parts`` are the sets of models of the subproblems, ``signed`` the bounds of their weights. The
    first weights of each have ``costs``, shape (n_features,); the others cost nothing. ``fixed``,
    shape (n_features, 2), bounds use: (0, 1), or (1, 1) and (0, 0) for always and never.
    """
    n = len(costs)
    blocks = [_use_rows(part, ends[:n]) for part, ends in zip(parts, signed, strict=True)]
    no_use = sp.csc_array((sum(part.n_rows for part in parts), n))
    matrix = sp.vstack(
        [
            sp.hstack([sp.block_diag([part.matrix for part in parts]), no_use], format="csc"),
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
    """The rows ``positive <= high use`` and ``negative <= -low use``: their two blocks."""
    n = len(signed)
    low, high = np.minimum(signed[:, 0], 0.0), np.maximum(signed[:, 1], 0.0)
    places = (np.arange(2 * n), part.weight_columns(np.arange(n)).ravel())
    weights = sp.csc_array((np.ones(2 * n), places), shape=(2 * n, part.n_columns))
    use = sp.vstack([sp.diags_array(-high), sp.diags_array(low)], format="csc")
    return weights, sp.csc_array(use)


@dataclass(frozen=True)
class FeatureSet:
    """Features that suffice, with weights and offsets of a model of each subproblem.

    No other set costs less than ``bound``, but for those found before; it is ``proven`` if that
    shows that this one costs least.
    """

    members: NDArray[np.intp]
    cost: float
    bound: float
    proven: bool
    models: list[tuple[Vector, Vector]]


class CheapestSearch:
    """Finds one set of features after the other, in order of their costs.

    ``sets``, ``ranges``, ``signed`` and ``C`` have an item for each subproblem: witnesses of the
    ranges tell which rows matter. The model of a set of features is the one of least
    ``|w|_1 + C * loss``. For ``costs`` and ``fixed`` see :func:`selection_program`. ``timed_out``
    tells whether the search ended for lack of time.
    """

    def __init__(
        self,
        sets: Sequence[EquivalentModels],
        ranges: Sequence[WeightRanges],
        signed: Sequence[Matrix],
        costs: Vector,
        fixed: Matrix,
        C: Sequence[float],
    ) -> None:
        self._sets, self._signed, self._C = list(sets), list(signed), list(C)
        self._costs, self._fixed, self._ranges = costs, fixed, list(ranges)
        self._working = [
            WorkingSet(models, own_ranges) for models, own_ranges in zip(sets, ranges, strict=True)
        ]
        self._found: list[NDArray[np.intp]] = []
        self.timed_out = False

    def search(self, deadline: float | None) -> Iterator[FeatureSet]:
        """Yield sets until there are no more, or until ``deadline``, as in ``time.time()``.

        A set that contains one found before is left out: what it adds is not needed.
        """
        while (features := self._next(deadline)) is not None:
            yield features
            free = features.members[self._fixed[features.members, 0] == 0]
            if len(free) == 0 or self.timed_out:
                return
            self._found.append(free)

    def _next(self, deadline: float | None) -> FeatureSet | None:
        """The cheapest set that contains none of those found, with all rows that matter."""
        bound = 0.0
        while not self.timed_out:
            parts = [working.models.program for working in self._working]
            program = selection_program(parts, self._signed, self._costs, self._fixed)
            model = HighsModel(program.without(self._found))
            seconds = None if deadline is None else deadline - time.time()
            solution = model.solve_integer(program.use, "the cheapest set of features", seconds)
            self.timed_out = solution.timed_out
            if solution.point is None:
                if not self.timed_out:
                    return None
                break
            bound = solution.bound
            models = program.models(solution.point)
            missing = [
                working.add_missing(*each)
                for working, each in zip(self._working, models, strict=True)
            ]
            if not any(missing):
                in_use = solution.point[program.use] > 0.5
                return self._feature_set(self._members(models, in_use), bound, not self.timed_out)
        return None if self._found else self._best_known(bound)

    def _members(
        self, models: list[tuple[Vector, Vector]], in_use: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        """The features that models use, without those that cost nothing and are not needed."""
        n = len(self._costs)
        used = np.zeros(n, dtype=bool)
        for coef, _ in models:
            used |= np.abs(coef[:n]) > UNUSED_SHARE * max(1.0, np.abs(coef).sum())
        used = (used & in_use) | (self._fixed[:, 0] > 0)
        for j in np.flatnonzero(used & (self._costs == 0) & (self._fixed[:, 0] == 0)):
            fewer = used.copy()
            fewer[j] = False
            if all(self._suffices(i, np.flatnonzero(fewer)) for i in range(len(self._sets))):
                used = fewer
        return np.flatnonzero(used)

    def _best_known(self, bound: float) -> FeatureSet:
        """When time is up before any set was found: the cheapest set that a witness uses."""
        used = self._fixed[:, 0] > 0
        for ranges in self._ranges:
            in_use = np.abs(ranges.coef[:, : len(self._costs)].toarray()) > 0
            allowed = ~in_use[:, self._fixed[:, 1] == 0].any(axis=1)
            if not allowed.any():
                raise SolverError(
                    "No set of features was found in time. Allow more of it (max_seconds)."
                )
            costs = np.where(allowed, in_use @ self._costs, np.inf)
            used = used | in_use[int(np.argmin(costs))]
        return self._feature_set(np.flatnonzero(used), bound, proven=False)

    def _feature_set(self, members: NDArray[np.intp], bound: float, proven: bool) -> FeatureSet:
        models = [self._best_with(i, members) for i in range(len(self._sets))]
        cost = float(self._costs[members].sum())
        return FeatureSet(members, cost, min(cost, bound), proven, models)

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
            upper[program.weight_columns(others)] = 0.0
            cost = budget_row(small.rows, Budget(1.0, self._C[index], np.inf))
            solver = HighsModel(replace(program, cost=cost, column_upper=upper))
            coef, offset = program.model(solver.solve("the best model with some features").point)
            coef[others] = 0.0
            if not working.add_missing(coef, offset):
                break
        violation = models.violation(coef[None], offset[None])[0]
        if violation > VIOLATION_TOL * max(1.0, np.abs(coef).sum()):
            raise SolverError(
                f"The cheapest model found oversteps the set by {violation:.1e}. Badly scaled "
                "columns are the usual cause: try standardize=True."
            )
        return coef, offset
