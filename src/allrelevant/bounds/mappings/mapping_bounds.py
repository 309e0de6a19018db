"""A whole mapping: the bounds of its rows, added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix
from ...parallel import RunOptions, run_tasks
from ..solver.intervals import LOWER, UPPER
from .canonical import metric_rows, projected
from .row_bounds import RowBounds, row_bounds


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
        ``n_jobs`` and ``progress`` of :func:`allrelevant.parallel.run_tasks`.
    """
    # What a row does elsewhere would turn the rows, so it goes first.
    rows = metric_rows(projected(omega, directions))
    solve = partial(row_bounds, directions=directions, slack=slack)
    return BoundsOfMapping(run_tasks(solve, list(rows), **run))
