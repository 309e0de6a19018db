"""Relevance bounds of the features of a ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils.multiclass import check_classification_targets

from ...arrays import Table, Vector
from ...exceptions import InputError
from ..programs.ranking import RankedSamples
from .shared import Problem, RelevanceBounds


class RankingBounds(ClassifierMixin, RelevanceBounds):
    """How small and how large each weight can be, over all equally good linear rankings.

    Rows of one class are to score higher than rows of the other, each pair by 1; the loss is the
    mean over all pairs of what is missing. It is at least the share of pairs in the wrong order,
    1 - AUC, and treats both classes alike however rare one of them is. The pairs are never listed:
    the loss is found by sorting. The set of equivalent models, bounds and classes follow as for
    :class:`ClassificationBounds`.

    Parameters
    ----------
    C, delta, loss_slack, loss_tol, standardize, cutoff, n_probes, fpr, screen, max_seconds, \
random_state, n_jobs, verbose
        As in :class:`ClassificationBounds`.

    Attributes
    ----------
    interval_, signed_interval_, relevance_, gap_, exact_, cutoff_, baseline_
        As in :class:`ClassificationBounds`.
    auc_ : float
        Area under the ROC curve of the baseline, on the rows it was trained on.
    cv_score_ : float
        The same on rows held out in cross-validation. Only with ``C="cv"``.
    classes_ : ndarray of shape (2,)
        Rows of the second are to score higher.
    privileged_interval_, privileged_relevance_, ...
        The same of the privileged features, if there were any.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import RankingBounds
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(200, 4))
    >>> X[:, 2] = X[:, 1]
    >>> rare = X[:, 0] + X[:, 1] > 1.5
    >>> bounds = RankingBounds(random_state=0).fit(X, rare)
    >>> [str(r) for r in bounds.relevance_]
    ['strong', 'weak', 'weak', 'irrelevant']
    """

    def _problems_of(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Problem]:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise InputError(
                f"A ranking needs two classes, one to be above the other; the target has "
                f"{len(self.classes_)}. For more than two in an order use OrdinalBounds."
            )
        return [
            Problem("", [RankedSamples(X, np.where(codes == 1, 1.0, -1.0), weight, privileged)])
        ]

    def _summarise(self) -> None:
        super()._summarise()
        problem = self._problems[0]
        self.auc_ = problem.standard.samples.score(problem.baseline)
        # Where to put the line between the classes is no part of a ranking: half-way.
        self._threshold = self._middle()

    def _middle(self) -> float:
        samples = self._problems[0].standard.samples
        values = self._problems[0].baseline.decision_function(samples.X)
        means = [
            float(np.average(values[samples.y == sign], weights=samples.weight[samples.y == sign]))
            for sign in (-1.0, 1.0)
        ]
        return sum(means) / 2.0

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: by its score under the baseline, against half-way between the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.classes_[(self.decision_function(X) > self._threshold).astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Area under the ROC curve.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        is_second = np.asarray(y) == self.classes_[1]
        return float(
            roc_auc_score(is_second, self.decision_function(X), sample_weight=sample_weight)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
