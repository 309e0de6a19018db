"""What every estimator of relevance bounds does, whatever its task.

:class:`RelevanceBounds` has the parameters, ``fit``, the fitted attributes, and the questions that
a fitted estimator answers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from .._params import AUTO, CV, FPR, LOSS_SLACK, LOSS_TOL, N_PROBES, NORM_SLACK, PROBES, CutoffName
from .._typing import Matrix, Table, Vector
from .._validation import N_JOBS
from ..resampling import draw_seeds
from ..terms.layout import WeightLayout
from ..terms.scaling import no_scaling, standard_scaling
from ._selector import BoundsSelectorMixin
from .baseline import SEPARATE, Formulation, Tolerance
from .design import CheapestModels, DesignRequest, find_cheapest_models
from .models import LinearModel, LinearModels
from .pipeline import (
    BoundsSettings,
    bound_subproblem,
    calibration_for,
    fit_baseline,
    issue_notes,
    unused_features_notes,
)
from .relations import Relations, find_relations
from .result import BoundsResult, FeatureBounds
from .task import FitScaling, ScaledTables, Subproblem, Task, check_privileged
from .what_if import constrain_result, constraints_in_words, subproblem_of_label

# "auto" screens tables with more features than this.
SCREEN_ABOVE = 10_000


class RelevanceBounds(BoundsSelectorMixin, BaseEstimator):
    """Common part of the estimators of a task: its data become subproblems (``_subproblems``)."""

    task: ClassVar[Task]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv"})],
        "norm_slack": [Interval(Real, 0, None, closed="left")],
        "loss_slack": [Interval(Real, 0, None, closed="left")],
        "loss_tol": [Interval(Real, 0, None, closed="left")],
        "standardize": ["boolean"],
        "cutoff": [Interval(Real, 0, None, closed="left"), StrOptions(set(get_args(CutoffName)))],
        "n_probes": [Interval(Integral, 1, None, closed="left")],
        "fpr": [Interval(Real, 0, 1, closed="neither")],
        "screen": ["boolean", StrOptions({"auto"})],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    baseline_: LinearModel | LinearModels
    classes_: NDArray[Any]

    # Whether the target is converted to numbers.
    _numeric_target: ClassVar[bool] = False

    _result: BoundsResult

    def __init__(
        self,
        *,
        C: float | Literal["cv"] = CV,
        norm_slack: float = NORM_SLACK,
        loss_slack: float = LOSS_SLACK,
        loss_tol: float = LOSS_TOL,
        standardize: bool = True,
        cutoff: float | CutoffName = PROBES,
        n_probes: int = N_PROBES,
        fpr: float = FPR,
        screen: bool | Literal["auto"] = AUTO,
        max_seconds: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.norm_slack = norm_slack
        self.loss_slack = loss_slack
        self.loss_tol = loss_tol
        self.standardize = standardize
        self.cutoff = cutoff
        self.n_probes = n_probes
        self.fpr = fpr
        self.screen = screen
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        privileged: Any = None,
    ) -> Self:
        """Find the baseline, the bounds of every weight, and the class of every feature.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row's loss. Rows of weight zero count as absent.
        privileged : array-like or sparse matrix of shape (n_samples, p), default=None
            Features that are known of these rows and of no others, such as what was found out
            later. They take no part in predictions; they explain how far each row may be missed.

        Returns
        -------
        self
        """
        self._validate_params()
        subproblems, scaled, settings = self._prepare(X, y, sample_weight, privileged)
        baselines = [fit_baseline(subproblem, scaled, settings) for subproblem in subproblems]
        issue_notes(note for baseline in baselines for note in baseline.notes)
        issue_notes(unused_features_notes(baselines, settings.C))
        bounds = tuple(bound_subproblem(baseline, settings) for baseline in baselines)
        issue_notes(note for subproblem in bounds for note in subproblem.notes)
        self._set_fitted_attributes(BoundsResult(WeightLayout.from_estimator(self), bounds))
        return self

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, privileged: Any
    ) -> tuple[list[Subproblem], ScaledTables, BoundsSettings]:
        """Validated data as subproblems, their scaled tables, and how to solve them."""
        self._reset()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=4,
            y_numeric=self._numeric_target,
        )
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        present = weight > 0
        if privileged is not None:
            table, names = check_privileged(privileged, X)
            self.n_privileged_in_ = int(table.shape[1])
            if names is not None:
                self.privileged_names_in_ = names
            privileged = table[present]
        subproblems = self._subproblems(X[present], y[present], weight[present], privileged)
        # All subproblems have the same tables and weights.
        scaled = subproblems[0].variants[0].scale(self._fit_scaling)
        self._check_constant_columns(scaled.scalings[0].constant)
        return subproblems, scaled, self._settings(len(subproblems))

    def _reset(self) -> None:
        """Drop what only some fits leave behind: the last one may have been of another kind."""
        for name in list(vars(self)):
            only_some = name in ("cv_score_", "constraints_")
            if only_some or name.startswith(("privileged_", "n_privileged_")):
                delattr(self, name)

    @abstractmethod
    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        """The learning problems that these data are; all with the same tables and weights."""

    def _settings(self, n_subproblems: int) -> BoundsSettings:
        """The parameters as values, once the number of features is known."""
        fold_seed, probe_seed = draw_seeds(self.random_state, 2)
        auto = self.n_features_in_ > SCREEN_ABOVE
        return BoundsSettings(
            C=None if self.C == "cv" else float(self.C),
            formulation=self._formulation,
            tolerance=Tolerance(self.norm_slack, self.loss_slack, self.loss_tol),
            calibration=calibration_for(self.cutoff, self.n_probes, self.fpr, probe_seed),
            fit_scaling=self._fit_scaling,
            screen=auto if self.screen == "auto" else bool(self.screen),
            max_seconds=None if self.max_seconds is None else self.max_seconds / n_subproblems,
            fold_seed=fold_seed,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    @property
    def _formulation(self) -> Formulation:
        return SEPARATE

    @property
    def _fit_scaling(self) -> FitScaling:
        return standard_scaling if self.standardize else no_scaling

    def _set_fitted_attributes(self, result: BoundsResult) -> None:
        """Everything that ``fit`` leaves behind follows from its result."""
        self._result = result
        features, privileged = result.features, result.privileged
        self.interval_, self.signed_interval_ = features.interval, features.signed_interval
        self.relevance_, self.exact_, self.gap_ = features.relevance, features.exact, features.gap
        self.class_interval_ = features.class_interval
        self.class_relevance_ = features.class_relevance
        self.cutoff_ = features.cutoff
        self.baseline_ = result.baseline
        if privileged is not None:
            self.privileged_interval_ = privileged.interval
            self.privileged_signed_interval_ = privileged.signed_interval
            self.privileged_relevance_ = privileged.relevance
            self.privileged_exact_, self.privileged_gap_ = privileged.exact, privileged.gap
            self.privileged_cutoff_ = privileged.cutoff
        if result.score is not None:
            self.cv_score_ = result.score
        if result.constraints is not None:
            self.constraints_ = constraints_in_words(result)
        self._warn_large_gaps()

    def _feature_tables(self) -> list[FeatureBounds]:
        features, privileged = self._result.features, self._result.privileged
        return [features] if privileged is None else [features, privileged]

    def _subproblem_records(self) -> list[dict[str, Any]]:
        """Cutoffs and baseline of each subproblem, as JSON holds them."""
        several = len(self._result.subproblems) > 1
        return self._result.records(self.classes_.tolist() if several else [None])

    def _with_result(self, result: BoundsResult) -> Self:
        """A copy of this estimator with another result."""
        est = copy(self)
        est._set_fitted_attributes(result)
        return est

    def _values(self, X: Any) -> Matrix:
        """Value of the baseline at each row; with several models, one column each."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.baseline_.decision_function(X)

    def witness(self, feature: int | str, bound: Literal["lower", "upper"]) -> LinearModel:
        """The model that attains a bound: the proof that the weight can be as small, or as large.

        Parameters
        ----------
        feature : int or str
            Index of the feature, or its name if ``X`` had names. Privileged features count on
            behind the others.
        bound : {"lower", "upper"}
            Which end of the feature's ``interval_``.

        Returns
        -------
        LinearModel
            On the scale solved on; its ``decision_function`` takes tables as ``fit`` does.
        """
        index, side = self._checked(feature, bound)
        return self._result.subproblems[0].witness(index, side)

    def what_if(
        self, constraints: Mapping[Any, Any], *, signed: bool = False, label: Any = None
    ) -> Self:
        """The bounds if only models count that keep an expert's constraints.

        Parameters
        ----------
        constraints : dict
            What is asked of features, by name or index (privileged ones count on behind the
            others):

            - ``"drop"``: weight zero, as if the feature were not there;
            - ``"keep"``: a size of at least the cutoff that a relevant feature's weight exceeds
              (the second of ``cutoff_``);
            - a number: exactly this size;
            - ``(lo, hi)``: a size from ``lo`` to ``hi``, None for an open end.

            Numbers are on the scale of ``interval_``.
        signed : bool, default=False
            Numbers are about weights with their signs, on the scale of ``signed_interval_``,
            instead of their sizes. A size from below leaves the sign open: where both are
            possible, the result is about the models of either sign.
        label : object, default=None
            With more than two classes, the class whose models the constraints are about. By
            default those of every class; ``"keep"`` then only of those for which the feature is
            relevant.

        Returns
        -------
        estimator
            A copy of this one, with the bounds under the constraints in all its attributes
            (``interval_``, ``relevance_``, ``baseline_``, ...) and methods (``witness``,
            ``to_frame``, ``plot``, ``predict``, ...), and with ``constraints_``. Cutoffs are those
            of the fit. Asked again, it keeps its constraints unless new ones are about the same
            features.

        Raises
        ------
        InfeasibleConstraintsError
            If no equally good model keeps the constraints. It names a smallest set of constraints
            that clash, and by how much each of them would have to move.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
        >>> [str(r) for r in bounds.relevance_]
        ['strong', 'weak', 'weak', 'irrelevant']
        >>> without = bounds.what_if({1: "drop"})
        >>> [str(r) for r in without.relevance_]
        ['strong', 'irrelevant', 'strong', 'irrelevant']
        >>> bounds.what_if({1: "drop", 2: (0, 0.2), 3: "drop"})
        Traceback (most recent call last):
        ...
        allrelevant.exceptions.InfeasibleConstraintsError: No equivalent model satisfies \
all of: |weight| of 'x1' = 0, |weight| of 'x2' <= 0.2. \
Relax one of them: 'x1' by 5.71 or 'x2' by 5.71.
        """
        check_is_fitted(self)
        classes = getattr(self, "classes_", np.empty(0))
        subproblem = None if label is None else subproblem_of_label(self._result, classes, label)
        return self._with_result(
            constrain_result(self._result, constraints, signed=signed, subproblem=subproblem)
        )

    def relations(self) -> Relations:
        """What replaces what among the relevant features, and which belong together.

        Two intervals of each relevant feature are found anew for each other one: with that one
        dropped, and with it raised to half its largest weight. With many relevant features that
        takes a while, so it is not part of ``fit``; ``n_jobs`` and ``verbose`` are the estimator's.

        Returns
        -------
        Relations
            With ``relations_``, ``feature_groups_``, tables and figures.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
        >>> relations = bounds.relations()
        >>> relations.kind(1, 2), relations.kind(0, 1)
        ('substitutes', 'independent')
        >>> [(group.features, group.relevance) for group in relations.feature_groups_]
        [(['x0'], 'strong'), (['x1', 'x2'], 'strong')]
        """
        check_is_fitted(self)
        return find_relations(self._result, n_jobs=self.n_jobs, verbose=bool(self.verbose))

    def cheapest(
        self,
        costs: Any = None,
        *,
        must_use: Sequence[int | str] = (),
        must_not_use: Sequence[int | str] = (),
        n_solutions: int = 1,
        max_seconds: float | None = None,
    ) -> CheapestModels:
        """The equally good models whose features cost least.

        Found as mixed-integer programs by HiGHS, and proven to be the cheapest ones unless time
        runs out. With costs of 1 they are the smallest sets of features that suffice.

        Parameters
        ----------
        costs : dict or array-like of shape (n_features,), default=None
            Cost of each feature, by name or in the order of the table, none negative. By default
            each costs 1. Privileged features cost nothing: they are not needed for predictions.
        must_use : sequence of int or str, default=()
            Features that are in every set, as if they were acquired already. They count in the
            cost; the models may use them.
        must_not_use : sequence of int or str, default=()
            Features that are in none.
        n_solutions : int, default=1
            Number of different sets to look for, the cheapest first. No set holds another one.
        max_seconds : float, default=None
            Time for the search. When it is up, the best set found so far is the last one, with its
            proven gap.

        Returns
        -------
        CheapestModels
            A sequence of models with ``features``, ``cost``, ``model``, ``proven`` and a
            cross-validated ``score``; fewer than asked for if there are no more.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
        >>> design = bounds.cheapest([1, 5, 2, 1], n_solutions=5)
        >>> [(model.features, model.cost, model.proven) for model in design]
        [(['x0', 'x2'], 3.0, True), (['x0', 'x1'], 6.0, True)]
        >>> design.core(), design.complete
        (['x0'], True)
        """
        check_is_fitted(self)
        self._result.require_one_set()
        request = DesignRequest.parse(
            self._result.layout, costs, must_use, must_not_use, n_solutions, max_seconds
        )
        seed = int(self.random_state) if isinstance(self.random_state, Integral) else 0
        return find_cheapest_models(
            self._result, request, self._fit_scaling, seed, make_predictor=self._with_result
        )
