"""Base class of the estimators that compute relevance bounds for linear models.

:class:`RelevanceBounds` defines the common parameters, ``fit``, the fitted attributes and the
methods that analyze a fitted estimator.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._optional import display
from .._params import (
    AUTO,
    CUTOFF,
    CV,
    FDR_LEVEL,
    FPR,
    LOSS_SLACK,
    LOSS_TOL,
    MAX_SEARCH_SECONDS,
    N_PROBES,
    NORM_SLACK,
    TOL,
    CutoffName,
)
from .._typing import Matrix, Table, Vector
from .._validation import MAX_SIZE, MAX_UNSCALED, check_groups, check_weights
from ..memory import available_memory, warn_memory
from ..parallel import Job, n_processes, start_job
from ..relevance import RELEVANT
from ..subsets import resolve_scorer
from ..terms.blocks import Block
from ..terms.encoding import TableEncoding
from ..terms.layout import WeightLayout, privileged_names
from ..terms.validation import FeatureTable, read_features, read_new_rows
from ._selector import BoundsSelectorMixin
from .baseline import SEPARATE, Formulation
from .cheapest_models import CheapestModels
from .design import DesignRequest, check_max_seconds, find_cheapest_models
from .exported_proof import export_proof
from .levels import LevelEffects, level_effects, levels_to_frame
from .models import LinearModel, LinearModels
from .parameters import (
    PARAMETER_CONSTRAINTS,
    encoding_options,
    make_scoring,
    make_settings,
    scaling_method,
)
from .pipeline import (
    FIT_STAGES,
    BoundsSettings,
    baseline_notes,
    bound_subproblems,
    calibrate,
    fit_baselines,
    issue_notes,
)
from .predictors import apply_scorer
from .proof_table import ProofRequest
from .relations import RELATION_STAGES, Relations, find_relations, find_substitutes
from .result import BoundsResult, FeatureBounds
from .sufficiency import Sufficiency, check_sufficiency
from .task import ScaledTables, Subproblem, read_privileged
from .tuning import Tuning
from .what_if import constrain_result, describe_constraints, find_subproblem

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import LevelsDisplay


class RelevanceBounds(BoundsSelectorMixin, BaseEstimator):
    """Base class of the relevance bounds estimators; subclasses implement ``_subproblems``."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETER_CONSTRAINTS

    baseline_: LinearModel | LinearModels
    classes_: NDArray[Any]

    # Whether the target is converted to numbers.
    _numeric_target: ClassVar[bool] = False

    _result: BoundsResult
    _layout: WeightLayout
    _encoding: TableEncoding | None
    _tuning: Tuning

    def __init__(
        self,
        *,
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
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.norm_slack = norm_slack
        self.loss_slack = loss_slack
        self.loss_tol = loss_tol
        self.standardize = standardize
        self.categorical = categorical
        self.curves = curves
        self.terms = terms
        self.cutoff = cutoff
        self.fdr = fdr
        self.n_probes = n_probes
        self.fpr = fpr
        self.tol = tol
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
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the baseline, compute the relevance bounds and assign relevance classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample's loss. Samples of weight zero are ignored.
        privileged : array-like, sparse matrix or data frame of shape (n_samples, p), default=None
            Privileged features: features that are available only for training samples, such as
            information collected later. Predictions do not use them. They model the slack variable
            of each sample. Categories and missing values are accepted as in ``X``.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as the patient of each visit. Samples of the same group are
            never separated: not by the cross-validation folds, and not by the permutations that
            show how much evidence noise can produce.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._validate_params()
        with start_job(FIT_STAGES, max_seconds=self.max_seconds, verbose=bool(self.verbose)) as job:
            return self._fit_in_job(job, X, y, sample_weight, privileged, groups)

    def _fit_in_job(
        self,
        job: Job,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        privileged: Any = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit as a step of a job, within its deadline."""
        self._validate_params()
        subproblems, scaled, settings = self._prepare(X, y, sample_weight, privileged, groups, job)
        baselines, notes = fit_baselines(subproblems, scaled, settings)
        issue_notes(notes)
        evidence, calibrations = calibrate(baselines, settings)
        issue_notes(baseline_notes(baselines, evidence, settings.calibration))
        bounds = bound_subproblems(baselines, settings, calibrations)
        issue_notes(note for subproblem in bounds for note in subproblem.notes)
        self._set_fitted_attributes(BoundsResult(self._layout, bounds, evidence))
        return self

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        privileged: Any,
        groups: Any,
        job: Job,
    ) -> tuple[list[Subproblem], ScaledTables, BoundsSettings]:
        """Validate the data; return the subproblems, the scaled tables and the settings."""
        self._reset()
        table, y = self._read_features(X, y)
        X, self._encoding = table.values, table.encoding
        table.warn_notes()
        given = check_weights(sample_weight, X.shape[0])
        weight = np.ones(X.shape[0]) if given is None else given
        present = weight > 0
        privileged_blocks: Mapping[int, Block] = {}
        if privileged is not None:
            second = read_privileged(privileged, X)
            self.n_privileged_in_ = second.n_features
            if second.names is not None:
                self.privileged_names_in_ = second.names
            privileged, privileged_blocks = second.values[present], second.blocks
        self._layout = self._make_layout(table, privileged_blocks)
        row_groups = check_groups(groups, len(y))
        present_groups = None if row_groups is None else row_groups[present]
        n_entries = X.nnz if sp.issparse(X) else None
        n_cells, free = X.shape[0] * X.shape[1], available_memory()
        warn_memory(n_cells, n_entries, n_processes(self.n_jobs), free)
        terms = self._layout if self._layout.blocks else None
        score_weight = None if sample_weight is None else weight[present]
        subproblems = [
            part.with_structure(present_groups, terms, score_weight)
            for part in self._subproblems(X[present], y[present], weight[present], privileged)
        ]
        # All subproblems have the same tables and weights.
        scaled = subproblems[0].variants[0].scale(scaling_method(self))
        varying = self._layout.any_weight(scaled.varying)
        self._check_constant_columns(~varying[: self._layout.n_features])
        if self._encoding is not None:
            scaled = scaled.with_encoding(self._encoding)
        strata = self._split_target(y)
        settings = make_settings(
            self, self._formulation, subproblems, strata, row_groups, present, job
        )
        self._tuning = settings.tuning
        return subproblems, scaled, settings

    def _read_features(self, X: Any, y: Any) -> tuple[FeatureTable, NDArray[Any]]:
        """Validate samples and target, and set the number and the names of the features."""
        return read_features(
            self,
            X,
            y,
            encoding_options(self),
            y_numeric=self._numeric_target,
            max_size=MAX_SIZE if self.standardize else MAX_UNSCALED,
        )

    def _split_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the target that the splitter ``cv`` receives, given the validated target."""
        return y

    def _make_layout(
        self, table: FeatureTable, privileged_blocks: Mapping[int, Block]
    ) -> WeightLayout:
        """Return the assignment of weights to the features of all tables, with names."""
        layout, blocks = WeightLayout.from_estimator(self), {}
        if table.encoding is not None:
            names = (*table.encoding.names, *privileged_names(self))
            n_features = len(table.encoding.features)
            layout = WeightLayout(n_features, len(names) - n_features, names)
            blocks = dict(table.encoding.blocks)
        moved = {layout.n_features + j: block for j, block in privileged_blocks.items()}
        return replace(layout, blocks={**blocks, **moved})

    def _reset(self) -> None:
        """Delete optional fitted attributes that the next fit may not set."""
        for name in list(vars(self)):
            is_optional = name in ("cv_score_", "constraints_")
            if is_optional or name.startswith(("privileged_", "n_privileged_")):
                delattr(self, name)

    @abstractmethod
    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        """Split the data into subproblems, all with the same tables and sample weights."""

    @property
    def _formulation(self) -> Formulation:
        return SEPARATE

    def _score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the baseline by ``scoring``, or by ``score`` without it."""
        if self.scoring is None:
            return float(self.score(X, y, sample_weight))
        return apply_scorer(resolve_scorer(self.scoring), self, X, y, sample_weight)

    def _set_fitted_attributes(self, result: BoundsResult) -> None:
        """Set all fitted attributes from a result."""
        self._result = result
        features, privileged = result.features, result.privileged
        self.interval_, self.signed_interval_ = features.interval, features.signed_interval
        self.relevance_, self.exact_, self.gap_ = features.relevance, features.exact, features.gap
        self.class_interval_ = features.class_interval
        self.class_relevance_ = features.class_relevance
        self.pvalue_, self.qvalue_ = features.pvalue, features.qvalue
        self.rule_, self.table_pvalue_ = features.rule, float(result.evidence[0])
        self.cutoff_ = features.cutoff
        self.baseline_ = result.baseline
        if privileged is not None:
            self.privileged_interval_ = privileged.interval
            self.privileged_signed_interval_ = privileged.signed_interval
            self.privileged_relevance_ = privileged.relevance
            self.privileged_exact_, self.privileged_gap_ = privileged.exact, privileged.gap
            self.privileged_pvalue_ = privileged.pvalue
            self.privileged_qvalue_ = privileged.qvalue
            self.privileged_table_pvalue_ = float(result.evidence[1])
            self.privileged_cutoff_ = privileged.cutoff
        if result.score is not None:
            self.cv_score_ = result.score
        if result.constraints is not None:
            self.constraints_ = describe_constraints(result)
        for table in self._feature_tables():
            self._warn_large_gaps(table.has_witness & ~table.exact, table.gap)

    def _feature_tables(self) -> list[FeatureBounds]:
        features, privileged = self._result.features, self._result.privileged
        return [features] if privileged is None else [features, privileged]

    def _subproblem_records(self) -> list[dict[str, Any]]:
        """Return the cutoffs and the baseline of each subproblem as JSON-compatible values."""
        several = len(self._result.subproblems) > 1
        return self._result.records(self.classes_.tolist() if several else [None])

    def _with_result(self, result: BoundsResult) -> Self:
        """Return a copy of this estimator with its fitted attributes set from another result."""
        est = copy(self)
        est._set_fitted_attributes(result)
        return est

    def _feature_layout(self) -> WeightLayout:
        return self._layout

    def _columns_of(self, features: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return features if self._encoding is None else self._encoding.columns_of(features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Data frames may have missing values; arrays of numbers may not.
        tags.input_tags.allow_nan = getattr(self, "_encoding", None) is not None
        return tags

    def _values(self, X: Any) -> Matrix:
        """Return the decision values of the baseline for each sample."""
        check_is_fitted(self)
        return self.baseline_.decision_function(read_new_rows(self, X, self._encoding))

    def witness(self, feature: int | str, bound: Literal["lower", "upper"]) -> LinearModel:
        """Return a witness: an equivalent model that attains a bound of a feature.

        Parameters
        ----------
        feature : int or str
            Index of the feature, or its name if ``X`` has column names. Indices of privileged
            features follow those of ``X``.
        bound : {"lower", "upper"}
            End of the feature's ``interval_``.

        Returns
        -------
        LinearModel
            Witness of the bound. Its weights are for scaled features; its ``decision_function``
            accepts unscaled tables, as ``fit`` does.
        """
        index, side = self._checked(feature, bound)
        return self._result.subproblems[0].witness(index, side)

    def export_proof(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        target: str = "target",
        rows: Sequence[int] | None = None,
    ) -> dict[str, Any]:
        """Return a proof of the bounds that ``allrelevant verify`` checks in exact arithmetic.

        A proof contains no table, so ``X``, ``y`` and ``sample_weight`` must be those of ``fit``.
        The bounds are computed again, to obtain their certificates. See ``docs/proofs.md`` for what
        is proven, and for the format. Proofs are available for classification, regression, ordinal
        regression and ranking, without privileged features, ``formulation="joint"`` or sparse
        tables. They do not cover features with several columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample.
        target : str, default="target"
            Name of the target column in the table that the proof is checked against.
        rows : sequence of int, default=None
            Indices of the samples in that table, if it has further rows.

        Returns
        -------
        dict
            Proof, to be written with ``json.dump``.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     40, n_strong=1, n_weak=0, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
        >>> proof = bounds.export_proof(data.X, data.y)
        >>> name, smallest, largest = proof["problems"][0]["bounds"][0]
        >>> name, smallest["proven"] <= smallest["attained"] <= largest["proven"]
        ('x0', True)
        """
        check_is_fitted(self)
        request = ProofRequest(X, y, sample_weight, target, rows)
        several = len(self._result.subproblems) > 1
        labels = self.classes_.tolist() if several else [None]
        return export_proof(self._result, self._encoding, self.task.name, labels, request)

    def levels_frame(self) -> pd.DataFrame:
        """Return the effect of each level of the categories, with its range over all models.

        The effect of a level is its contribution to the value of the model, compared with the mean
        over all rows. The bins of ``curves`` are levels, too. For a number with missing values, the
        effect of a missing value is compared with that of the median. If its range excludes zero,
        the fact that a value is missing is informative.

        Returns
        -------
        pandas.DataFrame
            One row per level: ``feature``, ``class`` (with more than two classes), ``level``,
            ``baseline`` (effect in the baseline), ``low`` and ``high`` (smallest and largest effect
            over the equivalent models).

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from allrelevant import ClassificationBounds
        >>> site = np.array(["Bern", "Oslo", "Rome"] * 20)
        >>> X = pd.DataFrame({"site": site, "noise": np.random.RandomState(0).normal(size=60)})
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(X, site == "Rome")
        >>> bounds.levels_frame().round(1).values.tolist()[2][:3]
        ['site', 'Rome', 1.3]
        """
        check_is_fitted(self)
        return levels_to_frame(self._level_effects())

    def plot_levels(self, feature: int | str, **kwargs: Any) -> LevelsDisplay:
        """Plot the effect of each level of a feature; see :meth:`LevelsDisplay.from_estimator`."""
        return display("LevelsDisplay").from_estimator(self, feature, **kwargs)

    def _level_effects(self, features: Sequence[int] | None = None) -> list[LevelEffects]:
        several = len(self._result.subproblems) > 1
        labels = self.classes_.tolist() if several else [None]
        return level_effects(self._result, self._encoding, labels, features)

    def _relevant_levels(self) -> list[LevelEffects]:
        relevant = np.flatnonzero(np.isin(self.relevance_, RELEVANT))
        return self._level_effects(relevant.tolist())

    def what_if(
        self, constraints: Mapping[Any, Any], *, signed: bool = False, label: Any = None
    ) -> Self:
        """Compute the bounds over the equivalent models that satisfy user constraints.

        Parameters
        ----------
        constraints : dict
            Constraints, keyed by feature name or index. Indices of privileged features follow those
            of ``X``. A constraint is one of:

            - ``"drop"``: the weight is zero, as if the feature did not exist;
            - ``"keep"``: the absolute weight is at least the cutoff for relevant features (the
              second value of ``cutoff_``);
            - a number: the absolute weight has this value;
            - ``(lo, hi)``: the absolute weight is between ``lo`` and ``hi``; None means no limit.

            Numbers are on the scale of ``interval_``.
        signed : bool, default=False
            If True, numbers refer to signed weights, on the scale of ``signed_interval_``, instead
            of absolute weights. A lower limit on an absolute weight allows both signs; if both are
            feasible, the result covers the models of either sign.
        label : object, default=None
            With more than two classes, the class whose one-vs-rest models are constrained. By
            default, the models of all classes are constrained, with one exception: ``"keep"``
            applies only to the classes for which the feature is relevant.

        Returns
        -------
        estimator
            Copy of this estimator for the constrained models. Its attributes (``interval_``,
            ``relevance_``, ``baseline_``, ...) and methods (``witness``, ``to_frame``, ``plot``,
            ``predict``, ...) refer to these models, and ``constraints_`` describes the constraints.
            The cutoffs are not changed. Further calls of ``what_if`` on the copy add constraints; a
            new constraint replaces an earlier one on the same feature.

        Raises
        ------
        InfeasibleConstraintsError
            If no equivalent model satisfies the constraints. The error gives an irreducible
            infeasible subset of the constraints and the smallest relaxation of each.

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
        subproblem = None if label is None else find_subproblem(self._result, classes, label)
        return self._with_result(
            constrain_result(self._result, constraints, signed=signed, subproblem=subproblem)
        )

    def relations(self, *, max_seconds: float | None = None) -> Relations:
        """Find substitutes and complements among the relevant features.

        For each pair of relevant features, the interval of one is recomputed twice: with the other
        dropped, and with the other raised to half its largest absolute weight. This is slow with
        many relevant features, so it is not part of ``fit``. The estimator's ``n_jobs`` and
        ``verbose`` apply.

        Parameters
        ----------
        max_seconds : float or None, default=None
            Time limit; None means no limit. The features with the largest bounds are examined
            first. If the limit is reached, a warning states how many pairs were not examined.

        Returns
        -------
        Relations
            Pairwise relations (``relations_``) and groups (``feature_groups_``) of the features.

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
        check_max_seconds(max_seconds)
        with start_job(RELATION_STAGES, max_seconds=max_seconds, verbose=bool(self.verbose)) as job:
            return self._relations_in_job(job)

    def _relations_in_job(self, job: Job) -> Relations:
        """Find substitutes and complements as a step of a job, within its deadline."""
        return find_relations(self._result, job, n_jobs=self.n_jobs)

    def substitutes(self, features: Sequence[int | str]) -> dict[str, list[str]]:
        """Find the features that can replace given features.

        The result is a part of :meth:`relations` and takes less time for few features.

        Parameters
        ----------
        features : sequence of int or str
            Indices or names of features.

        Returns
        -------
        dict
            For each of the features, the names of its substitutes, strongest relation first. A
            substitute becomes more necessary if the feature is dropped, or less useful if it is
            raised. A strong or irrelevant feature may have none.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
        >>> bounds.substitutes(["x0", "x1"])
        {'x0': [], 'x1': ['x2']}
        """
        check_is_fitted(self)
        layout = self._result.layout
        indices = [layout.index(feature) for feature in features]
        found = find_substitutes(self._result, indices, n_jobs=self.n_jobs)
        return {
            layout.names[k]: [layout.names[j] for j in others]
            for k, others in zip(indices, found, strict=True)
        }

    def cheapest(
        self,
        costs: Any = None,
        *,
        must_use: Sequence[int | str] = (),
        must_not_use: Sequence[int | str] = (),
        n_solutions: int = 1,
        max_seconds: float | None = MAX_SEARCH_SECONDS,
        held_out_score: bool | Literal["auto"] = AUTO,
    ) -> CheapestModels:
        """Find minimum-cost feature sets that suffice for an equivalent model.

        The search solves mixed-integer linear programs with HiGHS, which proves that the sets are
        optimal unless time runs out. With unit costs, these are the smallest feature sets that
        suffice for an equivalent model. The result selects features like a fitted selector, with
        ``get_support`` and ``transform``.

        Parameters
        ----------
        costs : dict or array-like of shape (n_features,), default=None
            Nonnegative cost of each feature: a dict keyed by name, or an array in the order of the
            columns. By default, each feature costs 1. Privileged features have no cost, because
            predictions do not use them.
        must_use : sequence of int or str, default=()
            Features that every set includes. Their cost is counted even if a model does not use
            them.
        must_not_use : sequence of int or str, default=()
            Features that no set includes.
        n_solutions : int, default=1
            Maximum number of feature sets, in order of cost. No set contains another.
        max_seconds : float or None, default=60.0
            Time limit; None means no limit. If it is reached, the last set is the best one found so
            far, with its optimality gap, and a warning is issued. The folds of ``held_out_score``
            together have the same limit again.
        held_out_score : bool or "auto", default="auto"
            Whether to compute a nested cross-validation score of the cheapest set, which requires
            one search per fold. ``"auto"`` computes it for tables with up to 40 features, unless
            the estimator was returned by ``what_if``.

        Returns
        -------
        CheapestModels
            Sequence of models with ``features``, ``cost``, ``model``, ``proven`` and a
            cross-validated ``score``; shorter than ``n_solutions`` if no further sets exist. The
            score of a set is optimistic, because the set was chosen on the same rows. Report
            ``held_out_score`` instead: it chooses the cheapest set anew in each fold. It describes
            the first set only.

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
        >>> design.get_support(indices=True), design.transform(data.X).shape
        (array([0, 2]), (400, 2))
        """
        return self._cheapest_in_job(
            Job(), costs, must_use, must_not_use, n_solutions, max_seconds, held_out_score
        )

    def _cheapest_in_job(
        self,
        job: Job,
        costs: Any = None,
        must_use: Sequence[int | str] = (),
        must_not_use: Sequence[int | str] = (),
        n_solutions: int = 1,
        max_seconds: float | None = MAX_SEARCH_SECONDS,
        held_out_score: bool | Literal["auto"] = AUTO,
    ) -> CheapestModels:
        """Find minimum-cost feature sets as a step of a job, within its deadline."""
        check_is_fitted(self)
        self._result.check_single_set()
        request = DesignRequest.parse(
            self._result.layout,
            costs,
            must_use,
            must_not_use,
            n_solutions,
            max_seconds,
            held_out_score,
        )
        return find_cheapest_models(
            self._result,
            request,
            make_scoring(self, self._tuning),
            self._with_result,
            job.deadline,
            n_jobs=self.n_jobs,
        )

    def sufficiency(self, *, max_seconds: float | None = 10.0) -> Sufficiency:
        """Check whether the relevant features suffice for an equivalent model.

        ``transform`` keeps the relevant features and drops all others. The features that it drops
        may still be necessary: features that are irrelevant on their own can be jointly necessary,
        and every equivalent model uses the unconfirmed ones. This method proves whether some
        equivalent model uses relevant features only, finds the fewest further features that are
        needed otherwise, and compares cross-validated scores.

        Parameters
        ----------
        max_seconds : float or None, default=10.0
            Time limit of the search for further features. None means no limit.

        Returns
        -------
        Sufficiency
            Whether the relevant features suffice, the ``missing`` features and the scores. Printing
            it gives a summary.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
        >>> sufficiency = bounds.sufficiency()
        >>> sufficiency.suffices, sufficiency.missing
        (True, [])
        >>> print(sufficiency)
        The 3 relevant features suffice for an equivalent model. Cross-validated accuracy: \
0.995 ± 0.003 with these features, 0.990 ± 0.002 with all 4.
        """
        return self._sufficiency_in_job(Job(), max_seconds)

    def _sufficiency_in_job(self, job: Job, max_seconds: float | None) -> Sufficiency:
        """Check whether the relevant features suffice as a step of a job, within its deadline."""
        check_is_fitted(self)
        self._result.check_single_set()
        check_max_seconds(max_seconds)
        scoring = make_scoring(self, self._tuning)
        return check_sufficiency(self._result, scoring, self._score_name, max_seconds, job.deadline)
