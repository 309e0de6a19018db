"""The whole way for one two-class problem: C, baseline, set, ranges, cutoff, classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Table, Vector
from ..parallel import run_tasks
from .equivalence import Formulation, Slack, fit_baseline
from .models import LinearModel
from .probes import ProbeSettings, probe_cutoff
from .programs.classification import EquivalentClassifiers, Samples
from .relevance import classify
from .scaling import Scaling
from .solver.intervals import WeightRanges, join_ranges, weight_ranges
from .tuning import choose_C

# Features whose programs one task solves on one warm model. Fixed, so that the answer does not
# depend on the number of workers.
_FEATURES_PER_TASK = 100


@dataclass(frozen=True)
class Settings:
    """What to solve and how; ``None`` for C or the cutoff means: learn it from the data."""

    C: float | None
    formulation: Formulation
    slack: Slack
    cutoff: float | None
    probes: ProbeSettings
    fold_seed: int
    n_jobs: int | None
    verbose: bool


@dataclass(frozen=True)
class TwoClassBounds:
    """What is known of one two-class problem.

    Attributes
    ----------
    baseline : LinearModel
    models : EquivalentClassifiers
        The set of models as good as the baseline.
    ranges : WeightRanges
        Range of each weight that can matter; constant columns are left out.
    signed_interval, interval, gap : ndarray of shape (d, 2)
        Zero for constant columns.
    cutoff : ndarray of shape (2,)
    relevance : ndarray of shape (d,)
    """

    baseline: LinearModel
    models: EquivalentClassifiers
    ranges: WeightRanges
    signed_interval: Matrix
    interval: Matrix
    gap: Matrix
    cutoff: Vector
    relevance: NDArray[np.str_]

    def witness(self, feature: int, side: int) -> tuple[Vector, float]:
        """Weights and intercept of a model that attains an end of the feature's interval."""
        (index,) = np.nonzero(self.ranges.features == feature)
        if len(index) == 0:  # a constant column: no model uses it, the baseline as little as any
            return self.baseline.coef_, self.baseline.intercept_
        coef, offset = self.ranges.witness(int(index[0]), side)
        return coef, float(offset[0])


def bound_two_classes(
    samples: Samples,
    fit_scaling: Callable[[Table, Vector], Scaling],
    settings: Settings,
    name: str = "",
) -> TwoClassBounds:
    """Relevance bounds of one class against another (or against the rest).

    Parameters
    ----------
    samples : Samples
        Not yet scaled.
    fit_scaling : callable
        Takes a table and the weights of its rows, gives its scaling.
    settings : Settings
    name : str
        What the progress bars call this problem.
    """
    C = settings.C
    if C is None:
        C = choose_C(
            samples,
            settings.formulation.baseline_path,
            fit_scaling,
            random_state=settings.fold_seed,
            n_jobs=settings.n_jobs,
            progress=_title(settings, "choosing C", name),
        )
    scaling = fit_scaling(samples.X, samples.weight)
    scaled = Samples(scaling.apply(samples.X), samples.y, samples.weight)
    baseline = fit_baseline(settings.formulation, scaled, C)
    models = settings.formulation.equivalent(scaled, baseline, settings.slack)
    ranges = _ranges(models, np.flatnonzero(~scaling.constant), settings, name)
    cutoff = _cutoff(scaled, baseline, settings, name)
    interval = _spread_out(ranges, ranges.interval, scaled.n_features)
    return TwoClassBounds(
        baseline=baseline,
        models=models,
        ranges=ranges,
        signed_interval=_spread_out(ranges, ranges.attained, scaled.n_features),
        interval=interval,
        gap=_spread_out(ranges, ranges.gap, scaled.n_features),
        cutoff=cutoff,
        relevance=classify(interval, cutoff),
    )


def _ranges(
    models: EquivalentClassifiers, features: NDArray[np.intp], settings: Settings, name: str
) -> WeightRanges:
    starts = range(0, len(features), _FEATURES_PER_TASK)
    tasks = [features[start : start + _FEATURES_PER_TASK] for start in starts]
    parts = run_tasks(
        lambda task: weight_ranges(models, task),
        tasks,
        n_jobs=settings.n_jobs,
        progress=_title(settings, "intervals", name),
    )
    return join_ranges(parts)


def _cutoff(samples: Samples, baseline: LinearModel, settings: Settings, name: str) -> Vector:
    if settings.cutoff is not None:
        return np.full(2, settings.cutoff)
    return probe_cutoff(
        samples,
        baseline,
        settings.formulation,
        settings.slack,
        settings.probes,
        n_jobs=settings.n_jobs,
        progress=_title(settings, "probes", name),
    )


def _spread_out(ranges: WeightRanges, values: Matrix, n_features: int) -> Matrix:
    full = np.zeros((n_features, 2))
    full[ranges.features] = values
    return full


def _title(settings: Settings, work: str, name: str) -> str | None:
    return f"{work} {name}".strip() if settings.verbose else None
