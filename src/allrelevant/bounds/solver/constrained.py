"""Weight ranges under limits on weights, updated from the ranges without limits.

:class:`ConstrainedModels` is a set of models under limits on weights. Witnesses of the full set
that satisfy the limits still attain the ends of their ranges, so most LPs can be skipped.
:class:`UnionRanges` holds ranges over a union of several such sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...deadline import NO_DEADLINE, Deadline
from ...terms.layout import WeightLayout
from ..programs.equivalent_models import (
    EquivalentModels,
    WeightLimit,
    restrict_models,
    satisfies_limits,
    within,
)
from .blocks import BlockRange, BlockSolver, FeatureRanges, union_of_blocks
from .families import solvers_for
from .interface import Extreme, SolverStats, sum_stats
from .proofs import intersect
from .ranges import LOWER, CheckedSolver, WeightRanges, absolute

# Constraints that a model satisfies by at most this margin are active.
ACTIVE_TOL = 1e-9

# Relative tolerance at which a weight attains a bound.
UNCHANGED_TOL = 1e-9

# Relative amount by which limits are relaxed for solvers.
ROOM = 1e-8

# Number of slack variables (all witnesses) above which finding active constraints takes too long.
MAX_SLACKS = 10_000_000


class ConstrainedModels:
    """Set of models whose weights satisfy given limits.

    ``models`` is the set without limits, whose start is optimal at ``C``. Weights of solutions are
    clipped to ``exact_limits``, by default ``limits``.
    """

    def __init__(
        self,
        models: EquivalentModels,
        limits: Sequence[WeightLimit],
        C: float,
        exact_limits: Sequence[WeightLimit] | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self._wider, self.limits, self._C = models, list(limits), C
        self._deadline = deadline
        self._exact_limits = self.limits if exact_limits is None else list(exact_limits)

    @cached_property
    def models(self) -> EquivalentModels:
        """Set of models that satisfy the limits, with a starting point if one is found."""
        limited = restrict_models(self._wider, self.limits)
        if self._wider.start is None:
            return limited
        family = solvers_for(limited.rows)
        limited = family.with_start(limited, self._wider.start, self._C, self._deadline)
        if limited.start is None:
            return limited
        coef = within(limited.start.coef.copy(), self._exact_limits)
        return replace(limited, start=replace(limited.start, coef=coef))

    def with_room(self) -> ConstrainedModels:
        """Return a copy with slightly relaxed limits.

        With a limit at the end of a weight's range, the set is feasible only up to rounding, and a
        solver may report it as empty. Solutions are clipped to the original limits.
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
        """Return the range of each weight under the limits, given the ranges without limits.

        If the witness of an end satisfies the limits, the end and its certificate do not change.
        """
        pending = np.flatnonzero(~satisfies_limits(wider.coef, self.limits))
        m = len(wider.features)
        coef, offset = wider.coef.tolil(), wider.offset.copy()
        attained, proven, inner = (  # shape (2, m)
            ranges.T.copy() for ranges in (wider.attained, wider.proven, wider.inner)
        )
        effort = SolverStats()
        if len(pending):
            checked = self.checked_solver(wider)
            extremes = [
                Extreme.of_weight(wider.features[i % m], 1 if i >= m else -1) for i in pending
            ]
            solutions, check = checked.solve(extremes)
            coef[pending], offset[pending] = solutions.coef, solutions.offset
            attained.reshape(-1)[pending] = check.attained
            proven.reshape(-1)[pending] = check.proven
            inner.reshape(-1)[pending] = check.inner
            effort = checked.effort
        for limit in self._exact_limits:
            if limit.others:
                continue
            column = coef[:, [limit.feature]].toarray()
            coef[:, [limit.feature]] = within(column, [replace(limit, feature=0)])
            index = np.flatnonzero(wider.features == limit.feature)
            for ends in (attained, proven, inner):
                ends[:, index] = np.clip(ends[:, index], limit.low, limit.high) + 0.0
        return replace(
            wider,
            attained=attained.T,
            proven=proven.T,
            inner=inner.T,
            coef=sp.csr_array(coef),
            offset=offset,
            effort=replace(effort, spared=2 * m - len(pending)),
        )

    def sizes(
        self, features: NDArray[np.intp], wider: WeightRanges, signed: Matrix
    ) -> tuple[Matrix, SolverStats]:
        """Return the smallest and largest absolute weights of m features, and solver statistics.

        ``wider`` holds the ranges without limits. An LP is skipped if a known feasible model
        attains the bound without limits, or has weight zero. Known models are the witnesses of
        ``wider`` that satisfy the limits, and all solutions found here. ``signed``, of shape
        (d, 2), bounds the weights without limits.
        """
        is_feasible = satisfies_limits(wider.coef, self.limits)
        known_weights = wider.coef[is_feasible][:, features].toarray()
        known_weights = self.clip_weights(known_weights, features)
        low, high = signed[features].T
        main = np.where(high >= -low, 1, -1)  # the sign with the larger bound
        upper_bound, lower_bound = np.maximum(high, -low), -np.minimum(high, -low)
        tol = UNCHANGED_TOL * (1.0 + upper_bound)
        update = _RangeUpdate(self, features, wider)
        highest, lowest = _max_and_min(known_weights)
        largest = np.where(main > 0, highest, -lowest)
        pending = np.flatnonzero(largest < upper_bound - tol)
        known_weights = np.vstack([known_weights, update.solve(pending, main[pending])])
        highest, lowest = _max_and_min(known_weights)
        largest = np.where(main > 0, highest, -lowest)
        smallest = np.where(main > 0, lowest, -highest)
        # Solve for the other end if it could be larger, or if no known model has weight zero.
        could_be_larger = -np.maximum(lower_bound, update.certified_minimum(main)) > np.maximum(
            largest, 0.0
        )
        pending = np.flatnonzero(
            (smallest > lower_bound + tol) & (could_be_larger | (smallest > 0))
        )
        known_weights = np.vstack([known_weights, update.solve(pending, -main[pending])])
        highest, lowest = _max_and_min(known_weights)
        sizes = absolute(np.column_stack([lowest, highest]))
        return sizes, replace(update.effort, spared=2 * len(features) - update.n_solved)

    def feature_ranges(self, wider: FeatureRanges, layout: WeightLayout) -> FeatureRanges:
        """Return the range of each feature under the limits, given the ranges without limits."""
        blocks = self.block_ranges(wider, layout, wider.blocks)
        return FeatureRanges(self.ranges(wider.weights), blocks)

    def block_ranges(
        self, wider: FeatureRanges, layout: WeightLayout, features: Iterable[int]
    ) -> dict[int, BlockRange]:
        """Return the range of each block's size under the limits.

        If both witnesses of a block without limits satisfy the limits, its range does not change.
        """
        solver: BlockSolver | None = None
        ranges = {}
        for feature in features:
            part = wider.blocks[feature]
            if not satisfies_limits(part.coef, self.limits).all():
                if solver is None:
                    known = wider.models
                    known = known.take(satisfies_limits(known.coef, self.limits))
                    checked = self.checked_solver(wider.weights)
                    solver = BlockSolver(self.models, layout, known, checked)
                part = solver.range(feature)
            ranges[feature] = part
        return ranges

    def feature_sizes(
        self,
        features: NDArray[np.intp],
        wider: FeatureRanges,
        layout: WeightLayout,
        weight_bounds: Matrix,
    ) -> tuple[Matrix, SolverStats]:
        """Return the smallest and largest size of m features, and solver statistics.

        ``weight_bounds``, of shape (n_weights, 2), bounds the weights without limits.
        """
        single = layout.has_one_weight(features)
        sizes, effort = np.empty((len(features), 2)), SolverStats()
        if single.any():
            weights = layout.weights_of(features[single])
            sizes[single], effort = self.sizes(weights, wider.weights, weight_bounds)
        blocks = self.block_ranges(wider, layout, features[~single].tolist())
        if blocks:
            sizes[~single] = [part.attained for part in blocks.values()]
            n_programs = sum(part.n_programs for part in blocks.values())
            effort = sum_stats([effort, SolverStats(programs=n_programs)])
        return sizes, effort

    def clip_weights(self, coef: Matrix, features: NDArray[np.intp]) -> Matrix:
        """Clip the weights of the given features to the original limits, in place; return them.

        ``coef`` has shape (m, len(features)).
        """
        places = {int(j): i for i, j in enumerate(features)}
        reindexed = [
            replace(limit, feature=places[limit.feature])
            for limit in self._exact_limits
            if limit.feature in places and not limit.others
        ]
        return within(coef, reindexed)

    def checked_solver(self, wider: WeightRanges) -> CheckedSolver:
        """Return a solver whose initial working set includes constraints active at known witnesses.

        These constraints are not determined if there are very many slack variables.
        """
        rows = self._wider.rows
        active_rows = np.empty(0, dtype=np.intp)
        if rows.n_rows * len(wider.offset) <= MAX_SLACKS:
            slack = rows.slack(wider.coef.toarray(), wider.offset)
            active_rows = np.flatnonzero((slack >= -ACTIVE_TOL).any(axis=0))
        family = solvers_for(self.models.rows)
        make_solver = partial(family.extremes, active_rows=active_rows, deadline=self._deadline)
        return CheckedSolver(self.models, make_solver, deadline=self._deadline)


class _RangeUpdate:
    """Solver for largest and smallest weights under limits; also collects certified bounds."""

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
        """Maximize ``signs * w[which]``; return the solutions' weights, shape (len(which), m).

        ``which`` contains positions among the m features.
        """
        if len(which) == 0:
            return np.empty((0, len(self._features)))
        self.n_solved += len(which)
        pairs = zip(self._features[which], signs, strict=True)
        solutions, check = self._checked.solve([Extreme.of_weight(j, sign) for j, sign in pairs])
        self._outer = intersect(self._outer, check.certificates.ranges()[self._features])
        return self._constrained.clip_weights(solutions.coef[:, self._features], self._features)

    def certified_minimum(self, signs: NDArray[np.int_]) -> Vector:
        """Return certified lower bounds on ``signs * w``, one per feature."""
        return np.where(signs > 0, self._outer[:, 0], -self._outer[:, 1])


def _max_and_min(weights: Matrix) -> tuple[Vector, Vector]:
    """Return the largest and smallest weight of each feature; infinite if there are no models."""
    return weights.max(axis=0, initial=-np.inf), weights.min(axis=0, initial=np.inf)


@dataclass(frozen=True)
class UnionRanges(WeightRanges):
    """Weight ranges over a union of sets of models, one set per combination of signs.

    ``attained`` and ``proven`` are the hulls of the parts. ``interval`` is computed from the parts:
    the hull of [-2, -1] and [1, 2] contains zero, but the union does not.
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


def union(parts: Sequence[FeatureRanges]) -> FeatureRanges:
    """Return the ranges over a union of sets of models, given the ranges over each set."""
    if len(parts) == 1:
        return parts[0]
    blocks = {
        feature: union_of_blocks([part.blocks[feature] for part in parts])
        for feature in parts[0].blocks
    }
    return FeatureRanges(_union_of_weights([part.weights for part in parts]), blocks)


def _union_of_weights(parts: Sequence[WeightRanges]) -> WeightRanges:
    first = parts[0]
    return UnionRanges(
        features=first.features,
        attained=hull([part.attained for part in parts]),
        proven=hull([part.proven for part in parts]),
        inner=hull([part.inner for part in parts]),
        coef=first.coef,
        offset=first.offset,
        outer=first.outer,
        effort=sum_stats([part.effort for part in parts]),
        parts=tuple(parts),
    )


def hull(ranges: Sequence[Matrix]) -> Matrix:
    """Return, for each feature, the smallest range that contains all given ranges; shape (d, 2)."""
    lows, highs = np.array(ranges).transpose(2, 0, 1)
    return np.column_stack([lows.min(axis=0), highs.max(axis=0)])
