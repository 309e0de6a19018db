"""What estimators of relevance bounds have in common, whatever their task.

What can be asked of fitted bounds: what if, and what replaces what.

The cheapest equally good models, asked of fitted bounds.

What every estimator of relevance bounds does, whatever its task.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from .._optional import display, import_extra
from .._typing import Matrix, Table, Vector
from .._validation import feature_names
from ..exceptions import InputError, RelevanceWarning
from ..parallel import single_threaded
from ..relevance import IRRELEVANT
from ..terms.layout import baseline_weights, privileged_baseline_weights, privileged_names
from ..terms.scaling import no_scaling, standard_scaling
from .baseline import (
    FORMULATIONS,
    FitScaling,
    FittedBaseline,
    Formulation,
    HeldOutScore,
    Tolerance,
    uses_features,
)
from .calibration import ProbeSettings
from .constraints import Constraint, ConstraintSpec, parse_constraint
from .design import (
    CheapestModel,
    CheapestModels,
    DesignRequest,
    find_cheapest,
    read_costs,
    scores_of,
)
from .mapping.linear_mapping import LinearMapping
from .models import LinearModel, LinearModels, stack_models
from .pipeline import BoundsSettings, bound_subproblem, find_baseline
from .relations import Relations, find_relations
from .result import (
    FEATURE_COLUMNS,
    Column,
    FeatureBounds,
    SubproblemBounds,
    combine_subproblems,
    cutoff_record,
)
from .solver.cheapest import FeatureSet
from .solver.constrained import UnionRanges
from .solver.ranges import LOWER, UPPER
from .task import TaskData
from .what_if import narrowed_problem

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import IntervalsDisplay


# Bounds are exact up to the solver's rounding; beyond this, relative to the norm, say so.
_LARGE_GAP = 1e-6


class BoundsSelectorMixin(SelectorMixin):
    """Selection, table and figure of fitted relevance bounds."""

    n_features_in_: int
    interval_: Matrix
    signed_interval_: Matrix
    gap_: Matrix
    exact_: NDArray[np.bool_]
    relevance_: NDArray[np.str_]
    baseline_: LinearModel | LinearModels | LinearMapping
    class_interval_: NDArray[np.float64]
    class_relevance_: NDArray[np.str_]
    privileged_interval_: Matrix
    privileged_signed_interval_: Matrix
    privileged_gap_: Matrix
    privileged_exact_: NDArray[np.bool_]
    privileged_relevance_: NDArray[np.str_]

    _columns: ClassVar[tuple[Column, ...]] = FEATURE_COLUMNS

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.relevance_ != IRRELEVANT

    def to_frame(self, *, privileged: bool = False) -> pd.DataFrame:
        """The result as a table, one row a feature.

        Parameters
        ----------
        privileged : bool, default=False
            The privileged features instead of the others.

        Returns
        -------
        pandas.DataFrame
            Indexed by feature, in the order of the columns of the table.
        """
        check_is_fitted(self)
        if privileged and not hasattr(self, "n_privileged_in_"):
            raise InputError("There were no privileged features: fit(X, y, privileged=Z).")
        pandas = import_extra("pandas", "cli")
        table = self._feature_tables()[int(privileged)]
        return pandas.DataFrame(
            {column.name: column.values(table) for column in self._columns if column.in_frame},
            index=pandas.Index(table.names, name="feature"),
        )

    def _feature_tables(self) -> list[Any]:
        """What the columns are read from: the features and, if there are any, privileged ones."""
        several = len(self.class_interval_) > 1
        tables = [
            FeatureBounds(
                names=feature_names(self),
                relevance=self.relevance_,
                interval=self.interval_,
                signed_interval=self.signed_interval_,
                gap=self.gap_,
                exact=self.exact_,
                baseline=baseline_weights(self),
                class_interval=self.class_interval_ if several else None,
                class_relevance=self.class_relevance_ if several else None,
            )
        ]
        if hasattr(self, "n_privileged_in_"):
            tables.append(
                FeatureBounds(
                    names=privileged_names(self),
                    relevance=self.privileged_relevance_,
                    interval=self.privileged_interval_,
                    signed_interval=self.privileged_signed_interval_,
                    gap=self.privileged_gap_,
                    exact=self.privileged_exact_,
                    baseline=privileged_baseline_weights(self),
                )
            )
        return tables

    def _document_parts(self) -> dict[str, Any]:
        """Parts of the document that only some estimators have."""
        return {}

    def plot(self, **kwargs: Any) -> IntervalsDisplay:
        """Draw the intervals as bars; see :meth:`IntervalsDisplay.from_estimator`."""
        return display("IntervalsDisplay").from_estimator(self, **kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _feature_index(self, feature: int | str) -> int:
        n_features = self.n_features_in_ + getattr(self, "n_privileged_in_", 0)
        if isinstance(feature, str):
            names = [*feature_names(self), *privileged_names(self)]
            if feature not in names:
                raise InputError(f"No feature is called {feature!r}.")
            return names.index(feature)
        if not -n_features <= feature < n_features:
            raise InputError(f"Feature {feature} is out of range: there are {n_features} features.")
        return int(feature) % n_features

    def _warn_of_constant_columns(self, is_constant: NDArray[np.bool_]) -> None:
        constant = np.flatnonzero(is_constant)
        if len(constant) == len(is_constant):
            raise InputError("Every column is constant: there is no feature to tell rows apart.")
        if len(constant):
            names = ", ".join(repr(feature_names(self)[j]) for j in constant[:10])
            more = f" and {len(constant) - 10} more" if len(constant) > 10 else ""
            warnings.warn(
                f"{len(constant)} constant column(s) cannot tell rows apart and are irrelevant: "
                f"{names}{more}.",
                RelevanceWarning,
                stacklevel=3,
            )

    def _warn_of_gaps(self) -> None:
        largest = float(self.gap_[self.exact_].max(initial=0.0))
        if largest > _LARGE_GAP * max(1.0, float(np.max(self.baseline_.norm_))):
            warnings.warn(
                f"Some bounds are proven only to within {largest:.1e}: see gap_. Badly scaled "
                "columns are the usual cause.",
                RelevanceWarning,
                stacklevel=3,
            )


# What only a result under constraints has.
OF_CONSTRAINTS = ("constraints_", "_free_problems", "_wishes")


class QuestionsMixin(BoundsSelectorMixin):
    """Questions to fitted bounds, whatever their task."""

    n_jobs: int | None
    verbose: int
    baseline_: LinearModel | LinearModels
    constraints_: list[str]
    _problems: list[SubproblemBounds]
    _free_problems: list[SubproblemBounds]
    _wishes: dict[int, ConstraintSpec]

    @abstractmethod
    def _summarise(self) -> None:
        """Read the public attributes off the solved problems."""

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
        allrelevant.exceptions.InfeasibleConstraintsError: No equally good model has all of: \
|weight| of 'x1' = 0, |weight| of 'x2' <= 0.2. One of them would have to move, \
the others staying as they are: 'x1' by 5.71, 'x2' by 5.71.
        """
        check_is_fitted(self)
        free = getattr(self, "_free_problems", self._problems)
        asked = {**getattr(self, "_wishes", {}), **self._read(constraints, signed, label)}
        result = copy(self)
        result._free_problems, result._wishes = free, asked
        with single_threaded():
            result._problems = [
                narrowed_problem(problem, self._constraints(index, problem, asked))
                for index, problem in enumerate(free)
            ]
        result._summarise()
        result.constraints_ = self._in_words(asked)
        return result

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
        self._require_one_set()
        return find_relations(
            self._problems, self._names(), n_jobs=self.n_jobs, verbose=bool(self.verbose)
        )

    def _require_one_set(self) -> None:
        """A union of sets, where constraints leave signs open, is no set of models."""
        check_is_fitted(self)
        if any(isinstance(problem.ranges, UnionRanges) for problem in self._problems):
            raise InputError(
                "The constraints leave the sign of a weight open. Say which one it is first: "
                "what_if(..., signed=True)."
            )

    def _in_words(self, asked: Mapping[int, ConstraintSpec]) -> list[str]:
        """The constraints as the problems have them, each once."""
        free = getattr(self, "_free_problems", self._problems)
        words = [
            str(constraint)
            for index, problem in enumerate(free)
            for constraint in self._constraints(index, problem, asked)
        ]
        return list(dict.fromkeys(words))

    def _names(self) -> list[str]:
        return [*feature_names(self), *privileged_names(self)]

    def _read(
        self, constraints: Mapping[Any, Any], signed: bool, label: Any
    ) -> dict[int, ConstraintSpec]:
        """What is asked of each feature, by its index."""
        if not isinstance(constraints, Mapping):
            raise InputError(
                f"Constraints are a dict of features and what is asked, got {constraints!r}."
            )
        names, varying = self._names(), self._problems[0].standard.features
        problem = None if label is None else self._problem_of_label(label)
        asked: dict[int, ConstraintSpec] = {}
        for key, value in constraints.items():
            feature = self._feature_index(key)
            if feature in asked:
                raise InputError(f"{names[feature]!r} is asked for twice, by name and by index.")
            if feature not in varying:
                raise InputError(
                    f"{names[feature]!r} is constant, and no model uses it: ask nothing of it."
                )
            asked[feature] = parse_constraint(names[feature], value, signed=signed, problem=problem)
        return asked

    def _problem_of_label(self, label: Any) -> int:
        classes = getattr(self, "classes_", np.empty(0))
        (found,) = np.nonzero(classes == label)
        if len(self._problems) == 1 or len(found) == 0:
            raise InputError(
                f"label={label!r} names no problem: there is one for each class only where a "
                f"classification has more than two. The classes are {classes.tolist()}."
            )
        return int(found[0])

    def _constraints(
        self, index: int, problem: SubproblemBounds, asked: Mapping[int, ConstraintSpec]
    ) -> list[Constraint]:
        """What is asked of the models of one of the problems."""
        names, samples = self._names(), problem.standard.samples
        found = []
        for feature, wish in asked.items():
            if wish.problem not in (None, index):
                continue
            if wish.keep and self._is_kept_elsewhere(feature, problem):
                continue
            table = int(feature >= samples.n_features)
            cutoff = float(problem.cutoff[table, UPPER])
            found.append(wish.constraint(feature, names[feature], cutoff))
        return found

    def _is_kept_elsewhere(self, feature: int, problem: SubproblemBounds) -> bool:
        """Whether a feature is relevant for some class, but not for this one."""
        free = getattr(self, "_free_problems", self._problems)
        relevant = [p.relevance[feature] != IRRELEVANT for p in free]
        return any(relevant) and problem.relevance[feature] == IRRELEVANT


class DesignsMixin(QuestionsMixin):
    """Models by the cost of their features, whatever the task."""

    standardize: bool
    random_state: Any

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
        Design
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
        self._require_one_set()
        wanted = self._wanted(costs, must_use, must_not_use, n_solutions, max_seconds)
        problems = self._problems
        sets, complete = find_cheapest(problems, wanted)
        scaling = standard_scaling if self.standardize else no_scaling
        seed = self.random_state if isinstance(self.random_state, Integral) else 0
        everything = np.arange(self.n_features_in_)
        own, *scores = scores_of(
            problems, [everything, *(found.members for found in sets)], scaling, int(seed)
        )
        return CheapestModels(
            feature_names=feature_names(self),
            costs=wanted.costs,
            solutions=[
                self._cheap_model(found, score) for found, score in zip(sets, scores, strict=True)
            ],
            baseline_used=baseline_weights(self) != 0,
            baseline_score=own.mean,
            baseline_score_error=own.error,
            complete=complete,
        )

    def _wanted(
        self,
        costs: Any,
        must_use: Sequence[int | str],
        must_not_use: Sequence[int | str],
        n_solutions: int,
        max_seconds: float | None,
    ) -> DesignRequest:
        if not (isinstance(n_solutions, Integral) and n_solutions >= 1):
            raise InputError(f"n_solutions must be a whole number from 1 on, got {n_solutions!r}.")
        if max_seconds is not None and not max_seconds > 0:
            raise InputError(f"max_seconds must be above 0, or None, got {max_seconds!r}.")
        use, leave = ([self._own_feature(f) for f in asked] for asked in (must_use, must_not_use))
        both = set(use) & set(leave)
        if both:
            name = feature_names(self)[min(both)]
            raise InputError(f"{name!r} is in must_use and in must_not_use.")
        return DesignRequest(
            costs=read_costs(costs, feature_names(self)),
            must_use=np.array(use, dtype=np.intp),
            must_not_use=np.array(leave, dtype=np.intp),
            n_solutions=int(n_solutions),
            max_seconds=max_seconds,
        )

    def _own_feature(self, feature: int | str) -> int:
        index = self._feature_index(feature)
        if index >= self.n_features_in_:
            raise InputError(f"{feature!r} is a privileged feature, which no prediction needs.")
        return index

    def _cheap_model(self, found: FeatureSet, score: HeldOutScore) -> CheapestModel:
        models = [
            problem.standard.samples.model(coef, offset, problem.baseline.C_, problem.models.rows)
            for problem, (coef, offset) in zip(self._problems, found.models, strict=True)
        ]
        predictor = copy(self)
        predictor._problems = [
            replace(problem, standard=replace(problem.standard, baseline=model))
            for problem, model in zip(self._problems, models, strict=True)
        ]
        predictor._summarise()
        names = feature_names(self)
        return CheapestModel(
            features=[names[j] for j in found.members],
            members=found.members,
            cost=found.cost,
            proven=found.proven,
            gap=max(0.0, found.cost - found.bound) if not found.proven else 0.0,
            model=predictor.baseline_,
            score=score.mean,
            score_error=score.error,
            predictor=predictor,
        )


# With more features than this, those that are already proven irrelevant are screened.
_MANY = 10_000


class Subproblem(NamedTuple):
    """One problem to solve: its name in messages, and its samples, in one or more variants."""

    name: str
    variants: Sequence[TaskData]


class RelevanceBounds(DesignsMixin, BaseEstimator):
    """Common part of the estimators: options, the way of ``fit``, what it leaves behind.

    A task says which problems its data are (:meth:`_problems_of`).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv"})],
        "norm_slack": [Interval(Real, 0, None, closed="left")],
        "loss_slack": [Interval(Real, 0, None, closed="left")],
        "loss_tol": [Interval(Real, 0, None, closed="left")],
        "standardize": ["boolean"],
        "cutoff": [Interval(Real, 0, None, closed="left"), StrOptions({"probes"})],
        "n_probes": [Interval(Integral, 1, None, closed="left")],
        "fpr": [Interval(Real, 0, 1, closed="neither")],
        "screen": ["boolean", StrOptions({"auto"})],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "verbose": ["verbose"],
    }

    baseline_: LinearModel | LinearModels

    # What the task is called in reports.
    _task: ClassVar[str]

    # What a target of another kind than the task wants is converted to; None: left as it is.
    _numeric_target: ClassVar[bool] = False

    def __init__(
        self,
        *,
        C: float | Literal["cv"] = "cv",
        norm_slack: float = 0.1,
        loss_slack: float = 0.05,
        loss_tol: float = 1e-6,
        standardize: bool = True,
        cutoff: float | Literal["probes"] = "probes",
        n_probes: int = 50,
        fpr: float = 1e-6,
        screen: bool | Literal["auto"] = "auto",
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
        problems, fit_scaling, settings = self._begin(X, y, sample_weight, privileged)
        standards = [self._standard_of(problem, fit_scaling, settings) for problem in problems]
        self._require_features(standards)
        self._problems = [bound_subproblem(standard, settings) for standard in standards]
        self._summarise()
        return self

    def _begin(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, privileged: Any
    ) -> tuple[list[Subproblem], FitScaling, BoundsSettings]:
        """Validated data as problems, how to scale them, and how to solve them."""
        self._forget()
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
        privileged = self._validated_privileged(X, privileged)
        present = weight > 0
        if privileged is not None:
            privileged = privileged[present]
        problems = self._problems_of(X[present], y[present], weight[present], privileged)
        fit_scaling = standard_scaling if self.standardize else no_scaling
        samples = problems[0].variants[0]
        self._scaling = fit_scaling(samples.X, samples.weight)
        self._warn_of_constant_columns(self._scaling.constant)
        rng = check_random_state(self.random_state)
        return problems, fit_scaling, self._settings(rng, len(problems))

    def _forget(self) -> None:
        """Drop what only some fits leave behind: the last one may have been of another kind."""
        for name in list(vars(self)):
            only_some = name == "cv_score_" or name in OF_CONSTRAINTS
            if only_some or name.startswith(("privileged_", "n_privileged_")):
                delattr(self, name)

    def _standard_of(
        self, problem: Subproblem, fit_scaling: FitScaling, settings: BoundsSettings
    ) -> FittedBaseline:
        return find_baseline(problem.variants, fit_scaling, settings, problem.name)

    @abstractmethod
    def _problems_of(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        """The problems that these data are."""

    @property
    def _formulation(self) -> Formulation:
        return FORMULATIONS["separate"]

    def _validated_privileged(self, X: Table, privileged: Any) -> Table | None:
        if privileged is None:
            return None
        names = getattr(privileged, "columns", None)
        table = check_array(
            privileged, accept_sparse="csr", dtype=np.float64, input_name="privileged"
        )
        check_consistent_length(X, table)
        self.n_privileged_in_ = int(table.shape[1])
        if names is not None:
            self.privileged_names_in_ = np.asarray([str(name) for name in names], dtype=object)
        return sp.csr_array(table) if sp.issparse(table) else table

    def _settings(self, rng: np.random.RandomState, n_problems: int) -> BoundsSettings:
        seeds = rng.randint(np.iinfo(np.int32).max, size=2)
        return BoundsSettings(
            C=None if self.C == "cv" else float(self.C),
            formulation=self._formulation,
            slack=Tolerance(self.norm_slack, self.loss_slack, self.loss_tol),
            cutoff=None if self.cutoff == "probes" else float(self.cutoff),
            probes=ProbeSettings(self.n_probes, self.fpr, seed=int(seeds[1])),
            screen=self.n_features_in_ > _MANY if self.screen == "auto" else bool(self.screen),
            max_seconds=None if self.max_seconds is None else self.max_seconds / n_problems,
            fold_seed=int(seeds[0]),
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _require_features(self, standards: list[FittedBaseline]) -> None:
        """A baseline that uses no feature: the fault of a given C, a finding of a chosen one."""
        idle = [standard for standard in standards if not uses_features(standard.baseline)]
        if self.C != "cv" and len(idle) == len(standards):
            raise InputError(
                f"With C={self.C:g} the best model uses no feature at all: the loss weighs too "
                "little against the norm. Use a larger C, or C='cv'."
            )
        for standard in idle:
            warnings.warn(
                f"No feature helps to predict {standard.name or 'the target'} at "
                f"C={standard.baseline.C_:g}: all of them are irrelevant.",
                RelevanceWarning,
                stacklevel=4,
            )

    def _summarise(self) -> None:
        """Read the public attributes off the solved problems."""
        problems = self._problems
        found, samples = combine_subproblems(problems), problems[0].standard.samples
        own = found.of(samples.weights_of(0))
        self.interval_, self.signed_interval_ = own.interval, own.signed_interval
        self.relevance_, self.exact_, self.gap_ = own.relevance, own.exact, own.gap
        self.class_interval_, self.class_relevance_ = own.class_interval, own.class_relevance
        self.cutoff_ = self._cutoffs(table=0)
        baselines = [problem.baseline.on_tables(self._scaling) for problem in problems]
        self.baseline_ = baselines[0] if len(baselines) == 1 else stack_models(baselines)
        if hasattr(self, "n_privileged_in_"):
            theirs = found.of(samples.weights_of(1))
            self.privileged_interval_ = theirs.interval
            self.privileged_signed_interval_ = theirs.signed_interval
            self.privileged_relevance_ = theirs.relevance
            self.privileged_exact_, self.privileged_gap_ = theirs.exact, theirs.gap
            self.privileged_cutoff_ = self._cutoffs(table=1)
        scores = [problem.standard.score for problem in problems]
        if scores[0] is not None:
            self.cv_score_ = scores[0] if len(scores) == 1 else np.array(scores)
        self._warn_of_gaps()

    def _cutoffs(self, table: int) -> Matrix:
        cutoffs = np.array([problem.cutoff[table] for problem in self._problems])
        return cutoffs[0] if len(cutoffs) == 1 else cutoffs

    def _subproblem_records(self) -> list[dict[str, Any]]:
        """Cutoffs and baseline of each subproblem, as JSON holds them."""
        labels = [None] if len(self._problems) == 1 else self.classes_.tolist()
        model = self.baseline_
        baselines = zip(*map(np.atleast_1d, (model.C_, model.norm_, model.loss_)), strict=True)
        records: list[dict[str, Any]] = [
            {
                "label": label,
                "cutoff": cutoff_record(cutoff),
                "baseline": {"C": float(C), "norm": float(norm), "loss": float(loss)},
                "cv_accuracy": None,
            }
            for label, cutoff, (C, norm, loss) in zip(
                labels, np.atleast_2d(self.cutoff_), baselines, strict=True
            )
        ]
        if hasattr(self, "n_privileged_in_"):
            for record, cutoff in zip(records, np.atleast_2d(self.privileged_cutoff_), strict=True):
                record["privileged_cutoff"] = cutoff_record(cutoff)
        return records

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
        return self._problems[0].witness(index, side).on_tables(self._scaling)

    def _checked(self, feature: int | str, bound: str) -> tuple[int, int]:
        check_is_fitted(self)
        if bound not in ("lower", "upper"):
            raise InputError(f"bound must be 'lower' or 'upper', got {bound!r}.")
        return self._feature_index(feature), UPPER if bound == "upper" else LOWER
