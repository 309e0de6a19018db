"""One subproblem from data to bounds: baseline, equivalent models, calibration, ranges."""

from __future__ import annotations

import reprlib
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from .._params import PROBES, CutoffName
from .._typing import Matrix, Vector
from ..exceptions import InputError, RelevanceWarning, WorkerDiedError
from ..parallel import RunOptions, parallel_map
from .baseline import FittedBaseline, Formulation, Tolerance, choose_C
from .calibration import Calibration, FittedCalibration, FixedCutoff, ProbeCalibration
from .programs.equivalent_models import EquivalentModels
from .result import SubproblemBounds
from .solver.proofs import intersect, outer_ranges
from .solver.ranges import WeightRanges, join_ranges, weight_ranges
from .task import FitScaling, ScaledTables, Subproblem

# Features whose programs one task solves on one warm model. Fixed, so that the answer does not
# depend on the number of workers.
FEATURES_PER_TASK = 100

# With screening, features in the first round; every further round has twice as many.
FEATURES_IN_FIRST_ROUND = 100


@dataclass(frozen=True)
class BoundsSettings:
    """What to solve and how; ``None`` for C means: choose it by cross-validation."""

    C: float | None
    formulation: Formulation
    tolerance: Tolerance
    calibration: Calibration
    fit_scaling: FitScaling
    screen: bool
    max_seconds: float | None
    fold_seed: int
    n_jobs: int | None
    verbose: bool

    def run(self, work: str, name: str) -> RunOptions:
        """Options of parallel work on a subproblem."""
        title = f"{work} {name}".strip() if self.verbose else None
        return {"n_jobs": self.n_jobs, "progress": title}


def calibration_for(
    cutoff: float | CutoffName, n_probes: int, fpr: float, seed: int
) -> Calibration:
    """The calibration that the parameters of an estimator ask for."""
    if cutoff == PROBES:
        return ProbeCalibration(n_probes, fpr, seed)
    return FixedCutoff(float(cutoff))


def fit_baseline(
    subproblem: Subproblem, scaled: ScaledTables, settings: BoundsSettings
) -> FittedBaseline:
    """Choose C and the variant if need be, and train the baseline on the scaled tables."""
    data, C, score, name = subproblem.variants[0], settings.C, None, subproblem.name
    notes: tuple[str, ...] = ()
    if C is None or len(subproblem.variants) > 1:
        choices = [
            choose_C(
                variant,
                variant.with_tables(scaled.tables),
                settings.formulation,
                settings.fit_scaling,
                seed=settings.fold_seed,
                grid=None if C is None else np.array([C]),
                **settings.run("choosing C", name),
            )
            for variant in subproblem.variants
        ]
        best = int(np.argmax([choice.score for choice in choices]))
        data, C, score = subproblem.variants[best], choices[best].C, choices[best].score
        if score <= choices[best].chance:
            notes = (
                f"No linear model of {name or 'these data'} predicts better than one without "
                f"features: it scores {score:.3f} on held-out rows, against "
                f"{choices[best].chance:.3f}. Relevance for such a model means little.",
            )
    return replace(
        settings.formulation.fit(data.with_tables(scaled.tables), C),
        varying=scaled.varying,
        scaling=scaled.scalings[0],
        score=score,
        name=name,
        notes=notes,
    )


def unused_features_notes(baselines: list[FittedBaseline], C: float | None) -> list[str]:
    """A baseline that uses no feature: the fault of a given C, a finding of a chosen one."""
    unused = [baseline for baseline in baselines if not baseline.model.uses_features]
    if C is not None and len(unused) == len(baselines):
        raise InputError(
            f"With C={C:g} the best model uses no feature at all: the loss weighs too "
            "little against the norm. Use a larger C, or C='cv'."
        )
    return [
        f"No feature helps to predict {baseline.name or 'the target'} at "
        f"C={baseline.model.C_:g}: all of them are irrelevant."
        for baseline in unused
    ]


def issue_notes(notes: Iterable[str]) -> None:
    """Warn the caller of the function that calls this one."""
    for note in notes:
        warnings.warn(note, RelevanceWarning, stacklevel=3)


def bound_subproblem(
    baseline: FittedBaseline,
    settings: BoundsSettings,
    calibration: FittedCalibration | None = None,
) -> SubproblemBounds:
    """Range of every weight over the models as good as the baseline, and the classes.

    A calibration that is given takes the place of the one of the settings.
    """
    models = settings.formulation.equivalent_models(baseline, settings.tolerance)
    if calibration is None:
        run = settings.run("probes", baseline.name)
        calibration = settings.calibration.fit(baseline, settings.tolerance, **run)
    cutoff = calibration.screening_cutoff()
    ranges, outer, range_notes = solve_ranges(models, baseline, cutoff, settings)
    notes = (*calibration.notes, *range_notes)
    return SubproblemBounds.from_ranges(baseline, models, ranges, outer, calibration, notes=notes)


def solve_ranges(
    models: EquivalentModels, baseline: FittedBaseline, cutoff: Vector, settings: BoundsSettings
) -> tuple[WeightRanges, Matrix, list[str]]:
    """Ranges of the features, what is proven of all of them, and what to tell the user.

    With screening they are solved for in rounds, those about which least is known first: every
    program proves something of all features, and those that are proven irrelevant by then are
    left out of the next round. Fewer are solved for if time runs out, or if a worker dies of some.
    """
    outer = outer_ranges(models)
    deadline = None if settings.max_seconds is None else time.time() + settings.max_seconds
    threshold = cutoff if settings.screen else np.full_like(cutoff, -np.inf)
    round_size = FEATURES_IN_FIRST_ROUND if settings.screen else len(baseline.varying)
    waiting = _least_known_first(baseline.varying, outer)
    # One is solved for in any case.
    waiting = waiting[_can_exceed(waiting, outer, threshold) | (waiting == waiting[0])]
    parts: list[WeightRanges] = []
    notes: list[str] = []
    n_begun = 0
    while len(waiting):
        batch, waiting = waiting[:round_size], waiting[round_size:]
        n_begun += len(batch)
        parts += _solve_round(models, batch, deadline, baseline.name, settings, notes)
        outer = reduce(intersect, [part.outer for part in parts], outer)
        waiting = _least_known_first(waiting[_can_exceed(waiting, outer, threshold)], outer)
        round_size *= 2
    ranges = join_ranges(parts)
    n_missing = n_begun - len(ranges.features)
    if n_missing:
        seconds = settings.max_seconds
        limit = "" if seconds is None else f" within {seconds:g} seconds"
        notes.append(
            f"{n_missing} of {n_begun} features were not solved for{limit}. Their bounds are "
            "proven but not tight (exact_ is False, gap_ says by how much), so that some may be "
            "called weak that are irrelevant or strong."
        )
    return ranges, outer, notes


def _solve_round(
    models: EquivalentModels,
    features: NDArray[np.intp],
    deadline: float | None,
    name: str,
    settings: BoundsSettings,
    notes: list[str],
) -> list[WeightRanges]:
    of_others = settings.screen or deadline is not None  # else there are none
    starts = range(0, len(features), FEATURES_PER_TASK)
    try:
        return parallel_map(
            partial(weight_ranges, models, deadline=deadline, of_others=of_others),
            [features[start : start + FEATURES_PER_TASK] for start in starts],
            describe=lambda task: f"the bounds of {len(task)} features: {reprlib.repr(list(task))}",
            **settings.run("intervals", name),
        )
    except WorkerDiedError as error:
        if not error.results:
            raise
        notes.append(str(error))
        return list(error.results.values())


def _least_known_first(features: NDArray[np.intp], outer: Matrix) -> NDArray[np.intp]:
    """The features, those first whose weight can be largest for all that is known."""
    return features[np.argsort(-np.abs(outer[features]).max(axis=1), kind="stable")]


def _can_exceed(features: NDArray[np.intp], outer: Matrix, cutoff: Vector) -> NDArray[np.bool_]:
    """Which of the features may have a weight above their cutoff, for all that is known."""
    return np.abs(outer[features]).max(axis=1) > cutoff[features]
