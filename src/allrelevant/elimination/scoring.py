"""How good decisions on held-out rows are."""

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
        """Score the decisions at each cost.

        Parameters
        ----------
        values : ndarray of shape (n_costs, n_pairs, n_rows)
        fold : Fold

        Returns
        -------
        ndarray of shape (n_costs,)
        """
        ...


@dataclass(frozen=True)
class Accuracy:
    """Share of the rows that are put into their class."""

    labels: Labels

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        """Score the decisions at each cost."""
        codes = majority_vote(values, fold.machines.pairs, len(self.labels.classes))
        return (codes == self.labels.codes[fold.held_out]).mean(axis=-1)


@dataclass(frozen=True)
class ScorerScore:
    """Any scorer of scikit-learn that works from predictions or decision values."""

    scorer: Any
    labels: Labels

    def __call__(self, values: NDArray[np.float64], fold: TrainedFold) -> Vector:
        """Score the decisions at each cost."""
        actual = self.labels.classes[self.labels.codes[fold.held_out]]
        places = np.arange(len(actual))[:, None]
        return np.array(
            [
                float(
                    self.scorer(
                        PrecomputedClassifier.of(decisions, fold, self.labels), places, actual
                    )
                )
                for decisions in values
            ]
        )


class PrecomputedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose decisions are known: what a scorer is given in place of an SVM.

    Its ``X`` are the places of the held-out rows. It has no probabilities, for an SVM has none.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n_rows,)
        Predicted classes.
    decision : ndarray of shape (n_rows,) or (n_rows, n_classes)
    """

    def __init__(self, classes: NDArray[Any], codes: Rows, decision: Matrix) -> None:
        self.classes = classes
        self.codes = codes
        self.decision = decision

    @classmethod
    def of(cls, values: Matrix, fold: TrainedFold, labels: Labels) -> PrecomputedClassifier:
        """From decision values of shape (n_pairs, n_rows)."""
        pairs, n_classes = fold.machines.pairs, len(labels.classes)
        codes = majority_vote(values, pairs, n_classes)
        decision = -values[0] if n_classes == 2 else one_against_rest(values, pairs, n_classes)
        return cls(labels.classes, codes, decision)

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, sorted."""
        return self.classes

    def predict(self, X: Rows) -> NDArray[Any]:
        """Labels of some held-out rows."""
        return self.classes[self.codes[np.asarray(X)[:, 0]]]

    def decision_function(self, X: Rows) -> Matrix:
        """Decision values of some held-out rows, as those of scikit-learn's ``SVC``."""
        return self.decision[np.asarray(X)[:, 0]]


def one_against_rest(values: Matrix, pairs: Rows, n_classes: int) -> Matrix:
    """Votes for each class, ties broken by the confidence of the pairs: as ``SVC`` does it.

    Parameters
    ----------
    values : ndarray of shape (n_pairs, n_rows)
    pairs : ndarray of shape (n_pairs, 2)
    n_classes : int

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
    """
    votes, confidence = np.zeros((2, values.shape[1], n_classes))
    for decision, (first, second) in zip(values, pairs, strict=True):
        confidence[:, first] += decision
        confidence[:, second] -= decision
        votes[:, first] += decision > 0
        votes[:, second] += decision <= 0
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))


def make_scorer(scoring: Any, labels: Labels) -> DecisionScorer:
    """The score that a setting stands for.

    Parameters
    ----------
    scoring : None, str or callable
        None is the accuracy, as of scikit-learn's classifiers.
    labels : Labels
    """
    if scoring is None or scoring == "accuracy":
        return Accuracy(labels)
    try:
        scorer = get_scorer(scoring)
    except ValueError as error:
        raise InputError(
            f"scoring={scoring!r} is no scorer of scikit-learn; see "
            "sklearn.metrics.get_scorer_names()."
        ) from error
    return ScorerScore(scorer, labels)


def require_usable(score: DecisionScorer, fold: TrainedFold) -> None:
    """Try a score on made-up decisions, so that one that cannot work is refused at once.

    Raises
    ------
    InputError
        If the scorer wants probabilities, or what it says is not a finite number.
    """
    machines = fold.machines
    values = np.linspace(-1.0, 1.0, len(machines.pairs) * len(fold.held_out))
    try:
        found = score(values.reshape(1, len(machines.pairs), -1), fold)
    except (AttributeError, ValueError, TypeError) as error:
        raise InputError(
            "scoring cannot be used here: it must work from predictions or decision values, for "
            f"an SVM has no probabilities. It said: {' '.join(str(error).split())}"
        ) from error
    if not np.isfinite(found).all():
        raise InputError(
            f"scoring gives {found[0]} on a fold: each fold must hold out rows of every class "
            "that it needs."
        )
