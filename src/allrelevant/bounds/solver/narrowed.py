"""Ranges over a part of a set whose ranges are known: only what has changed is solved for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ..programs.equivalent_models import EquivalentModels
from ..programs.limits import Limit, kept_by, limited_models
from .checked_solver import CheckedSolver
from .extremes import Effort, Extreme, total_effort
from .intervals import LOWER, WeightRanges, found
from .limited_start import with_start


class Narrowed:
    """A set of models under limits.

    Parameters
    ----------
    models : EquivalentModels
        Without the limits.
    limits : sequence of Limit
    C : float
        At which the set's model to start from is the cheapest one.
    """

    def __init__(self, models: EquivalentModels, limits: Sequence[Limit], C: float) -> None:
        self._wider, self.limits, self._C = models, list(limits), C

    @cached_property
    def models(self) -> EquivalentModels:
        return with_start(limited_models(self._wider, self.limits), self._wider.start, self._C)

    def ranges(self, known: WeightRanges) -> WeightRanges:
        """Range of each weight whose range without limits is known.

        An end whose witness keeps the limits stays where it was, proof included.

        Parameters
        ----------
        known : WeightRanges
            Over the set without limits.
        """
        stays = kept_by_sparse(known.coef, self.limits)
        moved = np.flatnonzero(~stays)
        m = len(known.features)
        coef, offset = known.coef.tolil(), known.offset.copy()
        attained, proven = known.attained.T.copy(), known.proven.T.copy()  # (2, m), as the rows
        effort = Effort()
        if len(moved):
            solve = CheckedSolver(self.models)
            extremes = [Extreme(int(known.features[i % m]), 1 if i >= m else -1) for i in moved]
            extrema, check = found(extremes, solve)
            coef[moved], offset[moved] = extrema.coef, extrema.offset
            attained.reshape(-1)[moved] = check.attained
            proven.reshape(-1)[moved] = check.proven
            effort = solve.effort
        return replace(
            known,
            attained=attained.T,
            proven=proven.T,
            coef=sp.csr_array(coef),
            offset=offset,
            effort=replace(effort, spared=2 * m - len(moved)),
        )


def kept_by_sparse(coef: sp.csr_array, limits: Sequence[Limit]) -> NDArray[np.bool_]:
    """Which of several models in sparse rows keep within all limits."""
    places = [limit.feature for limit in limits]
    own = [replace(limit, feature=i) for i, limit in enumerate(limits)]
    return kept_by(coef[:, places].toarray(), own)


@dataclass(frozen=True)
class UnitedRanges(WeightRanges):
    """Ranges over a union of sets: where a limit on a size leaves the sign open.

    ``attained`` and ``proven`` are the hulls of what the parts have. The sizes of a weight are
    those of the parts: the hull of [-2, -1] and [1, 2] holds zero, the union does not.
    """

    parts: tuple[WeightRanges, ...]

    @cached_property
    def interval(self) -> Matrix:
        lower, upper = np.array([part.interval for part in self.parts]).transpose(2, 0, 1)
        return np.column_stack([lower.min(axis=0), upper.max(axis=0)])

    @cached_property
    def gap(self) -> Matrix:
        return np.max([part.gap for part in self.parts], axis=0)

    def witness(self, index: int, side: int) -> tuple[Vector, Vector]:
        ends = [part.interval[index, side] for part in self.parts]
        best = int(np.argmin(ends) if side == LOWER else np.argmax(ends))
        return self.parts[best].witness(index, side)


def united(parts: Sequence[WeightRanges]) -> WeightRanges:
    """Ranges of the same features over several sets, as those over their union."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    return UnitedRanges(
        features=first.features,
        attained=_hull([part.attained for part in parts]),
        proven=_hull([part.proven for part in parts]),
        coef=first.coef,
        offset=first.offset,
        outer=first.outer,
        effort=total_effort([part.effort for part in parts]),
        parts=tuple(parts),
    )


def _hull(ranges: Sequence[Matrix]) -> Matrix:
    lows, highs = np.array(ranges).transpose(2, 0, 1)
    return np.column_stack([lows.min(axis=0), highs.max(axis=0)])
