"""Ranges over a part of a set whose ranges are known: only what has changed is solved for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ..programs.equivalent_models import (
    EquivalentModels,
    WeightLimit,
    kept_by,
    limited_models,
    within,
)
from .families import with_start
from .interface import Extreme, ExtremeSolver, SolverStats, total_effort
from .proofs import intersect
from .ranges import LOWER, CheckedSolver, WeightRanges, absolute, solve_extremes
from .simplex import SimplexSolver

# A row that a model meets by no more than this matters to it.
_TIGHT = 1e-9


# A weight this close to a bound, relative to its size, attains it.
_SAME = 1e-9


# How far limits can move without meaning anything else.
_HAIR = 1e-8


# With more numbers than this it takes too long to look at every row of every model.
_MOST_SHORTFALLS = 10_000_000


class ConstrainedModels:
    """A set of models under limits.

    Parameters
    ----------
    models : EquivalentModels
        Without the limits.
    limits : sequence of Limit
    C : float
        At which the set's model to start from is the cheapest one.
    asked : sequence of Limit, default=None
        What every model found is put within, exactly: by default ``limits``.
    """

    def __init__(
        self,
        models: EquivalentModels,
        limits: Sequence[WeightLimit],
        C: float,
        asked: Sequence[WeightLimit] | None = None,
    ) -> None:
        self._wider, self.limits, self._C = models, list(limits), C
        self._asked = self.limits if asked is None else list(asked)

    @cached_property
    def models(self) -> EquivalentModels:
        limited = limited_models(self._wider, self.limits)
        found = with_start(limited, self._wider.start, self._C)
        if found.start is None:
            return found
        coef = within(found.start.coef.copy(), self._asked)
        return replace(found, start=replace(found.start, coef=coef))

    def with_room(self) -> ConstrainedModels:
        """The same with limits a hair further out.

        A limit at the very end of a weight's range leaves models to within rounding only, and a
        solver may find none. Models that are found are put back within the limits.
        """
        limits = [
            replace(
                limit,
                low=limit.low - _HAIR * (1.0 + abs(limit.low)),
                high=limit.high + _HAIR * (1.0 + abs(limit.high)),
            )
            for limit in self.limits
        ]
        return ConstrainedModels(self._wider, limits, self._C, self._asked)

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
        effort = SolverStats()
        if len(moved):
            solve = CheckedSolver(self.models, self.solver(known))
            extremes = [Extreme(int(known.features[i % m]), 1 if i >= m else -1) for i in moved]
            extrema, check = solve_extremes(extremes, solve)
            coef[moved], offset[moved] = extrema.coef, extrema.offset
            attained.reshape(-1)[moved] = check.attained
            proven.reshape(-1)[moved] = check.proven
            effort = solve.effort
        for limit in self._asked:
            coef[:, [limit.feature]] = within(coef[:, [limit.feature]].toarray(), [at(limit, 0)])
            own = np.flatnonzero(known.features == limit.feature)
            attained[:, own] = np.clip(attained[:, own], limit.low, limit.high) + 0.0
            proven[:, own] = np.clip(proven[:, own], limit.low, limit.high) + 0.0
        return replace(
            known,
            attained=attained.T,
            proven=proven.T,
            coef=sp.csr_array(coef),
            offset=offset,
            effort=replace(effort, spared=2 * m - len(moved)),
        )

    def sizes(
        self, features: NDArray[np.intp], known: WeightRanges, signed: Matrix
    ) -> tuple[Matrix, SolverStats]:
        """Smallest and largest size of some weights, shape (m, 2), in as few programs as will do.

        Models that keep the limits anyway show that a weight can still be as large as without
        them, or zero; every model found on the way shows the same of other weights. Only what
        none of them shows is solved for.

        Parameters
        ----------
        features : ndarray of int
        known : WeightRanges
            Over the set without limits.
        signed : ndarray of shape (d, 2)
            What weights cannot go beyond without the limits.
        """
        seen = known.coef[kept_by_sparse(known.coef, self.limits)][:, features].toarray()
        seen = self.put_within(seen, features)
        low, high = signed[features].T
        main = np.where(high >= -low, 1, -1)  # the sign with which a weight can be larger
        most, least = np.maximum(high, -low), -np.minimum(high, -low)
        close = _SAME * (1.0 + most)
        solve = _RangeUpdate(self, features, known)
        highest, lowest = _ends_of(seen)
        largest = np.where(main > 0, highest, -lowest)
        asked = np.flatnonzero(largest < most - close)
        seen = np.vstack([seen, solve(asked, main[asked])])
        highest, lowest = _ends_of(seen)
        largest = np.where(main > 0, highest, -lowest)
        smallest = np.where(main > 0, lowest, -highest)
        # The other end matters if the size can be larger there, or if no model shows zero.
        could_win = -np.maximum(least, solve.proven_least(main)) > np.maximum(largest, 0.0)
        asked = np.flatnonzero((smallest > least + close) & (could_win | (smallest > 0)))
        seen = np.vstack([seen, solve(asked, -main[asked])])
        highest, lowest = _ends_of(seen)
        sizes = absolute(np.column_stack([lowest, highest]))
        return sizes, replace(solve.effort, spared=2 * len(features) - solve.n_asked)

    def put_within(self, coef: Matrix, features: NDArray[np.intp]) -> Matrix:
        """Weights of some features, shape (m, len(features)), put exactly within the limits."""
        places = {int(j): i for i, j in enumerate(features)}
        own = [limit for limit in self._asked if limit.feature in places]
        return within(coef, [at(limit, places[limit.feature]) for limit in own])

    def solver(self, known: WeightRanges) -> Callable[[EquivalentModels], ExtremeSolver] | None:
        """One that works from the start with the rows that mattered without the limits."""
        rows = self._wider.rows
        if not rows.complete:
            return None
        if rows.n_rows * len(known.offset) > _MOST_SHORTFALLS:
            return SimplexSolver
        short = rows.shortfall(known.coef.toarray(), known.offset) >= -_TIGHT
        return partial(SimplexSolver, rows=np.flatnonzero(short.any(axis=0)))


def kept_by_sparse(coef: sp.csr_array, limits: Sequence[WeightLimit]) -> NDArray[np.bool_]:
    """Which of several models in sparse rows keep within all limits."""
    places = [limit.feature for limit in limits]
    own = [at(limit, i) for i, limit in enumerate(limits)]
    return kept_by(coef[:, places].toarray(), own)


def at(limit: WeightLimit, place: int) -> WeightLimit:
    """The same limit on the weight at another place."""
    return replace(limit, feature=place)


class _RangeUpdate:
    """Models at extremes of some features, and what they prove of the others on the way."""

    def __init__(
        self, narrowed: ConstrainedModels, features: NDArray[np.intp], known: WeightRanges
    ) -> None:
        self._narrowed, self._features, self._known = narrowed, features, known
        self._outer = np.tile([-np.inf, np.inf], (len(features), 1))
        self.n_asked = 0

    @cached_property
    def _solve(self) -> CheckedSolver:
        return CheckedSolver(self._narrowed.models, self._narrowed.solver(self._known))

    @property
    def effort(self) -> SolverStats:
        return self._solve.effort if self.n_asked else SolverStats()

    def __call__(self, which: NDArray[np.intp], signs: NDArray[np.int_]) -> Matrix:
        """The features' weights in the models found, shape (n_asked, m)."""
        if len(which) == 0:
            return np.empty((0, len(self._features)))
        self.n_asked += len(which)
        asked = zip(self._features[which], signs, strict=True)
        extrema, check = solve_extremes(
            [Extreme(int(j), int(sign)) for j, sign in asked], self._solve
        )
        proven = check.certificates.ranges()[self._features]
        self._outer = intersect(self._outer, proven)
        return self._narrowed.put_within(extrema.coef[:, self._features], self._features)

    def proven_least(self, main: NDArray[np.int_]) -> Vector:
        """What the weights, times these signs, cannot go below."""
        return np.where(main > 0, self._outer[:, 0], -self._outer[:, 1])


def _ends_of(seen: Matrix) -> tuple[Vector, Vector]:
    """The largest and the smallest weight among models, those of none at all beyond all others."""
    return seen.max(axis=0, initial=-np.inf), seen.min(axis=0, initial=np.inf)


@dataclass(frozen=True)
class UnionRanges(WeightRanges):
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


def union(parts: Sequence[WeightRanges]) -> WeightRanges:
    """Ranges of the same features over several sets, as those over their union."""
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
    """The smallest ranges that hold all of several, shape (d, 2)."""
    lows, highs = np.array(ranges).transpose(2, 0, 1)
    return np.column_stack([lows.min(axis=0), highs.max(axis=0)])
