"""The l1-regularised problem, ``min |w|_1 + C * loss``, and the multipliers at its solution."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..programs.cut_rows import CutRows
from ..programs.equivalent_models import Start
from ..programs.hinge_rows import HingeRows
from .cutting_baseline import CuttingBaseline
from .growing_baseline import GrowingBaseline
from .walking_baseline import WalkingBaseline

# A walk takes all features along. With more than these it pays to work with a few of them, unless
# there are even more rows; and a tableau of more cells than this is too large to be kept.
_FEW_FEATURES = 400
_MOST_CELLS = 50_000_000

# By how much a solution may fall short of rows that must be met.
_BREACH = 1e-9

# By how much of its value a solution may be off.
_TOLERANCE = 1e-8


class L1Baseline:
    """Solves the problem for one C after the other, each from the last solution."""

    def __init__(self, rows: HingeRows) -> None:
        self._rows = rows
        self._cutting = CuttingBaseline(rows) if isinstance(rows, CutRows) else None
        self._walk = None
        if self._cutting is not None:
            return
        few = rows.n_weights <= max(_FEW_FEATURES, rows.n_rows)
        small = rows.n_rows * rows.n_weights <= _MOST_CELLS
        if few and small:
            self._walk = WalkingBaseline(rows)

    def solve(self, C: float) -> Start:
        """Weights, offsets and multipliers of the rows at the optimum."""
        if self._cutting is not None:
            return self._cutting.solve(C)
        if self._walk is not None:
            found = self._walk.solve(C)
            if found is not None and excess(self._rows, C, found) <= _TOLERANCE:
                return found
        return self._growing.solve(C)

    @cached_property
    def _growing(self) -> GrowingBaseline:
        return GrowingBaseline(self._rows)


def excess(rows: HingeRows, C: float, found: Start) -> float:
    """By how much a solution can cost more than the best one, as a share of its cost.

    For multipliers between 0 and C times the weight of their row that pull no weight by more than
    1, and no offset at all, ``multipliers . target`` is what every model costs at least. What is
    missing to that counts against the solution.
    """
    coef, offset, multipliers = found.coef, found.offset, found.multipliers
    if rows.breach(coef[None], offset[None])[0] > _BREACH:
        return np.inf
    cost = np.abs(coef).sum() + C * rows.loss(coef[None], offset[None])[0]
    pull = np.abs(rows.pull(multipliers)).max(initial=0.0)
    reach = max(1.0, pull, (multipliers / rows.weight).max() / C)
    faults = [
        1.0 - multipliers @ rows.target / reach / cost,
        -multipliers.min() / C,
        np.abs(multipliers @ rows.offset_table).max(initial=0.0) / (C * rows.weight_in_loss.sum()),
    ]
    return float(max(faults)) if np.isfinite(faults).all() else np.inf
