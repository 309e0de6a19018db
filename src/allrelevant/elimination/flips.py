"""Bit-Flip and Attribute-Flip: a subset's neighbours, in case one of them is better."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._validation import feature_names
from ..exceptions import InputError
from ..resampling import cv_splits
from ._base import SVMSelector
from .active_features import feature_matrix
from .history import chosen_size
from .local_search import Flip, LocalSearch, SearchStep, Subset, attribute_flips, bit_flips

if TYPE_CHECKING:
    import pandas as pd


class FlipSelector(SVMSelector):
    """Common part of the two: they differ in what a neighbour is."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVMSelector._parameter_constraints,
        "selector": [HasMethods(["fit", "get_support"])],
        "max_rounds": [Interval(Integral, 1, None, closed="left"), None],
        "max_evaluations": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        selector: Any,
        *,
        max_rounds: int | None = 1,
        max_evaluations: int | None = None,
        kernel: Literal["linear", "rbf", "poly", "sigmoid"] = "linear",
        C: float | ArrayLike = 1.0,
        gamma: float | Literal["auto"] = "auto",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: Mapping[Any, float] | Literal["balanced", "cw2", "cw3"] | None = None,
        cv: Any = 5,
        scoring: Any = None,
        tol: float = 1e-6,
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
        """Fit the selector, and search the neighbours of its subset.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never on both sides of a fold; handed to the selector if its
            ``fit`` takes them.

        Returns
        -------
        self
        """
        table, labels = self._validated(X, y, groups)
        if self.cv is None:
            raise InputError(f"{type(self).__name__} decides by cross-validation: give cv.")
        machinery = self._machinery(labels)
        parts = cv_splits(self.cv, labels, np.arange(len(labels.codes)))
        evaluator = machinery.evaluator(parts, labels)
        start = self._start(X, y, groups)
        rows = [row for part in parts for row in part]
        with self._checkpoint_file(table, labels, rows, [start]) as file:
            search = LocalSearch(
                feature_matrix(table, centred=machinery.kernel.shift_invariant),
                evaluator,
                self._flips,
                file,
                type(self).__name__ if self.verbose else None,
            )
            self._rounds = search.run(start, self.max_rounds, self.max_evaluations)
        self._costs_tried = machinery.costs
        sizes = np.array([int(found.subset.sum()) for found in self._rounds])
        self._keep_scores(sizes, np.array([found.evaluation.fold_scores for found in self._rounds]))
        self.ranking_ = np.where(self._rounds[-1].subset, 1, 2)
        return self.select("best")

    def select(self, n_features_to_select: Literal["best", "one_se"] | int = "best") -> Self:
        """Choose another subset of those that the search came by, without another fit.

        Parameters
        ----------
        n_features_to_select : {"best", "one_se"} or int, default="best"
            The best; the smallest within one standard error of it; or that of so many features, if
            there was one.

        Returns
        -------
        self
        """
        check_is_fitted(self, "ranking_")
        if isinstance(n_features_to_select, str) and n_features_to_select not in ("best", "one_se"):
            raise InputError(
                f"n_features_to_select must be 'best', 'one_se' or a number, "
                f"got {n_features_to_select!r}."
            )
        sizes = self.n_subset_features_
        size = chosen_size(n_features_to_select, sizes, self.fold_scores_)
        places = np.flatnonzero(sizes == size)
        if len(places) == 0:
            raise InputError(
                f"The search came by no subset of {size} features, only of "
                f"{', '.join(map(str, np.unique(sizes)))}."
            )
        self.support_ = self._rounds[places[self.scores_[places].argmax()]].subset
        self.n_features_ = int(self.support_.sum())
        return self

    @abstractmethod
    def _flips(self, subset: Subset) -> Iterator[Flip]:
        """The neighbours of a subset."""

    @property
    def history_(self) -> pd.DataFrame:
        """The start, and each better subset that was found."""
        check_is_fitted(self)
        names = feature_names(self)
        return self._frame(
            [self._row(number, found, names) for number, found in enumerate(self._rounds)]
        )

    def _row(self, number: int, found: SearchStep, names: list[str]) -> dict[str, Any]:
        flip = found.flip or Flip(None, None)
        return {
            "step": number,
            "dropped": [] if flip.removed is None else [names[flip.removed]],
            "added": [] if flip.added is None else [names[flip.added]],
            "candidates": found.n_evaluations,
            "n_features": int(found.subset.sum()),
            "C": float(self._costs_tried[found.evaluation.best_cost]),
            "score": found.evaluation.score,
            "seconds": found.seconds,
        }

    def _start(self, X: Any, y: Any, groups: Any) -> NDArray[np.bool_]:
        self.selector_ = clone(self.selector)
        if groups is not None and has_fit_parameter(self.selector_, "groups"):
            self.selector_.fit(X, y, groups=groups)
        else:
            self.selector_.fit(X, y)
        start = np.asarray(self.selector_.get_support(), dtype=bool)
        if not start.any():
            raise InputError("The selector selects no feature: there is no subset to start from.")
        return start


class BitFlip(FlipSelector):
    """Look at every subset with one feature more or one less (Samb et al. 2012).

    The best of them takes the place of the selector's subset if its score is higher, or the same
    with fewer features.

    Parameters
    ----------
    selector : selector
        Any selector of scikit-learn's kind; a clone of it is fitted, and its subset is the start.
    max_rounds : int or None, default=1
        How often to go on from the best neighbour; None: until none is better.
    max_evaluations : int or None, default=None
        How many neighbours to look at in all.
    kernel, C, gamma, degree, coef0, class_weight, cv, scoring, tol, checkpoint, n_jobs, \
verbose : optional
        How subsets are judged; see :class:`SVMRFE`.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
    ranking_ : ndarray of shape (n_features,)
        1 for the features of the best subset, 2 for the others.
    n_features_ : int
    scores_, fold_scores_, n_subset_features_, best_score_
        Of the start and of each better subset; see :class:`SVMRFE`.
    history_ : pandas.DataFrame
    selector_ : selector
        Fitted.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import SVMRFE, BitFlip
    >>> X, y = make_classification(60, 12, n_informative=3, random_state=0)
    >>> flip = BitFlip(SVMRFE(cv=None, n_features_to_select=2), max_rounds=None).fit(X, y)
    >>> flip.best_score_ >= flip.scores_[0]
    np.True_
    """

    def _flips(self, subset: Subset) -> Iterator[Flip]:
        return bit_flips(subset)


class AttributeFlip(FlipSelector):
    """Look at every swap of a feature of the subset for another one (Samb et al. 2012).

    The best of them takes the place of the selector's subset if its score is higher. The number of
    features stays.

    Parameters
    ----------
    selector : selector
        Any selector of scikit-learn's kind; a clone of it is fitted, and its subset is the start.
    max_rounds : int or None, default=1
        How often to go on from the best neighbour; None: until none is better.
    max_evaluations : int or None, default=None
        How many neighbours to look at in all.
    kernel, C, gamma, degree, coef0, class_weight, cv, scoring, tol, checkpoint, n_jobs, \
verbose : optional
        How subsets are judged; see :class:`SVMRFE`.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
    ranking_ : ndarray of shape (n_features,)
        1 for the features of the best subset, 2 for the others.
    n_features_ : int
    scores_, fold_scores_, n_subset_features_, best_score_
        Of the start and of each better subset; see :class:`SVMRFE`.
    history_ : pandas.DataFrame
    selector_ : selector
        Fitted.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray

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
