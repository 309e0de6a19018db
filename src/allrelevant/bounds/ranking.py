"""Bipartite ranking: samples of one class should score higher than those of the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._typing import Table, Vector
from .._validation import encode_classes
from ..exceptions import InputError
from ..tables.target import two_class_labels
from ._base import RelevanceBounds
from .models import LinearModel
from .programs.hinge import HingeRows, Requirements, signed_table
from .programs.pairwise import PairwiseLoss, initial_rows
from .result import BoundsResult
from .task import Subproblem, Task, TaskData, TaskWording

# Maximum numbers of pairs, and of pairs times features, for which pairs are listed explicitly.
MAX_LISTED_PAIRS = 100_000
MAX_LISTED_CELLS = 20_000_000


@dataclass(frozen=True)
class RankingData(TaskData):
    """Data with two classes; samples with ``y = 1`` should score higher than the others."""

    @property
    def total_weight(self) -> float:
        return 1.0  # the loss is a mean over pairs

    def requirements(self) -> Requirements:
        """Return constraints that require a score difference of 1 for each pair, up to slack.

        ``w . x_i + s_i - (w . x_j - s_j) >= 1`` holds for all pairs if and only if there is an
        offset with all ``w . x_i + s_i`` at least 1/2 above it and all ``w . x_j - s_j`` at least
        1/2 below.
        """
        rows = HingeRows(
            table=signed_table(self.y, self.X),
            offset_table=self.y[:, None],
            target=np.full(self.n_samples, 0.5),
            weight=self._slack_weights(),
        )
        return Requirements(rows, np.arange(self.n_samples))

    def score(self, model: LinearModel) -> float:
        """Return the area under the ROC curve of a model on these samples."""
        values = model.decision_function(self.X)
        return float(roc_auc_score(self.y, values, sample_weight=self.weight))

    def selection_score(self, model: LinearModel) -> float:
        """Return the negative loss, which distinguishes models with almost the same AUC.

        A small C shrinks all scores but hardly changes their order, so the AUC is nearly the same
        for many values of C.
        """
        return -float(self._pairwise_loss().values(model.coef_[None])[0])

    def _free_slack_rows(self) -> HingeRows:
        """Return one constraint per pair, or cutting planes of the loss if there are many pairs."""
        positive, negative = np.flatnonzero(self.y > 0), np.flatnonzero(self.y < 0)
        n_pairs = len(positive) * len(negative)
        if n_pairs <= MAX_LISTED_PAIRS and n_pairs * self.n_features <= MAX_LISTED_CELLS:
            above, below = np.meshgrid(positive, negative, indexing="ij")
            return self._pair_rows(above.ravel(), below.ravel())
        return initial_rows(self._pairwise_loss())

    def _pairwise_loss(self) -> PairwiseLoss:
        high, low, weight = self.y > 0, self.y < 0, self._slack_weights()
        return PairwiseLoss(self.X[high], self.X[low], weight[high], weight[low])

    def _pair_rows(self, above: NDArray[np.intp], below: NDArray[np.intp]) -> HingeRows:
        """Return the constraints ``w . (x_i - x_j) >= 1``, one per pair of samples."""
        weight, n_pairs = self._slack_weights(), len(above)
        return HingeRows(
            table=self.X[above] - self.X[below],
            offset_table=np.empty((n_pairs, 0)),
            target=np.ones(n_pairs),
            weight=weight[above] * weight[below],
        )

    def _slack_weights(self) -> Vector:
        """Return the weight of each sample as a fraction of the total weight of its class."""
        total = np.where(self.y > 0, self.weight[self.y > 0].sum(), self.weight[self.y < 0].sum())
        return self.weight / total

    def _intercept(self, offset: Vector) -> float:
        return 0.0  # an intercept does not change the ranking


RANKING = Task(
    "ranking",
    two_class_labels,
    chance=lambda class_sizes: 0.5,
    training_score=lambda est, X, y: float(est.auc_),
    wording=TaskWording(
        aim="rank the rows of class {1} above those of class {0}",
        classes="classes from low to high",
        score="area under the ROC curve",
        score_heading="AUC (cross-validated)",
        unseen="orders {} of all pairs of held-out rows, one from each class, correctly (AUC, "
        "cross-validation)",
        training="{} of the pairs of training rows",
        training_alone="orders {} of all pairs of training rows, one from each class, correctly "
        "(AUC)",
        without_features="a random order would get {}",
        loss="shortfall from a margin of 1 between the scores of two rows, one from each class, "
        "averaged over all pairs",
    ),
)


class RankingBounds(ClassifierMixin, RelevanceBounds):
    """Relevance bounds for bipartite ranking.

    Samples of the second class should score higher than samples of the first, with a margin of 1
    for each pair. The loss is the mean shortfall over all pairs. It is an upper bound on 1 - AUC,
    the fraction of pairs in the wrong order, and weights both classes equally even if one is rare.
    With many pairs, the loss is approximated by cutting planes, which are found by sorting the
    scores. C is chosen by the loss on held-out samples, because the AUC differs little between
    values of C. The equivalent models, the bounds and the relevance classes are defined as in
    :class:`ClassificationBounds`.

    Parameters
    ----------
    C, norm_slack, loss_slack, loss_tol, standardize, cutoff, fdr, n_probes, fpr, screen, \
max_seconds, random_state, n_jobs, verbose
        As in :class:`ClassificationBounds`.

    Attributes
    ----------
    interval_, signed_interval_, relevance_, pvalue_, qvalue_, table_pvalue_, rule_, gap_, exact_, \
cutoff_, baseline_
        As in :class:`ClassificationBounds`.
    auc_ : float
        Area under the ROC curve of the baseline on the training samples.
    cv_score_ : float
        Cross-validated area under the ROC curve of the baseline. Only with ``C="cv"``.
    classes_ : ndarray of shape (2,)
        Class labels; samples of the second class should score higher.
    privileged_interval_, privileged_signed_interval_, privileged_relevance_, privileged_gap_, \
privileged_exact_, privileged_cutoff_, privileged_pvalue_, privileged_qvalue_, \
privileged_table_pvalue_
        The same attributes for the privileged features, if there are any.
    n_features_in_, feature_names_in_
        As in :class:`ClassificationBounds`.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import RankingBounds
    >>> rng = np.random.RandomState(3)
    >>> X = rng.normal(size=(200, 4))
    >>> X[:, 2] = X[:, 1]
    >>> rare = X[:, 0] + X[:, 1] > 1.5
    >>> bounds = RankingBounds(random_state=0).fit(X, rare)
    >>> [str(r) for r in bounds.relevance_]
    ['strong', 'weak', 'weak', 'irrelevant']
    """

    task = RANKING

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        check_classification_targets(y)
        self.classes_, codes = encode_classes(y)
        if len(self.classes_) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}, with {len(self.classes_)} classes. For ordered classes, use "
                "OrdinalBounds."
            )
        return [
            Subproblem("", [RankingData(X, np.where(codes == 1, 1.0, -1.0), weight, privileged)])
        ]

    def _set_fitted_attributes(self, result: BoundsResult) -> None:
        super()._set_fitted_attributes(result)
        baseline = result.subproblems[0].baseline
        data, model = baseline.data, baseline.model
        self.auc_ = data.score(model)
        self._threshold = _best_threshold(model.decision_function(data.X), data.y, data.weight)

    def decision_function(self, X: Any) -> Vector:
        """Compute the ranking score of each sample with the baseline.

        A ranking does not define a threshold between the classes. Scores are shifted so that the
        threshold 0 misclassifies the smallest total weight of training samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; higher-ranked samples have higher scores.
        """
        return self._values(X) - self._threshold

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample from the sign of its score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the area under the ROC curve of the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        float
            Area under the ROC curve.
        """
        values = self.decision_function(X)
        is_second = np.asarray(y) == self.classes_[1]
        return float(roc_auc_score(is_second, values, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _best_threshold(values: Vector, y: Vector, weight: Vector) -> float:
    """Return the midpoint between two scores that misclassifies the smallest total weight."""
    order = np.argsort(values, kind="stable")
    ordered, signed = values[order], (weight * y)[order]
    # Misclassified weight for a threshold just above each score, up to a constant.
    wrong = np.cumsum(signed)[:-1]
    wrong[ordered[1:] == ordered[:-1]] = np.inf  # no threshold between equal scores
    best = int(np.argmin(wrong))
    return float((ordered[best] + ordered[best + 1]) / 2.0)
