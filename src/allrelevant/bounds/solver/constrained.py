"""Ranges over part of a set whose ranges are known: only what changes is solved.

:class:`ConstrainedModels` is a set of models under limits on weights. Witnesses of the whole set
that keep the limits still attain their ends, so that most programs are not needed.
:class:`UnionRanges` are ranges over several such parts together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ..programs.equivalent_models import (
    EquivalentModels,
    WeightLimit,
    clip_to_limits,
    limited_models,
    satisfies_limits,
)
from .families import solvers_for
from .interface import Extreme, SolverStats, total_effort
from .proofs import intersect
from .ranges import LOWER, CheckedSolver, WeightRanges, absolute

# A row that a model exceeds by no more than this matters to it.
ACTIVE_TOL = 1e-9

# A weight this close to a bound, relative to its size, attains it.
UNCHANGED_TOL = 1e-9

# How far limits are moved outwards for solvers, relative to their size.
ROOM = 1e-8

# With more slacks than this it takes too long to look at every row of every witness.
MAX_SLACKS = 10_000_000


class ConstrainedModels:
    """A set of models under limits.

    The start of ``models``, the set without the limits, is optimal at ``C``. Solutions are put
    exactly within ``exact_limits``, by default the limits.
    """

    def __init__(
        self,
        models: EquivalentModels,
        limits: Sequence[WeightLimit],
        C: float,
        exact_limits: Sequence[WeightLimit] | None = None,
    ) -> None:
        self._wider, self.limits, self._C = models, list(limits), C
        self._exact_limits = self.limits if exact_limits is None else list(exact_limits)

    @cached_property
    def models(self) -> EquivalentModels:
        """The set, with a start if one is found."""
        limited = limited_models(self._wider, self.limits)
        if self._wider.start is None:
            return limited
        limited = solvers_for(limited.rows).with_start(limited, self._wider.start, self._C)
        if limited.start is None:
            return limited
        coef = clip_to_limits(limited.start.coef.copy(), self._exact_limits)
        return replace(limited, start=replace(limited.start, coef=coef))

    def with_room(self) -> ConstrainedModels:
        """The same with limits slightly further out.

        A limit at the very end of a weight's range leaves models up to rounding only, and a solver
        may find none. Its solutions are put back within the limits.
        """
        limits = [
            replace(
                limit,
                low=limit.low - ROOM * (1.0 + abs(limit.low)),
                high=limit.high + ROOM * (1.0 + abs(limit.high)),
            )
            for limit in self.limits
        ]
        return ConstrainedModels(self._wider, limits, self._C, self._exact_limits)

    def ranges(self, wider: WeightRanges) -> WeightRanges:
        """Range of each weight whose range without limits is known.

        An end whose witness keeps the limits stays where it was, with its proof.
        """
        moved = np.flatnonzero(~satisfies_limits_sparse(wider.coef, self.limits))
        m = len(wider.features)
        coef, offset = wider.coef.tolil(), wider.offset.copy()
        attained, proven = wider.attained.T.copy(), wider.proven.T.copy()  # (2, m), as the rows
        effort = SolverStats()
        if len(moved):
            checked = self.checked_solver(wider)
            extremes = [Extreme(int(wider.features[i % m]), 1 if i >= m else -1) for i in moved]
            solutions, check = checked.solve(extremes)
            coef[moved], offset[moved] = solutions.coef, solutions.offset
            attained.reshape(-1)[moved] = check.attained
            proven.reshape(-1)[moved] = check.proven
            effort = checked.effort
        for limit in self._exact_limits:
            column = coef[:, [limit.feature]].toarray()
            coef[:, [limit.feature]] = clip_to_limits(column, [replace(limit, feature=0)])
            index = np.flatnonzero(wider.features == limit.feature)
            attained[:, index] = np.clip(attained[:, index], limit.low, limit.high) + 0.0
            proven[:, index] = np.clip(proven[:, index], limit.low, limit.high) + 0.0
        return replace(
            wider,
            attained=attained.T,
            proven=proven.T,
            coef=sp.csr_array(coef),
            offset=offset,
            effort=replace(effort, spared=2 * m - len(moved)),
        )

    def sizes(
        self, features: NDArray[np.intp], wider: WeightRanges, signed: Matrix
    ) -> tuple[Matrix, SolverStats]:
        """Smallest and largest absolute weight of m features, shape (m, 2), in few programs.

        Witnesses of ``wider``, the ranges without limits, that keep the limits show that a weight
        can still be as large as before, or zero; so does every model found on the way. Only what
        none of them shows is solved. ``signed``, of shape (d, 2), bounds the weights without
        limits.
        """
        seen = wider.coef[satisfies_limits_sparse(wider.coef, self.limits)][:, features].toarray()
        seen = self.put_within(seen, features)
        low, high = signed[features].T
        main = np.where(high >= -low, 1, -1)  # the sign with which a weight can be larger
        most, least = np.maximum(high, -low), -np.minimum(high, -low)
        close = UNCHANGED_TOL * (1.0 + most)
        update = _RangeUpdate(self, features, wider)
        highest, lowest = _ends_of(seen)
        largest = np.where(main > 0, highest, -lowest)
        pending = np.flatnonzero(largest < most - close)
        seen = np.vstack([seen, update.solve(pending, main[pending])])
        highest, lowest = _ends_of(seen)
        largest = np.where(main > 0, highest, -lowest)
        smallest = np.where(main > 0, lowest, -highest)
        # The other end matters if the weight can be larger there, or if no model shows zero.
        could_be_larger = -np.maximum(least, update.proven_least(main)) > np.maximum(largest, 0.0)
        pending = np.flatnonzero((smallest > least + close) & (could_be_larger | (smallest > 0)))
        seen = np.vstack([seen, update.solve(pending, -main[pending])])
        highest, lowest = _ends_of(seen)
        sizes = absolute(np.column_stack([lowest, highest]))
        return sizes, replace(update.effort, spared=2 * len(features) - update.n_solved)

    def put_within(self, coef: Matrix, features: NDArray[np.intp]) -> Matrix:
        """Weights of some features, shape (m, len(features)), put exactly within the limits."""
        places = {int(j): i for i, j in enumerate(features)}
        moved = [
            replace(limit, feature=places[limit.feature])
            for limit in self._exact_limits
            if limit.feature in places
        ]
        return clip_to_limits(coef, moved)

    def checked_solver(self, wider: WeightRanges) -> CheckedSolver:
        """A solver that starts with the rows that are active at witnesses without the limits."""
        rows = self._wider.rows
        active_rows = np.empty(0, dtype=np.intp)
        if rows.n_rows * len(wider.offset) <= MAX_SLACKS:
            slack = rows.slack(wider.coef.toarray(), wider.offset)
            active_rows = np.flatnonzero((slack >= -ACTIVE_TOL).any(axis=0))
        family = solvers_for(self.models.rows)
        return CheckedSolver(self.models, partial(family.extremes, active_rows=active_rows))


def satisfies_limits_sparse(coef: sp.csr_array, limits: Sequence[WeightLimit]) -> NDArray[np.bool_]:
    """Which of several models in sparse rows keep all limits."""
    columns = coef[:, [limit.feature for limit in limits]].toarray()
    return satisfies_limits(columns, [replace(limit, feature=i) for i, limit in enumerate(limits)])


class _RangeUpdate:
    """Models at extremes of some features, and what they prove of the others on the way."""

    def __init__(
        self, constrained: ConstrainedModels, features: NDArray[np.intp], wider: WeightRanges
    ) -> None:
        self._constrained, self._features, self._wider = constrained, features, wider
        self._outer = np.tile([-np.inf, np.inf], (len(features), 1))
        self.n_solved = 0

    @cached_property
    def _checked(self) -> CheckedSolver:
        return self._constrained.checked_solver(self._wider)

    @property
    def effort(self) -> SolverStats:
        return self._checked.effort if self.n_solved else SolverStats()

    def solve(self, which: NDArray[np.intp], signs: NDArray[np.int_]) -> Matrix:
        """The features' weights in the models at these extremes, shape (len(which), m)."""
        if len(which) == 0:
            return np.empty((0, len(self._features)))
        self.n_solved += len(which)
        pairs = zip(self._features[which], signs, strict=True)
        solutions, check = self._checked.solve([Extreme(int(j), int(sign)) for j, sign in pairs])
        self._outer = intersect(self._outer, check.certificates.ranges()[self._features])
        return self._constrained.put_within(solutions.coef[:, self._features], self._features)

    def proven_least(self, signs: NDArray[np.int_]) -> Vector:
        """What the weights, times these signs, cannot go below."""
        return np.where(signs > 0, self._outer[:, 0], -self._outer[:, 1])


def _ends_of(seen: Matrix) -> tuple[Vector, Vector]:
    """The largest and the smallest weight of each feature among models; infinite without any."""
    return seen.max(axis=0, initial=-np.inf), seen.min(axis=0, initial=np.inf)


@dataclass(frozen=True)
class UnionRanges(WeightRanges):
    """Ranges over a union of sets: where a limit on an absolute weight leaves the sign open.

    ``attained`` and ``proven`` are the hulls of the parts, absolute weights are those of the parts:
    the hull of [-2, -1] and [1, 2] contains zero, the union does not.
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


def union(parts: Sequence[WeightRanges]) -> WeightRanges:
    """Ranges of the same features over several sets, as ranges over their union."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    return UnionRanges(
        features=first.features,
        attained=hull([part.attained for part in parts]),
        proven=hull([part.proven for part in parts]),
        coef=first.coef,
        offset=first.offset,
        outer=first.outer,
        effort=total_effort([part.effort for part in parts]),
        parts=tuple(parts),
    )


def hull(ranges: Sequence[Matrix]) -> Matrix:
    """The smallest ranges that contain several ranges, shape (d, 2)."""
    lows, highs = np.array(ranges).transpose(2, 0, 1)
    return np.column_stack([lows.min(axis=0), highs.max(axis=0)])
