"""What every estimator of relevance bounds does, whatever its task."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._sklearn import Interval, StrOptions, check_sample_weight
from ...arrays import Matrix, Table, Vector
from ...exceptions import InputError, RelevanceWarning
from ..baseline import uses_features
from ..equivalence import FORMULATIONS, Formulation, Slack, Standard
from ..models import LinearModel, LinearModels, stack_models
from ..probes import ProbeSettings
from ..problem import Settings, bound_weights, find_baseline
from ..programs.samples import Samples
from ..scaling import no_scaling, standard_scaling
from ..solver.intervals import LOWER, UPPER
from ..tuning import FitScaling
from .combined import combined
from .designs import DesignsMixin
from .questions import OF_CONSTRAINTS

# With more features than this, those that are already proven irrelevant are screened.
_MANY = 10_000


class Problem(NamedTuple):
    """One problem to solve: its name in messages, and its samples, in one or more variants."""

    name: str
    variants: Sequence[Samples]


class RelevanceBounds(DesignsMixin, BaseEstimator):
    """Common part of the estimators: options, the way of ``fit``, what it leaves behind.

    A task says which problems its data are (:meth:`_problems_of`).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv"})],
        "delta": [Interval(Real, 0, None, closed="left")],
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
        delta: float = 0.1,
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
        self.delta = delta
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
        self._problems = [bound_weights(standard, settings) for standard in standards]
        self._summarise()
        return self

    def _begin(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, privileged: Any
    ) -> tuple[list[Problem], FitScaling, Settings]:
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
        self, problem: Problem, fit_scaling: FitScaling, settings: Settings
    ) -> Standard:
        return find_baseline(problem.variants, fit_scaling, settings, problem.name)

    @abstractmethod
    def _problems_of(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Problem]:
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

    def _settings(self, rng: np.random.RandomState, n_problems: int) -> Settings:
        seeds = rng.randint(np.iinfo(np.int32).max, size=2)
        return Settings(
            C=None if self.C == "cv" else float(self.C),
            formulation=self._formulation,
            slack=Slack(self.delta, self.loss_slack, self.loss_tol),
            cutoff=None if self.cutoff == "probes" else float(self.cutoff),
            probes=ProbeSettings(self.n_probes, self.fpr, seed=int(seeds[1])),
            screen=self.n_features_in_ > _MANY if self.screen == "auto" else bool(self.screen),
            max_seconds=None if self.max_seconds is None else self.max_seconds / n_problems,
            fold_seed=int(seeds[0]),
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _require_features(self, standards: list[Standard]) -> None:
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
        found, samples = combined(problems), problems[0].standard.samples
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
