"""Ordinal regression: one linear function, with a threshold between neighboring classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import d2_absolute_error_score

from .._params import (
    AUTO,
    CUTOFF,
    CV,
    FDR_LEVEL,
    FPR,
    LOSS_SLACK,
    LOSS_TOL,
    N_PROBES,
    NORM_SLACK,
    TOL,
    CutoffName,
)
from .._text import join_names
from .._typing import Matrix, Table, Vector
from .._validation import check_labels, encode_classes
from ..exceptions import InputError
from ..tables.target import ordered_labels
from ..terms.columns import category_order
from ._base import RelevanceBounds
from .models import LinearModel
from .predictors import ThresholdClassifier, count_thresholds_below
from .programs.hinge import HingeRows, Requirements, signed_table, stack_tables
from .proof_table import class_codes
from .task import Subproblem, Task, TaskData, TaskWording


@dataclass(frozen=True)
class OrdinalData(TaskData):
    """Data with ordered classes; ``y`` is 0, 1, ..., k - 1, and every class occurs.

    ``labels`` are the labels of the classes, for scikit-learn scorers.
    """

    labels: NDArray[Any] = field(default_factory=lambda: np.empty(0), kw_only=True)

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

    def predictor(self, model: LinearModel) -> ThresholdClassifier:
        return ThresholdClassifier(self.labels, model)

    def proof_coding(self, cells: Sequence[Any]) -> dict[str, Any]:
        return class_codes(cells, self.y)

    def observed(self) -> NDArray[Any]:
        return self.labels[self.y.astype(int)]

    def _intercept(self, offset: Vector) -> float:
        return 0.0

    def _thresholds(self, offset: Vector) -> Vector | None:
        return offset[: self.n_thresholds]


def _class_deviation_explained(est: Any, X: Any, y: Any) -> float:
    """Return the fraction of the absolute deviation of class codes that an estimator explains."""
    code_of = {label: code for code, label in enumerate(est.classes_.tolist())}
    actual, predicted = (
        [code_of[label] for label in np.asarray(labels).tolist()] for labels in (y, est.predict(X))
    )
    return float(d2_absolute_error_score(actual, predicted))


def encode_ordered_classes(
    y: NDArray[Any], order: Sequence[Any] | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes in their order and the class code of each sample.

    Without an order, numbers are sorted, and more than two words are refused: sorted as text,
    "high" would come before "low".

    >>> encode_ordered_classes(np.array(["high", "low", "high"]), ["low", "medium", "high"])
    (array(['low', 'high'], dtype='<U4'), array([1, 0, 1]))
    """
    if order is None:
        classes, codes = encode_classes(y)
        if len(classes) > 2 and any(isinstance(label, str) for label in classes.tolist()):
            raise InputError(
                f"The classes are words ({join_names(classes.tolist(), 6)}), so their order is "
                f"unknown. State it from low to high: OrdinalBounds(classes={classes.tolist()!r}), "
                "in the right order, or pass an ordered categorical."
            )
        return classes, codes
    occurring = set(y.tolist())
    unknown = sorted(occurring - set(order), key=str)
    if unknown:
        raise InputError(
            f"classes does not contain the class {unknown[0]!r} (got {list(order)!r}). List all "
            "classes, from low to high."
        )
    ordered = [label for label in order if label in occurring]
    encode_classes(y)  # raises if there is a single class
    code_of = {label: code for code, label in enumerate(ordered)}
    return np.array(ordered, dtype=y.dtype), np.array([code_of[label] for label in y.tolist()])


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
    classes : array-like or None, default=None
        All classes, from low to high. None uses the order of an ordered categorical ``y`` (of
        pandas, Polars or PyArrow), and the order of numbers otherwise. Words without an order are
        refused.
    scoring : str, callable or None, default=None
        Score by which C is chosen: the name of a scikit-learn scorer for predicted classes, such as
        ``"accuracy"``, or a callable ``scorer(estimator, X, y)``. None means the explained fraction
        of the absolute deviation from the median class.
    C, Cs, cv, norm_slack, loss_slack, loss_tol, standardize, categorical, curves, terms, cutoff, \
fdr, n_probes, fpr, tol, screen, max_seconds, random_state, n_jobs, verbose
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
        explains, with classes encoded as 0, 1, 2, ..., or its score by ``scoring``. Only with
        ``C="cv"``.
    classes_ : ndarray of shape (n_classes,)
        Class labels from low to high.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RelevanceBounds._parameter_constraints,
        "classes": ["array-like", None],
    }
    task = ORDINAL

    def __init__(
        self,
        *,
        classes: ArrayLike | None = None,
        C: float | Literal["cv"] = CV,
        Cs: ArrayLike | None = None,
        cv: Any = None,
        scoring: Any = None,
        norm_slack: float = NORM_SLACK,
        loss_slack: float = LOSS_SLACK,
        loss_tol: float = LOSS_TOL,
        standardize: bool = True,
        categorical: Sequence[int | str] | None = None,
        curves: int | None = None,
        terms: Mapping[str, Sequence[int | str]] | None = None,
        cutoff: float | CutoffName = CUTOFF,
        fdr: float = FDR_LEVEL,
        n_probes: int = N_PROBES,
        fpr: float = FPR,
        tol: float = TOL,
        screen: bool | Literal["auto"] = AUTO,
        max_seconds: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C=C,
            Cs=Cs,
            cv=cv,
            scoring=scoring,
            norm_slack=norm_slack,
            loss_slack=loss_slack,
            loss_tol=loss_tol,
            standardize=standardize,
            categorical=categorical,
            curves=curves,
            terms=terms,
            cutoff=cutoff,
            fdr=fdr,
            n_probes=n_probes,
            fpr=fpr,
            tol=tol,
            screen=screen,
            max_seconds=max_seconds,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.classes = classes

    def _prepare(self, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        # Before y becomes an array, which has no order of categories.
        given = None if self.classes is None else np.asarray(self.classes).tolist()
        self._order = category_order(y) if given is None else given
        return super()._prepare(X, y, *args, **kwargs)

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        check_labels(y)
        self.classes_, codes = encode_ordered_classes(y, self._order)
        data = OrdinalData(X, codes.astype(float), weight, privileged, labels=self.classes_)
        return [Subproblem("", [data])]

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
