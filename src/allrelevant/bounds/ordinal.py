"""Ordinal regression: one direction, and a threshold between each class and the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import d2_absolute_error_score
from sklearn.utils.multiclass import check_classification_targets

from .._typing import Matrix, Table, Vector
from .._validation import encode_classes
from ..resampling import Fold, stratified_folds
from ..tables.target import ordered_labels
from ._base import RelevanceBounds
from .models import LinearModel
from .programs.hinge import HingeRows, Requirements, signed_table, stacked
from .task import Subproblem, Task, TaskData, TaskWording


@dataclass(frozen=True)
class OrdinalData(TaskData):
    """Data whose classes have an order; ``y`` is 0, 1, ..., k - 1, each of them there."""

    @property
    def n_thresholds(self) -> int:
        return int(self.y.max())

    def requirements(self) -> Requirements:
        """A sample of class c is beyond threshold c and short of threshold c + 1, each by 1.

        The thresholds are in order: rows that must be met.
        """
        below = np.flatnonzero(self.y < self.n_thresholds)  # have a threshold above them
        above = np.flatnonzero(self.y > 0)
        sample = np.r_[below, above]
        thresholds, k = np.eye(self.n_thresholds), self.n_thresholds
        codes = self.y.astype(int)
        sides = signed_table(np.r_[-np.ones(len(below)), np.ones(len(above))], self.X[sample])
        in_order = np.diff(thresholds, axis=0)
        rows = HingeRows(
            table=stacked([sides, np.zeros((k - 1, self.n_features))]) if k > 1 else sides,
            offset_table=np.vstack(
                [thresholds[codes[below]], -thresholds[codes[above] - 1], in_order]
            ),
            target=np.r_[np.ones(len(sample)), np.zeros(k - 1)],
            weight=np.r_[self.weight[sample], np.full(k - 1, np.inf)],
        )
        return Requirements(rows, np.r_[sample, np.full(k - 1, -1)])

    def score(self, model: LinearModel) -> float:
        """Share of the distance from the median class that the model explains."""
        predicted = count_passed(model.decision_function(self.X), model.thresholds_)
        return float(d2_absolute_error_score(self.y, predicted, sample_weight=self.weight))

    def chance_score(self) -> float:
        return 0.0

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        return stratified_folds(self.y, n_folds, seed)

    def _intercept(self, offset: Vector) -> float:
        return 0.0

    def _thresholds(self, offset: Vector) -> Vector | None:
        return offset[: self.n_thresholds]


def count_passed(values: Vector, thresholds: Vector | None) -> NDArray[np.intp]:
    """How many thresholds each value is beyond: the code of its class."""
    passed: NDArray[np.intp] = (values[:, None] > np.asarray(thresholds)).sum(axis=1)
    return passed


def _class_deviation_explained(est: Any, X: Any, y: Any) -> float:
    """Classes counted 0, 1, 2 and so on, whatever they are called."""
    actual, predicted = (np.searchsorted(est.classes_, c) for c in (y, est.predict(X)))
    return float(d2_absolute_error_score(actual, predicted))


ORDINAL = Task(
    "ordinal",
    ordered_labels,
    chance=lambda class_sizes: 0.0,
    training_score=_class_deviation_explained,
    wording=TaskWording(
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
)


class OrdinalBounds(ClassifierMixin, RelevanceBounds):
    """How small and how large each weight can be, over all equally good ordinal regressions.

    Classes with an order, such as grades: one linear function, and a threshold between each
    class and the next, in order. A row is to be beyond the threshold below its class and short of
    the one above it, each by 1; what is missing is its loss. The set of equivalent models, bounds
    and classes follow as for :class:`ClassificationBounds`.

    Parameters
    ----------
    C, norm_slack, loss_slack, loss_tol, standardize, cutoff, n_probes, fpr, screen, max_seconds, \
random_state, n_jobs, verbose
        As in :class:`ClassificationBounds`.

    Attributes
    ----------
    interval_, signed_interval_, relevance_, gap_, exact_, cutoff_
        As in :class:`ClassificationBounds`.
    baseline_ : LinearModel
        With its ``thresholds_``.
    cv_score_ : float
        Cross-validated share of the distance from the median class that the baseline explains,
        classes counted 0, 1, 2 and so on. Only with ``C="cv"``.
    classes_ : ndarray of shape (n_classes,)
        In ascending order, which is the order that counts.
    privileged_interval_, privileged_relevance_, ...
        The same of the privileged features, if there were any.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import OrdinalBounds
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(300, 4))
    >>> X[:, 2] = X[:, 1]
    >>> grade = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
    >>> bounds = OrdinalBounds(random_state=0).fit(X, grade)
    >>> [str(r) for r in bounds.relevance_]
    ['strong', 'weak', 'weak', 'irrelevant']
    """

    task = ORDINAL

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        check_classification_targets(y)
        self.classes_, codes = encode_classes(y)
        return [Subproblem("", [OrdinalData(X, codes.astype(float), weight, privileged)])]

    def decision_function(self, X: Any) -> Matrix:
        """How far inside each class a row is: its distance from the nearer threshold of the class.

        Negative outside. The value of the baseline itself is
        ``baseline_.decision_function(X)``, its thresholds ``baseline_.thresholds_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, how far above the one threshold.
        """
        values, thresholds = self._values(X), self._thresholds
        if len(thresholds) == 1:
            return values - thresholds[0]
        edges = np.r_[-np.inf, thresholds, np.inf]
        return np.minimum(values[:, None] - edges[:-1], edges[1:] - values[:, None])

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, by the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self._values(X)
        return self.classes_[count_passed(values, self._thresholds)]

    @property
    def _thresholds(self) -> Vector:
        thresholds = self._result.subproblems[0].baseline.model.thresholds_
        assert thresholds is not None
        return thresholds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes without an order
        return tags
