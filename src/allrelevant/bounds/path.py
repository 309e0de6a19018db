"""Relevance bounds along a grid of values of C or ``norm_slack``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .._optional import display, import_extra
from .._params import MAX_NUMBER, MAX_SLACK, PathParameter
from .._typing import Matrix, Vector
from ..deadline import Deadline, attempt
from ..exceptions import InputError
from ..parallel import Job, deadline_of, start_job, timed_map, with_deadline
from ..terms.layout import WeightLayout
from ._base import RelevanceBounds
from .baseline import FittedBaseline, Tolerance
from .calibration import FittedCalibration
from .permutations import table_pvalues
from .pipeline import (
    BASELINE_SHARE,
    CALIBRATION,
    CALIBRATION_SHARE,
    CHOICE,
    BoundsSettings,
    bound_subproblem,
    fit_baselines,
    issue_notes,
)
from .result import SubproblemBounds, combine_subproblems
from .task import TaskData
from .tuning import GRID

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import PathDisplay


N_VALUES = 20

# Stages of the computation of a path, with their usual relative durations.
PATH = "path"
PATH_STAGES = {CHOICE: 0.2, CALIBRATION: 0.3, PATH: 0.5}


@dataclass(frozen=True)
class BoundsPath:
    """Relevance intervals and relevance classes for each value of a parameter.

    Attributes
    ----------
    param : {"C", "norm_slack"}
        Name of the parameter.
    values : ndarray of shape (n_values,)
        Parameter values, ascending.
    feature_names : list of str
        Names of all features.
    interval, signed_interval : ndarray of shape (n_values, n_features, 2)
        Relevance intervals and signed ranges.
    relevance : ndarray of shape (n_values, n_features)
        "strong", "weak", "unconfirmed" or "irrelevant".
    baseline : ndarray of shape (n_values, n_features)
        Weights of the baseline; with more than two classes, the weight with the largest absolute
        value over the classes.
    norm, loss : ndarray of shape (n_values, n_problems)
        Norm and loss of the baselines.
    """

    param: PathParameter
    values: Vector
    feature_names: list[str]
    interval: NDArray[np.float64]
    signed_interval: NDArray[np.float64]
    relevance: NDArray[np.str_]
    baseline: Matrix
    norm: Matrix
    loss: Matrix

    def to_frame(self) -> pd.DataFrame:
        """Return bounds and relevance classes as a data frame, one row per value and feature.

        Returns
        -------
        pandas.DataFrame
            A column with the name of the parameter, ``feature``, ``relevance``, ``lower``,
            ``upper``, ``signed_min``, ``signed_max`` and ``baseline``.
        """
        pandas = import_extra("pandas", "pandas")

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
        """Return parameter values, bounds and relevance classes as JSON-compatible values.

        Returns
        -------
        dict
            ``param``, ``values`` and ``features``. Each feature has a ``name``; ``lower``,
            ``upper``, ``baseline`` and ``relevance`` at each value; and ``ranges``, the runs of
            values with the same relevance class.
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
        """Return the ranges of parameter values over which each feature keeps its class.

        Returns
        -------
        pandas.DataFrame
            One row per range: ``feature``, ``relevance``, ``first`` and ``last`` (the first and the
            last value in the range) and ``n_values``.
        """
        pandas = import_extra("pandas", "pandas")

        rows = [
            (name, relevance, self.values[start], self.values[stop - 1], stop - start)
            for name, column in zip(self.feature_names, self.relevance.T, strict=True)
            for relevance, start, stop in runs_of_equal_values(column)
        ]
        return pandas.DataFrame(rows, columns=["feature", "relevance", "first", "last", "n_values"])

    def plot(self, **kwargs: Any) -> PathDisplay:
        """Plot the intervals as bands; see :meth:`PathDisplay.from_result`."""
        return display("PathDisplay").from_result(self, **kwargs)


def runs_of_equal_values(classes: Sequence[Any] | NDArray[Any]) -> list[tuple[str, int, int]]:
    """Return each run of equal values as (value, start, stop)."""
    values = np.asarray(classes)
    starts = np.r_[0, np.flatnonzero(values[1:] != values[:-1]) + 1]
    stops = np.r_[starts[1:], len(values)]
    return [(str(values[a]), int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def bounds_path(
    estimator: RelevanceBounds,
    X: Any,
    y: Any,
    *,
    param: PathParameter = "C",
    values: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    privileged: Any = None,
    groups: ArrayLike | None = None,
) -> BoundsPath:
    """Compute relevance intervals and relevance classes over a grid of parameter values.

    Each solution starts from the previous one, so this is much faster than one fit per value. If
    the cutoff is estimated from probes, the bounds of the probes are computed at some of the values
    only. Between these values, the cutoff is interpolated as a fraction of the norm.

    Parameters
    ----------
    estimator : ClassificationBounds, RegressionBounds, OrdinalBounds or RankingBounds
        Estimator with the fixed parameters, including ``n_jobs`` and ``verbose``. It is not
        modified.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Target values.
    param : {"C", "norm_slack"}, default="C"
        Parameter to vary.
    values : array-like of shape (n_values,), default=None
        Parameter values. By default 20 values: for C, the range that ``C="cv"`` searches, or the
        values in ``Cs`` of the estimator; for norm_slack, 0.001 to 0.5.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each sample.
    privileged : array-like or sparse matrix of shape (n_samples, p), default=None
        Privileged features, which are available only at training time.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample. Samples of the same group are never separated.

    Returns
    -------
    BoundsPath
        Intervals and relevance classes for each value.

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
    est, values = _check_arguments(estimator, param, values)
    with start_job(PATH_STAGES, max_seconds=est.max_seconds, verbose=bool(est.verbose)) as job:
        return compute_path(job, est, X, y, param, values, sample_weight, privileged, groups)


def compute_path(
    job: Job,
    est: RelevanceBounds,
    X: Any,
    y: Any,
    param: PathParameter,
    values: Vector | None = None,
    sample_weight: ArrayLike | None = None,
    privileged: Any = None,
    groups: ArrayLike | None = None,
) -> BoundsPath:
    """Compute a path as a step of a job, within its deadline."""
    subproblems, scaled, settings = est._prepare(X, y, sample_weight, privileged, groups, job)
    if values is None:
        values = _default_values(param, settings, subproblems[0].variants[0])
    baselines, notes = fit_baselines(subproblems, scaled, settings)
    issue_notes(f"Path along {param}: {note}" for note in notes)
    paths = _baseline_paths(baselines, param, values, settings)
    n_values = len(paths[0])
    if n_values < len(values):
        issue_notes([_note_unfinished(param, n_values, values)])
        values = values[:n_values]
    tolerances = _tolerances(settings.tolerance, param, values)
    evidence = table_pvalues(baselines, settings.test_seed)
    run = settings.run(CALIBRATION)
    run = with_deadline(run, deadline_of(run).share(CALIBRATION_SHARE))
    calibrations = settings.calibration.fit_path(paths, tolerances, evidence, **run)
    by_subproblem = [
        _bound_along_path(path, tolerances, fitted, settings)
        for path, fitted in zip(paths, calibrations, strict=True)
    ]
    found = [note for bounds in by_subproblem for part in bounds for note in part.notes]
    if job.deadline.is_set:  # several values may have the same notes
        found = [f"Path along {param}: {note}" for note in dict.fromkeys(found)]
    issue_notes(found)
    return _make_path(param, values, est._layout, list(zip(*by_subproblem, strict=True)))


def _check_arguments(
    estimator: RelevanceBounds, param: str, values: ArrayLike | None
) -> tuple[RelevanceBounds, Vector | None]:
    if not isinstance(estimator, RelevanceBounds):
        raise InputError(
            "bounds_path requires a relevance bounds estimator such as ClassificationBounds "
            f"(got {type(estimator).__name__})."
        )
    if param not in ("C", "norm_slack"):
        raise InputError(f"param must be 'C' or 'norm_slack' (got {param!r}).")
    if values is not None:
        values = np.unique(np.asarray(values, dtype=float))
        minimum = 0.0 if param == "norm_slack" else np.nextafter(0.0, 1.0)
        maximum = MAX_SLACK if param == "norm_slack" else MAX_NUMBER
        # Comparisons with NaN, which is sorted last, are false.
        if len(values) == 0 or not (values[0] >= minimum and values[-1] <= maximum):
            allowed = "at least 0" if param == "norm_slack" else "above 0"
            raise InputError(
                f"values must contain at least one number, all of them {allowed} and at most "
                f"{maximum:g} "
                f"(got {values.tolist()})."
            )
    est = clone(estimator)
    est._validate_params()
    return est, values


def _default_values(param: PathParameter, settings: BoundsSettings, data: TaskData) -> Vector:
    if param == "norm_slack":
        return np.geomspace(0.001, 0.5, N_VALUES)
    if settings.tuning.grid is not None:
        return settings.tuning.grid
    return np.geomspace(GRID[0], GRID[-1], N_VALUES) / data.total_weight


def _note_unfinished(param: str, n_values: int, values: Vector) -> str:
    return (
        f"The time limit was reached after {n_values} of {len(values)} values of {param}, so the "
        f"path ends at {param}={values[n_values - 1]:.3g}. Increase max_seconds to reach all."
    )


def _baseline_paths(
    baselines: Sequence[FittedBaseline],
    param: PathParameter,
    values: Vector,
    settings: BoundsSettings,
) -> list[list[FittedBaseline]]:
    """Return the baseline for each value of the parameter, for each subproblem.

    If the time does not suffice, the values that all subproblems reached remain, at least one.
    """
    if param == "norm_slack":
        return [[baseline] * len(values) for baseline in baselines]
    limit, grid = settings.job.deadline.share(BASELINE_SHARE), [float(value) for value in values]
    paths = []
    for index, baseline in enumerate(baselines):
        own = limit.for_item(index, len(baselines))
        fits = baseline.formulation.path(baseline.data, grid, deadline=own)
        reached: list[FittedBaseline] = []
        while (at_C := attempt(partial(next, fits, None))) is not None:
            reached.append(replace(baseline, model=at_C.model, start=at_C.start, score=None))
        if not reached:
            at_C = baseline.formulation.fit(baseline.data, grid[0])
            reached = [replace(baseline, model=at_C.model, start=at_C.start, score=None)]
        paths.append(reached)
    n_values = min(len(path) for path in paths)
    return [path[:n_values] for path in paths]


def _tolerances(tolerance: Tolerance, param: PathParameter, values: Vector) -> list[Tolerance]:
    """Return the tolerance for each value of the parameter."""
    if param == "norm_slack":
        return [replace(tolerance, norm_slack=float(value)) for value in values]
    return [tolerance] * len(values)


def _bound_along_path(
    baselines: Sequence[FittedBaseline],
    tolerances: Sequence[Tolerance],
    calibrations: Sequence[FittedCalibration],
    settings: BoundsSettings,
) -> list[SubproblemBounds]:
    """Compute the bounds of a subproblem for each value of the parameter, in parallel."""

    def bound(index: int, deadline: Deadline) -> SubproblemBounds:
        job = Job(deadline)  # without progress
        own = replace(settings, tolerance=tolerances[index], n_jobs=1, job=job)
        return bound_subproblem(baselines[index], own, calibrations[index])

    run = settings.run(PATH)
    return [
        bound(index, deadline_of(run)) if part is None else part  # outer bounds after the deadline
        for index, part in enumerate(
            timed_map(bound, range(len(baselines)), equal_shares=True, **run)
        )
    ]


def _make_path(
    param: PathParameter,
    values: Vector,
    layout: WeightLayout,
    by_value: list[tuple[SubproblemBounds, ...]],
) -> BoundsPath:
    features = [combine_subproblems(subproblems, layout) for subproblems in by_value]
    models = [[sub.baseline.model for sub in subproblems] for subproblems in by_value]
    return BoundsPath(
        param=param,
        values=values,
        feature_names=features[0].names,
        interval=np.array([bounds.interval for bounds in features]),
        signed_interval=np.array([bounds.signed_interval for bounds in features]),
        relevance=np.array([bounds.relevance for bounds in features]),
        baseline=np.array([bounds.baseline for bounds in features]),
        norm=np.array([[m.norm_ for m in row] for row in models]),
        loss=np.array([[m.loss_ for m in row] for row in models]),
    )
