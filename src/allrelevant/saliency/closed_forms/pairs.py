"""Classifiers that decide between each two classes, and let the decisions vote."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Table
from ..differentiable import DifferentiableModel, Linearization, linearized
from ..gains import Gain


@dataclass(frozen=True)
class OneAgainstOne:
    """One output a class: the mean of its decisions against the others, each clipped to [-1, 1].

    Votes have no gradient. Without the clipping a decision between two other classes, of any size,
    could make up for one that is lost; the gradient passes as if there were none.

    Attributes
    ----------
    pairs : DifferentiableModel
        One output for each pair of classes, in the order of ``combinations``; positive for the
        first.
    n_classes : int
    break_ties : bool
        Whether equal votes are settled by the sizes of the decisions, or else by the order of the
        classes: as the model was told.
    """

    pairs: DifferentiableModel
    n_classes: int
    break_ties: bool = False

    @property
    def gain(self) -> Gain:
        """The gain that goes with the loss."""
        return self.pairs.gain

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row."""
        return self.linearized(X).outputs

    def pull_back(self, X: Table, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``, without the clipping."""
        return self.linearized(X).pull_back(cotangent)

    def linearized(self, X: Table) -> PairsAt:
        """The model at some rows."""
        return PairsAt(linearized(self.pairs, X), _shares(self.n_classes), self.break_ties)


@dataclass(frozen=True)
class PairsAt:
    """Decisions of pairs at some rows, as outputs of classes."""

    pairs: Linearization
    shares: Matrix
    break_ties: bool

    @property
    def outputs(self) -> Matrix:
        """Outputs of each row."""
        return np.clip(self.pairs.outputs, -1.0, 1.0) @ self.shares.T

    @property
    def codes(self) -> NDArray[np.int64]:
        """The class that most decisions vote for: what the model predicts."""
        decisions = self.pairs.outputs
        # A decision of exactly zero is one for the second class, but where ties are broken.
        first = decisions >= 0 if self.break_ties else decisions > 0
        votes = np.where(first, 1.0, -1.0) @ self.shares.T
        if not self.break_ties:
            # Shares of votes are equal up to rounding where votes are.
            return votes.round(9).argmax(axis=1)
        n_others = len(self.shares) - 1
        sizes = decisions @ self.shares.T * n_others
        # One vote moves the mean by 2 / n_others; sizes never add up to a whole vote.
        return (votes * n_others / 2 + sizes / (3 * (np.abs(sizes) + 1))).argmax(axis=1)

    def pull_back(self, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``."""
        return self.pairs.pull_back(cotangent @ self.shares)


def _shares(n_classes: int) -> Matrix:
    """What the decision of each pair adds to each class."""
    pairs = list(combinations(range(n_classes), 2))
    shares = np.zeros((n_classes, len(pairs)))
    for place, (first, second) in enumerate(pairs):
        shares[first, place], shares[second, place] = 1.0, -1.0
    return shares / (n_classes - 1)
