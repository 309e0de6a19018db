"""The l1-regularised problem where the loss is known by its cuts only."""

from __future__ import annotations

import numpy as np

from ...exceptions import SolverError
from ..programs.cut_rows import CutRows
from ..programs.equivalent_models import Start
from .growing_baseline import GrowingBaseline

# By how much of its value a solution may be off, and after how many cuts to give up.
_TOLERANCE = 1e-6
_MOST_CUTS = 5_000


class CuttingBaseline:
    """Solves the problem for one C after the other; the cuts are kept.

    The best model under the cuts found so far costs less than it should where they do not
    describe the loss well: a cut there, and one half-way to the best model known, put that right.
    """

    def __init__(self, rows: CutRows) -> None:
        self._rows = rows

    def solve(self, C: float) -> Start:
        best, best_value = np.zeros(self._rows.n_weights), np.inf
        while self._rows.n_rows < _MOST_CUTS:
            found = GrowingBaseline(self._rows).solve(C)
            norm = np.abs(found.coef).sum()
            value = norm + C * self._rows.true_loss.values(found.coef[None])[0]
            if value < best_value:
                best, best_value = found.coef, value
            if value - (norm + C * max(0.0, found.offset[0])) <= _TOLERANCE * value:
                return found
            cuts = [self._rows.true_loss.cut(w) for w in (found.coef, (found.coef + best) / 2.0)]
            self._rows = self._rows.with_cuts(cuts)
        raise SolverError(
            f"The loss over all pairs was not solved to the end at C={C:g}. Badly scaled columns "
            "are the usual cause: try standardize=True, or a smaller C."
        )
