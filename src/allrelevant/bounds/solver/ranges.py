"""Smallest and largest weight of each feature over a set of models, with certified bounds.

Two LPs per feature suffice. The set is convex, so with ``a = min w_j`` and ``b = max w_j``, the
absolute weight ranges from ``max(0, a, -b)`` to ``max(|a|, |b|)``. :func:`weight_ranges` solves for
both ends, :func:`size_ranges` for absolute weights with fewer LPs. :class:`CheckedSolver` verifies
every solution against the data, and uses HiGHS as a fallback where verification fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...deadline import NO_DEADLINE, Deadline, attempt
from ...exceptions import SolverError
from ..programs.equivalent_models import EquivalentModels
from .families import solvers_for
from .highs import HighsSolver
from .interface import (
    EXACT_TOL,
    Extreme,
    ExtremeSolutions,
    ExtremeSolver,
    NotAVertexError,
    SolverStats,
    sum_stats,
)
from .proofs import (
    CheckedSolutions,
    check_solutions,
    intersect,
    largest_norm,
    outer_ranges,
)

Part = TypeVar("Part")

SolverFactory = Callable[[EquivalentModels], ExtremeSolver]

LOWER, UPPER = 0, 1

# Largest gap and violation of a verified solution, relative to its norm. A larger gap is allowed if
# the caller asks for it.
GAP_TOL = 1e-7

# Largest violation of a witness, relative to its norm. Larger violations raise an error.
WITNESS_TOL = 1e-6

# A smallest weight below this fraction of the feature's largest weight counts as zero.
ZERO_TOL = 1e-12

# Fraction of the time in which ranges are solved in large batches, which are faster. The batches of
# the remaining time have at most this number of features, because an unfinished batch is lost.
FIRST_SHARE = 0.5
FEATURES_PER_SMALL_BATCH = 4

# Maximum number of values in the models and dual variables of a batch.
NUMBERS_PER_BATCH = 4_000_000


@dataclass(frozen=True)
class WeightRanges:
    """Ranges of m weights over a set of models, with witnesses and certificates.

    ``attained`` holds the ranges attained by witnesses, ``proven`` the certified outer bounds, and
    ``inner`` the ranges attained by models that are certainly in the set, all of shape (m, 2).
    (Witnesses may violate constraints slightly.) Row i of ``coef``, of shape (2 m, d), and of
    ``offset`` is the witness of the lower end of range i; row m + i is the witness of the upper
    end. ``outer``, of shape (d, 2), holds the bounds on every weight that follow from all
    certificates; infinite if not requested.
    """

    features: NDArray[np.intp]
    attained: Matrix
    proven: Matrix
    inner: Matrix
    coef: sp.csr_array
    offset: Matrix
    outer: Matrix
    effort: SolverStats

    @cached_property
    def interval(self) -> Matrix:
        """Smallest and largest absolute weight of each feature, shape (m, 2)."""
        return absolute(self.attained)

    @cached_property
    def gap(self) -> Matrix:
        """Largest possible error of each end of ``interval``, in both directions, shape (m, 2)."""
        return np.maximum(
            np.abs(absolute_ends(self.proven) - self.interval),
            np.abs(absolute_ends(np.sort(self.inner, axis=1)) - self.interval),
        )

    def take(self, which: NDArray[np.intp]) -> WeightRanges:
        """Return the ranges at the given indices."""
        witnesses = np.concatenate([which, len(self.features) + which])
        return replace(
            self,
            features=self.features[which],
            attained=self.attained[which],
            proven=self.proven[which],
            inner=self.inner[which],
            coef=self.coef[witnesses],
            offset=self.offset[witnesses],
        )

    def scaled(self, factor: float) -> WeightRanges:
        """Return a copy of the ranges with all weights multiplied by a factor."""
        return replace(
            self,
            attained=factor * self.attained,
            proven=factor * self.proven,
            inner=factor * self.inner,
            coef=factor * self.coef,
            offset=factor * self.offset,
            outer=factor * self.outer,
        )

    def with_zeros(self, is_zero: NDArray[np.bool_]) -> WeightRanges:
        """Return a copy in which the given weights are exactly zero, shape (d,).

        Witnesses keep their offsets, so this is meant for weights that can only be rounding errors.
        """
        keep = ~is_zero
        kept_range = keep[self.features, None]
        return replace(
            self,
            attained=np.where(kept_range, self.attained, 0.0),
            proven=np.where(kept_range, self.proven, 0.0),
            inner=np.where(kept_range, self.inner, 0.0),
            coef=sp.csr_array(self.coef @ sp.diags_array(keep.astype(float))),
        )

    def witness(self, index: int, side: int) -> tuple[Vector, Vector]:
        """Return the weights and offsets of a model that attains an end of ``interval[index]``."""
        low, high = self.attained[index]
        if side == UPPER:
            high_fraction = float(abs(high) >= abs(low))
        elif low > 0 or high < 0:
            high_fraction = float(high < 0)
        else:  # a convex combination of the two witnesses has weight zero
            high_fraction = -low / (high - low) if high > low else 0.0
        rows = [index, len(self.features) + index]
        fractions = np.array([1.0 - high_fraction, high_fraction])
        coef, offset = fractions @ self.coef[rows], fractions @ self.offset[rows]
        if side == LOWER and self.interval[index, LOWER] == 0:
            coef[self.features[index]] = 0.0  # remove rounding errors
        return coef, offset


def weight_ranges(
    models: EquivalentModels,
    features: Sequence[int] | NDArray[np.intp] | None = None,
    solver: SolverFactory | None = None,
    deadline: Deadline = NO_DEADLINE,
    with_outer_ranges: bool = False,
    tol: float = EXACT_TOL,
) -> WeightRanges:
    """Compute each feature's smallest and largest weight over a set of models, with certificates.

    ``solver`` creates a solver for a set of models, by default the one that suits its constraints.
    Its solutions are verified against the data. After ``deadline``, the ranges computed so far are
    returned, those of the first features. If ``with_outer_ranges``, also compute the bounds on all
    other weights that follow from the certificates. ``tol`` is the gap that a range may have,
    relative to the largest norm in the set.
    """
    features = np.arange(models.n_weights) if features is None else np.asarray(features, np.intp)
    solved, effort = _solve_in_batches(
        models,
        features,
        lambda batch, checked: _batch_ranges(models, batch, checked, with_outer_ranges),
        lambda limit: CheckedSolver(models, solver, tol, limit),
        deadline,
    )
    return replace(join_ranges(solved), effort=effort) if solved else empty_ranges(models)


def size_ranges(
    models: EquivalentModels,
    features: Sequence[int] | NDArray[np.intp],
    solver: SolverFactory | None = None,
    tol: float = EXACT_TOL,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[Matrix, SolverStats]:
    """Return the smallest and largest absolute weights of m features, and solver statistics.

    This usually takes one LP per feature: for the sign with the larger outer bound. The other sign
    is solved only if its absolute weight could be larger, or if no model found so far shows that
    the weight can be zero. The parameters are those of :func:`weight_ranges`. After the deadline,
    the sizes computed so far are returned, and NaN for the other features.
    """
    features = np.asarray(features, dtype=np.intp)
    outer = outer_ranges(models)
    parts, effort = _solve_in_batches(
        models,
        features,
        lambda batch, checked: _batch_sizes(models, batch, outer[batch], checked),
        lambda limit: CheckedSolver(models, solver, tol, limit),
        deadline,
    )
    sizes = np.full((len(features), 2), np.nan)
    found = np.concatenate([np.empty((0, 2)), *(part for part, _ in parts)])
    sizes[: len(found)] = found
    return sizes, replace(effort, spared=sum(n_spared for _, n_spared in parts))


def directed_maxima(
    models: EquivalentModels,
    features: Sequence[int] | NDArray[np.intp],
    skip_below: float,
    tol: float = EXACT_TOL,
    deadline: Deadline = NO_DEADLINE,
) -> Vector:
    """Return the largest absolute weight of each of m features, maximized for one sign only.

    The sign is the one with the larger outer bound, so this takes at most one LP per feature. If
    the outer bound does not exceed ``skip_below``, it is returned instead and no LP is solved.
    ``tol`` is the gap that the result may have, relative to the largest norm in the set.
    """
    features = np.asarray(features, dtype=np.intp)
    outer = outer_ranges(models)
    largest = np.abs(outer).max(axis=1)
    sides = (outer[:, UPPER] >= -outer[:, LOWER]).astype(int)
    pending = features[largest[features] > skip_below]
    checked = CheckedSolver(models, tol=tol, deadline=deadline)
    for batch in _batches(models, pending, len(features)):
        deadline.check()
        _, check = checked.solve(_extremes(batch, sides[batch]))
        largest[batch] = np.maximum(np.where(sides[batch] == UPPER, 1, -1) * check.attained, 0.0)
    return largest[features]


def _solve_in_batches(
    models: EquivalentModels,
    features: NDArray[np.intp],
    solve: Callable[[NDArray[np.intp], CheckedSolver], Part],
    make_solver: Callable[[Deadline], CheckedSolver],
    deadline: Deadline,
) -> tuple[list[Part], SolverStats]:
    """Solve batches of features, in order, until the deadline; return results and statistics."""
    parts: list[Part] = []
    efforts: list[SolverStats] = []
    n_solved = 0

    def solve_all(limit: Deadline, largest: int) -> None:
        nonlocal n_solved
        limit.check()
        checked = make_solver(limit)
        for batch in _batches(models, features[n_solved:], largest):
            limit.check()
            before = checked.effort
            parts.append(solve(batch, checked))
            efforts.append(checked.effort.since(before))
            n_solved += len(batch)

    attempt(partial(solve_all, deadline.share(FIRST_SHARE), len(features)))
    if n_solved < len(features):
        attempt(partial(solve_all, deadline, FEATURES_PER_SMALL_BATCH))
    return parts, sum_stats(efforts)


def _batches(
    models: EquivalentModels, features: NDArray[np.intp], largest: int
) -> list[NDArray[np.intp]]:
    size = max(1, NUMBERS_PER_BATCH // (2 * (models.rows.n_rows + models.n_weights)))
    size = max(1, min(size, largest))
    return [features[i : i + size] for i in range(0, len(features), size)]


def _batch_ranges(
    models: EquivalentModels,
    features: NDArray[np.intp],
    checked: CheckedSolver,
    with_outer_ranges: bool,
) -> WeightRanges:
    # All minima, then all maxima: successive bases are then more similar, which helps HiGHS.
    solutions, check = checked.solve(
        [Extreme.of_weight(j, sign) for sign in (-1, 1) for j in features]
    )
    return WeightRanges(
        features=features,
        attained=check.attained.reshape(2, -1).T,
        proven=check.proven.reshape(2, -1).T,
        inner=check.inner.reshape(2, -1).T,
        coef=sp.csr_array(solutions.coef),
        offset=solutions.offset,
        outer=check.certificates.ranges() if with_outer_ranges else _infinite_ranges(models),
        effort=SolverStats(),
    )


def _batch_sizes(
    models: EquivalentModels, features: NDArray[np.intp], outer: Matrix, checked: CheckedSolver
) -> tuple[Matrix, int]:
    """Return absolute weight ranges of a batch of features, and the number of skipped LPs."""
    each = np.arange(len(features))
    first = (outer[:, UPPER] >= -outer[:, LOWER]).astype(int)  # the side with the larger bound
    second = 1 - first
    solutions, check = checked.solve(_extremes(features, first))
    signed = np.zeros((len(features), 2))
    signed[each, first] = check.attained
    known_weights = solutions.coef[:, features]
    if models.start is not None:
        known_weights = np.vstack([known_weights, models.start.coef[features]])
    can_be_zero = (known_weights.min(axis=0) <= 0) & (known_weights.max(axis=0) >= 0)
    proven = intersect(outer, check.certificates.ranges()[features])
    could_be_larger = np.abs(proven[each, second]) > np.abs(check.attained)
    pending = np.flatnonzero(could_be_larger | ~can_be_zero)
    if len(pending):
        _, check = checked.solve(_extremes(features[pending], second[pending]))
        signed[pending, second[pending]] = check.attained
    return absolute(signed), len(features) - len(pending)


def _extremes(features: NDArray[np.intp], sides: NDArray[np.intp]) -> list[Extreme]:
    return [
        Extreme.of_weight(j, 1 if side == UPPER else -1)
        for j, side in zip(features, sides, strict=True)
    ]


def empty_ranges(models: EquivalentModels) -> WeightRanges:
    """Return the ranges of no weight."""
    none = np.empty((0, 2))
    return WeightRanges(
        features=np.empty(0, dtype=np.intp),
        attained=none,
        proven=none,
        inner=none,
        coef=sp.csr_array((0, models.n_weights)),
        offset=np.empty((0, models.rows.n_offsets)),
        outer=_infinite_ranges(models),
        effort=SolverStats(),
    )


def _infinite_ranges(models: EquivalentModels) -> Matrix:
    return np.tile([-np.inf, np.inf], (models.n_weights, 1))


def join_ranges(parts: Sequence[WeightRanges]) -> WeightRanges:
    """Join the weight ranges of several groups of features over one set of models."""
    part_sizes = [len(part.features) for part in parts]
    # In each part and in the result, all lower witnesses precede all upper witnesses.
    rows = np.concatenate(
        [
            np.arange(2 * n).reshape(2, n) + 2 * start
            for n, start in zip(part_sizes, np.cumsum([0, *part_sizes[:-1]]), strict=True)
        ],
        axis=1,
    ).ravel()
    return WeightRanges(
        features=np.concatenate([part.features for part in parts]),
        attained=np.concatenate([part.attained for part in parts]),
        proven=np.concatenate([part.proven for part in parts]),
        inner=np.concatenate([part.inner for part in parts]),
        coef=sp.vstack([part.coef for part in parts], format="csr")[rows],
        offset=np.concatenate([part.offset for part in parts])[rows],
        outer=reduce(intersect, [part.outer for part in parts]),
        effort=sum_stats([part.effort for part in parts]),
    )


def absolute(signed: Matrix) -> Matrix:
    """Convert signed ranges to ranges of absolute weights, shape (m, 2).

    A smallest weight that is tiny compared with the largest is set to zero. Otherwise, rounding
    errors could make an unnecessary feature appear necessary on some platforms.
    """
    smallest, largest = absolute_ends(signed).T
    return np.column_stack([np.where(smallest > ZERO_TOL * largest, smallest, 0.0), largest])


def absolute_ends(signed: Matrix) -> Matrix:
    """Convert signed ranges to ranges of absolute weights without any rounding, shape (m, 2)."""
    low, high = signed.T
    smallest, largest = np.maximum(0.0, np.maximum(low, -high)), np.abs(signed).max(axis=1)
    return np.column_stack([smallest, largest])


class CheckedSolver:
    """Solver whose solutions are verified against the data, with HiGHS as a fallback.

    ``make_solver`` creates a solver for a set of models, by default the one that suits its
    constraints. ``tol`` is the gap that solutions may have, relative to the largest norm in the
    set. After ``deadline``, :exc:`TimeLimitError` is raised.
    """

    def __init__(
        self,
        models: EquivalentModels,
        make_solver: SolverFactory | None = None,
        tol: float = EXACT_TOL,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self._models, self._deadline = models, deadline
        self._allowed_gap = tol * largest_norm(models)
        self._family = solvers_for(models.rows)
        self._fallbacks = 0
        self._solver: ExtremeSolver | None = None
        with suppress(NotAVertexError):
            self._solver = (
                make_solver or partial(self._family.extremes, tol=tol, deadline=deadline)
            )(models)

    @property
    def models(self) -> EquivalentModels:
        """Current description of the set, to which the solver may have added cuts."""
        return self._models

    @property
    def effort(self) -> SolverStats:
        if self._solver is None:
            return SolverStats(fallbacks=self._fallbacks)
        effort = self._solver.effort
        fallbacks = effort.fallbacks + self._fallbacks
        return SolverStats(effort.programs, effort.pivots, fallbacks)

    def solve(self, extremes: Sequence[Extreme]) -> tuple[ExtremeSolutions, CheckedSolutions]:
        """Return solutions and the results of their verification; raise if one is infeasible."""
        solutions, check = self._solve(extremes)
        worst = int(np.argmax(check.violation))
        if check.violation[worst] > WITNESS_TOL:
            raise SolverError(
                f"The solution for {extremes[worst]} violates the constraints by "
                f"{check.violation[worst]:.1e} of its norm. The usual cause is badly scaled "
                "columns: set standardize=True."
            )
        return solutions, check

    def _solve(self, extremes: Sequence[Extreme]) -> tuple[ExtremeSolutions, CheckedSolutions]:
        if self._solver is None:
            return self._solve_by_highs(extremes)
        solutions = self._solver(extremes)
        self._models = self._solver.models
        check = check_solutions(self._models, extremes, solutions)
        size = np.maximum(1.0, np.abs(solutions.coef).sum(axis=1))
        # Comparisons with NaN are false, so unsolved extremes fail.
        is_inside = check.violation <= GAP_TOL
        is_tight = check.gap <= np.maximum(GAP_TOL * size, self._allowed_gap)
        failed = np.flatnonzero(~(is_tight & is_inside))
        if len(failed) == 0 or self._solver.is_reference:
            return solutions, check
        if self._family.reference_can_check(self._models):
            better, better_check = self._solve_by_highs([extremes[int(e)] for e in failed])
            return (
                solutions.with_replaced(failed, better),
                check.with_replaced(failed, better_check),
            )
        solutions = self._shrink_to_feasible(solutions, np.flatnonzero(~is_inside))
        return solutions, check_solutions(self._models, extremes, solutions)

    def _solve_by_highs(
        self, extremes: Sequence[Extreme]
    ) -> tuple[ExtremeSolutions, CheckedSolutions]:
        self._fallbacks += len(extremes)
        solutions = self._highs(extremes)
        return solutions, check_solutions(self._models, extremes, solutions)

    @cached_property
    def _highs(self) -> HighsSolver:
        return HighsSolver(self._models, self._deadline)

    def _shrink_to_feasible(
        self, solutions: ExtremeSolutions, which: NDArray[np.intp]
    ) -> ExtremeSolutions:
        """Move the solutions at the given indices toward the start until they are feasible.

        With very many constraints, rounding errors add up to a slight excess of loss, and the steps
        are short. Solutions that are NaN are replaced by the start. If the set has no feasible
        start, the solutions are not changed.
        """
        start = self._models.start
        if len(which) == 0 or start is None:
            return solutions
        start_violation = float(self._models.violation(start.coef[None], start.offset[None])[0])
        if not start_violation <= 0:
            return solutions
        outside = solutions.take(which)
        violation = self._models.violation(outside.coef, outside.offset)
        step = -start_violation / (violation - start_violation)
        step = np.where(np.isfinite(step), np.clip(step, 0.0, 1.0), 0.0)[:, None]
        moved = ExtremeSolutions(
            _interpolate(start.coef, outside.coef, step),
            _interpolate(start.offset, outside.offset, step),
            np.where(step > 0, outside.multipliers, start.multipliers),
        )
        return solutions.with_replaced(which, moved)


def _interpolate(start: Vector, end: Matrix, step: Matrix) -> Matrix:
    """Interpolate between one model (step 0) and each of several other models (step 1)."""
    return np.where(step > 0, start + step * (end - start), start)
