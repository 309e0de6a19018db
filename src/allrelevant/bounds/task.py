"""The data of one problem, whatever its task: a table, a target, weights, privileged features.

What a task is called on pages and terminals: its aim, its score, its loss.

How good the baseline is, in the terms of its task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import d2_absolute_error_score

from .._text import percent
from .._typing import Matrix, Table, Vector
from ..resampling import Fold
from .models import LinearModel
from .programs.hinge import HingeRows, Requirements, explained_rows


@dataclass(frozen=True)
class TaskData(ABC):
    """Validated data. A task says what the target asks of a model, and how to score one.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n, d)
    y : ndarray of shape (n,)
        As the task codes it.
    weight : ndarray of shape (n,)
        Weight of each sample in the loss, all positive.
    privileged : ndarray or sparse array of shape (n, p) or None
        Features that are known of the samples to learn from and of no others. They explain the
        slack of each sample; see :mod:`allrelevant.bounds.programs.explained_slack`.
    """

    X: Table
    y: Vector
    weight: Vector
    privileged: Table | None = None

    @property
    def n_samples(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def total_weight(self) -> float:
        """Loss of a model that misses every sample by 1."""
        return float(self.weight.sum())

    @property
    def tables(self) -> tuple[Table, ...]:
        """The table, and the one of the privileged features if there is one."""
        return (self.X,) if self.privileged is None else (self.X, self.privileged)

    @property
    def n_weights(self) -> int:
        """Number of weights of a model: one for each column of each table."""
        return sum(int(table.shape[1]) for table in self.tables)

    def weights_of(self, table: int) -> NDArray[np.intp]:
        """Which weights of a model belong to the columns of a table."""
        stops = np.cumsum([0, *(t.shape[1] for t in self.tables)])
        return np.arange(stops[table], stops[table + 1])

    @cached_property
    def rows(self) -> HingeRows:
        """What a model has to live up to."""
        if self.privileged is None:
            return self._free_rows()
        return explained_rows(self.requirements(), self.privileged, self._weight_of_slack())

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Some of the samples."""
        some = replace(self, X=self.X[rows], y=self.y[rows], weight=self.weight[rows])
        return some if self.privileged is None else replace(some, privileged=self.privileged[rows])

    def with_tables(self, tables: tuple[Table, ...]) -> Self:
        """The same targets and weights with other features."""
        X, *privileged = tables
        return replace(self, X=X, privileged=privileged[0] if privileged else None)

    def append_columns(self, columns: Matrix, table: int = 0) -> Self:
        """The same samples with more features in one of the tables, behind those it has."""
        tables = list(self.tables)
        if sp.issparse(tables[table]):
            tables[table] = sp.hstack([tables[table], sp.csr_array(columns)], format="csr")
        else:
            tables[table] = np.hstack([tables[table], columns])
        return self.with_tables(tuple(tables))

    def model(
        self, coef: Vector, offset: Vector, C: float, rows: HingeRows | None = None
    ) -> LinearModel:
        """Weights and offsets as a model, norm and loss taken from the data.

        Parameters
        ----------
        coef : ndarray of shape (n_weights,)
        offset : ndarray of shape (n_offsets,)
        C : float
        rows : HingeRows, default=None
            Those that the offsets belong to, if they are not ``self.rows``.
        """
        loss = (rows or self.rows).loss(coef[None], offset[None])[0]
        explained = self.privileged is not None
        return LinearModel(
            coef_=coef[: self.n_features],
            intercept_=self._intercept(offset),
            norm_=float(np.abs(coef).sum()),
            loss_=float(loss),
            C_=float(C),
            thresholds_=self._thresholds(offset),
            privileged_coef_=coef[self.n_features :] if explained else None,
            privileged_intercept_=float(offset[-1]) if explained else None,
        )

    @abstractmethod
    def requirements(self) -> Requirements:
        """What is asked of the samples one by one, and by whom."""

    @abstractmethod
    def score(self, model: LinearModel) -> float:
        """How well a model does on these samples; more is better."""

    def merit(self, model: LinearModel) -> float:
        """What cross-validation chooses C by; more is better."""
        return self.score(model)

    @abstractmethod
    def chance(self) -> float:
        """What a model without features scores."""

    @abstractmethod
    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        """Splits for cross-validation, with no more folds than the samples allow."""

    def _free_rows(self) -> HingeRows:
        return self.requirements().rows

    def _weight_of_slack(self) -> Vector:
        """Weight of each sample's slack in the loss, where privileged features explain it."""
        return self.weight

    def _intercept(self, offset: Vector) -> float:
        return float(offset[0])

    def _thresholds(self, offset: Vector) -> Vector | None:
        return None


@dataclass(frozen=True)
class TaskWording:
    """The words that differ from task to task.

    Attributes
    ----------
    aim : str
        What the model was trained to do, with places for the classes if need be.
    classes : str
        What the list of classes is called; empty where there are none.
    score : str
        Name of the score.
    score_heading : str
        The same above a column of cross-validated scores.
    unseen : str
        What the baseline achieves on rows it has not seen, with a place for the number.
    training, training_alone : str
        The same of the rows it was trained on: after the other, and on its own.
    without_features : str
        What a model without features achieves.
    scaled : str
        What the scale of the weights is, where features were standardized.
    loss : str
        What the loss of a model is; empty where the page says nothing about it.
    model : str
        Whose score it is.
    """

    aim: str
    classes: str
    score: str
    score_heading: str
    unseen: str
    training: str
    training_alone: str
    without_features: str
    scaled: str = "features scaled to variance 1"
    loss: str = ""
    model: str = "baseline model"

    def achievement(self, score: Mapping[str, Any]) -> str | None:
        """How good the baseline is, in a sentence; None if that is not known.

        Parameters
        ----------
        score : mapping
            As in the summary.
        """
        unseen, training = score["cross_validated"], score["training"]
        parts = []
        if unseen is not None:
            parts.append(self.unseen.format(percent(unseen)))
        if training is not None:
            phrase = self.training if parts else self.training_alone
            parts.append(phrase.format(percent(training)))
        if not parts:
            return None
        guess = score["without_features"]
        contrast = "" if guess is None else f"; {self.without_features.format(percent(guess))}"
        return f"The {self.model} {', and '.join(parts)}{contrast}."


WORDINGS = {
    "classification": TaskWording(
        aim="tell the classes apart",
        classes="classes",
        score="accuracy",
        score_heading="Accuracy (cross-validated)",
        unseen="puts {} of rows it has not seen into their class, by cross-validation",
        training="{} of the rows it was trained on",
        training_alone="puts {} of the rows it was trained on into their class",
        without_features="always naming the most frequent class would get {}",
    ),
    "regression": TaskWording(
        aim="predict the target",
        classes="",
        score="share of the absolute deviation from the median that is explained",
        score_heading="Deviation explained (cross-validated)",
        unseen="explains {} of the distance of the target from its median in rows it has not seen, "
        "by cross-validation",
        training="{} in the rows it was trained on",
        training_alone="explains {} of the distance of the target from its median in the rows it "
        "was trained on",
        without_features="always naming the median would explain none of it",
        scaled="features and a target scaled to variance 1",
        loss="by how much predictions are off beyond epsilon, summed over the rows",
    ),
    "ordinal": TaskWording(
        aim="place each row in the order of the classes",
        classes="classes from low to high",
        score="share of the absolute deviation from the median class that is explained",
        score_heading="Deviation explained (cross-validated)",
        unseen="explains {} of the distance from the median class, counted in classes, in rows it "
        "has not seen, by cross-validation",
        training="{} in the rows it was trained on",
        training_alone="explains {} of the distance from the median class, counted in classes, in "
        "the rows it was trained on",
        without_features="always naming the median class would explain none of it",
        loss="what rows lack to be beyond the threshold below their class and short of the one "
        "above it, each by 1, summed over the rows",
    ),
    "ranking": TaskWording(
        aim="rank the rows of class {1} above those of class {0}",
        classes="classes from low to high",
        score="area under the ROC curve",
        score_heading="AUC (cross-validated)",
        unseen="puts {} of the pairs of rows it has not seen, one of each class, in the right "
        "order (this is the AUC), by cross-validation",
        training="{} of those it was trained on",
        training_alone="puts {} of the pairs of rows it was trained on, one of each class, in the "
        "right order (this is the AUC)",
        without_features="tossing a coin would get {}",
        loss="what the higher row of a pair lacks to score 1 more than the other, averaged over "
        "all pairs",
    ),
    "metric": TaskWording(
        aim="tell the classes apart by distances",
        classes="classes",
        score="accuracy",
        score_heading="Accuracy (cross-validated)",
        unseen="puts {} of rows it has not seen into their class, by cross-validation",
        training="{} of the rows it was trained on",
        training_alone="puts {} of the rows it was trained on into their class",
        without_features="always naming the most frequent class would get {}",
        model="averaged mapping",
    ),
}


def baseline_score(
    est: Any, X: ArrayLike | None, y: ArrayLike | None, classes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Score of the baseline on the rows it was trained on and on others, and of no model.

    Parameters
    ----------
    est : estimator
        Fitted.
    X, y : array-like or None
        What it was fitted on.
    classes : sequence of mappings
        As in the summary.

    Returns
    -------
    dict
        None in place of what is not known. Where each class has a problem of its own, there is no
        cross-validated score of all together.
    """
    known = X is not None and y is not None
    task = est._task
    # Only there if C was chosen by it.
    unseen = np.atleast_1d(getattr(est, "cv_score_", ()))
    return {
        "name": WORDINGS[task].score,
        "cross_validated": float(unseen[0]) if len(unseen) == 1 else None,
        "training": _TRAINING[task](est, X, y) if known else None,
        "without_features": _WITHOUT_FEATURES[task](classes),
    }


def accuracy(est: Any, X: Any, y: Any) -> float:
    """Share of the rows that are put into their class."""
    return float((est.predict(X) == np.asarray(y)).mean())


def _deviation_explained(est: Any, X: Any, y: Any) -> float:
    return float(d2_absolute_error_score(np.asarray(y, dtype=float), est.predict(X)))


def _class_deviation_explained(est: Any, X: Any, y: Any) -> float:
    """Classes counted 0, 1, 2 and so on, whatever they are called."""
    actual, predicted = (np.searchsorted(est.classes_, c) for c in (y, est.predict(X)))
    return float(d2_absolute_error_score(actual, predicted))


def _area_under_curve(est: Any, X: Any, y: Any) -> float:
    return float(est.auc_)


def _majority(classes: Sequence[Mapping[str, Any]]) -> float | None:
    """What always naming the most frequent class would achieve."""
    rows = [c["n_rows"] for c in classes if c["n_rows"] is not None]
    return max(rows) / sum(rows) if rows else None


_TRAINING: dict[str, Callable[[Any, Any, Any], float]] = {
    "classification": accuracy,
    "regression": _deviation_explained,
    "ordinal": _class_deviation_explained,
    "ranking": _area_under_curve,
    "metric": accuracy,
}


_WITHOUT_FEATURES: dict[str, Callable[[Sequence[Mapping[str, Any]]], float | None]] = {
    "classification": _majority,
    "regression": lambda classes: 0.0,
    "ordinal": lambda classes: 0.0,
    "ranking": lambda classes: 0.5,
    "metric": _majority,
}
