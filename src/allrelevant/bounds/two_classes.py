"""The whole way for one two-class problem: C, baseline, set, ranges, cutoff, classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from ..exceptions import InputError, RelevanceWarning
from ..parallel import run_tasks
from .equivalence import Formulation, Slack, Standard, fit_baseline
from .models import LinearModel
from .probes import ProbeSettings, probe_cutoff
from .programs.classification import Samples
from .programs.equivalent_models import EquivalentModels
from .relevance import classify
from .solver.intervals import WeightRanges, join_ranges, weight_ranges
from .solver.proofs import certified_ranges
from .tuning import Choice, FitScaling, choose_C

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
    screen: bool
    fold_seed: int
    n_jobs: int | None
    verbose: bool


@dataclass(frozen=True)
class TwoClassBounds:
    """What is known of one two-class problem.

    Attributes
    ----------
    standard : Standard
    models : EquivalentModels
        The set of models as good as the baseline.
    ranges : WeightRanges
        Range of each weight that was solved for; constant columns are left out, and so are
        features that screening has proven irrelevant.
    exact : ndarray of shape (d,)
        False for features that were screened: what is known of them is an outer bound.
    signed_interval, interval, gap : ndarray of shape (d, 2)
        Zero for constant columns.
    cutoff : ndarray of shape (2,)
    relevance : ndarray of shape (d,)
    """

    standard: Standard
    models: EquivalentModels
    ranges: WeightRanges
    exact: NDArray[np.bool_]
    signed_interval: Matrix
    interval: Matrix
    gap: Matrix
    cutoff: Vector
    relevance: NDArray[np.str_]

    @property
    def baseline(self) -> LinearModel:
        return self.standard.baseline

    def witness(self, feature: int, side: int) -> tuple[Vector, float]:
        """Weights and intercept of a model that attains an end of the feature's interval."""
        if not self.exact[feature]:
            raise InputError(
                "This feature was screened: it is proven irrelevant, but no model was looked for "
                "that attains its bound. Fit with screen=False to get one."
            )
        (index,) = np.nonzero(self.ranges.features == feature)
        if len(index) == 0:  # a constant column: no model uses it, the baseline as little as any
            return self.baseline.coef_, self.baseline.intercept_
        coef, offset = self.ranges.witness(int(index[0]), side)
        return coef, float(offset[0])


def find_baseline(
    samples: Samples, fit_scaling: FitScaling, settings: Settings, name: str = ""
) -> Standard:
    """Choose C if need be, and train the baseline on the scaled samples.

    Parameters
    ----------
    samples : Samples
        Not yet scaled.
    fit_scaling : callable
        Takes a table and the weights of its rows, gives its scaling.
    settings : Settings
    name : str
        What messages and progress bars call this problem.
    """
    C, score = settings.C, None
    if C is None:
        choice = _choose(samples, fit_scaling, settings, name)
        C, score = choice.C, choice.score
    scaling = fit_scaling(samples.X, samples.weight)
    scaled = samples.with_table(scaling.apply(samples.X))
    baseline = fit_baseline(settings.formulation, scaled, C)
    return Standard(
        samples=scaled,
        features=np.flatnonzero(~scaling.constant),
        formulation=settings.formulation,
        baseline=baseline,
        score=score,
        name=name,
    )


def bound_weights(standard: Standard, settings: Settings) -> TwoClassBounds:
    """Range of every weight over the models as good as the baseline, and the classes."""
    samples, baseline = standard.samples, standard.baseline
    models = settings.formulation.equivalent(samples, baseline, settings.slack)
    cutoff = _cutoff(standard, settings)
    screened = _screened(models, standard.features, cutoff[1]) if settings.screen else {}
    exact = np.ones(samples.n_features, dtype=bool)
    exact[list(screened)] = False
    ranges = _ranges(models, standard, exact, settings)
    signed = _spread_out(ranges, ranges.attained, samples.n_features)
    interval = _spread_out(ranges, ranges.interval, samples.n_features)
    gap = _spread_out(ranges, ranges.gap, samples.n_features)
    for feature, proven in screened.items():
        # The truth lies between the baseline's weight and what is proven.
        weight, upper = abs(baseline.coef_[feature]), float(np.abs(proven).max())
        signed[feature], interval[feature] = proven, (0.0, upper)
        gap[feature] = weight, upper - weight
    return TwoClassBounds(
        standard=standard,
        models=models,
        ranges=ranges,
        exact=exact,
        signed_interval=signed,
        interval=interval,
        gap=gap,
        cutoff=cutoff,
        relevance=classify(interval, cutoff),
    )


def _screened(
    models: EquivalentModels, features: NDArray[np.intp], cutoff: float
) -> dict[int, Vector]:
    """Features that the baseline's certificate proves irrelevant, with what it proves.

    The one that it says least about is left to be solved in any case.
    """
    if models.start is None:
        return {}
    proven = certified_ranges(models, models.start.multipliers)
    upper = np.abs(proven).max(axis=1)
    below = features[(upper[features] <= cutoff) & (features != features[upper[features].argmax()])]
    return {int(feature): proven[feature] for feature in below}


def _choose(samples: Samples, fit_scaling: FitScaling, settings: Settings, name: str) -> Choice:
    choice = choose_C(
        samples,
        settings.formulation.baseline_path,
        fit_scaling,
        random_state=settings.fold_seed,
        n_jobs=settings.n_jobs,
        progress=_title(settings, "choosing C", name),
    )
    if choice.score <= choice.chance:
        warnings.warn(
            f"No linear model of {name or 'these data'} predicts better than always saying the "
            f"larger class: {choice.score:.3f} of held-out rows right, against "
            f"{choice.chance:.3f}. Relevance for such a model means little.",
            RelevanceWarning,
            stacklevel=4,
        )
    return choice


def _ranges(
    models: EquivalentModels, standard: Standard, exact: NDArray[np.bool_], settings: Settings
) -> WeightRanges:
    features = standard.features[exact[standard.features]]
    starts = range(0, len(features), _FEATURES_PER_TASK)
    tasks = [features[start : start + _FEATURES_PER_TASK] for start in starts]
    parts = run_tasks(
        lambda task: weight_ranges(models, task),
        tasks,
        n_jobs=settings.n_jobs,
        progress=_title(settings, "intervals", standard.name),
    )
    return join_ranges(parts)


def _cutoff(standard: Standard, settings: Settings) -> Vector:
    if settings.cutoff is not None:
        return np.full(2, settings.cutoff)
    return probe_cutoff(
        standard,
        settings.slack,
        settings.probes,
        n_jobs=settings.n_jobs,
        progress=_title(settings, "probes", standard.name),
    )


def _spread_out(ranges: WeightRanges, values: Matrix, n_features: int) -> Matrix:
    full = np.zeros((n_features, 2))
    full[ranges.features] = values
    return full


def _title(settings: Settings, work: str, name: str) -> str | None:
    return f"{work} {name}".strip() if settings.verbose else None
