"""Recursive feature elimination with SVMs: ``SVMRFE``, and ``EBRFE``, where features compete."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._params import (
    AUTO,
    CRITERION,
    CV_FOLDS,
    KERNEL,
    MIN_FEATURES_TO_SELECT,
    MIN_VARIANCE,
    N_CANDIDATES,
    STEP,
    SUBSET_RULE,
    SVM_C,
    SVM_COEF0,
    SVM_DEGREE,
    SVM_TOL,
    ClassWeightName,
    CriterionName,
    KernelName,
    SubsetRule,
)
from .._validation import COUNT, SHARE, feature_names, warn_constant_columns
from ..exceptions import InputError
from ._base import SVMSelector
from .engine import CRITERIA, StepSchedule
from .run import EliminationSetup, NestedScore


class SVMRFE(SVMSelector):
    """Recursive feature elimination with SVMs (Guyon et al. 2002), over one down-dated kernel.

    At each step an SVM is trained on the features that are left, and the one that matters least to
    it is dropped. With ``cv``, each of these subsets is cross-validated, and the best is selected.
    With the linear kernel, one C and ``step=1``, the ranking is that of scikit-learn's
    ``RFE(SVC(kernel="linear", tol=1e-6), step=1)``. Features are taken as they are: scale them.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
    C : float or array-like of float, default=1.0
        Cost of errors. Of several values, the one that cross-validates best is chosen anew at each
        step, the smallest of equally good ones.
    gamma : float or "auto", default="auto"
        Factor in the kernel. ``"auto"`` is one over the number of features that are left.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        Constant in the polynomial and the sigmoid kernel.
    step : int or float, default=1
        How many features are dropped at a time; below 1, the share of those that are left.
    class_weight : {None, "balanced", "cw2", "cw3"} or dict, default=None
        Multiplies C in each class. ``"balanced"`` is scikit-learn's, ``"cw2"`` one over the number
        of rows of the class, ``"cw3"`` that and the number of classes.
    criterion : {"weights", "margin"}, default="weights"
        What makes a feature matter: its squared weight (with a kernel, that of the support vectors
        mapped back), or how much the cost function falls without it, the coefficients as they are
        (exact). With the linear kernel both say the same.
    min_variance : float, default=0.0
        Features that vary no more than this are left out before the start, and ranked last.
    min_features_to_select : int, default=1
        Where elimination ends; the features that are left rank first.
    n_features_to_select : {"best", "one_se"} or int, default="best"
        Which subset is selected: the one with the best score (the smallest of equally good ones),
        the smallest one within one standard error of it, or the one with this number of features.
    cv : int, splitter, iterable or None, default=5
        How subsets are cross-validated. A number of folds keeps the shares of the classes, and
        groups together if there are any. None: no scores, the ranking alone; then
        ``n_features_to_select`` must be a number.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn that works from predictions or decision values; None is the
        accuracy. It is given the known decisions in place of an estimator, and no features. An
        SVM has no probabilities, so scorers that need them are refused.
    nested_cv : bool, int or splitter, default=False
        Whether the whole selection is done inside outer folds, too, for an estimate that is not
        flattered by the choice; True takes ``cv`` for them.
    tol : float, default=1e-6
        How far from optimal an SVM may be. At scikit-learn's 1e-3 rankings depend on the order of
        the rows.
    checkpoint : path or None, default=None
        File that is written after every step. A run that was interrupted goes on from there, to
        exactly the same result; a file of other data or settings is refused.
    n_jobs : int or None, default=None
        Worker processes for candidates and folds. The result is the same.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        1 for the last that are left.
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_ : int
        How many.
    scores_ : ndarray of shape (n_subsets,)
        Mean cross-validated score of each subset, the largest subset first; empty without ``cv``.
    fold_scores_ : ndarray of shape (n_subsets, n_folds)
    n_subset_features_ : ndarray of shape (n_subsets,)
        Number of features of each subset.
    best_score_ : float
    history_ : pandas.DataFrame
        One row for each subset: step, features dropped, candidates, their scores, chosen C, time.
    nested_score_ : NestedScore
        With ``nested_cv``.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import SVMRFE
    >>> X, y = make_classification(
    ...     80, 10, n_informative=2, n_redundant=0, n_clusters_per_class=1, shuffle=False,
    ...     random_state=0)
    >>> rfe = SVMRFE().fit(X, y)
    >>> rfe.ranking_[:2].max(), rfe.best_score_ > 0.9
    (np.int64(2), True)
    >>> rfe.select(2).transform(X).shape
    (80, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVMSelector._parameter_constraints,
        "step": [COUNT, SHARE],
        "criterion": [StrOptions(set(CRITERIA))],
        "min_variance": [Interval(Real, 0, None, closed="left")],
        "min_features_to_select": [COUNT],
        "n_features_to_select": [COUNT, StrOptions({"best", "one_se"})],
        "nested_cv": ["boolean", "cv_object"],
    }

    def __init__(
        self,
        *,
        kernel: KernelName = KERNEL,
        C: float | ArrayLike = SVM_C,
        gamma: float | Literal["auto"] = AUTO,
        degree: int = SVM_DEGREE,
        coef0: float = SVM_COEF0,
        step: float = STEP,
        class_weight: Mapping[Any, float] | ClassWeightName | None = None,
        criterion: CriterionName = CRITERION,
        min_variance: float = MIN_VARIANCE,
        min_features_to_select: int = MIN_FEATURES_TO_SELECT,
        n_features_to_select: SubsetRule | int = SUBSET_RULE,
        cv: Any = CV_FOLDS,
        scoring: Any = None,
        nested_cv: Any = False,
        tol: float = SVM_TOL,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.step = step
        self.class_weight = class_weight
        self.criterion = criterion
        self.min_variance = min_variance
        self.min_features_to_select = min_features_to_select
        self.n_features_to_select = n_features_to_select
        self.cv = cv
        self.scoring = scoring
        self.nested_cv = nested_cv
        self.tol = tol
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: ArrayLike | None = None) -> Self:
        """Rank the features, and select.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never on both sides of a fold.

        Returns
        -------
        self
        """
        X, labels = self._validate(X, y, groups)
        setup = EliminationSetup(
            X,
            labels,
            self._svm_settings(labels),
            self.criterion,
            StepSchedule(self.step, self._n_candidates, int(self.min_features_to_select)),
            float(self.min_variance),
            self.cv,
        )
        self._check_settings(setup)
        is_nested = self.nested_cv is not False and self.nested_cv is not None
        subsets = [setup.all_rows(), *(setup.outer_folds(self.nested_cv) if is_nested else [])]
        for subset in subsets:
            setup.check(subset)
        if self.min_variance == 0:
            constant = setup.pruned(subsets[0].rows)
            warn_constant_columns(feature_names(self), constant, "ranked last")
        folds = [rows for subset in subsets for rows in subset.arrays()]
        with self._open_checkpoint(X, labels, folds) as checkpoint:
            self._history, *self._outer_histories = [
                setup.run(
                    subset,
                    checkpoint.series(subset.series),
                    f"{type(self).__name__}, {subset.series}" if self.verbose else None,
                )
                for subset in subsets
            ]
        self.ranking_ = self._history.ranking
        self._set_scores(self._history.sizes, self._history.fold_scores)
        return self.select(self.n_features_to_select)

    def select(self, n_features_to_select: SubsetRule | int = SUBSET_RULE) -> Self:
        """Choose another of the subsets that the fit has evaluated, without another fit.

        Parameters
        ----------
        n_features_to_select : {"best", "one_se"} or int, default="best"
            As in the constructor.

        Returns
        -------
        self
            With ``support_``, ``n_features_`` and ``nested_score_`` for that number.
        """
        super().select(n_features_to_select)
        if self._outer_histories:
            self.nested_score_ = NestedScore.from_histories(
                self._outer_histories, n_features_to_select
            )
        elif hasattr(self, "nested_score_"):
            del self.nested_score_  # of an earlier fit
        return self

    def _subset(self, n_features: int) -> NDArray[np.bool_]:
        return self._history.support(n_features)

    def _history_rows(self, names: list[str]) -> list[dict[str, Any]]:
        return [
            {
                "step": number,
                "dropped": [names[j] for j in step.dropped],
                "candidates": [names[j] for j in step.candidates],
                "candidate_scores": step.candidate_scores,
                "n_features": step.n_features,
                "C": step.C,
                "score": float(np.mean(step.fold_scores)) if step.fold_scores else float("nan"),
                "seconds": step.seconds,
            }
            for number, step in enumerate(self._history.steps)
        ]

    @property
    def _n_candidates(self) -> int | Literal["auto"]:
        return 1

    def _check_settings(self, setup: EliminationSetup) -> None:
        """Refuse settings that do not go together."""
        number, smallest = self.n_features_to_select, self.min_features_to_select
        if self.cv is None and isinstance(number, str):
            raise InputError(
                f"n_features_to_select={number!r} needs scores, and cv=None gives none: give cv, "
                "or a number of features."
            )
        if self.cv is None and len(setup.svm.costs) > 1:
            raise InputError("Several values of C need cv to choose among them; cv is None.")
        if smallest > self.n_features_in_:
            raise InputError(
                f"min_features_to_select={smallest} is more than X has, {self.n_features_in_}."
            )
        if isinstance(number, str):
            return
        if number > self.n_features_in_:
            raise InputError(
                f"n_features_to_select={number} is more than X has, {self.n_features_in_}."
            )
        if number < smallest:
            raise InputError(
                f"n_features_to_select={number} is less than min_features_to_select={smallest}, "
                "where elimination ends."
            )


class EBRFE(SVMRFE):
    """Evaluation-based recursive feature elimination (Krupka 2016, Algorithm 3).

    As :class:`SVMRFE`, but at each step the features that matter least compete: each subset
    without one of them is cross-validated at every C, and the best subset is the next one. Of
    equally good ones, the feature that matters least leaves.

    Parameters
    ----------
    n_candidates : int or "auto", default=5
        How many compete. 1 is :class:`SVMRFE` exactly. ``"auto"``: as many as have a weight that
        is close to the smallest one, within a tenth of the mean weight, at most 12: few where the
        weights are clear, many where they are not.
    kernel, C, gamma, degree, coef0, class_weight, criterion : optional
        See :class:`SVMRFE`.
    step : int or float, default=1
        How many features leave at a time. The worst of them leave in any case, and
        ``n_candidates`` compete for the last place.
    min_variance, min_features_to_select, n_features_to_select, cv, scoring, nested_cv, tol, \
checkpoint, n_jobs, verbose : optional
        See :class:`SVMRFE`; ``cv`` cannot be None.

    Attributes
    ----------
    ranking_, support_, n_features_, scores_, fold_scores_, n_subset_features_, best_score_, \
history_, nested_score_, classes_, n_features_in_, feature_names_in_
        See :class:`SVMRFE`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import EBRFE
    >>> X, y = make_classification(
    ...     80, 10, n_informative=2, n_redundant=0, n_clusters_per_class=1, shuffle=False,
    ...     random_state=0)
    >>> rfe = EBRFE(n_candidates=3, C=[0.25, 1, 4], nested_cv=True).fit(X, y)
    >>> rfe.history_["candidates"].str.len().tolist()
    [0, 3, 3, 3, 3, 3, 3, 3, 3, 2]
    >>> rfe.best_score_ >= rfe.nested_score_.score
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVMRFE._parameter_constraints,
        "n_candidates": [COUNT, StrOptions({"auto"})],
    }

    def __init__(
        self,
        *,
        n_candidates: int | Literal["auto"] = N_CANDIDATES,
        kernel: KernelName = KERNEL,
        C: float | ArrayLike = SVM_C,
        gamma: float | Literal["auto"] = AUTO,
        degree: int = SVM_DEGREE,
        coef0: float = SVM_COEF0,
        step: float = STEP,
        class_weight: Mapping[Any, float] | ClassWeightName | None = None,
        criterion: CriterionName = CRITERION,
        min_variance: float = MIN_VARIANCE,
        min_features_to_select: int = MIN_FEATURES_TO_SELECT,
        n_features_to_select: SubsetRule | int = SUBSET_RULE,
        cv: Any = CV_FOLDS,
        scoring: Any = None,
        nested_cv: Any = False,
        tol: float = SVM_TOL,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel=kernel,
            C=C,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            step=step,
            class_weight=class_weight,
            criterion=criterion,
            min_variance=min_variance,
            min_features_to_select=min_features_to_select,
            n_features_to_select=n_features_to_select,
            cv=cv,
            scoring=scoring,
            nested_cv=nested_cv,
            tol=tol,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_candidates = n_candidates

    @property
    def _n_candidates(self) -> int | Literal["auto"]:
        return self.n_candidates

    def _check_settings(self, setup: EliminationSetup) -> None:
        if self.cv is None:
            raise InputError("EBRFE decides by cross-validation: cv cannot be None.")
        super()._check_settings(setup)
