"""The l1-regularised problem, over the features that it takes: for tables with many.

An l1-regularised model uses no more features than there are rows, often far fewer. So the program
starts with some features, and takes in those whose weight would pay under the multipliers of its
solution, until there is none: column generation. One product with the table prices all features.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Vector
from ..programs.equivalent_models import Start, baseline_program
from ..programs.hinge_rows import HingeRows
from .highs import HighsModel

# With no more features than this, all are there from the start.
_FEW = 400

# Features to start with, and the most to take in at a time.
_AT_A_TIME = 100

# A weight pays if the pull of the multipliers exceeds its cost, which is 1, by more than this.
_PAYS = 1e-9


class GrowingBaseline:
    """Solves the problem for one C after the other, each from the last solution, by HiGHS."""

    def __init__(self, rows: HingeRows) -> None:
        self._rows = rows
        self._features = self._first_features()
        # HiGHS columns of the positive and of the negative part of each working feature.
        self._columns = np.arange(2 * len(self._features)).reshape(2, -1)
        working = HingeRows(
            rows.table[:, self._features], rows.offset_table, rows.target, rows.weight
        )
        program = baseline_program(working, 0.0)
        self._offset, slack = program.blocks["offset"], program.blocks["slack"]
        self._slack = np.arange(slack.start, slack.stop, dtype=np.int32)
        self._highs = HighsModel(program)
        self._n_columns = program.n_columns

    def solve(self, C: float) -> Start:
        self._highs.change_cost(self._slack, C * self._rows.weight_in_loss)
        what = f"the l1-regularised problem at C={C:g}"
        solution = self._highs.solve(what)
        while (paying := self._paying(solution.row_dual)).size:
            self._take_in(paying)
            solution = self._highs.solve(what)
        coef = np.zeros(self._rows.n_weights)
        positive, negative = solution.point[self._columns]
        coef[self._features] = positive - negative
        return Start(coef, solution.point[self._offset], solution.row_dual, self._rows)

    def _first_features(self) -> NDArray[np.intp]:
        """All if there are few; else those that the rows pull at most."""
        if self._rows.n_weights <= _FEW:
            return np.arange(self._rows.n_weights)
        pull = np.abs(self._rows.pull(np.where(self._rows.must_be_met, 1.0, self._rows.weight)))
        return np.argpartition(-pull, _AT_A_TIME)[:_AT_A_TIME]

    def _paying(self, multipliers: Vector) -> NDArray[np.intp]:
        """Features that are missing: those that would pay most."""
        pull = np.abs(self._rows.pull(multipliers))
        pull[self._features] = 0.0
        paying = np.flatnonzero(pull > 1.0 + _PAYS)
        if len(paying) > _AT_A_TIME:
            paying = paying[np.argpartition(-pull[paying], _AT_A_TIME)[:_AT_A_TIME]]
        return paying

    def _take_in(self, features: NDArray[np.intp]) -> None:
        table = sp.csc_array(self._rows.table[:, features])
        n_new = 2 * len(features)
        self._highs.add_columns(sp.hstack([table, -table], format="csc"), np.ones(n_new))
        columns = self._n_columns + np.arange(n_new).reshape(2, -1)
        self._columns = np.hstack([self._columns, columns])
        self._n_columns += n_new
        self._features = np.concatenate([self._features, features])
