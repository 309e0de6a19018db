"""Subsets along an elimination path, their scores, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..exceptions import InputError

# Mean scores are rounded to this number of decimals, because means of the same fold scores in a
# different order must be equal.
SCORE_DECIMALS = 12


@dataclass(frozen=True)
class Step:
    """One elimination step: the features ``dropped``, in order, and the scores without them.

    The last feature dropped was chosen among the ``candidates``. ``C`` is the cost with the best
    cross-validated score, and ``fold_scores`` are the scores at this cost. ``outer_score`` is the
    score on the rows held out of the entire elimination, if any.
    """

    dropped: list[int]
    candidates: list[int]
    candidate_scores: list[float]
    n_features: int
    C: float
    fold_scores: list[float]
    outer_score: float | None
    seconds: float


@dataclass(frozen=True)
class EliminationHistory:
    """Complete elimination path, from all features to the smallest subset.

    ``pruned`` contains the features removed in advance for low variance, in order of variance.
    """

    n_features: int
    pruned: list[int]
    steps: list[Step]

    @property
    def ranking(self) -> NDArray[np.int64]:
        """Rank of each feature: 1 in the smallest subset, 2 for the last feature dropped, etc."""
        dropped = [*self.pruned, *(feature for step in self.steps for feature in step.dropped)]
        ranking = np.ones(self.n_features, dtype=np.int64)
        n_final = self.steps[-1].n_features
        ranking[dropped] = np.arange(self.n_features, n_final, -1) - n_final + 1
        return ranking

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of features in each subset along the path."""
        return np.array([step.n_features for step in self.steps])

    @property
    def fold_scores(self) -> Matrix:
        """Score of each subset on each fold; shape (n_subsets, n_folds)."""
        return np.array([step.fold_scores for step in self.steps])

    def support(self, n_features: int) -> NDArray[np.bool_]:
        """Return the subset of the ``n_features`` highest-ranked features as a Boolean mask."""
        n_final = self.steps[-1].n_features
        if not n_final <= n_features <= self.n_features:
            raise InputError(
                f"The elimination has no subset of {n_features} features. Choose a number from "
                f"{n_final} to {self.n_features}."
            )
        return self.ranking <= n_features - n_final + 1


def choose_size(
    n_features_to_select: Any, sizes: Sequence[int] | NDArray[np.int64], fold_scores: Matrix
) -> int:
    """Return the number of features to select for the parameter ``n_features_to_select``.

    A number is returned unchanged. ``"best"`` gives the size of the subset with the best mean
    score. ``"one_se"`` gives the size of the smallest subset whose mean score is within one
    standard error of the best. Ties go to the smallest subset. ``fold_scores`` has shape
    (n_subsets, n_folds).
    """
    if not isinstance(n_features_to_select, str):
        return int(n_features_to_select)
    if n_features_to_select not in ("best", "one_se"):
        raise InputError(
            "n_features_to_select must be 'best', 'one_se' or a number "
            f"(got {n_features_to_select!r})."
        )
    if fold_scores.shape[-1] == 0:
        raise InputError(
            f"n_features_to_select={n_features_to_select!r} requires scores, but cv=None computes "
            "none. Set cv, or pass a number of features."
        )
    means = mean_scores(fold_scores)
    limit = means.max()
    if n_features_to_select == "one_se":
        limit -= standard_errors(fold_scores)[means.argmax()]
    return int(np.asarray(sizes)[means >= limit].min())


def mean_scores(fold_scores: Matrix) -> Vector:
    """Return the mean score of each subset over the folds, rounded so that ties are exact."""
    return np.round(fold_scores.mean(axis=1), SCORE_DECIMALS)


def standard_errors(fold_scores: Matrix) -> Vector:
    """Return the standard error of each subset's mean score; zero for a single fold."""
    n_folds = fold_scores.shape[1]
    if n_folds < 2:
        return np.zeros(len(fold_scores))
    return fold_scores.std(axis=1, ddof=1) / np.sqrt(n_folds)
