"""Bounds of each row of a mapping, and of all rows together.

Equivalent rows agree in the directions that count and have an l1 norm near the smallest. No loss is
involved: the constraints are equations.
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

# Smaller weights, as a share of the norm, are rounding errors.
ZERO_WEIGHT_SHARE = 1e-10


@dataclass(frozen=True)
class BoundsOfMapping:
    """Bounds of the perpendicular rows of a mapping, the longest first."""

    rows: Sequence[RowBounds]

    @property
    def interval(self) -> Matrix:
        """Smallest and largest absolute weight of each feature, summed over rows, shape (d, 2)."""
        return self.row_interval.sum(axis=0)

    @property
    def gap(self) -> Matrix:
        return np.sum([row.ranges.gap for row in self.rows], axis=0)

    @property
    def row_interval(self) -> NDArray[np.float64]:
        """The same for each row, shape (n_rows, d, 2)."""
        return np.array([row.ranges.interval for row in self.rows])

    @property
    def signed_row_interval(self) -> NDArray[np.float64]:
        return np.array([row.ranges.attained for row in self.rows])

    @property
    def shortest(self) -> Matrix:
        """Rows of the smallest norm, shape (n_rows, d)."""
        return np.array([row.shortest for row in self.rows])

    @property
    def norm(self) -> float:
        """The smallest norm of all rows together."""
        return sum(row.norm for row in self.rows)

    def witness(self, feature: int, side: int) -> Matrix:
        """A mapping that attains an end of the feature's interval, shape (n_rows, d)."""
        return np.array([row.ranges.witness(feature, side)[0] for row in self.rows])

    def at_bounds(self) -> NDArray[np.float64]:
        """The mappings that attain the bounds of each feature, shape (2 d, n_rows, d).

        First those of the lower bounds, then those of the upper ones.
        """
        sides = [
            np.stack([row.witnesses(side) for row in self.rows], axis=1) for side in (LOWER, UPPER)
        ]
        return np.concatenate(sides)


def bound_mapping(
    omega: Matrix, directions: Matrix, slack: float, **run: Unpack[RunOptions]
) -> BoundsOfMapping:
    """Bound all mappings that do what this one does in some orthonormal directions.

    ``slack`` is the share by which the norm of a row may exceed the smallest one.
    """
    # The part of a row in other directions would rotate the rows, so it is removed first.
    rows = metric_rows(project(omega, directions))
    solve = partial(bound_row, directions=directions, slack=slack)
    return BoundsOfMapping(parallel_map(solve, list(rows), **run))


@dataclass(frozen=True)
class RowBounds:
    """A row, the equivalent one of the smallest norm, and the ranges of all weights."""

    row: Vector
    shortest: Vector
    ranges: WeightRanges

    @property
    def norm(self) -> float:
        """The smallest norm."""
        return float(np.abs(self.shortest).sum())

    def witnesses(self, side: int) -> Matrix:
        """Weights that attain one end of each feature's interval, shape (d, d)."""
        return np.array([self.ranges.witness(j, side)[0] for j in range(len(self.row))])


def bound_row(row: Vector, directions: Matrix, slack: float) -> RowBounds:
    """Bound the weights that do the same in the directions, at a norm near the smallest."""
    # The programs are solved for a row of length 1, because tolerances are absolute.
    length = float(np.linalg.norm(directions @ row))
    rows = image_rows(directions, row / length)
    start = shortest_start(rows)
    models = within_norm(rows, (1.0 + slack) * float(np.abs(start.coef).sum()), start)
    ranges = weight_ranges(models)
    return RowBounds(row, length * start.coef, ranges.scaled(length))


def image_rows(directions: Matrix, weights: Vector) -> HingeRows:
    """Constraints for ``directions @ w == directions @ weights``.

    Equations as inequalities, one more than there are equations: each of them from below, and
    their sum from above.
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
    """The weights of the smallest norm that satisfy the rows, and the proving multipliers."""
    program = baseline_program(rows, 0.0)
    solution = HighsModel(program).solve("the smallest norm of a mapping")
    coef = program.model(solution.point)[0]
    coef[np.abs(coef) < ZERO_WEIGHT_SHARE * np.abs(coef).sum()] = 0.0
    # HiGHS satisfies the rows to within its tolerance; the nonzero weights can do so exactly.
    used = np.flatnonzero(coef)
    coef[used] = np.linalg.lstsq(rows.table[:, used], rows.target, rcond=None)[0]
    return StartingVertex(coef, np.empty(0), np.maximum(solution.row_dual, 0.0), rows)


def within_norm(rows: HingeRows, norm: float, start: StartingVertex) -> EquivalentModels:
    """All weights that satisfy the rows with ``|w|_1 <= norm``."""
    return EquivalentModels(rows, (Budget(1.0, 0.0, norm),), np.empty((0, 2)), start)
