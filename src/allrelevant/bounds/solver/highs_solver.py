"""The reference: every extreme as a linear program of its own, on one HiGHS model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..programs.equivalent_models import EquivalentModels
from .extremes import Effort, Extrema, Extreme
from .highs import HighsModel, Solution


class HighsSolver:
    """Solves the extremes one after the other, each from the last one's basis."""

    def __init__(self, models: EquivalentModels) -> None:
        self._models = self.models = models
        self._highs = HighsModel(models.program)
        self.effort = Effort()

    def __call__(self, extremes: Sequence[Extreme]) -> Extrema:
        solutions = [self._solve(extreme) for extreme in extremes]
        self.effort.programs += len(extremes)
        points = np.array([solution.point for solution in solutions])
        blocks = self._models.program.blocks
        n_rows = self._models.rows.n_rows
        return Extrema(
            coef=points[:, blocks["positive"]] - points[:, blocks["negative"]],
            offset=points[:, blocks["offset"]],
            multipliers=np.array([solution.row_dual[:n_rows] for solution in solutions]),
        )

    def _solve(self, extreme: Extreme) -> Solution:
        # HiGHS minimises: the largest weight is the smallest of its negative.
        blocks = self._models.program.blocks
        starts = np.array([blocks["positive"].start, blocks["negative"].start], dtype=np.int32)
        columns = starts + np.int32(extreme.feature)
        self._highs.change_cost(columns, np.array([-extreme.sign, extreme.sign], dtype=float))
        solution = self._highs.solve(str(extreme))
        self._highs.change_cost(columns, np.zeros(2))
        return solution
