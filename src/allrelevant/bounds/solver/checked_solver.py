"""The solver in use: the tableau, with HiGHS as the judge of what it cannot prove."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..programs.equivalent_models import EquivalentModels
from .extremes import Effort, Extrema, Extreme
from .highs_solver import HighsSolver
from .proofs import examine
from .tableau_solver import TableauSolver
from .vertex import NotAVertexError

# An answer of the tableau stands if gap and violation, relative to the norm, stay below this.
_TOLERANCE = 1e-7


class CheckedSolver:
    """Asks the tableau first, and HiGHS for whatever the data do not confirm."""

    def __init__(self, models: EquivalentModels) -> None:
        self._models = models
        self.effort = Effort()
        try:
            self._tableau: TableauSolver | None = TableauSolver(models)
        except NotAVertexError:
            self._tableau = None

    def __call__(self, extremes: Sequence[Extreme]) -> Extrema:
        if self._tableau is None:
            self.effort.fallbacks += len(extremes)
            return self._reference(extremes)
        answer = self._tableau(extremes)
        check = examine(self._models, extremes, answer)
        size = np.maximum(1.0, np.abs(answer.coef).sum(axis=1))
        sound = (check.gap <= _TOLERANCE * size) & (check.violation <= _TOLERANCE)
        doubtful = np.flatnonzero(~sound)  # what is not a number is not sound either
        if len(doubtful):
            self.effort.fallbacks += len(doubtful)
            answer = answer.replaced(
                doubtful, self._reference([extremes[int(e)] for e in doubtful])
            )
        self.effort.programs = self._tableau.effort.programs
        self.effort.pivots = self._tableau.effort.pivots
        return answer

    @cached_property
    def _reference(self) -> HighsSolver:
        return HighsSolver(self._models)
