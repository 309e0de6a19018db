"""Scoring of decision values on held-out rows: accuracy, margins or any scikit-learn scorer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from .._text import one_line
from .._typing import Matrix, Rows, Vector
from ..exceptions import InputError
from ..resampling import Labels
from ..subsets import resolve_scorer
from .svm import TrainedFold, majority_vote

BALANCED_ACCURACY = "balanced_accuracy"


class DecisionScorer(Protocol):
    """Interface of functions that score the decision values of a fold's held-out rows."""

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        """Return one score per C, given decision values of shape (n_costs, n_pairs, n_rows)."""


def make_scorer(scoring: Any, labels: Labels) -> DecisionScorer:
    """Return the scorer for the parameter ``scoring``; None means balanced accuracy."""
    if scoring is None or scoring == BALANCED_ACCURACY:
        return BalancedAccuracy(labels)
    if scoring == "accuracy":
        return Accuracy(labels)
    return SklearnScorer(resolve_scorer(scoring), labels)


def check_scorer(scorer: DecisionScorer, fold: TrainedFold) -> None:
    """Test a scorer on artificial decision values; raise an error if it fails."""
    n_pairs = len(fold.svms.pairs)
    values = np.linspace(-1.0, 1.0, n_pairs * len(fold.held_out)).reshape(1, n_pairs, -1)
    try:
        scores = scorer(values, fold)
    except (AttributeError, ValueError, TypeError) as error:
        raise InputError(
            "The scorer failed. SVMs provide no probabilities, so use a scorer for predictions or "
            f"decision values. Original error: {one_line(error)}"
        ) from error
    if not np.isfinite(scores).all():
        raise InputError(
            f"The scorer returned {scores[0]} on a fold. Use folds whose test rows contain every "
            "class that the scorer requires."
        )


@dataclass(frozen=True)
class Accuracy:
    """Fraction of rows classified correctly."""

    labels: Labels

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        codes = majority_vote(values, fold.svms.pairs, len(self.labels.classes))
        correct = codes == self.labels.codes[fold.held_out]
        weight = held_out_weight(self.labels, fold)
        return correct.mean(axis=-1) if weight is None else np.average(correct, -1, weight)


@dataclass(frozen=True)
class BalancedAccuracy:
    """Balanced accuracy: fraction of correctly classified rows, averaged over the classes."""

    labels: Labels

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        codes = majority_vote(values, fold.svms.pairs, len(self.labels.classes))
        expected = self.labels.codes[fold.held_out]
        correct = (codes == expected).astype(np.float64)
        return class_means(correct, expected, held_out_weight(self.labels, fold))


@dataclass(frozen=True)
class Margin:
    """Score that breaks ties: mean margin of the rows, averaged over the classes.

    The margin of a row is the smallest decision value in favor of its class over all pairs that
    contain the class, clipped to [-1, 1]. A constant prediction of two classes has margin 0.
    """

    labels: Labels

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        expected = self.labels.codes[fold.held_out]
        margins = np.ones((len(values), len(expected)))
        for index, (first, second) in enumerate(fold.svms.pairs):
            sign = (expected == first) * 1.0 - (expected == second) * 1.0
            signed = np.where(sign == 0, 1.0, sign * values[:, index])
            margins = np.minimum(margins, signed)
        unknown = ~np.isin(expected, fold.svms.pairs)
        margins = np.where(unknown, -1.0, np.maximum(margins, -1.0))
        return class_means(margins, expected, held_out_weight(self.labels, fold))


def held_out_weight(labels: Labels, fold: TrainedFold) -> Vector | None:
    """Return the weights of the held-out rows of a fold, or None if all weights are equal."""
    return None if labels.weight is None else labels.weight[fold.held_out]


def class_means(values: Matrix, codes: Rows, weight: Vector | None = None) -> Vector:
    """Average values of shape (n_costs, n_rows) within each class, then over the classes."""
    if weight is None:
        means = [values[:, codes == code].mean(axis=1) for code in np.unique(codes)]
    else:
        present = np.unique(codes[weight > 0])
        means = [np.average(values, 1, weight * (codes == code)) for code in present]
    return np.mean(means, axis=0)


def constant_score(scorer: DecisionScorer, fold: TrainedFold, labels: Labels) -> float:
    """Return the score of predicting the most frequent class of the training rows."""
    pairs = fold.svms.pairs
    rows = np.unique(fold.svms.members)
    weight = None if labels.weight is None else labels.weight[rows]
    majority = int(np.bincount(labels.codes[rows], weight).argmax())
    signs = (pairs[:, 0] == majority) * 1.0 - (pairs[:, 1] == majority) * 1.0
    return float(scorer(np.repeat(signs[None, :, None], len(fold.held_out), axis=2), fold)[0])


@dataclass(frozen=True)
class SklearnScorer:
    """Scikit-learn scorer that uses predictions or decision values."""

    scorer: Any
    labels: Labels

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        y = self.labels.classes[self.labels.codes[fold.held_out]]
        indices = np.arange(len(y))[:, None]
        classifiers = [self._classifier(decisions, fold.svms.pairs) for decisions in values]
        weight = held_out_weight(self.labels, fold)
        score = self.scorer if weight is None else partial(self.scorer, sample_weight=weight)
        return np.array([float(score(classifier, indices, y)) for classifier in classifiers])

    def _classifier(self, values: Matrix, pairs: Rows) -> PrecomputedClassifier:
        classes = self.labels.classes
        n_classes = len(classes)
        codes = majority_vote(values, pairs, n_classes)
        decision = -values[0] if n_classes == 2 else one_vs_rest(values, pairs, n_classes)
        return PrecomputedClassifier(classes, codes, decision)


class PrecomputedClassifier(ClassifierMixin, BaseEstimator):
    """Classifier with precomputed decisions, passed to scorers in place of an SVM.

    Its ``X`` contains the indices of the held-out rows. Like an SVM, it has no probabilities.
    ``codes`` are the predicted classes. ``decision`` has the same shape as for ``SVC``.
    """

    def __init__(self, classes: NDArray[Any], codes: Rows, decision: Matrix) -> None:
        self.classes = classes
        self.codes = codes
        self.decision = decision

    @property
    def classes_(self) -> NDArray[Any]:
        return self.classes

    def predict(self, X: Rows) -> NDArray[Any]:
        return self.classes[self.codes[np.asarray(X)[:, 0]]]

    def decision_function(self, X: Rows) -> Matrix:
        return self.decision[np.asarray(X)[:, 0]]


def one_vs_rest(values: Matrix, pairs: Rows, n_classes: int) -> Matrix:
    """Convert pairwise to one-vs-rest decision values; shape (n_rows, n_classes).

    The value of a class is its number of votes. Ties are broken by the confidence of the pairs, as
    in ``SVC``.
    """
    votes, confidence = np.zeros((2, values.shape[1], n_classes))
    for decision, (first, second) in zip(values, pairs, strict=True):
        confidence[:, first] += decision
        confidence[:, second] -= decision
        votes[:, first] += decision > 0
        votes[:, second] += decision <= 0
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))
