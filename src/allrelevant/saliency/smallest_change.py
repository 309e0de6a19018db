"""The search for the smallest change of a row that makes a classifier certain of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .certainty import Certainty

_HALVINGS = 20


@dataclass(frozen=True)
class Search:
    """How to look for it.

    Attributes
    ----------
    goal : float
        Log-odds to reach.
    max_steps : int
    step : float
        Longest way that one step may go.
    bounds : tuple of float or None
        Smallest and largest value that a feature may take.
    """

    goal: float
    max_steps: int
    step: float
    bounds: tuple[float, float] | None

    def run(
        self, certainty: Certainty, X: Matrix, classes: NDArray[np.int64]
    ) -> tuple[Matrix, NDArray[np.int64]]:
        """Changed rows, and the number of steps until each was first certain enough.

        First the log-odds are climbed until they are enough. From there on, every step goes towards
        the point nearest to the row at which they would be just enough, as the gradient tells them
        from here. Of the points that are certain enough the closest is kept; the way there is cut
        off where it first is. Where none is, the row changed last is returned, and -1 steps.
        """
        best = X.copy()
        distance = np.full(len(X), np.inf)
        steps = np.full(len(X), -1)
        current = X.copy()
        for number in range(self.max_steps + 1):
            found, gradient = certainty.climb(current, classes)
            length = np.linalg.norm(current - X, axis=1)
            better = (found >= self.goal) & (length < distance)
            steps[better & (steps < 0)] = number
            best[better], distance[better] = current[better], length[better]
            if (distance == 0).all() or number == self.max_steps:
                break
            current = self._moved(X, current, found, gradient, steps >= 0)
        reached = steps >= 0
        best[~reached] = current[~reached]
        best[reached] = self._cut_off(certainty, X[reached], best[reached], classes[reached])
        return best, steps

    def _moved(
        self,
        X: Matrix,
        current: Matrix,
        found: Vector,
        gradient: Matrix,
        arrived: NDArray[np.bool_],
    ) -> Matrix:
        squares = np.maximum((gradient**2).sum(axis=1), np.finfo(np.float64).tiny)
        # A touch beyond the goal: rounding must not leave the point just short of it.
        missing = self.goal + 1e-6 * (1 + abs(self.goal)) - found
        start = np.where(arrived[:, None], X, current)
        needed = np.maximum(missing + (gradient * (current - start)).sum(axis=1), 0)
        way = self._inside(start + (needed / squares)[:, None] * gradient) - current
        length = np.linalg.norm(way, axis=1)
        share = np.minimum(1.0, self.step / np.maximum(length, np.finfo(np.float64).tiny))
        return current + share[:, None] * way

    def _inside(self, X: Matrix) -> Matrix:
        return X if self.bounds is None else np.clip(X, *self.bounds)

    def _cut_off(
        self, certainty: Certainty, X: Matrix, changed: Matrix, classes: NDArray[np.int64]
    ) -> Matrix:
        """The point on the straight way to each changed row that is closest and certain enough."""
        if len(X) == 0:
            return changed
        low, high = np.zeros(len(X)), np.ones(len(X))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            enough = certainty.log_odds(_between(X, changed, middle), classes) >= self.goal
            high, low = np.where(enough, middle, high), np.where(enough, low, middle)
        return _between(X, changed, high)


def _between(X: Matrix, changed: Matrix, share: Vector) -> Matrix:
    return X + share[:, None] * (changed - X)
