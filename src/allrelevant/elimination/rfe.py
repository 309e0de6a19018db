"""Recursive feature elimination with SVMs: ``SVMRFE`` and the evaluation-based ``EBRFE``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._params import (
    AUTO,
    BALANCED,
    CRITERION,
    CV_FOLDS,
    KERNEL,
    MIN_FEATURES_TO_SELECT,
    MIN_VARIANCE,
    N_CANDIDATES,
    STEP,
    SUBSET_RULE,
    SUBSET_RULES,
    SVM_C,
    SVM_COEF0,
    SVM_DEGREE,
    SVM_TOL,
    ClassWeightName,
    CriterionName,
    KernelName,
    SubsetRule,
)
from .._validation import COUNT, FRACTION, feature_names, warn_constant_columns
from ..exceptions import InputError
from ..resampling import Labels, warn_rare_class
from ..terms.scaling import low_variance_features
from ._base import SVMSelector
from .engine import CRITERIA, StepSchedule, subset_sizes
from .run import EliminationSetup, nested_score


class SVMRFE(SVMSelector):
    """Recursive feature elimination with SVMs (Guyon et al. 2002).

    In each step, an SVM is trained on the remaining features and the least important features are
    removed. The kernel matrix is downdated instead of recomputed. The number of features to select
    is chosen by cross-validation, with the elimination repeated on the training rows of each fold,
    as in scikit-learn's ``RFECV``. If the number is given, no cross-validation is run.

    With the linear kernel, a single C, ``step=1``, ``class_weight=None`` and ``standardize=False``,
    the ranking is the same as that of scikit-learn's ``RFE(SVC(kernel="linear", tol=1e-6))``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
        Kernel type.
    C : float or array-like of float, default=1.0
        Regularization parameter. If several values are given, the best cross-validated one is
        chosen in each step; ties go to the smallest.
    gamma : float or "auto", default="auto"
        Kernel coefficient. ``"auto"`` means one over the number of remaining features.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant term of the polynomial and the sigmoid kernel.
    step : int, float or "auto", default="auto"
        Number of features removed per step; below 1, the fraction of the remaining features.
        ``"auto"`` removes a tenth of the features while more than 200 remain, and then one feature
        per step.
    class_weight : {None, "balanced", "cw2", "cw3"} or dict, default="balanced"
        Per-class multiplier of C. ``"balanced"`` is defined as in scikit-learn. ``"cw2"`` is one
        over the number of rows of the class, and ``"cw3"`` is ``"cw2"`` plus the number of classes.
    criterion : {"weights", "margin"}, default="weights"
        Importance of a feature. ``"weights"`` uses its weight in the sum of support vectors, which
        is approximate for nonlinear kernels. ``"margin"`` uses the exact decrease in cost from
        removing the feature, with coefficients held fixed. Both give the same order for the linear
        kernel.
    min_variance : float, default=0.0
        Variance threshold. Features with at most this variance, before standardization, are removed
        first and ranked last.
    min_features_to_select : int, default=1
        Number of features at which elimination stops. These features are ranked first.
    n_features_to_select : {"best", "smallest_best", "one_se"} or int, default="best"
        Selection rule. ``"best"`` selects the subset with the best score. Ties go to the largest
        margin of the held-out rows. ``"smallest_best"`` selects the smallest subset with the best
        score, and ``"one_se"`` the smallest subset within one standard error of the best score. A
        number selects the subset of this size.
    cv : int, splitter, iterable or None, default=5
        Cross-validation of subsets. For a number, folds are shuffled with ``random_state``,
        stratified, and keep row groups together. It is not used if ``n_features_to_select`` is a
        number and there is a single C. With None, this must be the case.
    scoring : str, callable or None, default=None
        Scorer as in scikit-learn; None means balanced accuracy. The scorer receives precomputed
        decisions instead of an estimator and features. Scorers that require probabilities are not
        supported.
    repeat_in_folds : bool, default=True
        Whether to repeat the elimination on the training rows of each fold. If False, features are
        ranked once on all rows, and the scores are optimistically biased.
    nested_cv : bool, int or splitter, default=False
        Outer folds in which the whole selection is repeated for ``held_out_score_``. True uses
        ``cv`` for the outer folds.
    standardize : bool, default=True
        Whether to scale features to mean 0 and variance 1. The mean and the variance are those of
        the training rows. Sparse tables are not centered.
    random_state : int, RandomState instance or None, default=None
        Source of the seed that shuffles the folds. With a checkpoint, None means 0.
    tol : float, default=1e-6
        Stopping tolerance of the SVM solver. With scikit-learn's default of 1e-3, rankings can
        depend on the order of the rows.
    checkpoint : path or None, default=None
        Checkpoint file, written after every step. An interrupted run resumes from it with exactly
        the same result. ``fit`` raises an error if the file belongs to different data or settings.
    n_jobs : int or None, default=None
        Number of worker processes for folds; without folds, for the candidates of a step. Does not
        change the result.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Ranking of the features, with 1 for those that remain at the end.
    support_ : ndarray of bool of shape (n_features,)
        Mask of the selected features.
    n_features_ : int
        Number of selected features.
    scores_, score_errors_ : ndarray of shape (n_subsets,)
        Mean cross-validated score of each subset, largest subset first, and its standard error.
        Empty if no cross-validation was run.
    fold_scores_ : ndarray of shape (n_subsets, n_folds)
        Score of each subset on each fold.
    n_subset_features_ : ndarray of shape (n_subsets,)
        Number of features of each subset.
    optimistic_ : bool
        Whether the scores are optimistically biased because the features were ranked on all rows.
    best_score_ : float
        Best value of ``scores_``, which is optimistic as the best of many.
    held_out_score_ : HeldOutScore
        Score of the selection on rows used neither to rank the features nor to choose their number,
        compared with all features and with a constant prediction; stability of the selection. Not
        available if the number of features was given or features were ranked once, except with
        ``nested_cv``.
    scoring_ : str
        Name of the score.
    history_ : pandas.DataFrame
        One row per subset: step, dropped features, candidates and their scores, chosen C, time.
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
    >>> rfe = SVMRFE(random_state=0).fit(X, y)
    >>> int(rfe.ranking_[:2].max()), rfe.held_out_score_.score > 0.9
    (2, True)
    >>> rfe.select(2).transform(X).shape
    (80, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVMSelector._parameter_constraints,
        "step": [COUNT, FRACTION, StrOptions({"auto"})],
        "criterion": [StrOptions(set(CRITERIA))],
        "min_variance": [Interval(Real, 0, None, closed="left")],
        "min_features_to_select": [COUNT],
        "n_features_to_select": [COUNT, StrOptions(set(SUBSET_RULES))],
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
        step: float | Literal["auto"] = STEP,
        class_weight: Mapping[Any, float] | ClassWeightName | None = BALANCED,
        criterion: CriterionName = CRITERION,
        min_variance: float = MIN_VARIANCE,
        min_features_to_select: int = MIN_FEATURES_TO_SELECT,
        n_features_to_select: SubsetRule | int = SUBSET_RULE,
        cv: Any = CV_FOLDS,
        scoring: Any = None,
        repeat_in_folds: bool = True,
        nested_cv: Any = False,
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = None,
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
        self.repeat_in_folds = repeat_in_folds
        self.nested_cv = nested_cv
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
        """Rank the features and select a subset.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Data frames may contain text, categories, booleans and missing values. A category, or a
            number with missing values, is ranked and selected as a whole.
        y : array-like of shape (n_samples,)
            Class labels.
        groups : array-like of shape (n_samples,), default=None
            Group labels of the rows. Rows of the same group are never split between training and
            test rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in training and in scores. A row with weight 2 counts like two
            rows.

        Returns
        -------
        self
        """
        X, labels = self._validate(X, y, groups, sample_weight)
        self._check_settings()
        setup = self._setup(X, labels)
        is_nested = self.nested_cv is not False and self.nested_cv is not None
        plans = [setup.plan(), *(setup.outer_plans(self.nested_cv) if is_nested else [])]
        for plan in plans:
            for subset in plan.subsets:
                setup.check(subset)
        if self.min_variance == 0:
            constant = setup.pruned_features(labels.rows)
            warn_constant_columns(feature_names(self), constant, "ranked last")
        if setup.repeat or setup.inner:
            warn_rare_class(labels, self.cv)
        folds = [] if self.cv is None else setup.folds(labels.rows, "")
        folds += [(plan.whole.rows, plan.whole.held_out) for plan in plans[1:]]
        arrays = [rows for fold in folds for rows in fold]
        with self._open_checkpoint(X, labels, arrays, np.array(setup.inner)) as checkpoint:
            title = type(self).__name__ if self.verbose else None
            self._path, *self._outer_paths = setup.run(plans, checkpoint, title)
        self.ranking_ = self._path.whole.ranking
        scores = self._path.scores
        self._set_scores(scores.sizes, scores.scores, once=self._path.ranked_once)
        return self.select(self.n_features_to_select)

    def _setup(self, X: Any, labels: Labels) -> EliminationSetup:
        settings = self._svm_settings(labels)
        by_rule = isinstance(self.n_features_to_select, str)
        layout = self._layout
        low = low_variance_features(X, float(self.min_variance), layout, labels.weight)
        n_varying = layout.n_features - len(low)
        sizes = subset_sizes(
            max(n_varying, int(self.min_features_to_select)),
            self.step,
            int(self.min_features_to_select),
        )
        in_steps = self._n_candidates != 1 or len(settings.costs) > 1
        return EliminationSetup(
            X,
            layout,
            labels,
            settings,
            self.criterion,
            StepSchedule(sizes, self._n_candidates),
            float(self.min_variance),
            bool(self.standardize),
            self.cv,
            inner=in_steps or (by_rule and not self.repeat_in_folds),
            repeat=by_rule and bool(self.repeat_in_folds),
            seed=self._seed(),
        )

    def select(self, n_features_to_select: SubsetRule | int = SUBSET_RULE) -> Self:
        """Select a subset by a different rule or size, without refitting.

        Parameters
        ----------
        n_features_to_select : {"best", "smallest_best", "one_se"} or int, default="best"
            Selection rule, as in the constructor.

        Returns
        -------
        self
            Selector with updated ``support_``, ``n_features_`` and ``held_out_score_``.
        """
        check_is_fitted(self, "ranking_")
        scores = self._path.scores
        self.support_ = self._path.whole.support(scores.choose(n_features_to_select))
        self.n_features_ = int(self.support_.sum())
        self._held_out = (
            nested_score(self._outer_paths, n_features_to_select)
            if self._outer_paths
            else scores.held_out(n_features_to_select)
        )
        return self

    def _history_rows(self, names: list[str]) -> list[dict[str, Any]]:
        return [
            {
                "step": number,
                "dropped": [names[j] for j in step.dropped],
                "candidates": [names[j] for j in step.candidates],
                "candidate_scores": step.candidate_scores,
                "n_features": step.n_features,
                "C": step.C,
                "score": float(self.scores_[number]) if len(self.scores_) else float("nan"),
                "seconds": step.seconds,
            }
            for number, step in enumerate(self._path.whole.steps)
        ]

    @property
    def _n_candidates(self) -> int | Literal["auto"]:
        return 1

    def _check_settings(self) -> None:
        """Raise if parameters are incompatible with each other or with the number of features."""
        number, smallest = self.n_features_to_select, self.min_features_to_select
        if self.cv is None and isinstance(number, str):
            raise InputError(
                f"n_features_to_select={number!r} requires cross-validation (got cv=None). "
                "Set cv, or pass a number of features."
            )
        if self.cv is None and len(self._costs()) > 1:
            raise InputError(
                "Several values of C require cross-validation (got cv=None). Set cv, or pass a "
                "single C."
            )
        if smallest > self.n_features_in_:
            raise InputError(
                f"min_features_to_select={smallest} exceeds the number of features "
                f"({self.n_features_in_}). Use a smaller number."
            )
        if isinstance(number, str):
            return
        if number > self.n_features_in_:
            raise InputError(
                f"n_features_to_select={number} exceeds the number of features "
                f"({self.n_features_in_}). Use a smaller number."
            )
        if number < smallest:
            raise InputError(
                f"n_features_to_select={number} is less than min_features_to_select={smallest}, at "
                "which elimination stops. Reduce min_features_to_select."
            )


class EBRFE(SVMRFE):
    """Evaluation-based recursive feature elimination (Krupka 2016, Algorithm 3).

    This is :class:`SVMRFE` with a different removal rule. In each step, the least important
    features are candidates. Each subset without one of the candidates is cross-validated at every
    C, and the best one is kept. In case of ties, the least important candidate is removed.

    Parameters
    ----------
    n_candidates : int or "auto", default=5
        Number of candidates per step. 1 is equivalent to :class:`SVMRFE`. With ``"auto"``,
        candidates are the features whose weight exceeds the smallest one by at most a tenth of the
        mean weight, up to 12.
    kernel, C, gamma, degree, coef0, class_weight, criterion : optional
        See :class:`SVMRFE`.
    step : int, float or "auto", default="auto"
        Number of features removed per step, as in :class:`SVMRFE`. The last of these is chosen
        among ``n_candidates`` candidates. The others are chosen by importance alone.
    min_variance, min_features_to_select, n_features_to_select, cv, scoring, repeat_in_folds, \
nested_cv, standardize, random_state, tol, checkpoint, n_jobs, verbose : optional
        See :class:`SVMRFE`; ``cv`` cannot be None. In each fold, candidates are compared by
        cross-validation within its training rows. With ``repeat_in_folds=False``, as in the thesis,
        a run takes about a sixth of the time, and its scores are optimistically biased.

    Attributes
    ----------
    ranking_, support_, n_features_, scores_, score_errors_, fold_scores_, n_subset_features_, \
optimistic_, best_score_, held_out_score_, scoring_, history_, classes_, n_features_in_, \
feature_names_in_
        See :class:`SVMRFE`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import EBRFE
    >>> X, y = make_classification(
    ...     80, 10, n_informative=2, n_redundant=0, n_clusters_per_class=1, shuffle=False,
    ...     random_state=0)
    >>> rfe = EBRFE(n_candidates=3, C=[0.25, 1, 4], random_state=0).fit(X, y)
    >>> rfe.history_["candidates"].str.len().tolist()
    [0, 3, 3, 3, 3, 3, 3, 3, 3, 2]
    >>> rfe.best_score_ >= rfe.held_out_score_.score > rfe.held_out_score_.constant
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
        step: float | Literal["auto"] = STEP,
        class_weight: Mapping[Any, float] | ClassWeightName | None = BALANCED,
        criterion: CriterionName = CRITERION,
        min_variance: float = MIN_VARIANCE,
        min_features_to_select: int = MIN_FEATURES_TO_SELECT,
        n_features_to_select: SubsetRule | int = SUBSET_RULE,
        cv: Any = CV_FOLDS,
        scoring: Any = None,
        repeat_in_folds: bool = True,
        nested_cv: Any = False,
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = None,
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
            repeat_in_folds=repeat_in_folds,
            nested_cv=nested_cv,
            standardize=standardize,
            random_state=random_state,
            tol=tol,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_candidates = n_candidates

    @property
    def _n_candidates(self) -> int | Literal["auto"]:
        return self.n_candidates

    def _check_settings(self) -> None:
        if self.cv is None:
            raise InputError("EBRFE requires cross-validation (got cv=None). Set cv.")
        super()._check_settings()
