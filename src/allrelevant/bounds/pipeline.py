"""The whole way for one problem: C, baseline, set, ranges, cutoff, classes."""

from __future__ import annotations

import reprlib
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..exceptions import RelevanceWarning, WorkerDiedError
from ..parallel import parallel_map
from .baseline import (
    ChosenC,
    FitScaling,
    FittedBaseline,
    Formulation,
    Tolerance,
    choose_C,
    fit_baseline,
)
from .calibration import ProbeSettings, probe_cutoff
from .programs.equivalent_models import EquivalentModels
from .result import SubproblemBounds, put_together
from .solver.proofs import intersect, outer_ranges
from .solver.ranges import WeightRanges, join_ranges, weight_ranges
from .task import TaskData

# Features whose programs one task solves on one warm model. Fixed, so that the answer does not
# depend on the number of workers.
_FEATURES_PER_TASK = 100


# With screening, features in the first round; every further round has twice as many.
_FIRST_ROUND = 100


@dataclass(frozen=True)
class BoundsSettings:
    """What to solve and how; ``None`` for C or the cutoff means: learn it from the data."""

    C: float | None
    formulation: Formulation
    slack: Tolerance
    cutoff: float | None
    probes: ProbeSettings
    screen: bool
    max_seconds: float | None
    fold_seed: int
    n_jobs: int | None
    verbose: bool


def find_baseline(
    variants: Sequence[TaskData], fit_scaling: FitScaling, settings: BoundsSettings, name: str = ""
) -> FittedBaseline:
    """Choose C if need be, and train the baseline on the scaled samples.

    Parameters
    ----------
    variants : sequence of Samples
        Not yet scaled. The same samples under different settings of their task; the one that
        cross-validates best is taken.
    fit_scaling : callable
        Takes a table and the weights of its rows, gives its scaling.
    settings : Settings
    name : str
        What messages and progress bars call this problem.
    """
    samples, C, score = variants[0], settings.C, None
    if C is None or len(variants) > 1:
        samples, choice = _choose(variants, fit_scaling, settings, name)
        C, score = choice.C, choice.score
    scalings = [fit_scaling(table, samples.weight) for table in samples.tables]
    scaled = samples.with_tables(
        tuple(s.apply(table) for s, table in zip(scalings, samples.tables, strict=True))
    )
    baseline = fit_baseline(settings.formulation, scaled, C)
    return FittedBaseline(
        samples=scaled,
        features=np.flatnonzero(~np.concatenate([s.constant for s in scalings])),
        formulation=settings.formulation,
        baseline=baseline,
        score=score,
        name=name,
    )


def bound_subproblem(
    standard: FittedBaseline, settings: BoundsSettings, cutoff: Matrix | None = None
) -> SubproblemBounds:
    """Range of every weight over the models as good as the baseline, and the classes.

    Parameters
    ----------
    standard : Standard
    settings : Settings
    cutoff : ndarray of shape (n_tables, 2), default=None
        By default what the settings say.
    """
    samples = standard.samples
    models = settings.formulation.equivalent(samples, standard.baseline, settings.slack)
    cutoff = learned_cutoffs(standard, settings) if cutoff is None else cutoff
    of_weight = np.repeat(cutoff, [table.shape[1] for table in samples.tables], axis=0)
    ranges, outer = _ranges(models, standard, of_weight[:, 1], settings)
    return put_together(standard, models, ranges, outer, cutoff)


def _choose(
    variants: Sequence[TaskData], fit_scaling: FitScaling, settings: BoundsSettings, name: str
) -> tuple[TaskData, ChosenC]:
    choices = [
        choose_C(
            samples,
            settings.formulation.baseline_path,
            fit_scaling,
            random_state=settings.fold_seed,
            grid=None if settings.C is None else np.array([settings.C]),
            n_jobs=settings.n_jobs,
            progress=_title(settings, "choosing C", name),
        )
        for samples in variants
    ]
    best = int(np.argmax([choice.score for choice in choices]))
    choice = choices[best]
    if choice.score <= choice.chance:
        warnings.warn(
            f"No linear model of {name or 'these data'} predicts better than one without "
            f"features: it scores {choice.score:.3f} on held-out rows, against "
            f"{choice.chance:.3f}. Relevance for such a model means little.",
            RelevanceWarning,
            stacklevel=4,
        )
    return variants[best], choice


def _ranges(
    models: EquivalentModels, standard: FittedBaseline, cutoff: Vector, settings: BoundsSettings
) -> tuple[WeightRanges, Matrix]:
    """Ranges of the features, and what is proven of all of them.

    With screening they are solved for in rounds, those about which least is known first: every
    program proves something of all features, and those that are proven irrelevant by then are
    left out of the next round. Fewer are solved for if time runs out, or if a worker dies of some.
    """
    outer = outer_ranges(models)
    deadline = None if settings.max_seconds is None else time.time() + settings.max_seconds
    least = cutoff if settings.screen else np.full_like(cutoff, -np.inf)
    in_one_round = _FIRST_ROUND if settings.screen else len(standard.features)
    waiting = _least_known(standard.features, outer)
    waiting = waiting[_above(waiting, outer, least) | (waiting == waiting[0])]  # one in any case
    parts: list[WeightRanges] = []
    n_begun = 0
    while len(waiting):
        begun, waiting = waiting[:in_one_round], waiting[in_one_round:]
        n_begun += len(begun)
        parts += _round(models, begun, deadline, standard, settings)
        outer = reduce(intersect, [part.outer for part in parts], outer)
        waiting = _least_known(waiting[_above(waiting, outer, least)], outer)
        in_one_round *= 2
    ranges = join_ranges(parts)
    _warn_of_missing(n_begun - len(ranges.features), n_begun, settings)
    return ranges, outer


def _least_known(features: NDArray[np.intp], outer: Matrix) -> NDArray[np.intp]:
    """These features, those about which least is known first."""
    return features[np.argsort(-np.abs(outer[features]).max(axis=1), kind="stable")]


def _above(features: NDArray[np.intp], outer: Matrix, cutoff: Vector) -> NDArray[np.bool_]:
    """Which of the features may have a weight above their cutoff, for all that is known."""
    return np.abs(outer[features]).max(axis=1) > cutoff[features]


def _round(
    models: EquivalentModels,
    features: NDArray[np.intp],
    deadline: float | None,
    standard: FittedBaseline,
    settings: BoundsSettings,
) -> list[WeightRanges]:
    of_others = settings.screen or deadline is not None  # else there are none
    starts = range(0, len(features), _FEATURES_PER_TASK)
    tasks = [features[start : start + _FEATURES_PER_TASK] for start in starts]
    try:
        return parallel_map(
            partial(weight_ranges, models, deadline=deadline, of_others=of_others),
            tasks,
            n_jobs=settings.n_jobs,
            progress=_title(settings, "intervals", standard.name),
            describe=lambda task: f"the bounds of {len(task)} features: {reprlib.repr(list(task))}",
        )
    except WorkerDiedError as error:
        if not error.results:
            raise
        warnings.warn(str(error), RelevanceWarning, stacklevel=5)
        return list(error.results.values())


def _warn_of_missing(n_missing: int, n_features: int, settings: BoundsSettings) -> None:
    if n_missing:
        seconds = settings.max_seconds
        limit = "" if seconds is None else f" within {seconds:g} seconds"
        warnings.warn(
            f"{n_missing} of {n_features} features were not solved for{limit}. Their bounds are "
            "proven but not tight (exact_ is False, gap_ says by how much), so that some may be "
            "called weak that are irrelevant or strong.",
            RelevanceWarning,
            stacklevel=5,
        )


def learned_cutoffs(standard: FittedBaseline, settings: BoundsSettings) -> Matrix:
    """What the bounds of the features of each table must exceed, shape (n_tables, 2)."""
    n_tables = len(standard.samples.tables)
    if settings.cutoff is not None:
        return np.full((n_tables, 2), settings.cutoff)
    return np.array(
        [
            probe_cutoff(
                standard,
                settings.slack,
                settings.probes,
                table,
                n_jobs=settings.n_jobs,
                progress=_title(settings, "probes", standard.name),
            )
            for table in range(n_tables)
        ]
    )


def _title(settings: BoundsSettings, work: str, name: str) -> str | None:
    return f"{work} {name}".strip() if settings.verbose else None
