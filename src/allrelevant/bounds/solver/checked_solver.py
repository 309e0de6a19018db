"""Answers that have been checked, and HiGHS as the judge of those that do not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ..programs.equivalent_models import EquivalentModels
from .cutting_solver import CuttingSolver
from .extremes import Effort, Extrema, Extreme, ExtremeSolver
from .highs_solver import HighsSolver
from .proofs import Examination, examine
from .tableau_solver import TableauSolver
from .vertex import NotAVertexError

# An answer stands if gap and violation, relative to the norm, stay below this.
_TOLERANCE = 1e-7

# With more rows or features than these, one program can take HiGHS minutes. Then what was proven
# stands, with its gap.
_MOST_ROWS_FOR_HIGHS = 3_000
_MOST_FEATURES_FOR_HIGHS = 20_000


def _solver_for(models: EquivalentModels) -> Callable[[EquivalentModels], ExtremeSolver]:
    return TableauSolver if models.rows.complete else CuttingSolver


class CheckedSolver:
    """Asks a solver, checks every answer against the data, and has HiGHS settle the rest.

    Parameters
    ----------
    models : EquivalentModels
    solver : callable, default: the one that suits the set
        Makes a solver for a set of models.
    """

    def __init__(
        self,
        models: EquivalentModels,
        solver: Callable[[EquivalentModels], ExtremeSolver] | None = None,
    ) -> None:
        self._models = models
        self._fallbacks = 0
        try:
            self._solver: ExtremeSolver | None = (solver or _solver_for(models))(models)
        except NotAVertexError:
            self._solver = None

    @property
    def effort(self) -> Effort:
        if self._solver is None:
            return Effort(fallbacks=self._fallbacks)
        spent = self._solver.effort
        return Effort(spent.programs, spent.pivots, self._fallbacks)

    def __call__(self, extremes: Sequence[Extreme]) -> tuple[Extrema, Examination]:
        if self._solver is None:
            return self._settled_by_highs(extremes)
        answer = self._solver(extremes)
        self._models = self._solver.models
        check = examine(self._models, extremes, answer)
        size = np.maximum(1.0, np.abs(answer.coef).sum(axis=1))
        sound = (check.gap <= _TOLERANCE * size) & (check.violation <= _TOLERANCE)
        doubtful = np.flatnonzero(~sound)  # what is not a number is not sound either
        if len(doubtful) == 0 or isinstance(self._solver, HighsSolver):
            return answer, check
        of_doubtful = [extremes[int(e)] for e in doubtful]
        if self._is_for_highs():
            better, better_check = self._settled_by_highs(of_doubtful)
            return answer.replaced(doubtful, better), check.replaced(doubtful, better_check)
        unusable = np.flatnonzero(~(check.violation <= _TOLERANCE))
        return self._drawn_inside(extremes, unusable, answer)

    def _is_for_highs(self) -> bool:
        return (
            self._models.rows.complete
            and self._models.rows.n_rows <= _MOST_ROWS_FOR_HIGHS
            and self._models.n_weights <= _MOST_FEATURES_FOR_HIGHS
        )

    def _settled_by_highs(self, extremes: Sequence[Extreme]) -> tuple[Extrema, Examination]:
        self._fallbacks += len(extremes)
        answer = self._highs(extremes)
        return answer, examine(self._models, extremes, answer)

    def _drawn_inside(
        self, extremes: Sequence[Extreme], unusable: NDArray[np.intp], answer: Extrema
    ) -> tuple[Extrema, Examination]:
        """Answers outside the set, drawn towards the baseline until they are inside.

        Over very many rows rounding adds up to a little too much loss: then it is a tiny way. In
        the place of what is no model at all stands the baseline itself.
        """
        start = self._models.start
        inside = np.inf
        if start is not None:
            inside = float(self._models.violation(start.coef[None], start.offset[None])[0])
        if len(unusable) and start is not None and inside <= 0:
            outside = answer.taken(unusable)
            share = -inside / (self._models.violation(outside.coef, outside.offset) - inside)
            share = np.where(np.isfinite(share), np.clip(share, 0.0, 1.0), 0.0)[:, None]
            answer = answer.replaced(
                unusable,
                Extrema(
                    _between(start.coef, outside.coef, share),
                    _between(start.offset, outside.offset, share),
                    np.where(share > 0, outside.multipliers, start.multipliers),
                ),
            )
        return answer, examine(self._models, extremes, answer)

    @cached_property
    def _highs(self) -> HighsSolver:
        return HighsSolver(self._models)


def _between(start: Vector, end: Matrix, share: Matrix) -> Matrix:
    """A point of the way from one model to each of others; the model itself at share zero."""
    return np.where(share > 0, start + share * (end - start), start)
