"""The smallest and largest weight of every feature over a set of models, each end proven.

Two programs per feature suffice. The set is convex, so with ``a = min w_j`` and ``b = max w_j`` the
absolute weight ranges from ``max(0, a, -b)`` to ``max(|a|, |b|)``. :func:`weight_ranges` solves for
both ends, :func:`size_ranges` for absolute weights in fewer programs. :class:`CheckedSolver` checks
every solution against the data, and lets HiGHS solve those that fail the check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...exceptions import SolverError
from ..programs.equivalent_models import EquivalentModels
from .families import solvers_for
from .highs import HighsSolver
from .interface import (
    Extreme,
    ExtremeSolutions,
    ExtremeSolver,
    NotAVertexError,
    SolverStats,
    total_effort,
)
from .proofs import CheckedSolutions, check_solutions, intersect, outer_ranges

SolverFactory = Callable[[EquivalentModels], ExtremeSolver]

LOWER, UPPER = 0, 1

# Gap and violation, relative to the norm, up to which a solution passes its check.
GAP_TOL = 1e-7

# Violation, relative to the norm, above which a witness is an error.
WITNESS_TOL = 1e-6

# A weight below this share of the largest one that its feature can have is zero.
ZERO_SHARE = 1e-12

# With a deadline.
FEATURES_PER_TIME_CHECK = 4

# Numbers in the models and multipliers that are in memory at a time.
NUMBERS_PER_BATCH = 4_000_000


@dataclass(frozen=True)
class WeightRanges:
    """Ranges of m weights over a set of models, with witnesses and certificates.

    Witnesses attain what is ``attained``; no model goes beyond what is ``proven``, shape (m, 2)
    both. Row i of ``coef``, shape (2 m, d), and of ``offset`` is the witness of the lower end of
    range i, row m + i that of the upper. ``outer``, shape (d, 2), is what the certificates prove
    together about every weight; infinite if not requested.
    """

    features: NDArray[np.intp]
    attained: Matrix
    proven: Matrix
    coef: sp.csr_array
    offset: Matrix
    outer: Matrix
    effort: SolverStats

    @cached_property
    def interval(self) -> Matrix:
        """Smallest and largest absolute weight, shape (m, 2)."""
        return absolute(self.attained)

    @cached_property
    def gap(self) -> Matrix:
        """Bounds on the error of each end of ``interval``, shape (m, 2)."""
        lower, upper = (absolute(self.proven) - self.interval).T
        return np.column_stack([np.maximum(-lower, 0.0), np.maximum(upper, 0.0)])

    def scaled(self, factor: float) -> WeightRanges:
        """The ranges of the set with all models multiplied by a factor."""
        return replace(
            self,
            attained=factor * self.attained,
            proven=factor * self.proven,
            coef=factor * self.coef,
            offset=factor * self.offset,
            outer=factor * self.outer,
        )

    def witness(self, index: int, side: int) -> tuple[Vector, Vector]:
        """Weights and offset of a model that attains an end of ``interval[index]``."""
        low, high = self.attained[index]
        if side == UPPER:
            share_of_high = float(abs(high) >= abs(low))
        elif low > 0 or high < 0:
            share_of_high = float(high < 0)
        else:  # zero is between the two witnesses
            share_of_high = -low / (high - low) if high > low else 0.0
        rows = [index, len(self.features) + index]
        shares = np.array([1.0 - share_of_high, share_of_high])
        coef, offset = shares @ self.coef[rows], shares @ self.offset[rows]
        if side == LOWER and self.interval[index, LOWER] == 0:
            coef[self.features[index]] = 0.0  # without the rounding of the shares
        return coef, offset


def weight_ranges(
    models: EquivalentModels,
    features: Sequence[int] | NDArray[np.intp] | None = None,
    solver: SolverFactory | None = None,
    deadline: float | None = None,
    of_others: bool = False,
) -> WeightRanges:
    """Smallest and largest weight of the features over a set of models, each end proven.

    ``solver`` makes a solver for a set of models, by default the one that suits it; its solutions
    are checked against the data. After ``deadline``, as in ``time.time()``, no further feature is
    begun: the ranges are those of the features done by then. ``of_others`` finds out as well what
    the certificates prove of all other features.
    """
    features = np.arange(models.n_weights) if features is None else np.asarray(features, np.intp)
    if deadline is not None and time.time() >= deadline:
        return _no_ranges(models)
    checked = CheckedSolver(models, solver)
    parts: list[WeightRanges] = []
    for batch in _batches(models, features, timed=deadline is not None):
        if parts and deadline is not None and time.time() >= deadline:
            break
        parts.append(_batch_ranges(models, batch, checked, of_others))
    if not parts:
        return _no_ranges(models)
    return replace(join_ranges(parts), effort=checked.effort)


def size_ranges(
    models: EquivalentModels,
    features: Sequence[int] | NDArray[np.intp],
    solver: SolverFactory | None = None,
) -> tuple[Matrix, SolverStats]:
    """Smallest and largest absolute weight of m features, shape (m, 2), in fewer programs.

    One program per feature is enough as a rule: that for the side on which the weight can be larger
    by what is known beforehand. The other side is solved only if it could still be larger, or if
    no model so far shows that the weight can be zero. Parameters are those of
    :func:`weight_ranges`.
    """
    features = np.asarray(features, dtype=np.intp)
    checked = CheckedSolver(models, solver)
    outer = outer_ranges(models)
    parts = [
        _batch_sizes(models, batch, outer[batch], checked) for batch in _batches(models, features)
    ]
    spared = sum(n_spared for _, n_spared in parts)
    return np.concatenate([sizes for sizes, _ in parts]), replace(checked.effort, spared=spared)


def _batches(
    models: EquivalentModels, features: NDArray[np.intp], timed: bool = False
) -> list[NDArray[np.intp]]:
    size = max(1, NUMBERS_PER_BATCH // (2 * (models.rows.n_rows + models.n_weights)))
    if timed:
        size = min(size, FEATURES_PER_TIME_CHECK)
    return [features[i : i + size] for i in range(0, len(features), size)]


def _batch_ranges(
    models: EquivalentModels, features: NDArray[np.intp], checked: CheckedSolver, of_others: bool
) -> WeightRanges:
    # All minima, then all maxima: neighbors have more of their bases in common, which helps HiGHS.
    solutions, check = checked.solve([Extreme(int(j), sign) for sign in (-1, 1) for j in features])
    return WeightRanges(
        features=features,
        attained=check.attained.reshape(2, -1).T,
        proven=check.proven.reshape(2, -1).T,
        coef=sp.csr_array(solutions.coef),
        offset=solutions.offset,
        outer=check.certificates.ranges() if of_others else _unbounded(models),
        effort=SolverStats(),
    )


def _batch_sizes(
    models: EquivalentModels, features: NDArray[np.intp], outer: Matrix, checked: CheckedSolver
) -> tuple[Matrix, int]:
    """Sizes of the weights, and the number of programs that were not needed."""
    each = np.arange(len(features))
    first = (outer[:, UPPER] >= -outer[:, LOWER]).astype(int)  # the side that can be larger
    second = 1 - first
    solutions, check = checked.solve(_extremes(features, first))
    signed = np.zeros((len(features), 2))
    signed[each, first] = check.attained
    models_seen = solutions.coef[:, features]
    if models.start is not None:
        models_seen = np.vstack([models_seen, models.start.coef[features]])
    can_be_zero = (models_seen.min(axis=0) <= 0) & (models_seen.max(axis=0) >= 0)
    proven = intersect(outer, check.certificates.ranges()[features])
    could_be_larger = np.abs(proven[each, second]) > np.abs(check.attained)
    pending = np.flatnonzero(could_be_larger | ~can_be_zero)
    if len(pending):
        _, check = checked.solve(_extremes(features[pending], second[pending]))
        signed[pending, second[pending]] = check.attained
    return absolute(signed), len(features) - len(pending)


def _extremes(features: NDArray[np.intp], sides: NDArray[np.intp]) -> list[Extreme]:
    return [
        Extreme(int(j), 1 if side == UPPER else -1) for j, side in zip(features, sides, strict=True)
    ]


def _no_ranges(models: EquivalentModels) -> WeightRanges:
    none = np.empty((0, 2))
    return WeightRanges(
        features=np.empty(0, dtype=np.intp),
        attained=none,
        proven=none,
        coef=sp.csr_array((0, models.n_weights)),
        offset=np.empty((0, models.rows.n_offsets)),
        outer=_unbounded(models),
        effort=SolverStats(),
    )


def _unbounded(models: EquivalentModels) -> Matrix:
    return np.tile([-np.inf, np.inf], (models.n_weights, 1))


def join_ranges(parts: Sequence[WeightRanges]) -> WeightRanges:
    """The ranges of several groups of features over one set, joined."""
    n_parts = [len(part.features) for part in parts]
    # Each part lists its lower witnesses, then its upper ones; so does the whole.
    rows = np.concatenate(
        [
            np.arange(2 * n).reshape(2, n) + 2 * start
            for n, start in zip(n_parts, np.cumsum([0, *n_parts[:-1]]), strict=True)
        ],
        axis=1,
    ).ravel()
    return WeightRanges(
        features=np.concatenate([part.features for part in parts]),
        attained=np.concatenate([part.attained for part in parts]),
        proven=np.concatenate([part.proven for part in parts]),
        coef=sp.vstack([part.coef for part in parts], format="csr")[rows],
        offset=np.concatenate([part.offset for part in parts])[rows],
        outer=reduce(intersect, [part.outer for part in parts]),
        effort=total_effort([part.effort for part in parts]),
    )


def absolute(signed: Matrix) -> Matrix:
    """Smallest and largest absolute weight of signed ranges, shape (m, 2).

    A smallest one that is tiny beside the largest is zero: rounding must not make a feature look
    needed on some machines.
    """
    low, high = signed.T
    smallest, largest = np.maximum(0.0, np.maximum(low, -high)), np.abs(signed).max(axis=1)
    return np.column_stack([np.where(smallest > ZERO_SHARE * largest, smallest, 0.0), largest])


class CheckedSolver:
    """Asks a solver, checks every solution against the data, and lets HiGHS solve the rest.

    ``make_solver`` makes a solver for a set of models, by default the one that suits its rows.
    """

    def __init__(self, models: EquivalentModels, make_solver: SolverFactory | None = None) -> None:
        self._models = models
        self._family = solvers_for(models.rows)
        self._fallbacks = 0
        self._solver: ExtremeSolver | None = None
        with suppress(NotAVertexError):
            self._solver = (make_solver or self._family.extremes)(models)

    @property
    def effort(self) -> SolverStats:
        if self._solver is None:
            return SolverStats(fallbacks=self._fallbacks)
        effort = self._solver.effort
        return SolverStats(effort.programs, effort.pivots, self._fallbacks)

    def solve(self, extremes: Sequence[Extreme]) -> tuple[ExtremeSolutions, CheckedSolutions]:
        """Solutions that are models of the set, and what the data say about them."""
        solutions, check = self._solve(extremes)
        worst = int(np.argmax(check.violation))
        if check.violation[worst] > WITNESS_TOL:
            raise SolverError(
                f"The model found for {extremes[worst]} oversteps the set by "
                f"{check.violation[worst]:.1e} of its norm. Badly scaled columns are the usual "
                "cause: try standardize=True."
            )
        return solutions, check

    def _solve(self, extremes: Sequence[Extreme]) -> tuple[ExtremeSolutions, CheckedSolutions]:
        if self._solver is None:
            return self._solve_by_highs(extremes)
        solutions = self._solver(extremes)
        self._models = self._solver.models
        check = check_solutions(self._models, extremes, solutions)
        size = np.maximum(1.0, np.abs(solutions.coef).sum(axis=1))
        # Comparisons with what is not a number are false.
        is_inside = check.violation <= GAP_TOL
        failed = np.flatnonzero(~((check.gap <= GAP_TOL * size) & is_inside))
        if len(failed) == 0 or self._solver.is_reference:
            return solutions, check
        if self._family.reference_can_check(self._models):
            better, better_check = self._solve_by_highs([extremes[int(e)] for e in failed])
            return (
                solutions.with_replaced(failed, better),
                check.with_replaced(failed, better_check),
            )
        solutions = self._moved_inside(solutions, np.flatnonzero(~is_inside))
        return solutions, check_solutions(self._models, extremes, solutions)

    def _solve_by_highs(
        self, extremes: Sequence[Extreme]
    ) -> tuple[ExtremeSolutions, CheckedSolutions]:
        self._fallbacks += len(extremes)
        solutions = self._highs(extremes)
        return solutions, check_solutions(self._models, extremes, solutions)

    @cached_property
    def _highs(self) -> HighsSolver:
        return HighsSolver(self._models)

    def _moved_inside(
        self, solutions: ExtremeSolutions, which: NDArray[np.intp]
    ) -> ExtremeSolutions:
        """Solutions outside the set, moved towards its start until they are inside.

        Over very many rows rounding adds up to a little too much loss: then the way is short. What
        is not a model at all is replaced by the start itself.
        """
        start = self._models.start
        if len(which) == 0 or start is None:
            return solutions
        start_violation = float(self._models.violation(start.coef[None], start.offset[None])[0])
        if not start_violation <= 0:
            return solutions
        outside = solutions.take(which)
        violation = self._models.violation(outside.coef, outside.offset)
        share = -start_violation / (violation - start_violation)
        share = np.where(np.isfinite(share), np.clip(share, 0.0, 1.0), 0.0)[:, None]
        moved = ExtremeSolutions(
            _between(start.coef, outside.coef, share),
            _between(start.offset, outside.offset, share),
            np.where(share > 0, outside.multipliers, start.multipliers),
        )
        return solutions.with_replaced(which, moved)


def _between(start: Vector, end: Matrix, share: Matrix) -> Matrix:
    """A point of the way from one model to each of others; the model itself at share zero."""
    return np.where(share > 0, start + share * (end - start), start)
