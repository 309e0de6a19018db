"""Search for minimum-cost feature sets by mixed-integer linear programming (MILP).

:class:`SelectionProgram` is a MILP: the LP of a set of models plus a binary variable per feature,
which is 1 if the feature is used. A weight is zero unless its feature is used, and otherwise within
its certified bounds: ``positive <= high use``, ``negative <= -low use``. These tight big-M
constraints make the MILP solvable. The subproblems of several classes share the binary variables.
:class:`CheapestSearch` finds feature sets in order of cost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...deadline import NO_DEADLINE, Deadline
from ...exceptions import SolverError, TimeLimitError
from ...terms.layout import WeightLayout
from ..programs.equivalent_models import Budget, EquivalentModels, LinearProgram, budget_row
from .blocks import KnownModels
from .highs import HighsModel
from .mixed_integer import WorkingSet

# Weights below this fraction of the norm count as zero.
ZERO_TOL = 1e-9

# Largest constraint violation of a model, relative to its norm.
VIOLATION_TOL = 1e-6


@dataclass(frozen=True)
class SelectionProgram:
    """MILP whose variables are one model per subproblem and the set of features in use.

    The columns of ``program`` are those of ``parts``, the LPs of the subproblems, followed by
    ``n_features`` binary variables.
    """

    program: LinearProgram
    parts: list[LinearProgram]
    n_features: int

    @property
    def use(self) -> NDArray[np.int32]:
        """MILP columns of the binary variables that mark the features in use, one per feature."""
        n_columns = self.program.n_columns
        return np.arange(n_columns - self.n_features, n_columns, dtype=np.int32)

    def models(self, point: Vector) -> list[tuple[Vector, Vector]]:
        """Return the weights and offsets of each subproblem's model, given a MILP solution."""
        starts = np.cumsum([0, *(part.n_columns for part in self.parts)])
        return [
            part.model(point[start : start + part.n_columns])
            for part, start in zip(self.parts, starts[:-1], strict=True)
        ]

    def without(self, sets: Sequence[NDArray[np.intp]]) -> LinearProgram:
        """Return the MILP, constrained to exclude the given feature sets and their supersets."""
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
    parts: Sequence[LinearProgram],
    signed: Sequence[Matrix],
    features_of_weights: NDArray[np.intp],
    costs: Vector,
    fixed: Matrix,
) -> SelectionProgram:
    """Return the MILP that minimizes the total cost of the features in use.

    ``parts`` are the LPs of the subproblems, ``signed`` the bounds on their weights. The first
    weights of each subproblem belong to features with ``costs``, shape (n_features,);
    ``features_of_weights`` holds the feature of each. The other weights have no cost.
    ``fixed``, of shape (n_features, 2), bounds the binary variables: (0, 1) for a free feature,
    (1, 1) if it is always used and (0, 0) if it is never used.
    """
    n = len(costs)
    blocks = [
        _usage_rows(part, ends, features_of_weights, n)
        for part, ends in zip(parts, signed, strict=True)
    ]
    zeros = sp.csc_array((sum(part.n_rows for part in parts), n))
    matrix = sp.vstack(
        [
            sp.hstack([sp.block_diag([part.matrix for part in parts]), zeros], format="csc"),
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
    n_use_rows = 2 * len(features_of_weights) * len(blocks)
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


def _usage_rows(
    part: LinearProgram, signed: Matrix, features_of_weights: NDArray[np.intp], n_features: int
) -> tuple[sp.csc_array, sp.csc_array]:
    """Return the coefficients of the constraints that set the weights of unused features to zero.

    The constraints are ``positive <= high use`` and ``negative <= -low use``. The first matrix has
    the coefficients of the LP's variables, the second those of the binary variables.
    """
    n = len(features_of_weights)
    low, high = np.minimum(signed[:n, 0], 0.0), np.maximum(signed[:n, 1], 0.0)
    places = (np.arange(2 * n), part.weight_columns(np.arange(n)).ravel())
    weights = sp.csc_array((np.ones(2 * n), places), shape=(2 * n, part.n_columns))
    places = (np.arange(2 * n), np.tile(features_of_weights, 2))
    use = sp.csc_array((np.r_[-high, low], places), shape=(2 * n, n_features))
    return weights, use


@dataclass(frozen=True)
class FeatureSet:
    """Sufficient feature set, with the weights and offsets of one equivalent model per subproblem.

    ``bound`` is a lower bound on the cost of all sets, except those found before and their
    supersets. The set is ``proven`` if it is certified to have minimum cost.
    """

    members: NDArray[np.intp]
    cost: float
    bound: float
    proven: bool
    models: list[tuple[Vector, Vector]]


class CheapestSearch:
    """Search for sufficient feature sets, in ascending order of cost.

    ``sets``, ``known``, ``signed`` and ``C`` have one item per subproblem. The known models
    determine the initial working sets of constraints. The model of a feature set minimizes
    ``|w|_1 + C * loss``. For ``costs`` and ``fixed``, see :func:`selection_program`. ``timed_out``
    is true if the search stopped at the deadline. After ``limit``, :exc:`TimeLimitError` is raised
    even if no set was found.
    """

    def __init__(
        self,
        sets: Sequence[EquivalentModels],
        known: Sequence[KnownModels],
        signed: Sequence[Matrix],
        layout: WeightLayout,
        costs: Vector,
        fixed: Matrix,
        C: Sequence[float],
        limit: Deadline = NO_DEADLINE,
    ) -> None:
        self._limit = limit
        self._sets, self._signed, self._C = list(sets), list(signed), list(C)
        self._costs, self._fixed, self._known = costs, fixed, list(known)
        weights = layout.weights_of(np.arange(len(costs)))
        self._layout, self._features_of_weights = layout, layout.features_of_weights[weights]
        self._working = [WorkingSet(*parts) for parts in zip(sets, known, strict=True)]
        self._found: list[NDArray[np.intp]] = []
        self.timed_out = False

    def search(self, deadline: float | None) -> Iterator[FeatureSet]:
        """Yield sufficient feature sets, cheapest first, until none remain or the deadline passes.

        ``deadline`` is a time as returned by ``time.time()``. Supersets of earlier
        sets are skipped, because their extra features are unnecessary.
        """
        while (features := self._next(deadline)) is not None:
            yield features
            free = features.members[self._fixed[features.members, 0] == 0]
            if len(free) == 0 or self.timed_out:
                return
            self._found.append(free)

    def _next(self, deadline: float | None) -> FeatureSet | None:
        """Return the cheapest feature set that contains no previous one, or None if none exists.

        After the deadline, the set may not be the cheapest. If no set was found by then, return a
        set that known witnesses use.
        """
        bound = 0.0
        while not self.timed_out:
            parts = [working.models.program for working in self._working]
            program = selection_program(
                parts, self._signed, self._features_of_weights, self._costs, self._fixed
            )
            model = HighsModel(program.without(self._found))
            seconds = None if deadline is None else deadline - time.time()
            solution = model.solve_integer(program.use, "the cheapest feature set", seconds)
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
        return None if self._found else self._cheapest_witness_set(bound)

    def _members(
        self, models: list[tuple[Vector, Vector]], in_use: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        """Return the features that are used or required, without unnecessary zero-cost features."""
        used = np.zeros(len(self._costs), dtype=bool)
        for coef, _ in models:
            used |= self._uses(np.abs(coef) > ZERO_TOL * max(1.0, np.abs(coef).sum()))
        used = (used & in_use) | (self._fixed[:, 0] > 0)
        for j in np.flatnonzero(used & (self._costs == 0) & (self._fixed[:, 0] == 0)):
            fewer = used.copy()
            fewer[j] = False
            if all(self._suffices(i, np.flatnonzero(fewer)) for i in range(len(self._sets))):
                used = fewer
        return np.flatnonzero(used)

    def _cheapest_witness_set(self, bound: float) -> FeatureSet:
        """Return the union of the cheapest feature sets of known witnesses, one per subproblem.

        This is the fallback if the time limit is reached before a feature set is found.
        """
        used = self._fixed[:, 0] > 0
        for known in self._known:
            masks = [self._uses(coef != 0) for coef in known.coef.toarray()]
            in_use = np.array(masks, dtype=bool).reshape(-1, len(self._costs))
            allowed = ~in_use[:, self._fixed[:, 1] == 0].any(axis=1)
            if not allowed.any():
                raise TimeLimitError(
                    "No feature set was found within the time limit. Increase max_seconds."
                )
            costs = np.where(allowed, in_use @ self._costs, np.inf)
            used = used | in_use[int(np.argmin(costs))]
        return self._feature_set(np.flatnonzero(used), bound, proven=False)

    def _uses(self, is_nonzero: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the features that a model uses, given that of its nonzero weights."""
        return self._layout.any_weight(is_nonzero)[: len(self._costs)]

    def _feature_set(self, members: NDArray[np.intp], bound: float, proven: bool) -> FeatureSet:
        models = [self._solve_with(i, members) for i in range(len(self._sets))]
        cost = float(self._costs[members].sum())
        return FeatureSet(members, cost, min(cost, bound), proven, models)

    def _suffices(self, index: int, members: NDArray[np.intp]) -> bool:
        try:
            self._solve_with(index, members)
        except SolverError:
            return False
        return True

    def _solve_with(self, index: int, members: NDArray[np.intp]) -> tuple[Vector, Vector]:
        """Return the model that minimizes ``|w|_1 + C * loss`` and uses only the given features.

        Raise :class:`SolverError` if no such model satisfies the constraints.
        """
        models, members = self._sets[index], self._layout.weights_of(members)
        n = len(self._features_of_weights)
        working = self._working[index]
        while True:
            small = working.models
            program = small.program
            upper = program.column_upper.copy()
            # A weight whose bounds are both zero stays zero, even if its feature is always used.
            others = np.union1d(
                np.setdiff1d(np.arange(n), members),
                np.flatnonzero((self._signed[index] == 0).all(axis=1)),
            )
            upper[program.weight_columns(others)] = 0.0
            cost = budget_row(small.rows, Budget(1.0, self._C[index], np.inf))
            solver = HighsModel(replace(program, cost=cost, column_upper=upper), self._limit)
            coef, offset = program.model(solver.solve("the best model of a feature set").point)
            coef[others] = 0.0
            if not working.add_missing(coef, offset):
                break
        violation = models.violation(coef[None], offset[None])[0]
        if violation > VIOLATION_TOL * max(1.0, np.abs(coef).sum()):
            raise SolverError(
                f"The cheapest model violates the constraints by {violation:.1e}. The usual cause "
                "is badly scaled columns: set standardize=True."
            )
        return coef, offset
