"""One row of a mapping: the smallest norm it can have, and the range of each weight near that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Matrix, Vector
from ..programs.equivalent_models import Start, baseline_program
from ..programs.hinge_rows import HingeRows
from ..programs.same_image import same_image, within_norm
from ..solver.highs import HighsModel
from ..solver.intervals import WeightRanges, weight_ranges

# A weight that is smaller than this share of the norm is rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class RowBounds:
    """What is known of one row.

    Attributes
    ----------
    row : ndarray of shape (d,)
        As it was given.
    shortest : ndarray of shape (d,)
        Weights of the smallest norm that map the data as the row does.
    ranges : WeightRanges
        Of every weight.
    """

    row: Vector
    shortest: Vector
    ranges: WeightRanges

    @property
    def norm(self) -> float:
        """The smallest norm."""
        return float(np.abs(self.shortest).sum())

    def witnesses(self, side: int) -> Matrix:
        """Weights that attain one end of each feature's interval, shape (d, d)."""
        return np.array([self.ranges.witness(j, side)[0] for j in range(len(self.row))])


def row_bounds(row: Vector, directions: Matrix, slack: float) -> RowBounds:
    """Bounds of the weights that do the same in the directions, at a norm next to the smallest.

    Parameters
    ----------
    row : ndarray of shape (d,)
    directions : ndarray of shape (k, d)
        Perpendicular, of length 1.
    slack : float
        By how much the norm may exceed the smallest one, as a share of it.
    """
    # The programs are solved for a row of length 1: tolerances are absolute.
    length = float(np.linalg.norm(directions @ row))
    rows = same_image(directions, row / length)
    start = shortest_start(rows)
    models = within_norm(rows, (1.0 + slack) * float(np.abs(start.coef).sum()), start)
    ranges = weight_ranges(models)
    return RowBounds(row, length * start.coef, ranges.scaled(length))


def shortest_start(rows: HingeRows) -> Start:
    """The weights of the smallest norm that meet the rows, and the multipliers that prove it."""
    program = baseline_program(rows, 0.0)
    solution = HighsModel(program).solve("the smallest norm of a mapping")
    coef = solution.point[program.blocks["positive"]] - solution.point[program.blocks["negative"]]
    coef[np.abs(coef) < _ROUNDING * np.abs(coef).sum()] = 0.0
    # HiGHS meets the rows to within its tolerance; the weights in use can do so exactly.
    used = np.flatnonzero(coef)
    coef[used] = np.linalg.lstsq(rows.table[:, used], rows.target, rcond=None)[0]
    return Start(coef, np.empty(0), np.maximum(solution.row_dual, 0.0), rows)
