"""Bipartite ranking: rows of one class above those of the other."""

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
from ..resampling import Fold, stratified_folds
from ..tables.target import two_class_labels
from ._base import RelevanceBounds
from .models import LinearModel
from .programs.hinge import HingeRows, Requirements, signed_table
from .programs.pairwise import PairwiseLoss, first_rows
from .result import BoundsResult
from .task import Subproblem, Task, TaskData, TaskWording

# With more pairs than this, or more numbers in their rows, they are not listed.
MAX_LISTED_PAIRS = 100_000
MAX_LISTED_CELLS = 20_000_000


@dataclass(frozen=True)
class RankingData(TaskData):
    """Samples of which some, ``y`` +1, are to score higher than the others, ``y`` -1."""

    @property
    def total_weight(self) -> float:
        return 1.0  # the loss is a mean over pairs

    def requirements(self) -> Requirements:
        """A positive and a negative sample differ by 1, up to the slacks of both.

        ``w . x_i + s_i - (w . x_j - s_j) >= 1`` for all pairs says that some offset has
        ``w . x_i + s_i`` half a unit above it and ``w . x_j - s_j`` half a unit below.
        """
        rows = HingeRows(
            table=signed_table(self.y, self.X),
            offset_table=self.y[:, None],
            target=np.full(self.n_samples, 0.5),
            weight=self._weight_of_slack(),
        )
        return Requirements(rows, np.arange(self.n_samples))

    def score(self, model: LinearModel) -> float:
        """Area under the ROC curve."""
        values = model.decision_function(self.X)
        return float(roc_auc_score(self.y, values, sample_weight=self.weight))

    def selection_score(self, model: LinearModel) -> float:
        """The loss, which tells models apart where their areas are as good as equal.

        A small C shrinks all scores and leaves their order, so the area alone chooses almost any C.
        """
        return -float(self._pairwise_loss().values(model.coef_[None])[0])

    def chance_score(self) -> float:
        return 0.5

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        return stratified_folds(self.y, n_folds, seed)

    def _free_rows(self) -> HingeRows:
        """The loss over all pairs: a row for each while they are few, else by cuts."""
        positive, negative = np.flatnonzero(self.y > 0), np.flatnonzero(self.y < 0)
        n_pairs = len(positive) * len(negative)
        if n_pairs <= MAX_LISTED_PAIRS and n_pairs * self.n_features <= MAX_LISTED_CELLS:
            above, below = np.meshgrid(positive, negative, indexing="ij")
            return self._rows_of_pairs(above.ravel(), below.ravel())
        return first_rows(self._pairwise_loss())

    def _pairwise_loss(self) -> PairwiseLoss:
        high, low, share = self.y > 0, self.y < 0, self._weight_of_slack()
        return PairwiseLoss(self.X[high], self.X[low], share[high], share[low])

    def _rows_of_pairs(self, above: NDArray[np.intp], below: NDArray[np.intp]) -> HingeRows:
        """``w . (x_i - x_j) >= 1`` for each pair."""
        share, n_pairs = self._weight_of_slack(), len(above)
        return HingeRows(
            table=self.X[above] - self.X[below],
            offset_table=np.empty((n_pairs, 0)),
            target=np.ones(n_pairs),
            weight=share[above] * share[below],
        )

    def _weight_of_slack(self) -> Vector:
        """Share of each sample in its group."""
        total = np.where(self.y > 0, self.weight[self.y > 0].sum(), self.weight[self.y < 0].sum())
        return self.weight / total

    def _intercept(self, offset: Vector) -> float:
        return 0.0  # a ranking has none


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
        unseen="puts {} of the pairs of rows it has not seen, one of each class, in the right "
        "order (this is the AUC), by cross-validation",
        training="{} of those it was trained on",
        training_alone="puts {} of the pairs of rows it was trained on, one of each class, in the "
        "right order (this is the AUC)",
        without_features="tossing a coin would get {}",
        loss="what the higher row of a pair lacks to score 1 more than the other, averaged over "
        "all pairs",
    ),
)


class RankingBounds(ClassifierMixin, RelevanceBounds):
    """How small and how large each weight can be, over all equally good linear rankings.

    Rows of one class are to score higher than rows of the other, each pair by 1; the loss is the
    mean over all pairs of what is missing. It is at least the share of pairs in the wrong order,
    1 - AUC, and treats both classes alike however rare one of them is. Unless they are few, the
    pairs are not listed: sorting the scores finds those that matter. C is chosen by this loss on
    rows held out; their area alone hardly tells one C from another. The set of equivalent models,
    bounds and classes follow as for :class:`ClassificationBounds`.

    Parameters
    ----------
    C, norm_slack, loss_slack, loss_tol, standardize, cutoff, n_probes, fpr, screen, max_seconds, \
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

    task = RANKING

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        check_classification_targets(y)
        self.classes_, codes = encode_classes(y)
        if len(self.classes_) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}, with {len(self.classes_)} classes; for classes in an order "
                "use OrdinalBounds."
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
        """Score of each row under the baseline: the higher, the higher it ranks.

        A ranking has no line between the classes. Zero is put where the training rows have fewest
        on the wrong side.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._values(X) - self._threshold

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, by the sign of its score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int)]

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
        values = self.decision_function(X)
        is_second = np.asarray(y) == self.classes_[1]
        return float(roc_auc_score(is_second, values, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _best_threshold(values: Vector, y: Vector, weight: Vector) -> float:
    """Half-way between two neighbouring scores, with the least weight on the wrong side."""
    order = np.argsort(values, kind="stable")
    ordered, signed = values[order], (weight * y)[order]
    # Weight on the wrong side with the line behind each score, up to a constant.
    wrong = np.cumsum(signed)[:-1]
    wrong[ordered[1:] == ordered[:-1]] = np.inf  # no line between equal scores
    best = int(np.argmin(wrong))
    return float((ordered[best] + ordered[best + 1]) / 2.0)
