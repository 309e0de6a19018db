"""Predictions for held-out rows: the score of a model, and the certainty of its predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score

from .._typing import Matrix, Vector
from ..resampling import fold_numbers
from .differentiable import as_differentiable, linearize, predicted_codes

N_FOLDS = 5

# Number of held-out rows with a similar margin that the certainty of a prediction is based on.
N_SIMILAR = 30

# Fraction of the held-out errors within the margin of error of a numeric prediction.
COVERAGE = 0.9


@dataclass(frozen=True)
class Quality:
    """Cross-validated score of a model, computed from the held-out predictions of all folds.

    ``dummy_score`` is the score of a constant prediction: the most frequent class, or the mean.
    """

    name: str
    score: float
    dummy_score: float
    n_folds: int
    n_rows: int

    @property
    def is_poor(self) -> bool:
        """Whether the model is no better than a constant prediction."""
        return self.score <= self.dummy_score


@dataclass(frozen=True)
class ClassCertainty:
    """Number of correct predictions among held-out rows with a similar margin.

    The margin of a row is the output for the predicted class minus the largest other output. The
    ``n_similar`` rows have the same predicted class and the most similar margins.
    """

    n_correct: int
    n_similar: int


@dataclass(frozen=True)
class ErrorCertainty:
    """Quantile of the absolute errors of ``n_rows`` held-out predictions, at level ``fraction``."""

    error: float
    fraction: float
    n_rows: int


@dataclass(frozen=True)
class HeldOutPredictions:
    """True targets of the training rows, and their predictions by cross-validation.

    ``margins`` is None for regression. ``balanced`` tells whether the model weights the classes
    equally; it is then scored by balanced accuracy. ``weight`` contains the sample weights, None if
    all are equal.
    """

    y: NDArray[Any]
    predicted: NDArray[Any]
    margins: Vector | None
    n_folds: int
    balanced: bool
    weight: Vector | None = None

    def quality(self) -> Quality:
        """Return the cross-validated score, with that of a constant prediction."""
        return Quality(*self._score(), self.n_folds, len(self.y))

    def _score(self) -> tuple[str, float, float]:
        if self.margins is None:
            score = r2_score(self.y, self.predicted, sample_weight=self.weight)
            return "R2", float(score), 0.0
        _, codes = np.unique(self.y, return_inverse=True)
        sizes = np.bincount(codes, self.weight)
        if self.balanced:
            score = balanced_accuracy_score(self.y, self.predicted, sample_weight=self.weight)
            return "balanced accuracy", float(score), 1 / len(sizes)
        score = accuracy_score(self.y, self.predicted, sample_weight=self.weight)
        return "accuracy", float(score), float(sizes.max() / sizes.sum())

    def class_certainty(self, label: Any, margin: float) -> ClassCertainty:
        """Return the certainty of predicting a class with a given margin."""
        assert self.margins is not None
        same = np.flatnonzero(self.predicted == label)
        nearest = same[np.argsort(np.abs(self.margins[same] - margin), kind="stable")[:N_SIMILAR]]
        correct = self.y[nearest] == self.predicted[nearest]
        return ClassCertainty(int(correct.sum()), len(nearest))

    def error_certainty(self) -> ErrorCertainty:
        """Return a high quantile of the absolute errors of the held-out predictions."""
        errors = np.sort(np.abs(self.y - self.predicted))
        last = int(np.ceil(COVERAGE * len(errors))) - 1
        return ErrorCertainty(float(errors[last]), COVERAGE, len(errors))


def predict_held_out(
    model: Any,
    X: Matrix,
    y: NDArray[Any],
    *,
    seed: int,
    row_groups: NDArray[Any] | None = None,
    weight: Vector | None = None,
) -> HeldOutPredictions:
    """Predict the rows of each fold by a clone of the model trained on the other folds.

    Row groups are kept together. ``weight`` contains positive sample weights.
    """
    of_classes = is_classifier(model)
    folds = fold_numbers(y if of_classes else np.zeros(len(y)), N_FOLDS, seed, row_groups)
    predicted, margins = y.copy(), np.zeros(len(y))
    for fold in np.unique(folds):
        held_out = folds == fold
        y_train = y[~held_out]
        if len(np.unique(y_train)) == 1:
            # The only row of the other class is held out.
            predicted[held_out] = y_train[0]
            continue
        weights = {} if weight is None else {"sample_weight": weight[~held_out]}
        fitted = clone(model).fit(X[~held_out], y_train, **weights)
        predicted[held_out] = fitted.predict(X[held_out])
        if of_classes:
            margins[held_out] = decision_margins(fitted, X[held_out])
    params = model.get_params()
    balanced = params.get("class_weight") == "balanced" or bool(params.get("balanced"))
    return HeldOutPredictions(
        y, predicted, margins if of_classes else None, len(np.unique(folds)), balanced, weight
    )


def decision_margins(fitted: Any, X: Matrix) -> Vector:
    """Return the output for the predicted class minus the largest other output, for each row."""
    linearization = linearize(as_differentiable(fitted), X)
    outputs, codes = linearization.outputs.copy(), predicted_codes(linearization)
    rows = np.arange(len(outputs))
    chosen = outputs[rows, codes]
    outputs[rows, codes] = -np.inf
    return np.asarray(chosen - outputs.max(axis=1), dtype=np.float64)
