"""Subsets along an elimination path and their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix
from ..exceptions import InputError


@dataclass(frozen=True)
class Step:
    """One elimination step: the features ``dropped``, in order, and the scores without them.

    The last feature dropped was chosen among the ``candidates``. ``C`` is the cost with the best
    cross-validated score, and ``fold_scores`` and ``fold_margins`` are the results at this cost.
    ``outer_score`` and ``outer_margin`` are the results on the rows held out of the entire
    elimination, if any.
    """

    dropped: list[int]
    candidates: list[int]
    candidate_scores: list[float]
    n_features: int
    C: float
    fold_scores: list[float]
    fold_margins: list[float]
    outer_score: float | None
    outer_margin: float | None
    seconds: float


@dataclass(frozen=True)
class EliminationHistory:
    """Complete elimination path, from all features to the smallest subset.

    ``pruned`` contains the features removed in advance for low variance, in order of variance.
    ``constant_scores`` contains the score of a constant prediction: on the rows held out of the
    elimination, if any, otherwise on each fold.
    """

    n_features: int
    pruned: list[int]
    steps: list[Step]
    constant_scores: list[float]

    @property
    def ranking(self) -> NDArray[np.int64]:
        """Rank of each feature: 1 in the smallest subset, 2 for the last feature dropped, etc."""
        return self.positions - self.steps[-1].n_features + 1

    @property
    def positions(self) -> NDArray[np.int64]:
        """Number of remaining features just before the removal of each feature, or at the end."""
        dropped = [*self.pruned, *(feature for step in self.steps for feature in step.dropped)]
        n_final = self.steps[-1].n_features
        positions = np.full(self.n_features, n_final, dtype=np.int64)
        positions[dropped] = np.arange(self.n_features, n_final, -1)
        return positions

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of features in each subset along the path."""
        return np.array([step.n_features for step in self.steps])

    @property
    def fold_scores(self) -> Matrix:
        """Score of each subset on each fold; shape (n_subsets, n_folds)."""
        return np.array([step.fold_scores for step in self.steps])

    @property
    def fold_margins(self) -> Matrix:
        """Margin of each subset on each fold; shape (n_subsets, n_folds)."""
        return np.array([step.fold_margins for step in self.steps])

    def step_with(self, n_features: int) -> Step:
        """Return the step of the smallest subset with at least ``n_features`` features.

        If features were removed in advance, the largest subset can have fewer.
        """
        return [self.steps[0], *(step for step in self.steps if step.n_features >= n_features)][-1]

    def support(self, n_features: int) -> NDArray[np.bool_]:
        """Return the subset of the ``n_features`` highest-ranked features as a Boolean mask."""
        n_final = self.steps[-1].n_features
        if not n_final <= n_features <= self.n_features:
            raise InputError(
                f"The elimination has no subset of {n_features} features. Choose a number from "
                f"{n_final} to {self.n_features}."
            )
        return self.positions <= n_features
