"""How many features leave at a step, and how many compete for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..arrays import Vector

# What counts as close when the number of candidates is automatic: within this share of the mean
# weight from the smallest one. And how many there are at most.
CLOSE, MOST_CANDIDATES = 0.1, 12


@dataclass(frozen=True)
class Pace:
    """Settings of the descent.

    Attributes
    ----------
    step : int or float
        Number of features that leave at a time, or their share of those left.
    n_candidates : int or "auto"
    min_features : int
        Where it ends.
    """

    step: float
    n_candidates: int | Literal["auto"]
    min_features: int

    def n_leaving(self, n_left: int) -> int:
        """How many leave at the next step; zero at the end.

        Examples
        --------
        >>> Pace(0.5, 1, 2).n_leaving(9), Pace(4, 1, 2).n_leaving(5), Pace(1, 1, 2).n_leaving(2)
        (4, 3, 0)
        """
        wanted = self.step if self.step >= 1 else max(1.0, self.step * n_left)
        return min(int(wanted), n_left - self.min_features)

    def n_steps(self, n_features: int) -> int:
        """How many steps it takes to come down from so many features.

        Examples
        --------
        >>> Pace(1, 1, 1).n_steps(5), Pace(0.5, 1, 1).n_steps(8)
        (4, 3)
        """
        steps = 0
        while n_features > self.min_features:
            n_features -= self.n_leaving(n_features)
            steps += 1
        return steps

    def n_competing(self, values: Vector, smallest: Vector) -> int:
        """How many compete for the last place among those that leave.

        Parameters
        ----------
        values : ndarray of shape (n_left,)
            The criterion.
        smallest : ndarray
            Its smallest values from the first that is not certain to leave, ascending.

        Examples
        --------
        >>> import numpy as np
        >>> clear, close = np.array([0.1, 2.0, 3.0, 4.0]), np.array([2.0, 2.1, 2.2, 4.0])
        >>> auto = Pace(1, "auto", 1)
        >>> auto.n_competing(clear, clear), auto.n_competing(close, close)
        (1, 3)
        """
        if self.n_candidates == "auto":
            limit = smallest[0] + CLOSE * abs(float(values.mean()))
            return int((smallest[:MOST_CANDIDATES] <= limit).sum())
        return min(self.n_candidates, len(smallest))

    @property
    def most_competing(self) -> int:
        """How many could compete at most."""
        return MOST_CANDIDATES if self.n_candidates == "auto" else self.n_candidates
