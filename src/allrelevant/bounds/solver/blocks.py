"""Smallest and largest size of a block of weights over a set of models, with certified bounds.

The size of a block is the largest of the linear functions ``v . w``, one per direction v (see
:mod:`allrelevant.terms.blocks`).

- **Largest size.** One LP per direction maximizes ``v . w``. Most directions are skipped: each
  certificate bounds all directions, and a direction whose bound does not exceed the size of a known
  model cannot attain the maximum.
- **Smallest size.** By the minimax theorem, the smallest size is the maximum of
  ``min_w c . w`` over convex combinations c of the directions. The minimum of ``c . w`` is an LP,
  whose certificate bounds the size of every model from below. The next c comes from a small LP over
  the convex hull of the models found so far, which contains a model of nearly smallest size
  (Kelley's cutting-plane method). A mixture with the best c so far is tried first, which halves the
  number of LPs. If the hull contains a model of size zero, no LP is solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...deadline import NO_DEADLINE, Deadline, attempt
from ...terms.blocks import Block
from ...terms.layout import WeightLayout
from ..programs.equivalent_models import EquivalentModels
from .interface import EXACT_TOL, Extreme
from .proofs import Certificates
from .ranges import ZERO_TOL, CheckedSolver, WeightRanges, directed_maxima, size_ranges

# Directions per batch of LPs.
DIRECTIONS_PER_BATCH = 4

# Bounds closer than this, relative to the norm, are equal up to rounding.
GAP_TOL = 1e-9

# Sizes up to this fraction of the norm count as zero.
ZERO_SIZE = 1e-9

# Maximum number of steps to the smallest size, each with one or two LPs, and of models known before
# in the convex hull. A category of 30 levels takes about 100 steps.
MAX_STEPS = 1000
MAX_KNOWN_MODELS = 200

# Fraction of the best combination of directions so far in the one that is tried first.
BEST_FRACTION = 0.8


@dataclass(frozen=True)
class BlockRange:
    """Smallest and largest size of a block, with witnesses and certified bounds.

    ``attained`` and ``proven`` have shape (2,), ``coef`` and ``offset`` hold the witnesses of the
    lower and of the upper bound, one per row. The upper bound is attained in ``direction``. If the
    range is not ``exact``, it is a certified outer range without witnesses. ``error`` bounds the
    effect of violated constraints on the attained sizes.
    """

    attained: Vector
    proven: Vector
    coef: Matrix
    offset: Matrix
    direction: Vector
    exact: bool = True
    n_programs: int = 0
    error: float = 0.0

    @property
    def gap(self) -> Vector:
        """Largest possible error of each bound."""
        lower, upper = self.proven - self.attained
        return np.maximum([-lower, upper], self.error)

    def scaled(self, factor: float) -> BlockRange:
        """Return a copy with all weights multiplied by a factor."""
        return replace(
            self,
            attained=factor * self.attained,
            proven=factor * self.proven,
            coef=factor * self.coef,
            offset=factor * self.offset,
            error=factor * self.error,
        )


def union_of_blocks(parts: Sequence[BlockRange]) -> BlockRange:
    """Return the range of a size over a union of sets of models, given the range over each set."""
    attained = np.array([part.attained for part in parts])
    low, high = parts[int(attained[:, 0].argmin())], parts[int(attained[:, 1].argmax())]
    proven = np.array([part.proven for part in parts])
    return BlockRange(
        attained=np.array([low.attained[0], high.attained[1]]),
        proven=np.array([proven[:, 0].min(), proven[:, 1].max()]),
        coef=np.vstack([low.coef[0], high.coef[1]]),
        offset=np.vstack([low.offset[0], high.offset[1]]),
        direction=high.direction,
        exact=all(part.exact for part in parts),
        error=max(part.error for part in parts),
    )


@dataclass(frozen=True)
class KnownModels:
    """Models of a set that are known before an LP is solved, one per row."""

    coef: sp.csr_array
    offset: Matrix

    @classmethod
    def of_start(cls, models: EquivalentModels) -> KnownModels:
        """Return the starting point of a set, if it is feasible."""
        start = models.start
        if start is None or models.violation(start.coef[None], start.offset[None])[0] > 0:
            return cls(sp.csr_array((0, models.n_weights)), np.empty((0, models.rows.n_offsets)))
        return cls(sp.csr_array(start.coef[None]), start.offset[None])

    def __add__(self, other: KnownModels) -> KnownModels:
        return KnownModels(
            sp.vstack([self.coef, other.coef], format="csr"),
            np.vstack([self.offset, other.offset]),
        )

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> KnownModels:
        return KnownModels(self.coef[rows], self.offset[rows])


class BlockSolver:
    """Solver for the sizes of blocks over a set of models.

    ``known`` are models of the set. Models found for one block are used for the following ones.
    """

    def __init__(
        self,
        models: EquivalentModels,
        layout: WeightLayout,
        known: KnownModels | None = None,
        checked: CheckedSolver | None = None,
    ) -> None:
        self._models, self._layout = models, layout
        self._certified = models  # described by the constraints that the start has prices for
        self._checked = CheckedSolver(models) if checked is None else checked
        self._distance = 0.0  # largest distance of a solution from the set
        self._n_programs = 0
        start = KnownModels.of_start(models)
        self._known = start if known is None else start + known
        self._norm = max(b.limit / b.norm_coefficient for b in models.budgets if b.norm_coefficient)

    def ranges(self, features: NDArray[np.intp]) -> dict[int, BlockRange]:
        """Return the range of the size of each of the given blocks."""
        return {int(feature): self.range(int(feature)) for feature in features}

    def range(self, feature: int) -> BlockRange:
        """Return the smallest and largest size of one block."""
        block, weights = self._layout.blocks[feature], self._layout.weights_of(feature)
        n_before = self._n_programs
        upper, lower = self._largest(block, weights), self._smallest(block, weights)
        # Rounding errors could otherwise make an unnecessary feature appear necessary.
        smallest = lower.value if lower.value > ZERO_TOL * upper.value else 0.0
        return BlockRange(
            attained=np.array([smallest, upper.value]),
            proven=np.array([min(lower.proven, smallest), max(upper.proven, upper.value)]),
            coef=np.vstack([lower.coef, upper.coef]),
            offset=np.vstack([lower.offset, upper.offset]),
            direction=upper.direction,
            n_programs=self._n_programs - n_before,
            error=self._distance * float(np.abs(block.directions).max()),
        )

    def outer_range(self, feature: int) -> BlockRange:
        """Return certified bounds on the size of a block that are not tight, without an LP."""
        block, weights = self._layout.blocks[feature], self._layout.weights_of(feature)
        bounds = self._outer_bounds(block, weights)
        best = int(np.argmax(bounds))
        none = np.full((2, self._models.n_weights), np.nan)
        return BlockRange(
            attained=np.array([0.0, bounds[best]]),
            proven=np.array([0.0, bounds[best]]),
            coef=none,
            offset=np.full((2, self._models.rows.n_offsets), np.nan),
            direction=block.directions[best],
            exact=False,
        )

    def directed_size(self, feature: int, skip_below: float) -> float:
        """Return the size of a block at one solution; see :func:`directed_sizes`."""
        block, weights = self._layout.blocks[feature], self._layout.weights_of(feature)
        bounds = self._outer_bounds(block, weights)
        best = int(np.argmax(bounds))
        if bounds[best] <= skip_below:
            return float(bounds[best])
        solutions, _ = self._checked.solve([Extreme.of_direction(block.directions[best], weights)])
        return float(block.size(solutions.coef[0, weights]))

    def _outer_bounds(self, block: Block, weights: NDArray[np.intp]) -> Vector:
        """Return a bound on ``v . w`` for each direction v, from the start of the set."""
        bounds = self._norm * np.abs(block.directions).max(axis=1)
        start = self._models.start
        if start is None:
            return bounds
        certificates = Certificates(self._certified, start.multipliers[None])
        return np.fmin(bounds, certificates.direction_maxima(block.directions, weights))

    def _solve(self, extremes: Sequence[Extreme]) -> tuple[Matrix, Vector, Certificates]:
        """Solve LPs and remember their models; return weights, proven bounds and certificates."""
        solutions, check = self._checked.solve(extremes)
        self._n_programs += len(extremes)
        self._models = self._checked.models
        found = KnownModels(sp.csr_array(solutions.coef), solutions.offset)
        self._known = self._known + found
        self._distance = max(self._distance, float(check.distance.max()))
        return solutions.coef, check.proven, check.certificates

    def _largest(self, block: Block, weights: NDArray[np.intp]) -> _Bound:
        directions = block.directions
        bounds = self._outer_bounds(block, weights)
        is_open = np.ones(len(directions), dtype=bool)
        while True:
            best = self._best_known(block, weights)
            best_size = -np.inf if best is None else best[0]
            is_open &= bounds > best_size + GAP_TOL * self._norm
            if not is_open.any():
                break
            order = np.argsort(np.where(is_open, -bounds, np.inf), kind="stable")
            batch = order[: min(DIRECTIONS_PER_BATCH, int(is_open.sum()))]
            extremes = [Extreme.of_direction(directions[i], weights) for i in batch]
            _, proven, certificates = self._solve(extremes)
            bounds = np.fmin(bounds, certificates.direction_maxima(directions, weights))
            bounds[batch] = np.fmin(bounds[batch], proven)
            is_open[batch] = False
        assert best is not None  # the set is not empty
        size, row = best
        coef = self._known.coef[[row]].toarray()[0]
        direction = directions[int(np.argmax(directions @ coef[weights]))]
        return _Bound(size, float(bounds.max()), coef, self._known.offset[row], direction)

    def _best_known(self, block: Block, weights: NDArray[np.intp]) -> tuple[float, int] | None:
        """Return the largest size among the known models, and the index of the model."""
        if len(self._known.offset) == 0:
            return None
        sizes = block.size(self._known.coef[:, weights].toarray())
        row = int(np.argmax(sizes))
        return float(sizes[row]), row

    def _smallest(self, block: Block, weights: NDArray[np.intp]) -> _Bound:
        known = self._smallest_known(block, weights)
        best: Vector | None = None  # combination of the best certified bound; None: not to be mixed
        proven, tol = 0.0, GAP_TOL * self._norm
        for step in range(MAX_STEPS + 1):
            fractions, size, combination = _smallest_in_hull(
                block, known.coef[:, weights].toarray()
            )
            coef, offset = np.asarray(known.coef.T @ fractions).ravel(), fractions @ known.offset
            is_zero = size <= ZERO_SIZE * self._norm
            if is_zero or size - proven <= tol or step == MAX_STEPS:
                break
            is_mixed, tried = best is not None, combination
            if best is not None:
                tried = combination + BEST_FRACTION * (best - combination)
            found, bound, _ = self._solve([Extreme.of_direction(-tried, weights)])
            known = known + KnownModels(self._known.coef[[-1]], self._known.offset[-1:])
            if -bound[0] > proven:
                best, proven = tried, float(-bound[0])
            if size - float(combination @ found[0, weights]) <= tol:  # not smaller than in the hull
                if not is_mixed:
                    break
                best = None
        if is_zero:
            size = 0.0
            coef[weights] = self._constant_weight(block, coef[weights], weights)
        return _Bound(size, min(proven, size), coef, offset, combination)

    def _constant_weight(self, block: Block, coef: Vector, weights: NDArray[np.intp]) -> float:
        """Return the common weight of a block of size zero.

        It can be zero, unless the levels are indicators that are not centered: their weights then
        add to the offset.
        """
        total = np.asarray(self._models.rows.table[:, weights].sum(axis=1))
        return float(coef.mean()) if block.has_levels and np.abs(total).max() > 1e-9 else 0.0

    def _smallest_known(self, block: Block, weights: NDArray[np.intp]) -> KnownModels:
        """Return the known models in which the block has the smallest sizes."""
        sizes = block.size(self._known.coef[:, weights].toarray())
        return self._known.take(np.argsort(sizes, kind="stable")[:MAX_KNOWN_MODELS])


@dataclass(frozen=True)
class _Bound:
    """Attained and proven end of the range of a size, its witness and its direction."""

    value: float
    proven: float
    coef: Vector
    offset: Vector
    direction: Vector


def _smallest_in_hull(block: Block, weights: Matrix) -> tuple[Vector, float, Vector]:
    """Minimize the size over the convex hull of models, given their weights, shape (m, k).

    Return the fractions of the models, the size, and the convex combination of directions that
    proves it: its product with every model of the hull is at least the size.
    """
    from scipy.optimize import linprog

    m = len(weights)
    limits, cost = block.size_program
    scale = max(float(np.abs(weights).max()), np.finfo(float).tiny)
    solution = linprog(
        np.r_[np.zeros(m), cost],
        A_ub=np.column_stack([np.vstack([weights.T, -weights.T]) / scale, -limits]),
        b_ub=np.zeros(len(limits)),
        A_eq=np.r_[np.ones(m), np.zeros(len(cost))][None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)] * len(cost),
        method="highs",
    )
    fractions = np.maximum(solution.x[:m], 0.0)
    fractions /= fractions.sum()
    above, below = np.maximum(-solution.ineqlin.marginals, 0.0).reshape(2, -1)
    combination = block.as_combination(above - below)
    return fractions, float(block.size(fractions @ weights)), combination


@dataclass(frozen=True)
class FeatureRanges:
    """Ranges of the solved features: of single weights, and of the sizes of blocks of weights."""

    weights: WeightRanges
    blocks: Mapping[int, BlockRange]

    @property
    def models(self) -> KnownModels:
        """All witnesses."""
        known = KnownModels(self.weights.coef, self.weights.offset)
        exact = [part for part in self.blocks.values() if part.exact]
        if not exact:
            return known
        coef = sp.csr_array(np.vstack([part.coef for part in exact]))
        return known + KnownModels(coef, np.vstack([part.offset for part in exact]))

    def witness(self, feature: int, weight: int, side: int) -> tuple[Vector, Vector] | None:
        """Return the weights and offsets of a witness; None if the feature was not solved.

        ``weight`` is the first weight of the feature.
        """
        if feature in self.blocks:
            part = self.blocks[feature]
            return part.coef[side], part.offset[side]
        (index,) = np.nonzero(self.weights.features == weight)
        return self.weights.witness(int(index[0]), side) if len(index) else None


def directed_sizes(
    models: EquivalentModels,
    layout: WeightLayout,
    features: NDArray[np.intp],
    skip_below: float,
    tol: float = EXACT_TOL,
    deadline: Deadline = NO_DEADLINE,
) -> Vector:
    """Return a large size of each of m features, found by at most one LP each.

    For a single weight, the LP is that of :func:`directed_maxima`. For a block, it maximizes the
    direction with the largest outer bound, and the size at its solution is returned. If the outer
    bound does not exceed ``skip_below``, it is returned instead, and no LP is solved. ``tol`` is
    the gap that the result may have, relative to the largest norm in the set.
    """
    single = layout.has_one_weight(features)
    sizes = np.empty(len(features))
    sizes[single] = directed_maxima(
        models, layout.weights_of(features[single]), skip_below, tol, deadline
    )
    if not single.all():
        solver = BlockSolver(
            models, layout, checked=CheckedSolver(models, tol=tol, deadline=deadline)
        )
        sizes[~single] = [solver.directed_size(int(j), skip_below) for j in features[~single]]
    return sizes


def feature_sizes(
    models: EquivalentModels,
    layout: WeightLayout,
    features: NDArray[np.intp],
    tol: float = EXACT_TOL,
    deadline: Deadline = NO_DEADLINE,
) -> Matrix:
    """Return the smallest and the largest size of each of m features, shape (m, 2).

    ``tol`` is as in :func:`directed_sizes`. Sizes that are not reached before the deadline are NaN.
    """
    single = layout.has_one_weight(features)
    sizes = np.empty((len(features), 2))
    if single.any():
        weights = layout.weights_of(features[single])
        sizes[single], _ = size_ranges(models, weights, tol=tol, deadline=deadline)
    if not single.all():
        checked = CheckedSolver(models, tol=tol, deadline=deadline)
        solver = BlockSolver(models, layout, checked=checked)
        for place in np.flatnonzero(~single):
            found = attempt(partial(solver.range, int(features[place])))
            sizes[place] = np.nan if found is None else found.attained
    return sizes
