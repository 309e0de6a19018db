"""Several problems, one answer: classes against the rest, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix
from ..problem import ProblemBounds
from ..relevance import IRRELEVANT, STRONG, WEAK


@dataclass(frozen=True)
class CombinedBounds:
    """What is known of each weight over all problems, and in each of them.

    Attributes
    ----------
    interval, signed_interval, gap : ndarray of shape (d, 2)
    exact, relevance : ndarray of shape (d,)
    class_interval : ndarray of shape (n_problems, d, 2)
    class_relevance : ndarray of shape (n_problems, d)
    """

    interval: Matrix
    signed_interval: Matrix
    gap: Matrix
    exact: NDArray[np.bool_]
    relevance: NDArray[np.str_]
    class_interval: NDArray[np.float64]
    class_relevance: NDArray[np.str_]

    def of(self, weights: NDArray[np.intp]) -> CombinedBounds:
        """The part of some weights."""
        return CombinedBounds(
            interval=self.interval[weights],
            signed_interval=self.signed_interval[weights],
            gap=self.gap[weights],
            exact=self.exact[weights],
            relevance=self.relevance[weights],
            class_interval=self.class_interval[:, weights],
            class_relevance=self.class_relevance[:, weights],
        )


def combined(problems: Sequence[ProblemBounds]) -> CombinedBounds:
    """The largest bound counts; strong for one is strong, relevant for one at least weak."""
    intervals = np.array([problem.interval for problem in problems])
    relevances = np.array([problem.relevance for problem in problems])
    signed = np.array([problem.signed_interval for problem in problems])
    strong = (relevances == STRONG).any(axis=0)
    relevant = (relevances != IRRELEVANT).any(axis=0)
    return CombinedBounds(
        interval=intervals.max(axis=0),
        signed_interval=np.column_stack([signed[:, :, 0].min(axis=0), signed[:, :, 1].max(axis=0)]),
        gap=np.max([problem.gap for problem in problems], axis=0),
        exact=np.all([problem.exact for problem in problems], axis=0),
        relevance=np.where(strong, STRONG, np.where(relevant, WEAK, IRRELEVANT)),
        class_interval=intervals,
        class_relevance=relevances,
    )
