"""Choice of the solvers by the type and the number of constraints.

If the constraints describe the loss completely, the solvers use the simplex method, or an
interior-point method if there are many of them. If they approximate the loss by cuts, the solvers
use cutting planes. :func:`solvers_for` returns the family. It creates the solvers for the baseline
and for extremes, and finds starts for sets with limits on weights. No other module depends on the
kind of constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import EquivalentModels, StartingVertex
from ..programs.hinge import HingeRows
from ..programs.pairwise import CuttingPlaneRows
from .cutting import CuttingPlaneBaseline, CuttingPlaneSolver, with_central_start
from .dictionary import Dictionary, Vertex
from .interface import EXACT_TOL, BaselineSolver, ExtremeSolver, NotAVertexError
from .interior import MAX_HARD_ROWS, InteriorSolver
from .interior_baseline import InteriorBaseline
from .l1 import L1Baseline, finite_weights
from .proofs import largest_norm
from .simplex import SimplexSolver, nearly_used_features
from .sparse_columns import SparseColumnSolver, has_sparse_columns

# Above these numbers of constraints or features, HiGHS can take minutes per LP.
MAX_ROWS_FOR_HIGHS = 3_000
MAX_FEATURES_FOR_HIGHS = 20_000

# From this number of constraints, interior-point methods are faster than the simplex method.
MIN_ROWS_FOR_INTERIOR = 3_000


class SolverFamily(Protocol):
    """Interface of factories that create all solvers for one type of constraints."""

    def baseline(
        self,
        tol: float = 0.0,
        values: Sequence[float] = (),
        deadline: Deadline = NO_DEADLINE,
    ) -> BaselineSolver:
        """Return a solver for ``min |w|_1 + C * loss``.

        ``tol`` is the relative duality gap that its solutions may have. ``values`` are the values
        of C to be solved, if they are known. Some solvers solve several of them together. The
        solver raises :exc:`TimeLimitError` after the deadline.
        """

    def extremes(
        self,
        models: EquivalentModels,
        active_rows: NDArray[np.intp] | Sequence[int] = (),
        tol: float = EXACT_TOL,
        deadline: Deadline = NO_DEADLINE,
    ) -> ExtremeSolver:
        """Return a solver for the largest and smallest weights over a set of models.

        ``active_rows`` are the indices of constraints that are likely to be active. ``tol`` is the
        gap that solutions may have, relative to the largest norm in the set. The solver raises
        :exc:`TimeLimitError` after the deadline.
        """

    def with_start(
        self,
        limited: EquivalentModels,
        start: StartingVertex,
        C: float,
        deadline: Deadline = NO_DEADLINE,
    ) -> EquivalentModels:
        """Return a restricted set of models, with a starting point if one is found.

        The limits are the last constraints of the set. ``start`` is the start of the set without
        limits, optimal at ``C``.
        """

    def reference_can_check(self, models: EquivalentModels) -> bool:
        """Return whether HiGHS can serve as a fallback, that is, solve the same LPs fast enough."""


def solvers_for(rows: HingeRows) -> SolverFamily:
    """Return cutting-plane solvers if the constraints include cuts, else simplex solvers."""
    if isinstance(rows, CuttingPlaneRows):
        return CuttingPlaneFamily(rows)
    return SimplexFamily(rows)


@dataclass(frozen=True)
class CuttingPlaneFamily:
    """Cutting-plane solvers, for constraints that approximate the loss from below."""

    rows: CuttingPlaneRows

    def baseline(
        self,
        tol: float = 0.0,
        values: Sequence[float] = (),
        deadline: Deadline = NO_DEADLINE,
    ) -> BaselineSolver:
        return CuttingPlaneBaseline(self.rows, tol, values, deadline)

    def extremes(
        self,
        models: EquivalentModels,
        active_rows: NDArray[np.intp] | Sequence[int] = (),
        tol: float = EXACT_TOL,
        deadline: Deadline = NO_DEADLINE,
    ) -> ExtremeSolver:
        return CuttingPlaneSolver(models, self.rows, tol, deadline)

    def with_start(
        self,
        limited: EquivalentModels,
        start: StartingVertex,
        C: float,
        deadline: Deadline = NO_DEADLINE,
    ) -> EquivalentModels:
        return with_central_start(limited, self.rows, deadline)

    def reference_can_check(self, models: EquivalentModels) -> bool:
        return False


@dataclass(frozen=True)
class SimplexFamily:
    """Simplex and interior-point solvers, for constraints that describe the loss exactly.

    Interior-point methods are for tables with many rows. They do not support the hard constraints
    of privileged features, because these are as many as the rows.
    """

    rows: HingeRows

    @property
    def is_tall(self) -> bool:
        """Whether interior-point methods are faster than the simplex method."""
        n_hard = int(self.rows.is_hard.sum())
        is_large = self.rows.n_rows - n_hard >= MIN_ROWS_FOR_INTERIOR
        return is_large and n_hard <= MAX_HARD_ROWS and self.rows.n_weights <= self.rows.n_rows

    def baseline(
        self,
        tol: float = 0.0,
        values: Sequence[float] = (),
        deadline: Deadline = NO_DEADLINE,
    ) -> BaselineSolver:
        if tol > 0 and self.is_tall:
            return InteriorBaseline(self.rows, tol, deadline)
        return L1Baseline(self.rows, deadline, tol)

    def extremes(
        self,
        models: EquivalentModels,
        active_rows: NDArray[np.intp] | Sequence[int] = (),
        tol: float = EXACT_TOL,
        deadline: Deadline = NO_DEADLINE,
    ) -> ExtremeSolver:
        if self.is_tall and largest_norm(models) > 0:
            return InteriorSolver(models, tol, deadline)
        if has_sparse_columns(self.rows):
            return SparseColumnSolver(models, tol, deadline)
        return SimplexSolver(models, active_rows, tol, deadline)

    def with_start(
        self,
        limited: EquivalentModels,
        start: StartingVertex,
        C: float,
        deadline: Deadline = NO_DEADLINE,
    ) -> EquivalentModels:
        """Return the set with the minimizer of ``|w|_1 + C * loss`` as starting point, if found.

        The start may exceed a budget, which solvers allow. For the simplex method, hard constraints
        get a finite weight, large enough that the optimum satisfies them. The dual variable of a
        limit is bounded by the terms of norm and other constraints in the reduced cost of its
        weight.
        """
        n_before = start.rows.n_rows
        before = self.rows.take(np.arange(n_before))
        limits = self.rows.take(np.arange(n_before, self.rows.n_rows)).table
        weight = finite_weights(before)
        max_multiplier = 1.0 / C + np.asarray(abs(before.table).T @ weight)
        finite = np.r_[weight, 2.0 * np.asarray(abs(limits) @ max_multiplier)]
        try:
            soft = replace(self.rows, weight=finite)
            vertex = Vertex.of_model(soft, start.coef, start.offset)
        except NotAVertexError:
            return limited
        features = np.union1d(
            nearly_used_features(np.abs(start.rows.row_combination(start.multipliers))),
            np.flatnonzero(np.asarray(abs(limits).sum(axis=0))),
        )
        optimum = Dictionary(vertex, features, (), np.zeros(2)).minimize(C)
        if optimum is None:
            return limited
        return replace(limited, start=replace(optimum, rows=self.rows))

    def reference_can_check(self, models: EquivalentModels) -> bool:
        return (
            models.rows.n_rows <= MAX_ROWS_FOR_HIGHS and models.n_weights <= MAX_FEATURES_FOR_HIGHS
        )
