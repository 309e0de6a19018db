"""Survival: samples with an early event should score higher than those that survive longer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import column_or_1d

from .._text import count_noun, percent
from .._typing import Table, Vector
from .._validation import check_size
from ..exceptions import InputError
from ..tables.target import survival_times
from ..terms.validation import FeatureTable
from ._base import RelevanceBounds
from .models import LinearModel
from .pairs import PairwiseData
from .programs.comparable_pairs import ComparablePairs, ordered_pairs
from .programs.hinge import Requirements
from .task import Subproblem, Task, TaskWording


@dataclass(frozen=True)
class SurvivalData(PairwiseData):
    """Data with right-censored times, encoded by :func:`encode_times`."""

    @cached_property
    def pairs(self) -> ComparablePairs:
        return comparable_pairs(self.y)

    def requirements(self) -> Requirements:
        raise InputError(
            "Survival does not support privileged features, because its slack variables belong to "
            "pairs of rows, not to rows. Omit the privileged features."
        )

    def predictor(self, model: LinearModel) -> Any:
        raise InputError(
            "SurvivalBounds does not support scoring, because scikit-learn scorers ignore that "
            "times are censored. Set scoring=None: C is then chosen by the loss over comparable "
            "pairs."
        )

    def strata(self) -> Vector:
        return has_event(self.y).astype(float)


def encode_times(event: NDArray[np.bool_], time: Vector) -> Vector:
    """Encode times as one number per sample, which has the order of the comparable pairs.

    The number is twice the rank of the time, plus 1 if the time is censored. Sample i is comparable
    with sample j, and should score higher, if i has an event and a smaller number.
    """
    rank = np.unique(time, return_inverse=True)[1]
    return np.asarray(2 * rank + ~event, dtype=np.float64)


def has_event(codes: Vector) -> NDArray[np.bool_]:
    """Return whether the time of each sample is an event, given its code."""
    return codes % 2 == 0


def comparable_pairs(codes: Vector) -> ComparablePairs:
    """Return the comparable pairs of samples with the given codes."""
    rank = np.unique(codes, return_inverse=True)[1]
    return ordered_pairs(rank.astype(np.intp), has_event(codes))


def read_times(y: Any) -> tuple[NDArray[np.bool_], Vector]:
    """Return the events and the times of a survival target; see :meth:`SurvivalBounds.fit`."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        if len(names) != 2:
            raise InputError(
                "A structured target requires two fields, event and time, in this order (got "
                f"{len(names)}: {', '.join(names)})."
            )
        event, time = (np.asarray(y[name]) for name in names)
    else:
        values = np.asarray(y)
        if values.ndim != 2:
            time = np.asarray(column_or_1d(values, warn=True))
            event = np.ones(len(time), dtype=bool)
        elif values.shape[1] == 2:
            event, time = values.T
        else:
            raise InputError(
                "The target of SurvivalBounds requires two columns, event and time, in this order "
                f"(got {values.shape[1]})."
            )
    time = column_or_1d(
        check_array(time, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    )
    check_size(time, "times")
    return _read_events(event), time


def _read_events(event: NDArray[Any]) -> NDArray[np.bool_]:
    """Return events as booleans; raise unless they are booleans or the numbers 0 and 1."""
    values = check_array(
        event, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0
    )
    other = values[(values != 0) & (values != 1)]
    if len(other):
        raise InputError(
            "The event indicator must be 1 (or True) for rows with an event and 0 (or False) for "
            f"censored rows (got {other[0]:g}). Pass the event first and the time second."
        )
    return values == 1


SURVIVAL = Task(
    "survival",
    survival_times,
    chance=lambda class_sizes: 0.5,
    target_numbers=lambda y: read_times(y)[1],
    wording=TaskWording(
        aim="rank rows with an early event above rows that survive longer",
        classes="",
        score="concordance",
        score_heading="Concordance (cross-validated)",
        unseen="orders {} of the comparable pairs of held-out rows correctly (concordance, "
        "cross-validation)",
        training="{} of the comparable pairs of training rows",
        training_alone="orders {} of the comparable pairs of training rows correctly (concordance)",
        without_features="a random order would get {}",
        loss="shortfall from a margin of 1 between the scores of two comparable rows, averaged "
        "over all comparable pairs",
    ),
)


class SurvivalBounds(RelevanceBounds):
    """Relevance bounds for survival analysis with right-censored times.

    A model is a linear risk score. Of two comparable samples, the one with the earlier event should
    have the higher score, with a margin of 1. The loss is the mean shortfall over all comparable
    pairs. It is an upper bound on 1 - concordance, the fraction of pairs in the wrong order. This
    is the model of ranking survival SVMs. The equivalent models, the bounds and the relevance
    classes are defined as in :class:`ClassificationBounds`.

    Two samples are comparable if it is known which event came first: the sample with the earlier
    time has an event. Other pairs are excluded, because the event of a censored sample may have
    happened at any later time. If two samples have the same time, they are comparable if one of
    them has an event and the other is censored, because the latter survived longer. Two events at
    the same time are not comparable. These are the pairs of Harrell's concordance index, as in
    scikit-survival and lifelines.

    With many pairs, the loss is approximated by cutting planes, which are found by sorting the
    scores. C is chosen by the loss on held-out samples, because the concordance differs little
    between values of C.

    Parameters
    ----------
    scoring : None
        Not supported, because scikit-learn scorers ignore that times are censored.
    C, Cs, cv, norm_slack, loss_slack, loss_tol, standardize, categorical, curves, terms, cutoff, \
fdr, n_probes, fpr, tol, screen, max_seconds, random_state, n_jobs, verbose
        As in :class:`ClassificationBounds`.

    Attributes
    ----------
    interval_, signed_interval_, relevance_, pvalue_, qvalue_, table_pvalue_, rule_, gap_, exact_, \
cutoff_, baseline_
        As in :class:`ClassificationBounds`.
    cv_score_ : float
        Cross-validated concordance of the baseline. Only with ``C="cv"``.
    n_events_, n_censored_ : int
        Numbers of training samples with an event and with a censored time.
    n_pairs_ : int
        Number of comparable pairs of training samples.
    n_features_in_, feature_names_in_
        As in :class:`ClassificationBounds`.

    Examples
    --------
    >>> from allrelevant import SurvivalBounds
    >>> from allrelevant.datasets import make_survival
    >>> data = make_survival(
    ...     60, n_strong=1, n_weak=2, n_irrelevant=1, censored=0.3, random_state=0)
    >>> data.y.dtype.names
    ('event', 'time')
    >>> bounds = SurvivalBounds(C=10.0, cutoff=0.5).fit(data.X, data.y)
    >>> [str(r) for r in bounds.relevance_]
    ['strong', 'weak', 'weak', 'irrelevant']
    >>> bounds.n_censored_
    18
    """

    task = SURVIVAL

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        privileged: None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the baseline, compute the relevance bounds and assign relevance classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : structured array of shape (n_samples,) or array-like of shape (n_samples, 2)
            Event and time of each sample, in this order: a structured array with two fields, as in
            scikit-survival, or two columns of an array or DataFrame. The event is True or 1 if the
            event happened at that time, and False or 0 if the time is censored, that is, if it is
            only known that no event happened until then. A one-dimensional array contains times
            without censoring.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample. The weight of a pair is the product of the weights of its
            samples. Samples of weight zero are ignored.
        privileged : None
            Not supported. Slack variables belong to pairs of samples here, so privileged features
            cannot model them.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as the hospital of each patient. Samples of the same group
            are never separated by cross-validation folds and permutations. Pairs are formed within
            and between groups.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return super().fit(X, y, sample_weight, privileged, groups)

    def _read_features(self, X: Any, y: Any) -> tuple[FeatureTable, NDArray[Any]]:
        if y is None:
            raise InputError("SurvivalBounds requires y to be passed, but the target y is None.")
        return super()._read_features(X, encode_times(*read_times(y)))

    def _split_target(self, y: NDArray[Any]) -> NDArray[Any]:
        return has_event(y)

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        data = SurvivalData(X, y, weight, privileged)
        if privileged is not None:
            data.requirements()  # raises
        event = has_event(y)
        self.n_events_, self.n_censored_ = int(event.sum()), int((~event).sum())
        self.n_pairs_ = data.pairs.n_pairs
        if self.n_events_ == 0:
            raise InputError(
                "All rows are censored, so no pair of rows is comparable. Pass rows with events, "
                "and check that the event indicator is 1 for events and 0 for censored rows."
            )
        if self.n_pairs_ == 0:
            raise InputError(
                "No pair of rows is comparable: no event happened before the time of another row. "
                "Check that the times differ, and that the event is passed first and the time "
                "second."
            )
        return [Subproblem("", [data])]

    def predict(self, X: Any) -> Vector:
        """Predict the risk score of each sample with the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Risk scores. Samples with higher scores are predicted to have an earlier event. Only
            the order of the scores has a meaning.
        """
        return self._values(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the concordance index of the baseline (Harrell's c).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : structured array of shape (n_samples,) or array-like of shape (n_samples, 2)
            Event and time of each sample, as in ``fit``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        float
            Fraction of comparable pairs in which the sample with the earlier event has the higher
            score. Equal scores count half.
        """
        values = self.predict(X)
        event, time = read_times(y)
        check_consistent_length(values, time)
        pairs = comparable_pairs(encode_times(event, time))
        if pairs.n_pairs == 0:
            raise InputError(
                "The concordance requires at least one comparable pair of samples: an event before "
                "the time of another sample. Pass more samples."
            )
        return pairs.concordance(values, check_sample_weight(sample_weight, values))

    def _document_parts(self) -> dict[str, Any]:
        """Return a sentence on the events, the censored rows and the comparable pairs."""
        n_samples = self.n_events_ + self.n_censored_
        events = count_noun(self.n_events_, "row has an event", "rows have an event")
        note = (
            f"{events}, and {percent(self.n_censored_ / n_samples)} of the rows are censored. "
            f"{self.n_pairs_:,} of {n_samples * (n_samples - 1) // 2:,} pairs of rows are "
            "comparable: the row with the earlier time has an event. The other pairs are excluded, "
            "because the event of a censored row may have happened at any later time. Two events "
            "at the same time are excluded; an event and a censored row at the same time are "
            "comparable."
        )
        return {"target_note": note}
