"""Relevance bounds of the features of a linear mapping that the user has."""

from __future__ import annotations

from numbers import Integral, Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._optional import display, import_extra
from ..._params import MAPPING_SLACK
from ..._typing import Matrix, Vector
from ..._validation import N_JOBS, feature_names
from ...exceptions import InputError
from ...relevance import classify
from ...terms.scaling import Scaling, no_scaling, standard_scaling
from .._selector import BoundsSelectorMixin
from ..result import Column, cutoff_record
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
from .row_bounds import BoundsOfMapping, bound_mapping

if TYPE_CHECKING:
    import pandas as pd

    from ...plots import MappingDisplay


# The default cutoff is this share of the norm, or this multiple of the slack if that is more. A
# feature that the mapping of the smallest norm does not use can still get the share of the slack,
# and twice that if it is half as useful as those in use.
MIN_SHARE = 0.05
SLACK_MULTIPLE = 2.0


# Signs are those of single rows of the mapping, so that there is none of a feature.
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
    """Bounds of a mapping, wherever it comes from: common parameters and results."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "slack": [Interval(Real, 0, None, closed="left")],
        "cutoff": [Interval(Real, 0, None, closed="left"), StrOptions({"slack"})],
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

    def _scale(self, X: Matrix) -> Matrix:
        """Set the scale to solve on, and convert the table to it."""
        fit_scaling = standard_scaling if self.standardize else no_scaling
        self._scaling: Scaling = fit_scaling(X, np.ones(len(X)))
        self._check_constant_columns(self._scaling.constant)
        return np.asarray(self._scaling.apply(X))

    def _bound(self, omega: Matrix, space: DataSpace, dimension: EffectiveDimension) -> None:
        """Bound a mapping of scaled rows and set the fitted attributes."""
        directions = space.first(dimension)
        bounds = bound_mapping(
            omega,
            directions,
            self.slack,
            n_jobs=self.n_jobs,
            progress="intervals" if self.verbose else None,
        )
        self._bounds: BoundsOfMapping = bounds
        self.effective_dimension_ = len(directions)
        self.raw_mapping_ = metric_rows(omega)
        self.interval_, self.gap_ = bounds.interval, bounds.gap
        self.row_interval_ = bounds.row_interval
        self.signed_row_interval_ = bounds.signed_row_interval
        self.exact_ = np.ones(len(self.interval_), dtype=bool)
        self.baseline_ = LinearMapping(bounds.shortest, self._scaling)
        default = max(MIN_SHARE, SLACK_MULTIPLE * self.slack)
        share = default if self.cutoff == "slack" else float(self.cutoff)
        self.cutoff_ = np.full(2, share * bounds.norm)
        self.relevance_ = classify(self.interval_, self.cutoff_)
        self._warn_large_gaps()

    def witness(self, feature: int | str, bound: Literal["lower", "upper"]) -> LinearMapping:
        """The mapping that attains a bound: the proof that the weight can be as small, or as large.

        Parameters
        ----------
        feature : int or str
            Index of the feature, or its name if ``X`` had names.
        bound : {"lower", "upper"}
            Which end of the feature's ``interval_``.

        Returns
        -------
        LinearMapping
            On the scale solved on; its ``transform`` takes tables as ``fit`` does.
        """
        return LinearMapping(self._bounds.witness(*self._checked(feature, bound)), self._scaling)

    def to_frame(self, *, row: int | None = None) -> pd.DataFrame:  # type: ignore[override]
        """The result as a table, one row a feature.

        Parameters
        ----------
        row : int, default=None
            One row of the mapping, with the signs of its weights, instead of all added up.

        Returns
        -------
        pandas.DataFrame
            Indexed by feature, in the order of the columns of the table. ``baseline`` is the
            mapping of the smallest norm.
        """
        check_is_fitted(self)
        if row is None:
            frame = super().to_frame()
            # The frame has the shortest mapping before the one as learned, the page after it.
            frame.insert(3, "baseline", frame.pop("baseline"))
            return frame
        pandas = import_extra("pandas", "cli")
        n_rows = len(self.row_interval_)
        if not 0 <= row < n_rows:
            raise InputError(f"Row {row} is out of range: the mapping has {n_rows} rows.")
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
        """The rows of the mapping as values that JSON can hold.

        Returns
        -------
        dict
            ``rows`` has for each row of the mapping ``lower`` and ``upper`` of every feature, and
            ``raw``, its weights as learned (None if there are fewer of those). ``learner`` is what
            learned the metric, None if the mapping was given; ``curve`` the errors by dimension,
            None if they were not computed.
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
        """The features of the mapping, as :data:`MAPPING_COLUMNS` read them."""
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
        """Draw the raw mapping above its bounds; see :meth:`MappingDisplay.from_estimator`."""
        return display("MappingDisplay").from_estimator(self, **kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


class MappingBounds(MappingBoundsBase):
    """How small and how large each weight can be, over all mappings that map the data the same.

    A linear mapping ``x -> omega @ x`` is known by what it does to data. Where features are
    correlated, many matrices do the same, and the weights of one of them say little. Of all that
    do the same, and whose rows are next to as short as they can be in the l1 norm, this finds the
    smallest and the largest weight of each feature, by linear programs, each bound with its proof.

    Schulz, Mokbel, Biehl and Hammer, "Inferring feature relevances from metric learning", SSCI
    2015.

    Parameters
    ----------
    mapping : array-like of shape (n_rows, n_features), or estimator
        The matrix; or an estimator with ``omega_``, ``components_`` or ``coef_``: a metric
        learner, ``NeighborhoodComponentsAnalysis``, ``LinearDiscriminantAnalysis``, ``PCA``,
        ``PLSRegression``. A fitted one is taken as it is, for tables as it was fitted on; one that
        is not is cloned, and fitted on the scaled table. (``clone`` and searches forget a fit: wrap
        what is to stay fitted in ``sklearn.frozen.FrozenEstimator``.)
    effective_dimension : int, float, "spectrum" or None, default="spectrum"
        In how many directions of the data the mapping has to stay the same, those of the largest
        variance: a number, or the share of the variance that they carry, which is 0.99 for
        "spectrum". Everything hangs on it: in the directions left out, features count as
        interchangeable. None keeps all directions in which the data vary.
    slack : float, default=0.01
        By how much the norm of a row may exceed the smallest one, as a share of it. Noisy copies of
        a feature need more.
    cutoff : float or "slack", default="slack"
        What a feature's weight must exceed to count, as a share of the norm: by default 0.05, and
        twice the slack if that is more.
    standardize : bool, default=True
        Solve on features of mean 0 and variance 1. Weights compare only on one scale, and copies
        are copies only on one scale.
    n_jobs : int or None, default=None
        Workers for the rows; -1 uses all cores.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    interval_ : ndarray of shape (n_features, 2)
        Smallest and largest size of each feature's weights, over the rows added up.
    row_interval_ : ndarray of shape (n_rows, n_features, 2)
        The same for each row. Rows are the eigenvectors of the metric, the longest first; where two
        are equally long, they and their bounds are determined up to a rotation only.
    signed_row_interval_ : ndarray of shape (n_rows, n_features, 2)
        Smallest and largest weight with its sign. (The sign of a row is arbitrary.)
    gap_ : ndarray of shape (n_features, 2)
        How far each end of ``interval_`` can be from the truth at most: the proof.
    relevance_ : ndarray of shape (n_features,)
        "strong", "weak" or "irrelevant".
    cutoff_ : ndarray of shape (2,)
        What the smallest weight must exceed for strong, the largest for relevant.
    baseline_ : LinearMapping
        The mapping with the shortest rows.
    raw_mapping_ : ndarray of shape (n_rows, n_features)
        The mapping as it was given, on the scale solved on, by its eigenvectors.
    effective_dimension_ : int
    mapping_ : estimator
        What was fitted, if the mapping was an estimator without a fit.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

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
            Interval(Integral, 1, None, closed="left"),
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
        """Find the bounds of every weight, and the class of every feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data that the mapping is to map the same.
        y : array-like of shape (n_samples,), default=None
            Handed to the mapping's own ``fit``, if it has to be fitted.

        Returns
        -------
        self
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        scaled = self._scale(X)
        self._bound(self._omega(scaled, y), data_space(scaled), self.effective_dimension)
        return self

    def _omega(self, scaled: Matrix, y: Any) -> Matrix:
        """The mapping of the scaled table."""
        source = self.mapping
        if is_estimator(source) and not _is_fitted(source):
            self.mapping_ = clone(source).fit(scaled, y)
            return self._require_same_features(learned_matrix(self.mapping_))
        omega = learned_matrix(source) if is_estimator(source) else check_matrix(source, "mapping")
        # It maps tables that are not scaled. A constant column adds a constant, that is nothing.
        factor: Vector = self._scaling.factor
        inverse = np.divide(1.0, factor, out=np.zeros_like(factor), where=factor != 0)
        return self._require_same_features(omega) * inverse

    def _require_same_features(self, omega: Matrix) -> Matrix:
        if omega.shape[1] != self.n_features_in_:
            raise InputError(
                f"The mapping has {omega.shape[1]} columns, but the table has "
                f"{self.n_features_in_}: they must be the same features."
            )
        return omega


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True
