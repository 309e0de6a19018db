"""Ordinal regression: one linear function, with a threshold between neighboring classes."""

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
from ..tables.target import ordered_labels
from ._base import RelevanceBounds
from .models import LinearModel
from .programs.hinge import HingeRows, Requirements, signed_table, stack_tables
from .task import Subproblem, Task, TaskData, TaskWording


@dataclass(frozen=True)
class OrdinalData(TaskData):
    """Data with ordered classes; ``y`` is 0, 1, ..., k - 1, and every class occurs."""

    @property
    def n_thresholds(self) -> int:
        return int(self.y.max())

    def requirements(self) -> Requirements:
        """Return constraints that place each sample between the thresholds of its class.

        The margin to each threshold is 1.

        Hard constraints keep the thresholds in ascending order.
        """
        below = np.flatnonzero(self.y < self.n_thresholds)  # samples with an upper threshold
        above = np.flatnonzero(self.y > 0)  # samples with a lower threshold
        sample = np.r_[below, above]
        thresholds, k = np.eye(self.n_thresholds), self.n_thresholds
        codes = self.y.astype(int)
        sides = signed_table(np.r_[-np.ones(len(below)), np.ones(len(above))], self.X[sample])
        ascending = np.diff(thresholds, axis=0)
        rows = HingeRows(
            table=stack_tables([sides, np.zeros((k - 1, self.n_features))]) if k > 1 else sides,
            offset_table=np.vstack(
                [thresholds[codes[below]], -thresholds[codes[above] - 1], ascending]
            ),
            target=np.r_[np.ones(len(sample)), np.zeros(k - 1)],
            weight=np.r_[self.weight[sample], np.full(k - 1, np.inf)],
        )
        return Requirements(rows, np.r_[sample, np.full(k - 1, -1)])

    def score(self, model: LinearModel) -> float:
        """Return the explained fraction of the absolute deviation from the median class."""
        predicted = count_thresholds_below(model.decision_function(self.X), model.thresholds_)
        return float(d2_absolute_error_score(self.y, predicted, sample_weight=self.weight))

    def _intercept(self, offset: Vector) -> float:
        return 0.0

    def _thresholds(self, offset: Vector) -> Vector | None:
        return offset[: self.n_thresholds]


def count_thresholds_below(values: Vector, thresholds: Vector | None) -> NDArray[np.intp]:
    """Return the number of thresholds below each value, which is the predicted class code."""
    counts: NDArray[np.intp] = (values[:, None] > np.asarray(thresholds)).sum(axis=1)
    return counts


def _class_deviation_explained(est: Any, X: Any, y: Any) -> float:
    """Return the fraction of the absolute deviation of class codes that an estimator explains."""
    actual, predicted = (np.searchsorted(est.classes_, c) for c in (y, est.predict(X)))
    return float(d2_absolute_error_score(actual, predicted))


ORDINAL = Task(
    "ordinal",
    ordered_labels,
    chance=lambda class_sizes: 0.0,
    training_score=_class_deviation_explained,
    wording=TaskWording(
        aim="predict the ordered class of each row",
        classes="classes from low to high",
        score="fraction of the absolute deviation from the median class that is explained",
        score_heading="Deviation explained (cross-validated)",
        unseen="explains {} of the absolute deviation from the median class (in number of "
        "classes) on held-out rows (cross-validation)",
        training="{} on the training rows",
        training_alone="explains {} of the absolute deviation from the median class (in number of "
        "classes) on the training rows",
        without_features="always predicting the median class would explain none of it",
        loss="shortfall from a margin of 1 to the thresholds on either side of the class, summed "
        "over the rows",
    ),
)


class OrdinalBounds(ClassifierMixin, RelevanceBounds):
    """Relevance bounds for ordinal regression, that is, for ordered classes such as grades.

    A model is one linear function with ascending thresholds between neighboring classes. The value
    of a sample should lie between the two thresholds of its class, with a margin of 1 to each. The
    shortfall is its loss. The equivalent models, the bounds and the relevance classes are defined
    as in :class:`ClassificationBounds`.

    Parameters
    ----------
    C, norm_slack, loss_slack, loss_tol, standardize, cutoff, fdr, n_probes, fpr, screen, \
max_seconds, random_state, n_jobs, verbose
        As in :class:`ClassificationBounds`.

    Attributes
    ----------
    interval_, signed_interval_, relevance_, pvalue_, qvalue_, table_pvalue_, rule_, gap_, exact_, \
cutoff_
        As in :class:`ClassificationBounds`.
    baseline_ : LinearModel
        Baseline model, including its ``thresholds_``.
    cv_score_ : float
        Cross-validated fraction of the absolute deviation from the median class that the baseline
        explains, with classes encoded as 0, 1, 2, ... Only with ``C="cv"``.
    classes_ : ndarray of shape (n_classes,)
        Class labels in ascending order, which is taken as the order of the classes.
    privileged_interval_, privileged_signed_interval_, privileged_relevance_, privileged_gap_, \
privileged_exact_, privileged_cutoff_, privileged_pvalue_, privileged_qvalue_, \
privileged_table_pvalue_
        The same attributes for the privileged features, if there are any.
    n_features_in_, feature_names_in_
        As in :class:`ClassificationBounds`.

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
        """Compute the signed distance of each sample from the nearer threshold of each class.

        The distance is positive inside the class and negative outside. The value of the linear
        function itself is ``baseline_.decision_function(X)``; the thresholds are
        ``baseline_.thresholds_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Distances; with two classes, the distance above the single threshold.
        """
        values, thresholds = self._values(X), self._thresholds
        if len(thresholds) == 1:
            return values - thresholds[0]
        edges = np.r_[-np.inf, thresholds, np.inf]
        return np.minimum(values[:, None] - edges[:-1], edges[1:] - values[:, None])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample with the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
        """
        values = self._values(X)
        return self.classes_[count_thresholds_below(values, self._thresholds)]

    @property
    def _thresholds(self) -> Vector:
        thresholds = self._result.subproblems[0].baseline.model.thresholds_
        assert thresholds is not None
        return thresholds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on unordered classes
        return tags
