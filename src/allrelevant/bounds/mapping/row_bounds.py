"""Bounds on the weights of each component (row) of a mapping, and of all components together.

Equivalent components agree in the directions that are kept, and their l1 norm is within the slack
of the smallest norm. There is no loss: the constraints are equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ...parallel import RunOptions, parallel_map
from ..programs.equivalent_models import Budget, EquivalentModels, StartingVertex, baseline_program
from ..programs.hinge import HingeRows
from ..solver.highs import HighsModel
from ..solver.ranges import LOWER, UPPER, WeightRanges, weight_ranges
from .linear_mapping import metric_rows, project

# Weights below this, relative to the norm, count as rounding errors.
ZERO_WEIGHT_TOL = 1e-10


@dataclass(frozen=True)
class MappingRanges:
    """Weight ranges of the orthogonal components of a mapping, longest component first."""

    rows: Sequence[RowBounds]

    @property
    def interval(self) -> Matrix:
        """Smallest and largest absolute weight of each feature, summed over components."""
        return self.row_interval.sum(axis=0)

    @property
    def gap(self) -> Matrix:
        return np.sum([row.ranges.gap for row in self.rows], axis=0)

    @property
    def row_interval(self) -> NDArray[np.float64]:
        """Relevance interval of each feature in each component, shape (n_rows, d, 2)."""
        return np.array([row.ranges.interval for row in self.rows])

    @property
    def signed_row_interval(self) -> NDArray[np.float64]:
        return np.array([row.ranges.attained for row in self.rows])

    @property
    def shortest(self) -> Matrix:
        """Equivalent components with the smallest l1 norm, shape (n_rows, d)."""
        return np.array([row.shortest for row in self.rows])

    @property
    def norm(self) -> float:
        """Sum of the smallest l1 norms of the components."""
        return sum(row.norm for row in self.rows)

    def witness(self, feature: int, side: int) -> Matrix:
        """Return an equivalent mapping that attains a bound of a feature, shape (n_rows, d)."""
        return np.array([row.ranges.witness(feature, side)[0] for row in self.rows])

    def at_bounds(self) -> NDArray[np.float64]:
        """Return the mappings that attain the bounds of each feature, shape (2 d, n_rows, d).

        The first d attain the lower bounds, the others the upper bounds.
        """
        sides = [
            np.stack([row.witnesses(side) for row in self.rows], axis=1) for side in (LOWER, UPPER)
        ]
        return np.concatenate(sides)


def bound_mapping(
    omega: Matrix, directions: Matrix, slack: float, **run: Unpack[RunOptions]
) -> MappingRanges:
    """Compute the weight ranges over all mappings equivalent to ``omega``.

    Equivalent mappings agree in the given orthonormal directions. ``slack`` is the fraction
    by which the norm of a component may exceed the smallest norm.
    """
    # Project first, because the other directions would rotate the components.
    rows = metric_rows(project(omega, directions))
    solve = partial(bound_row, directions=directions, slack=slack)
    return MappingRanges(parallel_map(solve, list(rows), **run))


@dataclass(frozen=True)
class RowBounds:
    """Weight ranges of one component, and the equivalent component of smallest l1 norm."""

    row: Vector
    shortest: Vector
    ranges: WeightRanges

    @property
    def norm(self) -> float:
        """Smallest l1 norm of an equivalent component."""
        return float(np.abs(self.shortest).sum())

    def witnesses(self, side: int) -> Matrix:
        """Return, for each feature, a component that attains its lower or upper bound."""
        return np.array([self.ranges.witness(j, side)[0] for j in range(len(self.row))])


def bound_row(row: Vector, directions: Matrix, slack: float) -> RowBounds:
    """Compute the weight ranges over all components equivalent to ``row``.

    Equivalent components agree with ``row`` in the directions, and their norm is within the slack
    of the smallest norm.
    """
    # The LPs are solved for a component of length 1, because tolerances are absolute.
    length = float(np.linalg.norm(directions @ row))
    rows = image_rows(directions, row / length)
    start = shortest_start(rows)
    models = within_norm(rows, (1.0 + slack) * float(np.abs(start.coef).sum()), start)
    ranges = weight_ranges(models)
    return RowBounds(row, length * start.coef, ranges.scaled(length))


def image_rows(directions: Matrix, weights: Vector) -> HingeRows:
    """Return constraints equivalent to ``directions @ w == directions @ weights``.

    The n equations become n + 1 inequalities: a lower limit for each, and an upper limit for their
    sum.
    """
    image = directions @ weights
    n_rows = len(image) + 1
    return HingeRows(
        table=np.vstack([directions, -directions.sum(axis=0)]),
        offset_table=np.empty((n_rows, 0)),
        target=np.r_[image, -image.sum()],
        weight=np.full(n_rows, np.inf),
    )


def shortest_start(rows: HingeRows) -> StartingVertex:
    """Return the feasible weights with the smallest l1 norm, and their dual variables."""
    program = baseline_program(rows, 0.0)
    solution = HighsModel(program).solve("the smallest norm of a mapping")
    coef = program.model(solution.point)[0]
    coef[np.abs(coef) < ZERO_WEIGHT_TOL * np.abs(coef).sum()] = 0.0
    # HiGHS satisfies the constraints only within its tolerance, so recompute the nonzero weights.
    used = np.flatnonzero(coef)
    coef[used] = np.linalg.lstsq(rows.table[:, used], rows.target, rcond=None)[0]
    return StartingVertex(coef, np.empty(0), np.maximum(solution.row_dual, 0.0), rows)


def within_norm(rows: HingeRows, norm: float, start: StartingVertex) -> EquivalentModels:
    """Return the set of all weights that satisfy the constraints and ``|w|_1 <= norm``."""
    return EquivalentModels(rows, (Budget(1.0, 0.0, norm),), np.empty((0, 2)), start)
