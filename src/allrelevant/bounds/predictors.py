"""Baselines as scikit-learn estimators, for scorers that choose C.

A scorer receives one of these estimators, the table of the held-out samples and their target. The
estimators predict from a linear model that was fitted before, so they have no ``fit``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from .._text import one_line
from .._typing import Matrix, Table, Vector
from ..exceptions import InputError
from .models import LinearModel


class ClassRanker(ClassifierMixin, BaseEstimator):
    """Two classes with decision values, but without a threshold that predicts a class."""

    def __init__(self, classes: NDArray[Any], model: LinearModel) -> None:
        self.classes = classes
        self.model = model

    @property
    def classes_(self) -> NDArray[Any]:
        return self.classes

    def decision_function(self, X: Table) -> Vector:
        return self.model.decision_function(X)


class BinaryClassifier(ClassRanker):
    """Two classes, predicted from the sign of the decision value."""

    def predict(self, X: Table) -> NDArray[Any]:
        return self.classes[(self.decision_function(X) > 0).astype(int)]


class OneVsRestClassifier(ClassifierMixin, BaseEstimator):
    """Several classes with one model each; the class with the largest value is predicted."""

    def __init__(self, models: Sequence[LinearModel]) -> None:
        self.models = models

    @property
    def classes_(self) -> NDArray[Any]:
        return np.arange(len(self.models))

    def decision_function(self, X: Table) -> Matrix:
        return np.column_stack([model.decision_function(X) for model in self.models])

    def predict(self, X: Table) -> NDArray[Any]:
        return self.decision_function(X).argmax(axis=1)


class ThresholdClassifier(ClassifierMixin, BaseEstimator):
    """Ordered classes; a sample belongs to the class between whose thresholds its value lies."""

    def __init__(self, classes: NDArray[Any], model: LinearModel) -> None:
        self.classes = classes
        self.model = model

    @property
    def classes_(self) -> NDArray[Any]:
        return self.classes

    def predict(self, X: Table) -> NDArray[Any]:
        values = self.model.decision_function(X)
        return self.classes[count_thresholds_below(values, self.model.thresholds_)]


class LinearRegressor(RegressorMixin, BaseEstimator):
    """Linear model of a scaled target, which predicts in units of the target."""

    def __init__(self, model: LinearModel, center: float, scale: float) -> None:
        self.model = model
        self.center = center
        self.scale = scale

    def predict(self, X: Table) -> Vector:
        return self.model.decision_function(X) * self.scale + self.center


def count_thresholds_below(values: Vector, thresholds: Vector | None) -> NDArray[np.intp]:
    """Return the number of thresholds below each value, which is the predicted class code."""
    counts: NDArray[np.intp] = (values[:, None] > np.asarray(thresholds)).sum(axis=1)
    return counts


def apply_scorer(
    scorer: Any, predictor: Any, X: Table, y: NDArray[Any], weight: Vector | None
) -> float:
    """Return the score of a predictor; raise ``InputError`` if the scorer does not apply to it."""
    weights = {} if weight is None else {"sample_weight": weight}
    try:
        return float(scorer(predictor, X, y, **weights))
    except InputError:
        raise
    except (AttributeError, TypeError, ValueError) as error:
        weighted = " and accepts sample_weight" if weights else ""
        raise InputError(
            f"The scorer failed. Use one that suits the task{weighted}, and predictions or "
            f"decision values: there are no probabilities. Original error: {one_line(error)}"
        ) from error
