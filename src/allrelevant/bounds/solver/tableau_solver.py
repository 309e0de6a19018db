"""The fast way: a small dense tableau over the rows that matter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix
from ..programs.equivalent_models import EquivalentModels
from ..programs.hinge_rows import HingeRows
from .extremes import Effort, Extrema, Extreme
from .tableau import NotAVertexError, Tableau, tableau_at

# Rows that exceed their target by more than this at the start rarely bind anywhere in the set: they
# are left out at first, and brought in when a solution falls short of them.
_FAR = 0.5

# By how much a solution may fall short of a row that was left out.
_SHORTFALL = 1e-10


class TableauSolver:
    """Solves every extreme on a tableau at the baseline, over the working rows.

    Raises :class:`NotAVertexError` if the set brings no vertex to start from.
    """

    def __init__(self, models: EquivalentModels) -> None:
        if models.start is None:
            raise NotAVertexError("The set has no model to start from.")
        self._models = models
        self._coef, self._offset = models.start
        shortfall = models.rows.shortfall(self._coef[None], self._offset[None])[0]
        self._working = np.flatnonzero(shortfall > -_FAR)
        self._tableau = self._fresh()
        self.effort = Effort()

    def __call__(self, extremes: Sequence[Extreme]) -> Extrema:
        answer = self._solve(extremes)
        short = self._shortfall(answer)
        while (missed := np.flatnonzero((short > _SHORTFALL).any(axis=0))).size:
            again = np.flatnonzero((short > _SHORTFALL).any(axis=1))
            self._working = np.union1d(self._working, missed)
            self._tableau = self._fresh()
            answer = answer.replaced(again, self._solve([extremes[int(e)] for e in again]))
            short = self._shortfall(answer)
        return answer

    def _fresh(self) -> Tableau:
        """The working rows' tableau at the start, from the data."""
        working = _dense(self._models.rows.take(self._working))
        return tableau_at(working, self._models.budgets, self._coef, self._offset)

    def _solve(self, extremes: Sequence[Extreme]) -> Extrema:
        found, pivots = self._tableau.solve(extremes)
        self.effort.programs += len(extremes)
        self.effort.pivots += pivots
        multipliers = np.zeros((len(extremes), self._models.rows.n_rows))
        multipliers[:, self._working] = found.multipliers
        return Extrema(found.coef, found.offset, multipliers)

    def _shortfall(self, answer: Extrema) -> Matrix:
        """By how much each solution misses the rows left out; nothing for the working ones."""
        short = self._models.rows.shortfall(answer.coef, answer.offset)
        short[:, self._working] = 0.0
        # What was not solved is not a model at all: HiGHS will see to it.
        short[~np.isfinite(answer.coef).all(axis=1)] = 0.0
        return short


def _dense(rows: HingeRows) -> HingeRows:
    if not sp.issparse(rows.table):
        return rows
    return HingeRows(rows.table.toarray(), rows.offset_table, rows.target, rows.weight)
