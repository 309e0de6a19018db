"""Smallest and largest sum of the absolute weights of given features over a set of models.

:class:`WorkingSet` restricts LPs and MILPs that are too hard with all constraints.
:class:`TotalWeight` finds the smallest and largest sum of absolute weights. The smallest sum is an
LP. The largest sum maximizes a convex function, which is linear for fixed signs. It is a MILP with
a binary variable for the sign of each weight that can have either sign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...deadline import NO_DEADLINE, Deadline
from ...exceptions import TimeLimitError
from ..programs.equivalent_models import EquivalentModels, LinearProgram
from .blocks import KnownModels
from .highs import HighsModel

# Largest violation of constraints outside the working set, relative to the norm.
FEASIBILITY_TOL = 1e-7


class WorkingSet:
    """Working set of constraints on models; constraints that a solution violates are added.

    The models that satisfy it are a relaxation of the full set of models. Bounds over them are
    therefore valid for the full set, and an optimum that is feasible for the full set is also
    optimal there. The initial constraints are those that are nearly active at ``known`` models.
    """

    def __init__(self, models: EquivalentModels, known: KnownModels) -> None:
        self._all = models
        self._rows = models.rows.working_rows(known.coef.toarray(), known.offset)

    @property
    def models(self) -> EquivalentModels:
        """Set of models that satisfy the constraints in the working set."""
        return replace(self._all, rows=self._all.rows.take(self._rows), start=None)

    def add_missing(self, coef: Vector, offset: Vector) -> bool:
        """Add constraints that a model violates to the working set; return whether any were new."""
        violation = self._all.violation(coef[None], offset[None])[0]
        if violation <= FEASIBILITY_TOL * max(1.0, np.abs(coef).sum()):
            return False
        n_before = len(self._rows)
        rows, missing = self._all.rows.missing_rows(coef, offset)
        self._all = replace(self._all, rows=rows)
        self._rows = np.union1d(self._rows, missing)
        return len(self._rows) > n_before


class TotalWeight:
    """Solver for the smallest and largest sum of absolute weights over a set of models.

    ``known`` are models of the set. ``signed``, of shape (d, 2), bounds the weights. After
    ``deadline``, :exc:`TimeLimitError` is raised.
    """

    def __init__(
        self,
        models: EquivalentModels,
        known: KnownModels,
        signed: Matrix,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self._working = WorkingSet(models, known)
        self._signed, self._deadline = signed, deadline

    def smallest(self, features: NDArray[np.intp]) -> float:
        """Return the smallest sum of the given features' absolute weights over all models."""

        def solve(program: LinearProgram) -> Vector:
            cost = program.cost.copy()
            cost[program.weight_columns(features)] = 1.0
            return (
                HighsModel(replace(program, cost=cost), self._deadline)
                .solve("the smallest total weight of a group")
                .point
            )

        return self._sum_at(solve, features)

    def largest(self, features: NDArray[np.intp]) -> float:
        """Return the largest sum of the given features' absolute weights over all models."""
        low, high = self._signed[features].T
        either_sign = features[(low < 0) & (high > 0)]

        def solve(program: LinearProgram) -> Vector:
            signs = _add_sign_columns(program, either_sign, self._signed)
            cost, upper = signs.cost.copy(), signs.column_upper.copy()
            positive, negative = program.weight_columns(features)
            cost[positive] = cost[negative] = -1.0
            upper[positive], upper[negative] = np.maximum(high, 0.0), np.maximum(-low, 0.0)
            model = HighsModel(replace(signs, cost=cost, column_upper=upper))
            columns = np.arange(program.n_columns, signs.n_columns, dtype=np.int32)
            what, seconds = "the largest total weight of a group", self._deadline.seconds_left
            found = model.solve_integer(columns, what, seconds)
            if found.timed_out:
                raise TimeLimitError(
                    f"The time limit was reached during {what}. Increase max_seconds."
                )
            assert found.point is not None  # the set is not empty
            return found.point

        return self._sum_at(solve, features)

    def _sum_at(
        self, solve: Callable[[LinearProgram], Vector], features: NDArray[np.intp]
    ) -> float:
        """Solve an LP or MILP over a growing working set; return the sum of absolute weights."""
        while True:
            program = self._working.models.program
            coef, offset = program.model(solve(program))
            if not self._working.add_missing(coef, offset):
                return float(np.abs(coef[features]).sum())


def _add_sign_columns(
    program: LinearProgram, features: NDArray[np.intp], signed: Matrix
) -> LinearProgram:
    """Return the LP extended by a binary variable for the sign of each given feature's weight.

    The constraints are ``positive <= high sign`` and ``negative <= -low (1 - sign)``.
    """
    m, each = len(features), np.arange(len(features))
    low, high = signed[features].T
    positive, negative = program.weight_columns(features)
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
