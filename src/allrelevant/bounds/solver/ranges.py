"""Answers that have been checked, and HiGHS as the judge of those that do not hold.

The smallest and largest weight of every feature over one set of equivalent models.

Two programs a feature are enough. The set is convex, so with ``a = min w_j`` and ``b = max w_j``
the absolute weight ranges from ``max(0, a, -b)`` to ``max(|a|, |b|)``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...exceptions import SolverError
from ..programs.equivalent_models import EquivalentModels
from .cutting import CuttingSolver
from .highs import HighsSolver
from .interface import Extreme, ExtremeSolutions, ExtremeSolver, SolverStats, total_effort
from .proofs import CheckedSolutions, check_solutions, intersect, outer_ranges
from .simplex import NotAVertexError, SimplexSolver

# An answer stands if gap and violation, relative to the norm, stay below this.
_TOLERANCE = 1e-7


# With more rows or features than these, one program can take HiGHS minutes. Then what was proven
# stands, with its gap.
_MOST_ROWS_FOR_HIGHS = 3_000


_MOST_FEATURES_FOR_HIGHS = 20_000


def _solver_for(models: EquivalentModels) -> Callable[[EquivalentModels], ExtremeSolver]:
    return SimplexSolver if models.rows.complete else CuttingSolver


class CheckedSolver:
    """Asks a solver, checks every answer against the data, and has HiGHS settle the rest.

    Parameters
    ----------
    models : EquivalentModels
    solver : callable, default: the one that suits the set
        Makes a solver for a set of models.
    """

    def __init__(
        self,
        models: EquivalentModels,
        solver: Callable[[EquivalentModels], ExtremeSolver] | None = None,
    ) -> None:
        self._models = models
        self._fallbacks = 0
        try:
            self._solver: ExtremeSolver | None = (solver or _solver_for(models))(models)
        except NotAVertexError:
            self._solver = None

    @property
    def effort(self) -> SolverStats:
        if self._solver is None:
            return SolverStats(fallbacks=self._fallbacks)
        spent = self._solver.effort
        return SolverStats(spent.programs, spent.pivots, self._fallbacks)

    def __call__(self, extremes: Sequence[Extreme]) -> tuple[ExtremeSolutions, CheckedSolutions]:
        if self._solver is None:
            return self._settled_by_highs(extremes)
        answer = self._solver(extremes)
        self._models = self._solver.models
        check = check_solutions(self._models, extremes, answer)
        size = np.maximum(1.0, np.abs(answer.coef).sum(axis=1))
        sound = (check.gap <= _TOLERANCE * size) & (check.violation <= _TOLERANCE)
        doubtful = np.flatnonzero(~sound)  # what is not a number is not sound either
        if len(doubtful) == 0 or isinstance(self._solver, HighsSolver):
            return answer, check
        of_doubtful = [extremes[int(e)] for e in doubtful]
        if self._is_for_highs():
            better, better_check = self._settled_by_highs(of_doubtful)
            return answer.replaced(doubtful, better), check.replaced(doubtful, better_check)
        unusable = np.flatnonzero(~(check.violation <= _TOLERANCE))
        return self._drawn_inside(extremes, unusable, answer)

    def _is_for_highs(self) -> bool:
        return (
            self._models.rows.complete
            and self._models.rows.n_rows <= _MOST_ROWS_FOR_HIGHS
            and self._models.n_weights <= _MOST_FEATURES_FOR_HIGHS
        )

    def _settled_by_highs(
        self, extremes: Sequence[Extreme]
    ) -> tuple[ExtremeSolutions, CheckedSolutions]:
        self._fallbacks += len(extremes)
        answer = self._highs(extremes)
        return answer, check_solutions(self._models, extremes, answer)

    def _drawn_inside(
        self, extremes: Sequence[Extreme], unusable: NDArray[np.intp], answer: ExtremeSolutions
    ) -> tuple[ExtremeSolutions, CheckedSolutions]:
        """Answers outside the set, drawn towards the baseline until they are inside.

        Over very many rows rounding adds up to a little too much loss: then it is a tiny way. In
        the place of what is no model at all stands the baseline itself.
        """
        start = self._models.start
        inside = np.inf
        if start is not None:
            inside = float(self._models.violation(start.coef[None], start.offset[None])[0])
        if len(unusable) and start is not None and inside <= 0:
            outside = answer.taken(unusable)
            share = -inside / (self._models.violation(outside.coef, outside.offset) - inside)
            share = np.where(np.isfinite(share), np.clip(share, 0.0, 1.0), 0.0)[:, None]
            answer = answer.replaced(
                unusable,
                ExtremeSolutions(
                    _between(start.coef, outside.coef, share),
                    _between(start.offset, outside.offset, share),
                    np.where(share > 0, outside.multipliers, start.multipliers),
                ),
            )
        return answer, check_solutions(self._models, extremes, answer)

    @cached_property
    def _highs(self) -> HighsSolver:
        return HighsSolver(self._models)


def _between(start: Vector, end: Matrix, share: Matrix) -> Matrix:
    """A point of the way from one model to each of others; the model itself at share zero."""
    return np.where(share > 0, start + share * (end - start), start)


LOWER, UPPER = 0, 1


# A witness may overstep the set by this much, relative to its norm.
_WITNESS_TOLERANCE = 1e-6


# A weight that is less than this share of the largest one that its feature can have is zero.
_NOTHING = 1e-12


# With a deadline.
_FEATURES_BETWEEN_LOOKS_AT_THE_CLOCK = 4


# Numbers in the models and multipliers that are held at a time: bounds the memory used.
_BATCH_SIZE = 4_000_000


@dataclass(frozen=True)
class WeightRanges:
    """Range of each asked weight over a set of models, with witnesses and certificates.

    Attributes
    ----------
    features : ndarray of shape (m,)
        The features whose weights were asked for.
    attained : ndarray of shape (m, 2)
        The smallest and the largest weight that a witness attains.
    proven : ndarray of shape (m, 2)
        What no model of the set can go below, and above.
    coef : sparse array of shape (2 m, d)
        Weights of the witnesses: row i attains the lower end of range i, row m + i the upper.
    offset : ndarray of shape (2 m, n_offsets)
        Their offsets.
    outer : ndarray of shape (d, 2)
        What the certificates prove together about every weight, those asked for or not; nothing
        if that was not asked for.
    effort : Effort
        What it took to find them.
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
        """How far each end of ``interval`` can be from the truth at most, shape (m, 2)."""
        lower, upper = (absolute(self.proven) - self.interval).T
        return np.column_stack([np.maximum(-lower, 0.0), np.maximum(upper, 0.0)])

    def scaled(self, factor: float) -> WeightRanges:
        """The ranges of a set whose models are all larger by a factor."""
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
        else:  # the range holds zero, and so does the segment between the two witnesses
            share_of_high = -low / (high - low) if high > low else 0.0
        rows = [index, len(self.features) + index]
        shares = np.array([1.0 - share_of_high, share_of_high])
        coef, offset = shares @ self.coef[rows], shares @ self.offset[rows]
        if side == LOWER and self.interval[index, LOWER] == 0:
            coef[self.features[index]] = 0.0  # clears the rounding of the shares
        return coef, offset


def weight_ranges(
    models: EquivalentModels,
    features: Sequence[int] | NDArray[np.intp] | None = None,
    solver: Callable[[EquivalentModels], ExtremeSolver] | None = None,
    deadline: float | None = None,
    of_others: bool = False,
) -> WeightRanges:
    """Smallest and largest weight of the features over a set of models, each end proven.

    Parameters
    ----------
    models : EquivalentModels
    features : sequence of int, default: all
    solver : callable, default: the one that suits the set
        Makes a solver for a set of models; its answers are checked against the data.
    deadline : float, default=None
        Time, as in ``time.time()``, after which no further feature is begun: the ranges are
        those of the features that were done by then.
    of_others : bool, default=False
        Find out as well what the certificates prove of all other features.
    """
    asked = np.arange(models.n_weights) if features is None else np.asarray(features, dtype=np.intp)
    if deadline is not None and time.time() >= deadline:
        return _no_ranges(models)
    solve = CheckedSolver(models, solver)
    parts: list[WeightRanges] = []
    for batch in _batches(models, asked, timed=deadline is not None):
        if parts and deadline is not None and time.time() >= deadline:
            break
        parts.append(_ranges_of(models, batch, solve, of_others))
    if not parts:
        return _no_ranges(models)
    return replace(join_ranges(parts), effort=solve.effort)


def size_ranges(
    models: EquivalentModels,
    features: Sequence[int] | NDArray[np.intp],
    solver: Callable[[EquivalentModels], ExtremeSolver] | None = None,
) -> tuple[Matrix, SolverStats]:
    """Smallest and largest absolute weight of the features, shape (m, 2), in fewer programs.

    Where signs do not matter, one program a feature is enough as a rule: the one for the side on
    which the weight can be larger by what is known beforehand. The other side is solved for only
    if it could still be larger, or if no model seen so far shows that the weight can be zero.

    Parameters
    ----------
    models, features, solver
        See :func:`weight_ranges`.
    """
    asked = np.asarray(features, dtype=np.intp)
    solve = CheckedSolver(models, solver)
    outer = outer_ranges(models)
    parts = [_sizes_of(models, batch, outer[batch], solve) for batch in _batches(models, asked)]
    spared = sum(n_spared for _, n_spared in parts)
    return np.concatenate([sizes for sizes, _ in parts]), replace(solve.effort, spared=spared)


def _batches(
    models: EquivalentModels, features: NDArray[np.intp], timed: bool = False
) -> list[NDArray[np.intp]]:
    at_a_time = max(1, _BATCH_SIZE // (2 * (models.rows.n_rows + models.n_weights)))
    if timed:
        at_a_time = min(at_a_time, _FEATURES_BETWEEN_LOOKS_AT_THE_CLOCK)
    return [features[i : i + at_a_time] for i in range(0, len(features), at_a_time)]


def _ranges_of(
    models: EquivalentModels, features: NDArray[np.intp], solve: CheckedSolver, of_others: bool
) -> WeightRanges:
    # All minima, then all maxima: for HiGHS, neighbours have more of their bases in common.
    extremes = [Extreme(int(j), sign) for sign in (-1, 1) for j in features]
    extrema, check = solve_extremes(extremes, solve)
    return WeightRanges(
        features=features,
        attained=check.attained.reshape(2, -1).T,
        proven=check.proven.reshape(2, -1).T,
        coef=sp.csr_array(extrema.coef),
        offset=extrema.offset,
        outer=check.certificates.ranges() if of_others else _nothing_known(models),
        effort=SolverStats(),
    )


def _sizes_of(
    models: EquivalentModels, features: NDArray[np.intp], outer: Matrix, solve: CheckedSolver
) -> tuple[Matrix, int]:
    """Sizes of the weights, and the number of programs that this did not take."""
    each = np.arange(len(features))
    first = (outer[:, UPPER] >= -outer[:, LOWER]).astype(int)  # the side of each that can be larger
    second = 1 - first
    extrema, check = solve_extremes(_extremes(features, first), solve)
    signed = np.zeros((len(features), 2))
    signed[each, first] = check.attained
    models_seen = extrema.coef[:, features]
    if models.start is not None:
        models_seen = np.vstack([models_seen, models.start.coef[features]])
    can_be_zero = (models_seen.min(axis=0) <= 0) & (models_seen.max(axis=0) >= 0)
    known = intersect(outer, check.certificates.ranges()[features])
    could_win = np.abs(known[each, second]) > np.abs(check.attained)
    open_ = np.flatnonzero(could_win | ~can_be_zero)
    if len(open_):
        _, check = solve_extremes(_extremes(features[open_], second[open_]), solve)
        signed[open_, second[open_]] = check.attained
    return absolute(signed), len(features) - len(open_)


def _extremes(features: NDArray[np.intp], sides: NDArray[np.intp]) -> list[Extreme]:
    return [
        Extreme(int(j), 1 if side == UPPER else -1) for j, side in zip(features, sides, strict=True)
    ]


def solve_extremes(
    extremes: Sequence[Extreme], solve: CheckedSolver
) -> tuple[ExtremeSolutions, CheckedSolutions]:
    """Answers that are models of the set, and what the data say about them."""
    extrema, check = solve(extremes)
    worst = int(np.argmax(check.violation))
    if check.violation[worst] > _WITNESS_TOLERANCE:
        raise SolverError(
            f"The model found for {extremes[worst]} oversteps the set by "
            f"{check.violation[worst]:.1e} of its norm. Badly scaled columns are the usual cause: "
            "try standardize=True."
        )
    return extrema, check


def _no_ranges(models: EquivalentModels) -> WeightRanges:
    none = np.empty((0, 2))
    return WeightRanges(
        features=np.empty(0, dtype=np.intp),
        attained=none,
        proven=none,
        coef=sp.csr_array((0, models.n_weights)),
        offset=np.empty((0, models.rows.n_offsets)),
        outer=_nothing_known(models),
        effort=SolverStats(),
    )


def _nothing_known(models: EquivalentModels) -> Matrix:
    return np.tile([-np.inf, np.inf], (models.n_weights, 1))


def join_ranges(parts: Sequence[WeightRanges]) -> WeightRanges:
    """The ranges of several groups of features over one set, as one."""
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
    """Smallest and largest size of weights between two ends, shape (m, 2).

    A smallest size that is next to nothing beside the largest is zero: a feature that models can
    do without must not look needed for the rounding of one machine.
    """
    low, high = signed.T
    smallest, largest = np.maximum(0.0, np.maximum(low, -high)), np.abs(signed).max(axis=1)
    return np.column_stack([np.where(smallest > _NOTHING * largest, smallest, 0.0), largest])
