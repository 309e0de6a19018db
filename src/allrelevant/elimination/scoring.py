"""Scorers of decision values on held-out rows: the accuracy, or any scorer of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from .._typing import Matrix, Rows, Vector
from ..exceptions import InputError
from ..resampling import Labels
from .svm import TrainedFold, majority_vote


class DecisionScorer(Protocol):
    """A score of the decisions on the rows that a fold holds out."""

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        """One score for each cost, from decision values of shape (n_costs, n_pairs, n_rows)."""


def make_scorer(scoring: Any, labels: Labels) -> DecisionScorer:
    """The scorer that a setting stands for; None is the accuracy, as in scikit-learn."""
    if scoring is None or scoring == "accuracy":
        return Accuracy(labels)
    try:
        scorer = get_scorer(scoring)
    except ValueError as error:
        raise InputError(
            f"scoring={scoring!r} is no scorer of scikit-learn; see "
            "sklearn.metrics.get_scorer_names()."
        ) from error
    return SklearnScorer(scorer, labels)


def check_scorer(scorer: DecisionScorer, fold: TrainedFold) -> None:
    """Refuse a scorer that cannot work, by trying it on made-up decisions before the long work."""
    n_pairs = len(fold.svms.pairs)
    values = np.linspace(-1.0, 1.0, n_pairs * len(fold.held_out)).reshape(1, n_pairs, -1)
    try:
        scores = scorer(values, fold)
    except (AttributeError, ValueError, TypeError) as error:
        raise InputError(
            "scoring cannot be used here: it must work from predictions or decision values, for "
            f"an SVM has no probabilities. It said: {' '.join(str(error).split())}"
        ) from error
    if not np.isfinite(scores).all():
        raise InputError(
            f"scoring gives {scores[0]} on a fold: each fold must hold out rows of every class "
            "that it needs."
        )


@dataclass(frozen=True)
class Accuracy:
    """Share of the rows whose class is predicted right."""

    labels: Labels

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        codes = majority_vote(values, fold.svms.pairs, len(self.labels.classes))
        return (codes == self.labels.codes[fold.held_out]).mean(axis=-1)


@dataclass(frozen=True)
class SklearnScorer:
    """Any scorer of scikit-learn that works from predictions or decision values."""

    scorer: Any
    labels: Labels

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        y = self.labels.classes[self.labels.codes[fold.held_out]]
        places = np.arange(len(y))[:, None]
        classifiers = [self._classifier(decisions, fold.svms.pairs) for decisions in values]
        return np.array([float(self.scorer(classifier, places, y)) for classifier in classifiers])

    def _classifier(self, values: Matrix, pairs: Rows) -> PrecomputedClassifier:
        classes = self.labels.classes
        n_classes = len(classes)
        codes = majority_vote(values, pairs, n_classes)
        decision = -values[0] if n_classes == 2 else one_against_rest(values, pairs, n_classes)
        return PrecomputedClassifier(classes, codes, decision)


class PrecomputedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with known decisions: what a scorer is given in place of an SVM.

    Its ``X`` are the places of the held-out rows. It has no probabilities, for an SVM has none.
    ``codes`` are the predicted classes; ``decision`` has the shape of that of ``SVC``.
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


def one_against_rest(values: Matrix, pairs: Rows, n_classes: int) -> Matrix:
    """Votes for each class, of shape (n_rows, n_classes), from values of shape (n_pairs, n_rows).

    Ties are broken by the confidence of the pairs, as in ``SVC``.
    """
    votes, confidence = np.zeros((2, values.shape[1], n_classes))
    for decision, (first, second) in zip(values, pairs, strict=True):
        confidence[:, first] += decision
        confidence[:, second] -= decision
        votes[:, first] += decision > 0
        votes[:, second] += decision <= 0
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))
