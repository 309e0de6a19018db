"""Linear functions that agree on given directions: no loss, only rows that must be met.

One row of a mapping: the smallest norm it can have, and the range of each weight near that.

A whole mapping: the bounds of its rows, added up.
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
from .linear_mapping import metric_rows, projected


def same_image(directions: Matrix, weights: Vector) -> HingeRows:
    """Rows that ask for ``directions @ w == directions @ weights``.

    Equations as inequalities, one more than there are equations: every one of them from below, and
    their sum from above.

    Parameters
    ----------
    directions : ndarray of shape (k, d)
    weights : ndarray of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> rows = same_image(np.eye(2), np.array([3.0, 5.0]))
    >>> rows.violation(np.array([[3.0, 5.0], [3.0, 5.5], [2.5, 5.0]]), np.empty((3, 0)))
    array([0. , 0.5, 0.5])
    """
    image = directions @ weights
    n_rows = len(image) + 1
    return HingeRows(
        table=np.vstack([directions, -directions.sum(axis=0)]),
        offset_table=np.empty((n_rows, 0)),
        target=np.r_[image, -image.sum()],
        weight=np.full(n_rows, np.inf),
    )


def within_norm(rows: HingeRows, norm: float, start: StartingVertex) -> EquivalentModels:
    """All weights that meet the rows with ``|w|_1 <= norm``."""
    return EquivalentModels(rows, (Budget(1.0, 0.0, norm),), np.empty((0, 2)), start)


# A weight that is smaller than this share of the norm is rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class RowBounds:
    """What is known of one row.

    Attributes
    ----------
    row : ndarray of shape (d,)
        As it was given.
    shortest : ndarray of shape (d,)
        Weights of the smallest norm that map the data as the row does.
    ranges : WeightRanges
        Of every weight.
    """

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


def row_bounds(row: Vector, directions: Matrix, slack: float) -> RowBounds:
    """Bounds of the weights that do the same in the directions, at a norm next to the smallest.

    Parameters
    ----------
    row : ndarray of shape (d,)
    directions : ndarray of shape (k, d)
        Perpendicular, of length 1.
    slack : float
        By how much the norm may exceed the smallest one, as a share of it.
    """
    # The programs are solved for a row of length 1: tolerances are absolute.
    length = float(np.linalg.norm(directions @ row))
    rows = same_image(directions, row / length)
    start = shortest_start(rows)
    models = within_norm(rows, (1.0 + slack) * float(np.abs(start.coef).sum()), start)
    ranges = weight_ranges(models)
    return RowBounds(row, length * start.coef, ranges.scaled(length))


def shortest_start(rows: HingeRows) -> StartingVertex:
    """The weights of the smallest norm that meet the rows, and the multipliers that prove it."""
    program = baseline_program(rows, 0.0)
    solution = HighsModel(program).solve("the smallest norm of a mapping")
    coef = program.model(solution.point)[0]
    coef[np.abs(coef) < _ROUNDING * np.abs(coef).sum()] = 0.0
    # HiGHS meets the rows to within its tolerance; the weights in use can do so exactly.
    used = np.flatnonzero(coef)
    coef[used] = np.linalg.lstsq(rows.table[:, used], rows.target, rcond=None)[0]
    return StartingVertex(coef, np.empty(0), np.maximum(solution.row_dual, 0.0), rows)


@dataclass(frozen=True)
class BoundsOfMapping:
    """What is known of a mapping.

    Attributes
    ----------
    rows : sequence of RowBounds
        Of the mapping's perpendicular rows, the longest first.
    """

    rows: Sequence[RowBounds]

    @property
    def interval(self) -> Matrix:
        """Smallest and largest size of each feature's weights, rows added up, shape (d, 2)."""
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
            np.stack([r.witnesses(side) for r in self.rows], axis=1) for side in (LOWER, UPPER)
        ]
        return np.concatenate(sides)


def bounds_of_mapping(
    omega: Matrix, directions: Matrix, slack: float, **run: Unpack[RunOptions]
) -> BoundsOfMapping:
    """Bounds of all mappings that do what this one does in the directions that count.

    Parameters
    ----------
    omega : ndarray of shape (n_rows, d)
    directions : ndarray of shape (k, d)
        Directions of the data, perpendicular, of length 1.
    slack : float
        By how much the norm of a row may exceed the smallest one, as a share of it.
    **run
        ``n_jobs`` and ``progress`` of :func:`allrelevant.parallel.parallel_map`.
    """
    # What a row does elsewhere would turn the rows, so it goes first.
    rows = metric_rows(projected(omega, directions))
    solve = partial(row_bounds, directions=directions, slack=slack)
    return BoundsOfMapping(parallel_map(solve, list(rows), **run))
