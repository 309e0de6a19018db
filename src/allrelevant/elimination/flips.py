"""``BitFlip`` and ``AttributeFlip``: local search that improves another selector's subset."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._params import (
    AUTO,
    BALANCED,
    CV_FOLDS,
    KERNEL,
    MAX_ROUNDS,
    SUBSET_RULE,
    SVM_C,
    SVM_COEF0,
    SVM_DEGREE,
    SVM_TOL,
    ClassWeightName,
    KernelName,
    SubsetRule,
)
from .._sklearn import take_rows
from .._typing import Rows, Table
from .._validation import COUNT
from ..checkpoints import Checkpoint
from ..exceptions import InputError
from ..resampling import Labels, cv_splits, warn_rare_class
from ..subsets import FoldOverlap, HeldOutScore, choose_size
from ..terms.scaling import scale_by_rows
from ._base import SVMSelector
from .active_features import feature_matrix
from .local_search import Flip, LocalSearch, SearchStep, Subset, attribute_flips, bit_flips
from .run import Folds, SVMSettings
from .scoring import constant_score


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
        class_weight: Mapping[Any, float] | ClassWeightName | None = BALANCED,
        cv: Any = CV_FOLDS,
        scoring: Any = None,
        repeat_in_folds: bool = True,
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = None,
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
        self.repeat_in_folds = repeat_in_folds
        self.standardize = standardize
        self.random_state = random_state
        self.tol = tol
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the initial selector, then improve its subset by local search.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Data frames may contain text, categories, booleans and missing values, as in
            :class:`SVMRFE`, if the initial selector accepts them.
        y : array-like of shape (n_samples,)
            Class labels.
        groups : array-like of shape (n_samples,), default=None
            Group labels of the rows. Rows of the same group are never split between training and
            test rows. The groups are passed to the selector if its ``fit`` accepts them.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in training and in scores. A row with weight 2 counts like two
            rows. The ``fit`` method of the selector must accept them, too.

        Returns
        -------
        self
        """
        table, labels = self._validate(X, y, groups, sample_weight)
        self._check_selector_weights(labels)
        if self.cv is None:
            raise InputError(
                f"{type(self).__name__} requires cross-validation (got cv=None). Set cv."
            )
        settings = self._svm_settings(labels)
        seed = self._seed()
        folds = cv_splits(self.cv, labels, labels.rows, seed=seed)
        warn_rare_class(labels, self.cv)
        places = [("", labels.rows, folds)]
        if self.repeat_in_folds:
            places += [
                (f"fold {number}", train, self._inner_folds(labels, train, seed, number))
                for number, (train, _) in enumerate(folds)
            ]
        for _, _, inner in places:
            settings.evaluator(inner, labels)  # raises if the scorer fails
        self.selector_, start = self._start(X, y, groups, labels.weight)
        frame = X if self._has_encoding or hasattr(X, "columns") else table
        classes = labels.classes[labels.codes]
        starts = [start]
        for _, rows, _ in places[1:]:
            groups_in_fold, weight = (
                None if values is None else values[rows]
                for values in (labels.row_groups, labels.weight)
            )
            found = self._start(take_rows(frame, rows), classes[rows], groups_in_fold, weight)
            starts.append(found[1])
        arrays = [rows for fold in folds for rows in fold]
        with self._open_checkpoint(table, labels, arrays, *starts) as checkpoint:
            searches = []
            for (place, rows, inner), start in zip(places, starts, strict=True):
                search = self._search(table, labels, settings, rows, inner, checkpoint, place)
                searches.append((search, search.run(start, self.max_rounds, self.max_evaluations)))
        self._steps = searches[0][1]
        self._costs_used = settings.costs
        self._set_scores(
            np.array([int(step.subset.sum()) for step in self._steps]),
            np.array([step.evaluation.fold_scores for step in self._steps]),
            once=True,
        )
        self._searched_held_out = (
            held_out_score(searches[1:], folds, settings, labels) if len(searches) > 1 else None
        )
        self.ranking_ = np.where(self._steps[-1].subset, 1, 2)
        return self.select("best")

    def select(self, n_features_to_select: SubsetRule | int = SUBSET_RULE) -> Self:
        """Select one of the visited subsets by a rule or size, without refitting.

        Parameters
        ----------
        n_features_to_select : {"best", "smallest_best", "one_se"} or int, default="best"
            Selection rule, as in :class:`SVMRFE`; ties between visited subsets go to the smallest.

        Returns
        -------
        self
            Selector with updated ``support_`` and ``n_features_``. ``held_out_score_`` is available
            for the rule of ``fit``, ``"best"``.
        """
        check_is_fitted(self, "ranking_")
        sizes, no_margins = self.n_subset_features_, np.zeros_like(self.fold_scores_)
        self.support_ = self._subset(
            choose_size(n_features_to_select, sizes, self.fold_scores_, no_margins)
        )
        self.n_features_ = int(self.support_.sum())
        self._held_out = self._searched_held_out if n_features_to_select == "best" else None
        return self

    def _inner_folds(self, labels: Labels, rows: Rows, seed: int, number: int) -> Folds:
        if not (isinstance(self.cv, Integral) or hasattr(self.cv, "split")):
            raise InputError(
                "repeat_in_folds splits the training rows of each fold again, so cv cannot be a "
                "list of folds. Pass cv as a number or a splitter, or set repeat_in_folds=False."
            )
        return cv_splits(self.cv, labels, rows, seed=seed, name=f"cv within fold {number}")

    def _search(
        self,
        table: Table,
        labels: Labels,
        settings: SVMSettings,
        rows: Rows,
        folds: Folds,
        checkpoint: Checkpoint,
        place: str,
    ) -> LocalSearch:
        table = scale_by_rows(
            table, rows, self._layout, labels.weight, standardize=self.standardize
        )
        return LocalSearch(
            feature_matrix(table, centered=settings.kernel.shift_invariant),
            self._layout,
            settings.evaluator(folds, labels),
            self._flips,
            checkpoint,
            f"{type(self).__name__}, {place or 'all rows, '}".rstrip(", ")
            if self.verbose
            else None,
            place,
        )

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

    def _check_selector_weights(self, labels: Labels) -> None:
        if labels.weight is None or has_fit_parameter(self.selector, "sample_weight"):
            return
        raise InputError(
            f"sample_weight requires a selector whose fit method accepts it, but that of "
            f"{type(self.selector).__name__} does not. Use SVMRFE, for example."
        )

    def _start(self, X: Any, y: Any, groups: Any, weight: Any) -> tuple[Any, Subset]:
        """Fit a clone of the selector; return it and its subset."""
        selector = clone(self.selector)
        arguments = {} if weight is None else {"sample_weight": weight}
        if groups is not None and has_fit_parameter(selector, "groups"):
            arguments["groups"] = groups
        selector.fit(X, y, **arguments)
        start = np.asarray(selector.get_support(), dtype=bool)
        if not start.any():
            raise InputError(
                "The selector selected no features, but the search requires a nonempty initial "
                "subset. Use a less strict selector."
            )
        return selector, start


def held_out_score(
    searches: Sequence[tuple[LocalSearch, list[SearchStep]]],
    folds: Folds,
    settings: SVMSettings,
    labels: Labels,
) -> HeldOutScore:
    """Score the final subset of each fold's search on the held-out rows of the fold."""
    scores, all_scores, constant = [], [], []
    for (search, steps), (train, test) in zip(searches, folds, strict=True):
        fold = settings.fold(train, test, labels)
        everything = np.ones_like(steps[-1].subset)
        scores.append(search.held_out_score(steps[-1].subset, steps[-1].evaluation, fold))
        all_scores.append(search.held_out_score(everything, search.evaluate(everything), fold))
        constant.append(constant_score(settings.scorer, fold, labels))
    support = np.array([steps[-1].subset for _, steps in searches])
    return HeldOutScore(
        np.array(scores),
        support.sum(axis=1),
        support,
        np.array(all_scores),
        float(np.mean(constant)),
        FoldOverlap.from_folds(folds).test_ratio,
        nested=True,
    )


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
    kernel, C, gamma, degree, coef0, class_weight, cv, scoring, repeat_in_folds, standardize, \
random_state, tol, checkpoint, n_jobs, verbose : optional
        Parameters for the evaluation of subsets; see :class:`SVMRFE`. With ``repeat_in_folds``, the
        selector and the search are repeated on the training rows of each fold for
        ``held_out_score_``.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
    ranking_ : ndarray of shape (n_features,)
        1 for the features of the best subset, 2 for the others.
    n_features_ : int
    scores_, score_errors_, fold_scores_, n_subset_features_, best_score_
        Results for the initial subset and each improvement; see :class:`SVMRFE`. They are
        optimistically biased, because the search maximizes them (``optimistic_`` is True).
    held_out_score_ : HeldOutScore
        Score of the whole selection, repeated in each fold. Only with ``repeat_in_folds``.
    scoring_ : str
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
    kernel, C, gamma, degree, coef0, class_weight, cv, scoring, repeat_in_folds, standardize, \
random_state, tol, checkpoint, n_jobs, verbose : optional
        Parameters for the evaluation of subsets; see :class:`SVMRFE`. With ``repeat_in_folds``, the
        selector and the search are repeated on the training rows of each fold for
        ``held_out_score_``.

    Attributes
    ----------
    support_, ranking_, n_features_, scores_, score_errors_, fold_scores_, n_subset_features_, \
optimistic_, best_score_, held_out_score_, scoring_, history_, selector_, classes_, \
n_features_in_, feature_names_in_
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
