"""``BitFlip`` and ``AttributeFlip``: local search that improves another selector's subset."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import has_fit_parameter

from .._params import (
    AUTO,
    CV_FOLDS,
    KERNEL,
    MAX_ROUNDS,
    SVM_C,
    SVM_COEF0,
    SVM_DEGREE,
    SVM_TOL,
    ClassWeightName,
    KernelName,
)
from .._validation import COUNT
from ..exceptions import InputError
from ..resampling import cv_splits
from ._base import SVMSelector
from .active_features import feature_matrix
from .local_search import Flip, LocalSearch, Subset, attribute_flips, bit_flips


class FlipSelector(SVMSelector):
    """Base class of selectors that improve another selector's subset by local search."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVMSelector._parameter_constraints,
        "selector": [HasMethods(["fit", "get_support"])],
        "max_rounds": [COUNT, None],
        "max_evaluations": [COUNT, None],
    }

    def __init__(
        self,
        selector: Any,
        *,
        max_rounds: int | None = MAX_ROUNDS,
        max_evaluations: int | None = None,
        kernel: KernelName = KERNEL,
        C: float | ArrayLike = SVM_C,
        gamma: float | Literal["auto"] = AUTO,
        degree: int = SVM_DEGREE,
        coef0: float = SVM_COEF0,
        class_weight: Mapping[Any, float] | ClassWeightName | None = None,
        cv: Any = CV_FOLDS,
        scoring: Any = None,
        tol: float = SVM_TOL,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.selector = selector
        self.max_rounds = max_rounds
        self.max_evaluations = max_evaluations
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: ArrayLike | None = None) -> Self:
        """Fit the initial selector, then improve its subset by local search.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        groups : array-like of shape (n_samples,), default=None
            Group labels of the rows. Rows of the same group are never split between training and
            test rows. The groups are passed to the selector if its ``fit`` accepts them.

        Returns
        -------
        self
        """
        table, labels = self._validate(X, y, groups)
        if self.cv is None:
            raise InputError(
                f"{type(self).__name__} requires cross-validation (got cv=None). Set cv."
            )
        settings = self._svm_settings(labels)
        folds = cv_splits(self.cv, labels, np.arange(len(labels.codes)))
        evaluator = settings.evaluator(folds, labels)
        start = self._start(X, y, groups)
        rows = [rows for fold in folds for rows in fold]
        with self._open_checkpoint(table, labels, rows, start) as checkpoint:
            search = LocalSearch(
                feature_matrix(table, centered=settings.kernel.shift_invariant),
                evaluator,
                self._flips,
                checkpoint,
                type(self).__name__ if self.verbose else None,
            )
            self._steps = search.run(start, self.max_rounds, self.max_evaluations)
        self._costs_used = settings.costs
        self._set_scores(
            np.array([int(step.subset.sum()) for step in self._steps]),
            np.array([step.evaluation.fold_scores for step in self._steps]),
        )
        self.ranking_ = np.where(self._steps[-1].subset, 1, 2)
        return self.select("best")

    @abstractmethod
    def _flips(self, subset: Subset) -> Iterator[Flip]:
        """Return the changes (flips) that lead from a subset to its neighbors."""

    def _subset(self, n_features: int) -> NDArray[np.bool_]:
        sizes = self.n_subset_features_
        indices = np.flatnonzero(sizes == n_features)
        if len(indices) == 0:
            raise InputError(
                f"The search visited no subset of {n_features} features. Choose one of these "
                f"sizes: {', '.join(map(str, np.unique(sizes)))}."
            )
        return self._steps[indices[self.scores_[indices].argmax()]].subset

    def _history_rows(self, names: list[str]) -> list[dict[str, Any]]:
        flips = [step.flip or Flip(None, None) for step in self._steps]
        return [
            {
                "step": number,
                "dropped": [] if flip.removed is None else [names[flip.removed]],
                "added": [] if flip.added is None else [names[flip.added]],
                "candidates": step.n_evaluations,
                "n_features": int(step.subset.sum()),
                "C": float(self._costs_used[step.evaluation.best_cost]),
                "score": step.evaluation.score,
                "seconds": step.seconds,
            }
            for number, (step, flip) in enumerate(zip(self._steps, flips, strict=True))
        ]

    def _start(self, X: Any, y: Any, groups: Any) -> NDArray[np.bool_]:
        self.selector_ = clone(self.selector)
        if groups is not None and has_fit_parameter(self.selector_, "groups"):
            self.selector_.fit(X, y, groups=groups)
        else:
            self.selector_.fit(X, y)
        start = np.asarray(self.selector_.get_support(), dtype=bool)
        if not start.any():
            raise InputError(
                "The selector selected no features, but the search requires a nonempty initial "
                "subset. Use a less strict selector."
            )
        return start


class BitFlip(FlipSelector):
    """Local search that adds or removes one feature per move (Samb et al. 2012).

    The best neighbor replaces the selector's subset if its score is higher, or if it has the same
    score with fewer features.

    Parameters
    ----------
    selector : selector
        Selector with the scikit-learn API. A clone is fitted to find the initial subset.
    max_rounds : int or None, default=1
        Maximum number of moves to a better neighbor. None means no limit.
    max_evaluations : int or None, default=None
        Maximum total number of neighbors to evaluate. None means no limit.
    kernel, C, gamma, degree, coef0, class_weight, cv, scoring, tol, checkpoint, n_jobs, \
verbose : optional
        Parameters for the evaluation of subsets; see :class:`SVMRFE`.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
    ranking_ : ndarray of shape (n_features,)
        1 for the features of the best subset, 2 for the others.
    n_features_ : int
    scores_, fold_scores_, n_subset_features_, best_score_
        Results for the initial subset and each improvement; see :class:`SVMRFE`.
    history_ : pandas.DataFrame
    selector_ : selector
        Fitted selector.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import SVMRFE, BitFlip
    >>> X, y = make_classification(60, 12, n_informative=3, random_state=0)
    >>> flip = BitFlip(SVMRFE(cv=None, n_features_to_select=2), max_rounds=None).fit(X, y)
    >>> bool(flip.best_score_ >= flip.scores_[0])
    True
    """

    def _flips(self, subset: Subset) -> Iterator[Flip]:
        return bit_flips(subset)


class AttributeFlip(FlipSelector):
    """Local search that swaps a selected and an unselected feature per move (Samb et al. 2012).

    The best neighbor replaces the selector's subset if its score is higher. The number of features
    does not change.

    Parameters
    ----------
    selector : selector
        Selector with the scikit-learn API. A clone is fitted to find the initial subset.
    max_rounds : int or None, default=1
        Maximum number of moves to a better neighbor. None means no limit.
    max_evaluations : int or None, default=None
        Maximum total number of neighbors to evaluate. None means no limit.
    kernel, C, gamma, degree, coef0, class_weight, cv, scoring, tol, checkpoint, n_jobs, \
verbose : optional
        Parameters for the evaluation of subsets; see :class:`SVMRFE`.

    Attributes
    ----------
    support_, ranking_, n_features_, scores_, fold_scores_, n_subset_features_, best_score_, \
history_, selector_, classes_, n_features_in_, feature_names_in_
        See :class:`BitFlip`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import SVMRFE, AttributeFlip
    >>> X, y = make_classification(60, 12, n_informative=3, random_state=0)
    >>> flip = AttributeFlip(SVMRFE(cv=None, n_features_to_select=2), max_rounds=None).fit(X, y)
    >>> flip.n_features_
    2
    """

    def _flips(self, subset: Subset) -> Iterator[Flip]:
        return attribute_flips(subset)
