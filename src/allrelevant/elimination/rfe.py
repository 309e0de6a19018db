"""SVM-RFE: the feature that matters least to an SVM leaves, and again.

Evaluation-based RFE: the worst features compete, and cross-validation decides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

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
from .._validation import feature_names
from ..exceptions import InputError
from ._base import SVMSelector
from .engine import CRITERIA, StepSchedule
from .history import EliminationHistory, Series, Step, chosen_size
from .run import EliminationSetup, NestedScore, RowSubset, fold_rows, outer_parts

if TYPE_CHECKING:
    import pandas as pd

    from ..checkpoints import CheckpointFile


class SVMRFE(SVMSelector):
    """Recursive feature elimination with SVMs (Guyon et al. 2002), over one down-dated kernel.

    At each step an SVM is trained on the features that are left, and the one that matters least to
    it leaves. With ``cv``, every subset on the way is cross-validated, and the best is selected.
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
        How many features leave at a time; below 1, the share of those that are left.
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
        Which subset is selected: that of the best score (the smallest of equally good ones), the
        smallest within one standard error of it, or that of so many features.
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
        With ``nested``.
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
        "step": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
        "criterion": [StrOptions(set(CRITERIA))],
        "min_variance": [Interval(Real, 0, None, closed="left")],
        "min_features_to_select": [Interval(Integral, 1, None, closed="left")],
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"best", "one_se"}),
        ],
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
        X, labels = self._validated(X, y, groups)
        plan = EliminationSetup(
            X,
            labels,
            self._machinery(labels),
            self.criterion,
            StepSchedule(self.step, self._n_candidates, int(self.min_features_to_select)),
            float(self.min_variance),
            self.cv,
        )
        self._require_sense(plan)
        parts = [plan.whole(), *(outer_parts(plan, self.nested_cv) if self._is_nested else [])]
        for part in parts:
            plan.require_usable(part)
        constant = plan.pruned(parts[0].rows) if self.min_variance == 0 else []
        if constant:
            self._warn_of_constant(constant)
        with self._checkpoint_file(X, labels, fold_rows(parts)) as file:
            traces = [self._run(plan, part, file) for part in parts]
        self._trace, self._outer_traces = traces[0], traces[1:]
        self.ranking_ = self._trace.ranking
        self._keep_scores(self._trace.sizes, self._trace.fold_scores)
        return self.select(self.n_features_to_select)

    def select(self, n_features_to_select: SubsetRule | int = SUBSET_RULE) -> Self:
        """Choose another subset of those that the fit came by, without another fit.

        Parameters
        ----------
        n_features_to_select : {"best", "one_se"} or int, default="best"
            As in the constructor.

        Returns
        -------
        self
            With ``support_``, ``n_features_`` and ``nested_score_`` for that number.
        """
        check_is_fitted(self, "ranking_")
        if isinstance(n_features_to_select, str) and n_features_to_select not in ("best", "one_se"):
            raise InputError(
                f"n_features_to_select must be 'best', 'one_se' or a number, "
                f"got {n_features_to_select!r}."
            )
        size = chosen_size(n_features_to_select, self._trace.sizes, self._trace.fold_scores)
        self.support_ = self._trace.support(size)
        self.n_features_ = int(self.support_.sum())
        if self._outer_traces:
            self.nested_score_ = NestedScore.of(self._outer_traces, n_features_to_select)
        elif hasattr(self, "nested_score_"):
            del self.nested_score_  # of an earlier fit
        return self

    @property
    def history_(self) -> pd.DataFrame:
        """What happened, step by step; the first row is the subset of all features."""
        check_is_fitted(self)
        names = feature_names(self)
        rows = [_row(number, step, names) for number, step in enumerate(self._trace.steps)]
        return self._frame(rows)

    @property
    def _n_candidates(self) -> int | Literal["auto"]:
        return 1

    @property
    def _is_nested(self) -> bool:
        return self.nested_cv is not False and self.nested_cv is not None

    def _run(
        self, plan: EliminationSetup, part: RowSubset, file: CheckpointFile | None
    ) -> EliminationHistory:
        title = f"{type(self).__name__}, {part.series}" if self.verbose else None
        return plan.run(part, Series(file, part.series), title)

    def _require_sense(self, plan: EliminationSetup) -> None:
        """Settings that do not go together."""
        if self.cv is None and isinstance(self.n_features_to_select, str):
            raise InputError(
                f"n_features_to_select={self.n_features_to_select!r} needs scores, and "
                "cv=None gives none: give cv, or a number of features."
            )
        if self.cv is None and len(plan.machinery.costs) > 1:
            raise InputError("Several values of C need cv to choose among them; cv is None.")
        for name, number in (
            ("min_features_to_select", self.min_features_to_select),
            ("n_features_to_select", self.n_features_to_select),
        ):
            if isinstance(number, Integral) and number > self.n_features_in_:
                raise InputError(f"{name}={number} is more than X has, {self.n_features_in_}.")
        if (
            isinstance(self.n_features_to_select, Integral)
            and self.n_features_to_select < self.min_features_to_select
        ):
            raise InputError(
                f"n_features_to_select={self.n_features_to_select} is less than "
                f"min_features_to_select={self.min_features_to_select}, where elimination ends."
            )


def _row(number: int, step: Step, names: list[str]) -> dict[str, Any]:
    return {
        "step": number,
        "dropped": [names[j] for j in step.dropped],
        "candidates": [names[j] for j in step.candidates],
        "candidate_scores": step.candidate_scores,
        "n_features": step.n_features,
        "C": step.C,
        "score": float(np.mean(step.fold_scores)) if step.fold_scores else float("nan"),
        "seconds": step.seconds,
    }


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
        "n_candidates": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
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

    def _require_sense(self, plan: EliminationSetup) -> None:
        if self.cv is None:
            raise InputError("EBRFE decides by cross-validation: cv cannot be None.")
        super()._require_sense(plan)
