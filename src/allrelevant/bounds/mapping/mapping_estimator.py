"""Relevance bounds for a user-supplied linear mapping."""

from __future__ import annotations

from numbers import Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..._optional import display, import_extra
from ..._params import MAPPING_SLACK
from ..._typing import Matrix, Vector
from ..._validation import COUNT, N_JOBS, NONNEGATIVE, SLACK, feature_names
from ...exceptions import InputError
from ...relevance import assign_classes
from ...terms.scaling import Scaling, no_scaling, standard_scaling
from ...terms.validation import validate_table
from .._selector import BoundsSelectorMixin
from ..result import LARGE_GAP, Column, cutoff_record
from .linear_mapping import (
    DataSpace,
    EffectiveDimension,
    LinearMapping,
    check_matrix,
    data_space,
    is_estimator,
    learned_matrix,
    metric_rows,
)
from .row_bounds import MappingRanges, bound_mapping

if TYPE_CHECKING:
    import pandas as pd

    from ...plots import MappingDisplay


# The default cutoff, as a fraction of the norm: at least MIN_CUTOFF, and at least this multiple of
# the slack. A feature that the shortest mapping does not use can still get the slack as its weight,
# or twice the slack if it is half as useful as the features in use.
MIN_CUTOFF = 0.05
SLACK_MULTIPLE = 2.0


# There are no signed columns: a feature may have different signs in different components.
MAPPING_COLUMNS: tuple[Column, ...] = (
    Column("relevance", "Relevance", lambda table: table.relevance, on_terminal=True),
    Column("lower", "Lower", lambda table: table.interval[:, 0], on_terminal=True),
    Column("upper", "Upper", lambda table: table.interval[:, 1], on_terminal=True),
    Column("raw", "As learned", lambda table: table.raw),
    Column("baseline", "Shortest", lambda table: table.baseline),
    Column("exact", None, lambda table: table.exact, in_frame=False),
    Column("gap_lower", None, lambda table: table.gap[:, 0]),
    Column("gap_upper", None, lambda table: table.gap[:, 1]),
)


class MappingBoundsBase(BoundsSelectorMixin, BaseEstimator):
    """Base class of the estimators that bound the weights of linear mappings."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "slack": [SLACK],
        "cutoff": [NONNEGATIVE, StrOptions({"slack"})],
        "standardize": ["boolean"],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    _columns: ClassVar[tuple[Column, ...]] = MAPPING_COLUMNS

    baseline_: LinearMapping

    slack: float
    cutoff: float | Literal["slack"]
    standardize: bool
    n_jobs: int | None
    verbose: int

    def _scale(self, X: Matrix, weight: Vector | None = None) -> Matrix:
        """Fit the scaling to a table and return the scaled table."""
        fit_scaling = standard_scaling if self.standardize else no_scaling
        self._scaling: Scaling = fit_scaling(X, np.ones(len(X)) if weight is None else weight)
        self._check_constant_columns(self._scaling.constant)
        return np.asarray(self._scaling.apply(X))

    def _bound(self, omega: Matrix, space: DataSpace, dimension: EffectiveDimension) -> None:
        """Compute the bounds of a mapping of the scaled table and set the fitted attributes."""
        directions = space.first(dimension)
        bounds = bound_mapping(
            omega,
            directions,
            self.slack,
            n_jobs=self.n_jobs,
            progress="intervals" if self.verbose else None,
        )
        self._bounds: MappingRanges = bounds
        self.effective_dimension_ = len(directions)
        self.raw_mapping_ = metric_rows(omega)
        self.interval_, self.gap_ = bounds.interval, bounds.gap
        self.row_interval_ = bounds.row_interval
        self.signed_row_interval_ = bounds.signed_row_interval
        self.exact_ = np.all(self.gap_ <= LARGE_GAP * bounds.norm, axis=1)
        self.baseline_ = LinearMapping(bounds.shortest, self._scaling)
        default = max(MIN_CUTOFF, SLACK_MULTIPLE * self.slack)
        fraction = default if self.cutoff == "slack" else float(self.cutoff)
        self.cutoff_ = np.full(2, fraction * bounds.norm)
        is_strong, is_relevant = (self.interval_ > self.cutoff_).T
        self.relevance_ = assign_classes(is_relevant, is_strong, np.zeros_like(is_strong))
        self._warn_large_gaps(~self.exact_, self.gap_)

    def witness(self, feature: int | str, bound: Literal["lower", "upper"]) -> LinearMapping:
        """Return an equivalent mapping that attains a bound of a feature.

        Parameters
        ----------
        feature : int or str
            Index of the feature, or its name if ``X`` has column names.
        bound : {"lower", "upper"}
            End of the feature's ``interval_``.

        Returns
        -------
        LinearMapping
            Mapping of the scaled features; its ``transform`` accepts unscaled tables, as ``fit``
            does.
        """
        return LinearMapping(self._bounds.witness(*self._checked(feature, bound)), self._scaling)

    def to_frame(self, *, row: int | None = None) -> pd.DataFrame:  # type: ignore[override]
        """Return bounds and relevance classes as a data frame with one row per feature.

        Parameters
        ----------
        row : int, default=None
            Index of a component (row) of the mapping. The table then contains the bounds of this
            component with signs. None returns the bounds summed over all components.

        Returns
        -------
        pandas.DataFrame
            Indexed by feature, in the order of the columns of the table. ``baseline`` is the
            mapping with the smallest norm.
        """
        check_is_fitted(self)
        if row is None:
            frame = super().to_frame()
            # The frame has the baseline before the learned mapping, the HTML report after it.
            frame.insert(3, "baseline", frame.pop("baseline"))
            return frame
        pandas = import_extra("pandas", "pandas")

        n_rows = len(self.row_interval_)
        if not 0 <= row < n_rows:
            raise InputError(
                f"row={row} is out of range. Use a component index from 0 to {n_rows - 1}."
            )
        return pandas.DataFrame(
            {
                "lower": self.row_interval_[row, :, 0],
                "upper": self.row_interval_[row, :, 1],
                "signed_min": self.signed_row_interval_[row, :, 0],
                "signed_max": self.signed_row_interval_[row, :, 1],
                "baseline": self.baseline_.matrix_[row],
            },
            index=pandas.Index(feature_names(self), name="feature"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds of all components of the mapping as JSON-compatible values.

        Returns
        -------
        dict
            ``rows`` contains, for each component, ``lower`` and ``upper`` for every feature, and
            ``raw``, the learned weights (None if there are fewer learned components). ``learner``
            is the name of the metric learner, or None if the user supplied the mapping. ``curve``
            contains the errors by dimension, or None if they were not computed.
        """
        check_is_fitted(self)
        raw = self.raw_mapping_.tolist()
        return {
            "effective_dimension": int(self.effective_dimension_),
            "norm": float(self.baseline_.norm_),
            "learner": None,
            "rows": [
                {
                    "raw": raw[index] if index < len(raw) else None,
                    "lower": interval[:, 0].tolist(),
                    "upper": interval[:, 1].tolist(),
                }
                for index, interval in enumerate(self.row_interval_)
            ],
            "curve": None,
        }

    def _feature_tables(self) -> list[Any]:
        """Return a list with the results of all features; mappings have no privileged features."""
        return [
            SimpleNamespace(
                names=feature_names(self),
                relevance=self.relevance_,
                interval=self.interval_,
                gap=self.gap_,
                exact=self.exact_,
                baseline=self.baseline_.coef_,
                raw=np.abs(self.raw_mapping_).sum(axis=0),
            )
        ]

    def _subproblem_records(self) -> list[dict[str, Any]]:
        norm = float(self.baseline_.norm_)
        return [{"label": None, "cutoff": cutoff_record(self.cutoff_), "baseline": {"norm": norm}}]

    def _document_parts(self) -> dict[str, Any]:
        return {"metric": self.to_dict()}

    def plot_rows(self, **kwargs: Any) -> MappingDisplay:
        """Plot the original weights and their bounds; see :meth:`MappingDisplay.from_estimator`."""
        return display("MappingDisplay").from_estimator(self, **kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


class MappingBounds(MappingBoundsBase):
    """Relevance bounds over all linear mappings that are equivalent on the data.

    If features are correlated, many matrices ``omega`` map the data in the same way by
    ``x -> omega @ x``, and the weights of a single matrix carry little information. Two mappings
    are equivalent if they map the data in the same way and the l1 norms of their components (rows)
    are within a slack of the smallest. Linear programs find the smallest and largest absolute
    weight of each feature over all equivalent mappings. Each bound has a dual certificate.

    Schulz, Mokbel, Biehl and Hammer, "Inferring feature relevances from metric learning", SSCI
    2015.

    Parameters
    ----------
    mapping : array-like of shape (n_rows, n_features), or estimator
        Matrix of the mapping, or an estimator with ``omega_``, ``components_`` or ``coef_``, such
        as a metric learner, ``NeighborhoodComponentsAnalysis``, ``LinearDiscriminantAnalysis``,
        ``PCA`` or ``PLSRegression``. A fitted estimator is used unchanged; ``X`` must then be on
        the scale that it was fitted on. An unfitted estimator is cloned and fitted on the scaled
        table. (``clone`` and hyperparameter searches discard a fit; wrap an estimator in
        ``sklearn.frozen.FrozenEstimator`` to keep it fitted.)
    effective_dimension : int, float, "spectrum" or None, default="spectrum"
        Number of principal directions of the data in which equivalent mappings must agree, or the
        fraction of variance that these directions explain (0.99 for "spectrum"). The results depend
        strongly on this parameter: in all other directions, features count as interchangeable.
        None keeps all directions with nonzero variance.
    slack : float, default=0.01
        Fraction by which the norm of a component may exceed the smallest norm. Noisy copies of a
        feature require a larger slack.
    cutoff : float or "slack", default="slack"
        Cutoff on the bounds, as a fraction of the norm. The default is 0.05 or twice the slack,
        whichever is larger.
    standardize : bool, default=True
        Whether to scale the features to zero mean and unit variance. Weights can be compared, and
        copies of a feature detected, only if all features are on the same scale.
    n_jobs : int or None, default=None
        Number of worker processes (-1: all cores). Does not change the result.
    verbose : int, default=0
        If positive, show a progress bar.

    Attributes
    ----------
    interval_ : ndarray of shape (n_features, 2)
        Smallest and largest absolute weight of each feature, summed over the components.
    row_interval_ : ndarray of shape (n_rows, n_features, 2)
        Smallest and largest absolute weight in each component. The components are the scaled
        eigenvectors of the metric, longest first. Components of equal length and their bounds are
        determined only up to a rotation.
    signed_row_interval_ : ndarray of shape (n_rows, n_features, 2)
        Smallest and largest signed weight in each component. (The sign of a component is
        arbitrary.)
    gap_ : ndarray of shape (n_features, 2)
        Largest possible error of each bound in ``interval_``, from the dual certificate.
    relevance_ : ndarray of shape (n_features,)
        "strong", "weak" or "irrelevant".
    cutoff_ : ndarray of shape (2,)
        Cutoffs on the lower bound (strong) and on the upper bound (relevant).
    baseline_ : LinearMapping
        Equivalent mapping with the smallest norm.
    raw_mapping_ : ndarray of shape (n_rows, n_features)
        Original mapping of the scaled features, as scaled eigenvectors.
    effective_dimension_ : int
        Number of directions kept.
    mapping_ : estimator
        Fitted clone of ``mapping``; only if ``mapping`` is an unfitted estimator.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during ``fit``; only if ``X`` has feature names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import MappingBounds
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, 2] = X[:, 1]
    >>> bounds = MappingBounds([[1.0, 2.0, 0.0, 0.0]], effective_dimension=3).fit(X)
    >>> [str(r) for r in bounds.relevance_]
    ['strong', 'weak', 'weak', 'irrelevant']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MappingBoundsBase._parameter_constraints,
        "mapping": ["array-like", object],
        "effective_dimension": [
            COUNT,
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"spectrum"}),
            None,
        ],
    }

    def __init__(
        self,
        mapping: Any,
        *,
        effective_dimension: EffectiveDimension = "spectrum",
        slack: float = MAPPING_SLACK,
        cutoff: float | Literal["slack"] = "slack",
        standardize: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.mapping = mapping
        self.effective_dimension = effective_dimension
        self.slack = slack
        self.cutoff = cutoff
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the bounds of all weights and assign a relevance class to each feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data that define which mappings are equivalent.
        y : array-like of shape (n_samples,), default=None
            Target values, passed to ``mapping.fit`` if the mapping is an unfitted estimator.

        Returns
        -------
        self
            Fitted estimator.
        """
        self._validate_params()
        X = validate_table(self, X, dtype=np.float64, ensure_min_samples=2)
        scaled = self._scale(X)
        self._bound(self._omega(scaled, y), data_space(scaled), self.effective_dimension)
        return self

    def _omega(self, scaled: Matrix, y: Any) -> Matrix:
        """Return the mapping's matrix for scaled features; fit the estimator if it is unfitted."""
        source = self.mapping
        if is_estimator(source) and not _is_fitted(source):
            self.mapping_ = clone(source).fit(scaled, y)
            return self._check_n_columns(learned_matrix(self.mapping_))
        omega = learned_matrix(source) if is_estimator(source) else check_matrix(source, "mapping")
        # The mapping applies to unscaled tables. Constant columns have no effect on distances.
        factor: Vector = self._scaling.factor
        inverse = np.divide(1.0, factor, out=np.zeros_like(factor), where=factor != 0)
        return self._check_n_columns(omega) * inverse

    def _check_n_columns(self, omega: Matrix) -> Matrix:
        if omega.shape[1] != self.n_features_in_:
            raise InputError(
                f"The mapping has {omega.shape[1]} columns, but the table has "
                f"{self.n_features_in_}. Pass a mapping with one column per feature."
            )
        return omega


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True
