"""Bipartite ranking: samples of one class should score higher than those of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from .._typing import Rows, Table, Vector
from .._validation import check_groups, check_labels, encode_classes
from ..exceptions import InputError
from ..resampling import permute_within_groups
from ..tables.target import two_class_labels
from ._base import RelevanceBounds
from .models import LinearModel
from .pairs import MAX_LISTED_PAIRS, PairwiseData
from .predictors import ClassRanker
from .programs.comparable_pairs import ComparablePairs, class_pairs
from .programs.hinge import HingeRows, Requirements, signed_table
from .proof_table import class_codes
from .result import BoundsResult
from .task import Subproblem, Task, TaskWording


@dataclass(frozen=True)
class RankingData(PairwiseData):
    """Data with two classes; samples with ``y = 1`` should score higher than the others.

    With groups (queries), only samples of the same group are compared. ``labels`` are the labels of
    both classes, for scikit-learn scorers.
    """

    labels: NDArray[Any] = field(default_factory=lambda: np.arange(2), kw_only=True)

    @cached_property
    def pairs(self) -> ComparablePairs:
        return class_pairs(self.y > 0, _query_codes(self.row_groups, self.n_samples))

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

    def draw_orders(self, n_permutations: int, seed: int) -> list[Rows]:
        """Draw random permutations; samples of a query change places with each other only.

        Other samples are not compared with them, so any order within queries is as likely if no
        feature is relevant.
        """
        if self.row_groups is None:
            return super().draw_orders(n_permutations, seed)
        rng = np.random.RandomState(seed)
        return [
            permute_within_groups(self.n_samples, rng, self.row_groups)
            for _ in range(n_permutations)
        ]

    def association_target(self) -> Vector:
        return self.y if self.row_groups is None else super().association_target()

    def predictor(self, model: LinearModel) -> ClassRanker:
        if self.row_groups is not None:
            raise InputError(
                "scoring cannot be combined with groups (queries), because scikit-learn scorers "
                "also compare samples of different queries. Set scoring=None."
            )
        return ClassRanker(self.labels, model)

    def proof_coding(self, cells: Sequence[Any]) -> dict[str, Any]:
        if self.row_groups is not None or not self.lists_pairs:
            raise InputError(
                "A proof of a ranking requires that all pairs of rows are listed. Fit without "
                f"groups, on a table with at most {MAX_LISTED_PAIRS:,} pairs."
            )
        return class_codes(cells, self.y)

    def observed(self) -> NDArray[Any]:
        return self.labels[(self.y > 0).astype(int)]

    def strata(self) -> Vector | None:
        return self.y if self.row_groups is None else None

    def _slack_weights(self) -> Vector:
        """Return the weight of each sample as a fraction of the total weight of its class."""
        total = np.where(self.y > 0, self.weight[self.y > 0].sum(), self.weight[self.y < 0].sum())
        return self.weight / total


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
    scoring : str, callable or None, default=None
        Score by which C is chosen: the name of a scikit-learn scorer for decision values, such as
        ``"roc_auc"`` or ``"average_precision"``, or a callable ``scorer(estimator, X, y)``. Scorers
        of predicted classes are refused, because a ranking has no threshold. Cannot be combined
        with ``groups``. None means the loss.
    C, Cs, cv, norm_slack, loss_slack, loss_tol, standardize, categorical, curves, terms, cutoff, \
fdr, n_probes, fpr, tol, screen, max_seconds, random_state, n_jobs, verbose
        As in :class:`ClassificationBounds`.

    Attributes
    ----------
    interval_, signed_interval_, relevance_, pvalue_, qvalue_, table_pvalue_, rule_, gap_, exact_, \
cutoff_, baseline_
        As in :class:`ClassificationBounds`.
    auc_ : float
        Area under the ROC curve of the baseline on the training samples.
    cv_score_ : float
        Cross-validated area under the ROC curve of the baseline, or its score by ``scoring``. Only
        with ``C="cv"``.
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
    >>> X = rng.normal(size=(120, 4))
    >>> X[:, 2] = X[:, 1]
    >>> rare = X[:, 0] + X[:, 1] > 1.5
    >>> bounds = RankingBounds(random_state=0).fit(X, rare)
    >>> [str(r) for r in bounds.relevance_]
    ['strong', 'weak', 'weak', 'irrelevant']
    """

    task = RANKING

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        privileged: Any = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the baseline, compute the relevance bounds and assign relevance classes.

        Parameters
        ----------
        X, y, sample_weight, privileged
            As in :meth:`ClassificationBounds.fit`. Privileged features cannot be combined with
            ``groups``.
        groups : array-like of shape (n_samples,), default=None
            Query of each sample. Only samples of the same query are compared: pairs are formed,
            scored and permuted within queries, and cross-validation folds keep queries together.
            Every pair has the same weight, so large queries count more. Queries with a single class
            have no pairs. By default, all samples are compared.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        if privileged is not None and groups is not None:
            raise InputError(
                "Privileged features cannot be combined with groups, because they require a common "
                "scale for the scores of all queries. Omit one of the two."
            )
        return super().fit(X, y, sample_weight, privileged, groups)

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        check_labels(y)
        self.classes_, codes = encode_classes(y)
        if len(self.classes_) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}, with {len(self.classes_)} classes. For ordered classes, use "
                "OrdinalBounds."
            )
        signs = np.where(codes == 1, 1.0, -1.0)
        return [Subproblem("", [RankingData(X, signs, weight, privileged, labels=self.classes_)])]

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

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, groups: ArrayLike | None = None
    ) -> float:
        """Return the area under the ROC curve of the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.
        groups : array-like of shape (n_samples,), default=None
            Query of each sample. Only samples of the same query are compared.

        Returns
        -------
        float
            Area under the ROC curve: the fraction of pairs in the right order. Ties count half.
        """
        values = self.decision_function(X)
        is_second = np.asarray(y) == self.classes_[1]
        weight = check_sample_weight(sample_weight, values)
        pairs = class_pairs(is_second, _query_codes(groups, len(values)))
        if not pairs.n_pairs:
            raise InputError(
                "The score requires samples of both classes, in the same query if there are "
                "groups. Pass more samples."
            )
        return pairs.concordance(values, weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _query_codes(groups: ArrayLike | None, n_samples: int) -> NDArray[np.intp] | None:
    """Return the queries of the samples as numbers, or None without queries."""
    checked = check_groups(groups, n_samples)
    return None if checked is None else np.unique(checked, return_inverse=True)[1]


def _best_threshold(values: Vector, y: Vector, weight: Vector) -> float:
    """Return the midpoint between two scores that misclassifies the smallest total weight."""
    order = np.argsort(values, kind="stable")
    ordered, signed = values[order], (weight * y)[order]
    # Misclassified weight for a threshold just above each score, up to a constant.
    wrong = np.cumsum(signed)[:-1]
    wrong[ordered[1:] == ordered[:-1]] = np.inf  # no threshold between equal scores
    best = int(np.argmin(wrong))
    return float((ordered[best] + ordered[best + 1]) / 2.0)
