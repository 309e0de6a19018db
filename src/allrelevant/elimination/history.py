"""What a run has found: the subsets it came by, their scores, and the choice among them.

Steps of a run on their way to and from its checkpoint, if it has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..checkpoints import CheckpointFile
from ..exceptions import InputError


@dataclass(frozen=True)
class Step:
    """One subset on the way down.

    Attributes
    ----------
    dropped : list of int
        Features that left on the way to it, the first one first.
    candidates : list of int
        Those that competed for the last place among them.
    candidate_scores : list of float
    n_features : int
        How many are left.
    C : float
        Cost that cross-validated best.
    fold_scores : list of float
        Score on each fold at this cost; empty without cross-validation.
    outer_score : float or None
        Score on rows that took no part in anything, if there were any.
    seconds : float
    """

    dropped: list[int]
    candidates: list[int]
    candidate_scores: list[float]
    n_features: int
    C: float
    fold_scores: list[float]
    outer_score: float | None
    seconds: float

    def as_mapping(self) -> dict[str, Any]:
        """For a checkpoint."""
        return asdict(self)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Step:
        """From a checkpoint."""
        return cls(**values)


@dataclass(frozen=True)
class EliminationHistory:
    """A whole run, from all features down.

    Attributes
    ----------
    n_features : int
        Of the table.
    pruned : list of int
        Features that were left out before the start, the least varying first.
    steps : list of Step
    """

    n_features: int
    pruned: list[int]
    steps: list[Step]

    @property
    def ranking(self) -> NDArray[np.int64]:
        """1 for the features that are left in the end, 2 for the last to leave, and so on."""
        leaving = [*self.pruned, *(feature for step in self.steps for feature in step.dropped)]
        ranking = np.ones(self.n_features, dtype=np.int64)
        n_final = self.steps[-1].n_features
        ranking[leaving] = np.arange(self.n_features, n_final, -1) - n_final + 1
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
        """The features that are left when there are so many."""
        n_final = self.steps[-1].n_features
        if not n_final <= n_features <= self.n_features:
            raise InputError(
                f"There is no subset of {n_features} features: elimination went from "
                f"{self.n_features} to {n_final}."
            )
        return self.ranking <= n_features - n_final + 1


def chosen_size(
    n_features_to_select: Any, sizes: Sequence[int] | NDArray[np.int64], fold_scores: Matrix
) -> int:
    """Number of features that a n_features_to_select chooses.

    Parameters
    ----------
    n_features_to_select : "best", "one_se" or int
        The best mean score, or the fewest features whose score is within one standard error of
        it. Of equally good subsets the smallest.
    sizes : sequence of int
    fold_scores : ndarray of shape (n_subsets, n_folds)

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.9, 0.8], [0.95, 0.85], [0.9, 0.85], [0.5, 0.6]])
    >>> chosen_size("best", [4, 3, 2, 1], scores), chosen_size("one_se", [4, 3, 2, 1], scores)
    (3, 2)
    """
    if not isinstance(n_features_to_select, str):
        return int(n_features_to_select)
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
    """Mean over the folds; equal up to rounding is equal."""
    return np.round(fold_scores.mean(axis=1), 12)


def standard_errors(fold_scores: Matrix) -> Vector:
    """Of the mean over the folds; zero if there is a single one."""
    n_folds = fold_scores.shape[1]
    if n_folds < 2:
        return np.zeros(len(fold_scores))
    return fold_scores.std(axis=1, ddof=1) / np.sqrt(n_folds)


@dataclass(frozen=True)
class Series:
    """One series of steps; without a file, nothing is kept.

    Attributes
    ----------
    file : CheckpointFile or None
    series : str
    """

    file: CheckpointFile | None
    series: str

    def steps(self) -> list[Step]:
        """The steps of an earlier run that was interrupted."""
        if self.file is None:
            return []
        return [Step.from_mapping(values) for values in self.file.results(self.series)]

    def state(self) -> dict[str, Any]:
        """What the last of them left behind."""
        return (self.file.state(self.series) if self.file else None) or {}

    def add(self, step: Step, state: Mapping[str, Any]) -> None:
        """Write a step and what it leaves behind."""
        if self.file is not None:
            self.file.append(self.series, step.as_mapping(), state=state)
