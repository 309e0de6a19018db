"""Bounds along a path of C or norm_slack: how much of a finding hangs on the setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .._optional import display, import_extra
from .._typing import Matrix, Vector
from .._validation import feature_names
from ..exceptions import InputError
from ..parallel import parallel_map
from ._base import RelevanceBounds
from .baseline import GRID, FittedBaseline, uses_features
from .calibration import IDLE_CUTOFF
from .pipeline import BoundsSettings, bound_subproblem, learned_cutoffs
from .result import BoundsResult, SubproblemBounds, combine_subproblems

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import PathDisplay


Param = Literal["C", "norm_slack"]


N_VALUES = 20


# Probes are solved for at every so manieth value, and cutoffs in between are interpolated: as a
# share of the norm they change little and steadily.
_VALUES_PER_CUTOFF = 7


@dataclass(frozen=True)
class BoundsPath:
    """Intervals and classes for each value of a setting.

    Attributes
    ----------
    param : {"C", "norm_slack"}
    values : ndarray of shape (n_values,)
        Ascending.
    feature_names : list of str
    interval, signed_interval : ndarray of shape (n_values, n_features, 2)
    relevance : ndarray of shape (n_values, n_features)
    baseline : ndarray of shape (n_values, n_features)
        The baseline's weights; with more than two classes, those largest in size.
    norm, loss : ndarray of shape (n_values, n_problems)
        Of the baselines.
    """

    param: Param
    values: Vector
    feature_names: list[str]
    interval: NDArray[np.float64]
    signed_interval: NDArray[np.float64]
    relevance: NDArray[np.str_]
    baseline: Matrix
    norm: Matrix
    loss: Matrix

    def to_frame(self) -> pd.DataFrame:
        """One row for each value and feature.

        Returns
        -------
        pandas.DataFrame
            With the columns ``param`` is named after, ``feature``, ``relevance``, ``lower``,
            ``upper``, ``signed_min``, ``signed_max`` and ``baseline``.
        """
        pandas = import_extra("pandas", "cli")
        n_values, n_features = self.relevance.shape
        return pandas.DataFrame(
            {
                self.param: np.repeat(self.values, n_features),
                "feature": np.tile(np.array(self.feature_names, dtype=object), n_values),
                "relevance": self.relevance.ravel(),
                "lower": self.interval[:, :, 0].ravel(),
                "upper": self.interval[:, :, 1].ravel(),
                "signed_min": self.signed_interval[:, :, 0].ravel(),
                "signed_max": self.signed_interval[:, :, 1].ravel(),
                "baseline": self.baseline.ravel(),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """The path as values that JSON can hold.

        Returns
        -------
        dict
            ``param``, ``values`` and for each feature ``name``, ``lower``, ``upper``, ``baseline``
            and ``relevance`` at each value, and ``ranges``: from which value to which it keeps its
            class.
        """
        return {
            "param": self.param,
            "values": self.values.tolist(),
            "features": [
                {
                    "name": name,
                    "lower": self.interval[:, j, 0].tolist(),
                    "upper": self.interval[:, j, 1].tolist(),
                    "baseline": self.baseline[:, j].tolist(),
                    "relevance": self.relevance[:, j].tolist(),
                    "ranges": [
                        {
                            "relevance": relevance,
                            "first": float(self.values[start]),
                            "last": float(self.values[stop - 1]),
                        }
                        for relevance, start, stop in runs_of_equal_values(self.relevance[:, j])
                    ],
                }
                for j, name in enumerate(self.feature_names)
            ],
        }

    def class_ranges(self) -> pd.DataFrame:
        """From which value to which each feature keeps its class.

        Returns
        -------
        pandas.DataFrame
            A row for each stretch: ``feature``, ``relevance``, ``first``, ``last`` (the first and
            the last value of the path at which it has this class) and ``n_values``.
        """
        pandas = import_extra("pandas", "cli")
        rows = [
            (name, relevance, self.values[start], self.values[stop - 1], stop - start)
            for name, column in zip(self.feature_names, self.relevance.T, strict=True)
            for relevance, start, stop in runs_of_equal_values(column)
        ]
        return pandas.DataFrame(rows, columns=["feature", "relevance", "first", "last", "n_values"])

    def plot(self, **kwargs: Any) -> PathDisplay:
        """Draw the intervals as bands; see :meth:`PathDisplay.from_result`."""
        return display("PathDisplay").from_result(self, **kwargs)


def runs_of_equal_values(classes: Sequence[Any] | NDArray[Any]) -> list[tuple[str, int, int]]:
    """Runs of equal classes: the class, where it starts and where the next one does.

    Examples
    --------
    >>> runs_of_equal_values(["weak", "weak", "strong"])
    [('weak', 0, 2), ('strong', 2, 3)]
    """
    values = np.asarray(classes)
    starts = np.r_[0, np.flatnonzero(values[1:] != values[:-1]) + 1]
    stops = np.r_[starts[1:], len(values)]
    return [(str(values[a]), int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def bounds_path(
    estimator: RelevanceBounds,
    X: Any,
    y: Any,
    *,
    param: Param = "C",
    values: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    privileged: Any = None,
) -> BoundsPath:
    """Intervals and classes along a path of one setting, each solution from the one before.

    Much cheaper than a fit for each value. Where the cutoff is learned from probes, they are
    solved for at some of the values; in between, the cutoff's share of the norm is interpolated.

    Parameters
    ----------
    estimator : ClassificationBounds, RegressionBounds, OrdinalBounds or RankingBounds
        With the settings that stay the same, also ``n_jobs`` and ``verbose``. It is not fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    param : {"C", "norm_slack"}, default="C"
        Which setting changes.
    values : array-like of shape (n_values,), default=None
        By default 20 values: of C the range that ``C="cv"`` searches, of norm_slack 0.001 to 0.5.
    sample_weight : array-like of shape (n_samples,), default=None
    privileged : array-like or sparse matrix of shape (n_samples, p), default=None

    Returns
    -------
    BoundsPath

    Examples
    --------
    >>> from allrelevant import ClassificationBounds, bounds_path
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> estimator = ClassificationBounds(C=1.0, cutoff=0.1)
    >>> path = bounds_path(estimator, data.X, data.y, param="norm_slack", values=[0.01, 0.1])
    >>> path.to_frame().shape
    (10, 8)
    """
    est, values = _checked(estimator, param, values)
    problems, fit_scaling, settings = est._begin(X, y, sample_weight, privileged)
    if values is None:
        values = _default_values(param, problems[0].variants[0].total_weight)
    by_problem = []
    for problem in problems:
        chosen = est._standard_of(problem, fit_scaling, settings)
        standards, all_settings = _along(chosen, settings, param, values)
        by_problem.append(_solved(standards, all_settings))
    by_value = list(zip(*by_problem, strict=True))
    own = by_value[0][0].standard.samples.weights_of(0)
    return _path(param, values, feature_names(est), by_value, own)


def _checked(
    estimator: RelevanceBounds, param: str, values: ArrayLike | None
) -> tuple[RelevanceBounds, Vector | None]:
    if not isinstance(estimator, RelevanceBounds):
        raise InputError(
            f"bounds_path takes an estimator of bounds such as ClassificationBounds, got "
            f"{type(estimator).__name__}."
        )
    if param not in ("C", "norm_slack"):
        raise InputError(f"param must be 'C' or 'norm_slack', got {param!r}.")
    if values is not None:
        values = np.unique(np.asarray(values, dtype=float))
        least = 0.0 if param == "norm_slack" else np.nextafter(0.0, 1.0)
        if len(values) == 0 or not (np.isfinite(values).all() and values[0] >= least):
            above = "at least 0" if param == "norm_slack" else "above 0"
            raise InputError(f"The values of {param} must be numbers {above}, at least one.")
    est = clone(estimator)
    est._validate_params()
    return est, values


def _default_values(param: Param, total_weight: float) -> Vector:
    if param == "norm_slack":
        return np.geomspace(0.001, 0.5, N_VALUES)
    return np.geomspace(GRID[0], GRID[-1], N_VALUES) / total_weight


def _along(
    chosen: FittedBaseline, settings: BoundsSettings, param: Param, values: Vector
) -> tuple[list[FittedBaseline], list[BoundsSettings]]:
    """The standard and the settings at each value."""
    if param == "norm_slack":
        all_settings = [
            replace(settings, slack=replace(settings.slack, norm_slack=float(value)))
            for value in values
        ]
        return [chosen] * len(values), all_settings
    baselines = chosen.formulation.baseline_path(chosen.samples, [float(v) for v in values])
    standards = [replace(chosen, baseline=baseline, score=None) for baseline in baselines]
    return standards, [settings] * len(values)


def _solved(
    standards: list[FittedBaseline], all_settings: list[BoundsSettings]
) -> list[SubproblemBounds]:
    """The bounds at each value, several at a time."""
    first = all_settings[0]
    cutoffs = _cutoffs(standards, all_settings)

    def solve(index: int) -> SubproblemBounds:
        alone = replace(all_settings[index], n_jobs=1, verbose=False)
        return bound_subproblem(standards[index], alone, cutoffs[index])

    title = f"path {standards[0].name}".strip() if first.verbose else None
    return parallel_map(solve, range(len(standards)), n_jobs=first.n_jobs, progress=title)


def _cutoffs(standards: list[FittedBaseline], all_settings: list[BoundsSettings]) -> list[Matrix]:
    """The cutoffs at each value: learned at some, and interpolated as shares of the norm."""
    if all_settings[0].cutoff is not None:
        return [learned_cutoffs(s, t) for s, t in zip(standards, all_settings, strict=True)]
    n_tables = len(standards[0].samples.tables)
    cutoffs = np.tile(IDLE_CUTOFF, (len(standards), n_tables, 1))
    in_use = np.flatnonzero([uses_features(standard.baseline) for standard in standards])
    if len(in_use) == 0:
        return list(cutoffs)
    n_anchors = max(2, -(-len(in_use) // _VALUES_PER_CUTOFF))
    places = np.linspace(0, len(in_use) - 1, n_anchors).round().astype(int)
    anchors = np.unique(in_use[places])
    norms = np.array([standard.baseline.norm_ for standard in standards])
    shares = np.array([learned_cutoffs(standards[a], all_settings[a]) / norms[a] for a in anchors])
    between = np.apply_along_axis(lambda share: np.interp(in_use, anchors, share), 0, shares)
    cutoffs[in_use] = between * norms[in_use, None, None]
    return list(cutoffs)


def _path(
    param: Param,
    values: Vector,
    names: list[str],
    by_value: list[tuple[SubproblemBounds, ...]],
    own: NDArray[np.intp],
) -> BoundsPath:
    found: list[BoundsResult] = [combine_subproblems(problems).of(own) for problems in by_value]
    return BoundsPath(
        param=param,
        values=values,
        feature_names=names,
        interval=np.array([bounds.interval for bounds in found]),
        signed_interval=np.array([bounds.signed_interval for bounds in found]),
        relevance=np.array([bounds.relevance for bounds in found]),
        baseline=np.array([_largest_weights(problems) for problems in by_value]),
        norm=np.array([[p.baseline.norm_ for p in problems] for problems in by_value]),
        loss=np.array([[p.baseline.loss_ for p in problems] for problems in by_value]),
    )


def _largest_weights(problems: Sequence[SubproblemBounds]) -> Vector:
    coef = np.array([problem.baseline.coef_ for problem in problems])
    return coef[np.abs(coef).argmax(axis=0), np.arange(coef.shape[1])]
