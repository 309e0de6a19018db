"""Scores of feature subsets on held-out rows, the choice among them, and its stability.

A selector ranks features and proposes one subset per size: its *path*. :class:`PathScores` contains
the scores of these subsets. It chooses a size by a rule and estimates the score of this choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import get_scorer

from ._params import SUBSET_RULES, SubsetRule
from ._typing import Matrix, Rows, Vector
from .exceptions import InputError

# Mean scores are rounded to this number of decimals, because means of the same fold scores in a
# different order must be equal.
SCORE_DECIMALS = 12

NO_SCORES = (
    "n_features_to_select={rule!r} requires scores, but none were computed. Set cv and a rule "
    "before the fit, or pass a number of features."
)


def mean_scores(fold_scores: Matrix) -> Vector:
    """Return the mean score of each subset over the folds, rounded so that ties are exact."""
    return np.round(fold_scores.mean(axis=1), SCORE_DECIMALS)


def standard_errors(fold_scores: Matrix) -> Vector:
    """Return the standard error of each subset's mean score; zero for a single fold.

    This is the usual error of the one-standard-error rule. It is too small, because it ignores that
    the training rows of different folds overlap; see :func:`corrected_error`.
    """
    n_folds = fold_scores.shape[1]
    if n_folds < 2:
        return np.zeros(len(fold_scores))
    return fold_scores.std(axis=1, ddof=1) / np.sqrt(n_folds)


def corrected_error(values: Vector, test_ratio: float) -> float:
    """Return the standard error of a mean over folds, corrected for overlapping training rows.

    ``test_ratio`` is the number of held-out rows per training row. The correction is that of
    Nadeau and Bengio (2003). The error of a single fold is zero.

    >>> import numpy as np
    >>> round(corrected_error(np.array([0.1, 0.2, 0.1, 0.2, 0.15]), 1 / 4), 4)
    0.0335
    """
    if len(values) < 2:
        return 0.0
    return float(values.std(ddof=1) * np.sqrt(1 / len(values) + test_ratio))


@dataclass(frozen=True)
class FoldOverlap:
    """Overlap of the rows of different folds.

    ``disjoint``, of shape (n_folds, n_folds), states which folds have no held-out rows in common.
    ``test_ratio`` is the mean number of held-out rows per training row.
    """

    disjoint: NDArray[np.bool_]
    test_ratio: float

    @classmethod
    def from_folds(cls, folds: Sequence[tuple[Rows, Rows]]) -> Self:
        """Return the overlap of folds, given their training rows and held-out rows."""
        if not folds:
            return cls(np.empty((0, 0), dtype=bool), float("nan"))
        held_out = np.zeros((len(folds), 1 + max(int(test.max()) for _, test in folds)))
        for fold, (_, test) in enumerate(folds):
            held_out[fold, test] = 1.0
        ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
        return cls(held_out @ held_out.T == 0, ratio)


def choose_size(
    rule: SubsetRule | int, sizes: NDArray[np.int64], fold_scores: Matrix, margins: Matrix
) -> int:
    """Return the number of features selected by a rule; a number is returned unchanged.

    ``"best"`` gives the size of the subset with the best mean score. Ties go to the largest mean
    margin, and then to the smallest subset. ``"smallest_best"`` gives the size of the smallest
    subset with the best mean score, and ``"one_se"`` that of the smallest subset whose mean score
    is within one standard error of the best. ``fold_scores`` and ``margins`` have shape
    (n_subsets, n_folds).
    """
    if not isinstance(rule, str):
        return int(rule)
    if rule not in SUBSET_RULES:
        names = ", ".join(map(repr, SUBSET_RULES))
        raise InputError(f"n_features_to_select must be {names} or a number (got {rule!r}).")
    if fold_scores.shape[-1] == 0:
        raise InputError(NO_SCORES.format(rule=rule))
    means = mean_scores(fold_scores)
    best = np.lexsort((sizes, -mean_scores(margins), -means))[0]
    if rule == "best":
        return int(sizes[best])
    tolerance = standard_errors(fold_scores)[best] if rule == "one_se" else 0.0
    return int(sizes[means >= means[best] - tolerance].min())


@dataclass(frozen=True)
class PathScores:
    """Scores of the subsets along a path on the held-out rows of each fold.

    Attributes
    ----------
    sizes : ndarray of shape (n_subsets,)
        Number of features of each subset, in descending order.
    scores, margins : ndarray of shape (n_subsets, n_folds)
        Score of each subset on each fold, and a score that breaks ties, because it does not reach
        its maximum when all predictions are correct.
    rankings : ndarray of shape (n_folds, n_features)
        Position of each feature in the ranking of each fold, 1 for the best one. Empty if the
        features were ranked once.
    constant : float
        Mean score of a constant prediction over the folds.
    overlap : FoldOverlap
        Overlap of the rows of different folds. Empty if the features were ranked once.
    """

    sizes: NDArray[np.int64]
    scores: Matrix
    margins: Matrix
    rankings: NDArray[np.int64]
    constant: float
    overlap: FoldOverlap

    @property
    def n_folds(self) -> int:
        return self.scores.shape[1]

    def choose(self, rule: SubsetRule | int) -> int:
        """Return the number of features selected by a rule."""
        return choose_size(rule, self.sizes, self.scores, self.margins)

    def held_out(self, rule: SubsetRule | int) -> HeldOutScore | None:
        """Return the held-out score of a rule, or None if it cannot be estimated.

        For each fold, the rule chooses the number of features on the folds that have no held-out
        rows in common with it. Each fold needs at least one of these, and a separate ranking.
        """
        disjoint = self.overlap.disjoint
        if self.n_folds < 2 or len(self.rankings) == 0 or not disjoint.any(axis=1).all():
            return None
        sizes = []
        for others in disjoint:
            sizes.append(
                choose_size(rule, self.sizes, self.scores[:, others], self.margins[:, others])
            )
        return HeldOutScore(
            np.array([self._score(size, fold) for fold, size in enumerate(sizes)]),
            np.array(sizes),
            self.rankings <= np.array(sizes)[:, None],
            self.scores[0],
            self.constant,
            self.overlap.test_ratio,
            nested=False,
        )

    def _score(self, size: int, fold: int) -> float:
        """Return the score on a fold of the smallest subset with at least ``size`` features."""
        return float(self.scores[np.flatnonzero(self.sizes >= size)[-1], fold])


@dataclass(frozen=True)
class HeldOutScore:
    """Score on rows that were used neither to rank features nor to choose their number.

    Without ``nested_cv``, the number of features for a fold is chosen on the other folds. With
    ``nested_cv``, the whole selection is repeated in each outer fold.

    Attributes
    ----------
    scores : ndarray of shape (n_folds,)
        Score of the chosen subset on the held-out rows of each fold.
    n_features : ndarray of shape (n_folds,)
        Number of features chosen in each fold.
    support : ndarray of shape (n_folds, n_features)
        Boolean mask of the features chosen in each fold.
    all_features_scores : ndarray of shape (n_folds,)
        Score of all features on the same rows.
    constant : float
        Mean score of a constant prediction on the same rows.
    test_ratio : float
        Mean number of held-out rows per training row.
    nested : bool
        Whether the whole selection was repeated in each fold.
    """

    scores: Vector
    n_features: NDArray[np.int64]
    support: NDArray[np.bool_]
    all_features_scores: Vector
    constant: float
    test_ratio: float
    nested: bool

    @property
    def score(self) -> float:
        """Mean score over the folds."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean score, corrected for overlapping training rows."""
        return corrected_error(self.scores, self.test_ratio)

    @property
    def all_features(self) -> float:
        """Mean score of all features."""
        return float(self.all_features_scores.mean())

    @property
    def all_features_error(self) -> float:
        """Corrected standard error of the mean score of all features."""
        return corrected_error(self.all_features_scores, self.test_ratio)

    @property
    def difference_pvalue(self) -> float:
        """P-value of the hypothesis that all features have the same score as the selected ones.

        This is the corrected resampled t-test of Nadeau and Bengio (2003). A single fold gives no
        evidence.
        """
        differences = self.scores - self.all_features_scores
        if len(differences) < 2 or not differences.any():
            return 1.0
        error = corrected_error(differences, self.test_ratio)
        if error == 0:
            return 0.0
        return float(2 * stats.t.sf(abs(differences.mean()) / error, len(differences) - 1))

    @cached_property
    def stability(self) -> SelectionStability:
        """Agreement of the features chosen in the folds."""
        return SelectionStability(self.support)


@dataclass(frozen=True)
class SelectionStability:
    """Agreement of the features that were selected on several samples of the rows.

    Attributes
    ----------
    support : ndarray of shape (n_samples, n_features)
        Boolean mask of the features selected on each sample.

    Examples
    --------
    >>> import numpy as np
    >>> support = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    >>> stability = SelectionStability(support)
    >>> stability.frequency.tolist(), stability.nogueira
    ([1.0, 0.5, 0.5, 0.0], 0.0)
    """

    support: NDArray[np.bool_]

    @property
    def frequency(self) -> Vector:
        """Fraction of the samples on which each feature was selected."""
        return np.asarray(self.support.mean(axis=0))

    @property
    def n_features(self) -> NDArray[np.int64]:
        """Number of features selected on each sample."""
        return np.asarray(self.support.sum(axis=1))

    @property
    def nogueira(self) -> float:
        """Stability measure of Nogueira, Sechidis and Brown (2018).

        1 means that the same features were always selected, and 0 that the selections agree as much
        as random ones of the same sizes. It is 1 if all features or none were always selected, and
        NaN for a single sample.
        """
        n_samples, n_features = self.support.shape
        if n_samples < 2:
            return float("nan")
        frequency = self.frequency
        fraction = float(self.n_features.mean()) / n_features
        expected = fraction * (1 - fraction)
        variance = float((frequency * (1 - frequency)).mean()) * n_samples / (n_samples - 1)
        return 1.0 - variance / expected if expected > 0 else 1.0


def scorer_name(scoring: Any, default: str) -> str:
    """Return the name of a scorer: a string, the name of a function, or the default for None."""
    if scoring is None:
        return default
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))


def resolve_scorer(scoring: Any) -> Any:
    """Return the scikit-learn scorer with a given name, or a callable unchanged."""
    try:
        return get_scorer(scoring)
    except ValueError as error:
        raise InputError(
            f"scoring={scoring!r} is not a scikit-learn scorer. See "
            "sklearn.metrics.get_scorer_names() for valid names."
        ) from error


class ScoredPath:
    """Mixin class with the scores of a selector's subsets as fitted attributes."""

    n_subset_features_: NDArray[np.int64]
    fold_scores_: Matrix
    scores_: Vector
    score_errors_: Vector
    scoring_: str
    optimistic_: bool

    def _set_scores(self, sizes: NDArray[np.int64], fold_scores: Matrix, *, once: bool) -> None:
        """Set the fitted attributes; ``once`` means that features were ranked once, on all rows."""
        has_scores = fold_scores.shape[-1] > 0
        self.n_subset_features_ = sizes
        self.fold_scores_ = fold_scores
        self.scores_ = mean_scores(fold_scores) if has_scores else np.empty(0)
        self.score_errors_ = standard_errors(fold_scores) if has_scores else np.empty(0)
        self.optimistic_ = has_scores and once

    @property
    def best_score_(self) -> float:
        """Best value of ``scores_``, an optimistically biased estimate of the score on new data."""
        scores = getattr(self, "scores_", ())
        if len(scores) == 0:
            raise AttributeError("best_score_ requires scores, but none were computed. Set cv.")
        return float(max(scores))

    @property
    def held_out_score_(self) -> HeldOutScore:
        """Score on rows used neither to rank features nor to choose their number."""
        held_out: Any = getattr(self, "_held_out", None)
        if held_out is None:
            raise AttributeError(
                "held_out_score_ was not computed. Fit with cv, a rule as n_features_to_select "
                "and, for SVM selectors, repeat_in_folds=True. SVMRFE and EBRFE also accept "
                "nested_cv=True."
            )
        return held_out
