"""The subsets of an elimination, their scores, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..exceptions import InputError

# Mean scores are rounded to so many decimals: fold by fold they may be the same numbers in another
# order, and then the means must be equal.
SCORE_DECIMALS = 12


@dataclass(frozen=True)
class Step:
    """One subset of an elimination, and the features ``dropped`` to reach it, in this order.

    The ``candidates`` competed to be the last of them. ``C`` is the cost that cross-validated
    best, ``fold_scores`` are those at this cost, and ``outer_score`` is that on rows held out of
    the whole elimination, if there are any.
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
    """A whole elimination, from all features to the last ones left.

    Features that vary too little were ``pruned`` before the start, the least varying first.
    """

    n_features: int
    pruned: list[int]
    steps: list[Step]

    @property
    def ranking(self) -> NDArray[np.int64]:
        """1 for the features that are left in the end, 2 for the last one dropped, and so on."""
        dropped = [*self.pruned, *(feature for step in self.steps for feature in step.dropped)]
        ranking = np.ones(self.n_features, dtype=np.int64)
        n_final = self.steps[-1].n_features
        ranking[dropped] = np.arange(self.n_features, n_final, -1) - n_final + 1
        return ranking

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of features of each subset."""
        return np.array([step.n_features for step in self.steps])

    @property
    def fold_scores(self) -> Matrix:
        """Scores of each subset on each fold; shape (n_subsets, n_folds)."""
        return np.array([step.fold_scores for step in self.steps])

    def support(self, n_features: int) -> NDArray[np.bool_]:
        """The subset of this number of features."""
        n_final = self.steps[-1].n_features
        if not n_final <= n_features <= self.n_features:
            raise InputError(
                f"There is no subset of {n_features} features: elimination went from "
                f"{self.n_features} to {n_final}."
            )
        return self.ranking <= n_features - n_final + 1


def choose_size(
    n_features_to_select: Any, sizes: Sequence[int] | NDArray[np.int64], fold_scores: Matrix
) -> int:
    """The number of features to select, from what the user gave as ``n_features_to_select``.

    A number is taken as it is. ``"best"`` is the size of the subset with the best mean score,
    ``"one_se"`` the smallest one whose mean score is within one standard error of the best. Of
    equally good subsets the smallest is chosen. ``fold_scores`` has the shape (n_subsets, n_folds).
    """
    if not isinstance(n_features_to_select, str):
        return int(n_features_to_select)
    if n_features_to_select not in ("best", "one_se"):
        raise InputError(
            f"n_features_to_select must be 'best', 'one_se' or a number, "
            f"got {n_features_to_select!r}."
        )
    if fold_scores.shape[-1] == 0:
        raise InputError(
            f"n_features_to_select={n_features_to_select!r} needs scores, and there are none "
            "with cv=None: give cv, or a number of features."
        )
    means = mean_scores(fold_scores)
    limit = means.max()
    if n_features_to_select == "one_se":
        limit -= standard_errors(fold_scores)[means.argmax()]
    return int(np.asarray(sizes)[means >= limit].min())


def mean_scores(fold_scores: Matrix) -> Vector:
    """Mean of each subset over the folds; means that are equal up to rounding are equal."""
    return np.round(fold_scores.mean(axis=1), SCORE_DECIMALS)


def standard_errors(fold_scores: Matrix) -> Vector:
    """Standard error of the mean of each subset over the folds; zero if there is a single fold."""
    n_folds = fold_scores.shape[1]
    if n_folds < 2:
        return np.zeros(len(fold_scores))
    return fold_scores.std(axis=1, ddof=1) / np.sqrt(n_folds)
