"""Which solvers a set of models has: the only place that asks what kind its rows are.

Rows that list all of the loss are solved by the simplex method, rows that know the loss by its cuts
by cutting planes. :func:`solvers_for` returns a family, which makes the solver of the baseline and
that of the extremes, and finds starts for sets with limits on weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..programs.equivalent_models import EquivalentModels, StartingVertex
from ..programs.hinge import HingeRows
from ..programs.pairwise import CuttingPlaneRows
from .cutting import CuttingPlaneBaseline, CuttingPlaneSolver, with_central_start
from .interface import BaselineSolver, ExtremeSolver, NotAVertexError
from .l1 import L1Baseline, finite_weights
from .simplex import Dictionary, SimplexSolver, Vertex, nearly_used_features

# With more rows or features than these, one program can take HiGHS minutes.
MAX_ROWS_FOR_HIGHS = 3_000
MAX_FEATURES_FOR_HIGHS = 20_000


class SolverFamily(Protocol):
    """The solvers of one kind of rows; sets of models that it is given have these rows."""

    def baseline(self) -> BaselineSolver:
        """The solver of ``min |w|_1 + C * loss``."""

    def extremes(
        self, models: EquivalentModels, active_rows: NDArray[np.intp] | Sequence[int] = ()
    ) -> ExtremeSolver:
        """The solver of extremes. ``active_rows`` are rows that are known to matter."""

    def with_start(
        self, limited: EquivalentModels, start: StartingVertex, C: float
    ) -> EquivalentModels:
        """A set with limits, whose rows are the last ones, and with a start if one is found.

        ``start`` is that of the set without limits, optimal at ``C``.
        """

    def reference_can_check(self, models: EquivalentModels) -> bool:
        """Whether HiGHS can solve the same extremes in reasonable time."""


def solvers_for(rows: HingeRows) -> SolverFamily:
    """The solvers of a kind of rows."""
    if isinstance(rows, CuttingPlaneRows):
        return CuttingPlaneFamily(rows)
    return SimplexFamily(rows)


@dataclass(frozen=True)
class CuttingPlaneFamily:
    """Solvers where the loss is known by its cuts."""

    rows: CuttingPlaneRows

    def baseline(self) -> BaselineSolver:
        return CuttingPlaneBaseline(self.rows)

    def extremes(
        self, models: EquivalentModels, active_rows: NDArray[np.intp] | Sequence[int] = ()
    ) -> ExtremeSolver:
        return CuttingPlaneSolver(models, self.rows)

    def with_start(
        self, limited: EquivalentModels, start: StartingVertex, C: float
    ) -> EquivalentModels:
        return with_central_start(limited, self.rows)

    def reference_can_check(self, models: EquivalentModels) -> bool:
        return False


@dataclass(frozen=True)
class SimplexFamily:
    """Solvers where the rows list all of the loss."""

    rows: HingeRows

    def baseline(self) -> BaselineSolver:
        return L1Baseline(self.rows)

    def extremes(
        self, models: EquivalentModels, active_rows: NDArray[np.intp] | Sequence[int] = ()
    ) -> ExtremeSolver:
        return SimplexSolver(models, active_rows)

    def with_start(
        self, limited: EquivalentModels, start: StartingVertex, C: float
    ) -> EquivalentModels:
        """The start is the model of least ``|w|_1 + C * loss`` that keeps the limits.

        It may exceed a budget: solvers find their way inside. To get there by the simplex method,
        hard rows get a weight large enough that the optimum meets them. The multiplier of a limit
        is at most what the norm and all other rows come to at its feature.
        """
        n_before = start.rows.n_rows
        before = self.rows.take(np.arange(n_before))
        limits = self.rows.take(np.arange(n_before, self.rows.n_rows)).table
        weight = finite_weights(before)
        reach = 1.0 / C + np.asarray(abs(before.table).T @ weight)
        finite = np.r_[weight, 2.0 * np.asarray(abs(limits) @ reach)]
        try:
            vertex = Vertex(replace(self.rows, weight=finite), start.coef, start.offset)
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
