"""The l1-regularised problem where the loss is known by its cuts only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ...exceptions import SolverError
from ..programs.cut_rows import CutRows
from ..programs.equivalent_models import Start, baseline_program
from ..programs.pairwise_loss import Cut
from .highs import HighsModel, Solution

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
        self._d = rows.n_weights
        program = baseline_program(rows, 0.0)
        slack = program.blocks["slack"]
        self._slack_of_loss = np.array([slack.start], dtype=np.int32)  # the first row is the loss
        self._n_columns = program.n_columns
        self._highs = HighsModel(program)

    def solve(self, C: float) -> Start:
        self._highs.change_cost(self._slack_of_loss, np.array([C]))
        best, best_value = np.zeros(self._d), np.inf
        while self._rows.n_rows < _MOST_CUTS:
            found = self._start(self._highs.solve(f"the baseline of the ranking at C={C:g}"))
            norm = np.abs(found.coef).sum()
            loss, cut = self._rows.true_loss.loss_and_cut(found.coef)
            value = norm + C * loss
            if value < best_value:
                best, best_value = found.coef, value
            if value - (norm + C * max(0.0, found.offset[0])) <= _TOLERANCE * value:
                return found
            self._add([cut, self._rows.true_loss.cut((found.coef + best) / 2.0)])
        raise SolverError(
            f"The loss over all pairs was not solved to the end at C={C:g}. Badly scaled columns "
            "are the usual cause: try standardize=True, or a smaller C."
        )

    def _start(self, solution: Solution) -> Start:
        positive, negative = solution.point[: 2 * self._d].reshape(2, -1)
        offset = solution.point[2 * self._d : 2 * self._d + 1]
        return Start(positive - negative, offset, solution.row_dual, self._rows)

    def _add(self, cuts: Sequence[Cut]) -> None:
        self._rows = self._rows.with_cuts(cuts)
        slopes = np.array([cut.slope for cut in cuts])
        n, nothing = len(cuts), self._n_columns - 2 * self._d - 1
        rows = np.hstack([slopes, -slopes, np.ones((n, 1)), np.zeros((n, nothing))])
        self._highs.add_rows(sp.csr_array(rows), np.array([cut.height for cut in cuts]))
