"""Steps of a fit: baseline, calibration, equivalent models and ranges of their weights."""

from __future__ import annotations

import reprlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from .._params import FDR, PROBES, CutoffName
from .._typing import Matrix, Vector
from ..exceptions import WorkerDiedError, warn_caller
from ..parallel import RunOptions, parallel_map
from .baseline import FittedBaseline, Formulation, Tolerance
from .calibration import Calibration, FittedCalibration, FixedCutoff, ProbeCalibration
from .models import MIN_NORM
from .permutations import EVIDENCE_LEVEL, PermutationCalibration, table_pvalues
from .programs.equivalent_models import EquivalentModels
from .result import SubproblemBounds
from .solver.blocks import BlockRange, BlockSolver, FeatureRanges, KnownModels
from .solver.interface import EXACT_TOL
from .solver.proofs import intersect, outer_ranges
from .solver.ranges import WeightRanges, absolute, empty_ranges, join_ranges, weight_ranges
from .task import FitScaling, ScaledTables, Subproblem
from .tuning import Tuning, choose_C

# Number of features per parallel task; LPs within a task are warm-started. The number is fixed, so
# that the result does not depend on the number of workers.
FEATURES_PER_TASK = 100

# Number of features in the first screening round; each further round has twice as many.
FEATURES_IN_FIRST_ROUND = 100


@dataclass(frozen=True)
class BoundsSettings:
    """Settings of a fit; if ``C`` is None, ``tuning`` defines how it is chosen.

    ``tol`` is the gap that bounds may have, relative to the norm.
    """

    C: float | None
    tuning: Tuning
    formulation: Formulation
    tolerance: Tolerance
    calibration: Calibration
    fit_scaling: FitScaling
    tol: float
    screen: bool
    max_seconds: float | None
    test_seed: int
    n_jobs: int | None
    verbose: bool

    def run(self, work: str, name: str) -> RunOptions:
        """Return the number of workers and the progress title for one step of a subproblem."""
        title = f"{work} {name}".strip() if self.verbose else None
        return {"n_jobs": self.n_jobs, "progress": title}


@dataclass(frozen=True)
class CalibrationSettings:
    """Estimator parameters that determine the calibration."""

    cutoff: float | CutoffName
    fdr: float
    n_probes: int
    fpr: float


def calibration_for(
    settings: CalibrationSettings, C: float | None, tuning: Tuning, seed: int
) -> Calibration:
    """Return the calibration method that the parameters of an estimator select."""
    probes = ProbeCalibration(settings.n_probes, settings.fpr, seed)
    if settings.cutoff == FDR:
        return PermutationCalibration(settings.fdr, C, seed, tuning, wide=probes)
    if settings.cutoff == PROBES:
        return probes
    return FixedCutoff(float(settings.cutoff))


def fit_baseline(
    subproblem: Subproblem, scaled: ScaledTables, settings: BoundsSettings
) -> FittedBaseline:
    """Choose C and the variant of the data by cross-validation if needed; fit the baseline."""
    data, C, score, name = subproblem.variants[0], settings.C, None, subproblem.name
    if C is None or len(subproblem.variants) > 1:
        tuning = settings.tuning if C is None else replace(settings.tuning, grid=np.array([C]))
        choices = [
            choose_C(
                variant,
                variant.with_tables(scaled.tables),
                settings.formulation,
                settings.fit_scaling,
                tuning,
                **settings.run("choosing C", name),
            )
            for variant in subproblem.variants
        ]
        best = int(np.argmax([choice.score for choice in choices]))
        data, C, score = subproblem.variants[best], choices[best].C, choices[best].score
    return replace(
        settings.formulation.fit(data.with_tables(scaled.tables), C),
        varying=np.flatnonzero(data.layout.any_weight(scaled.varying)),
        scaling=scaled.scalings[0],
        score=score,
        name=name,
    )


def baseline_notes(
    baselines: Sequence[FittedBaseline], evidence: Vector, calibration: Calibration
) -> list[str]:
    """Return warning messages on baselines that use no feature and on a table without evidence."""
    notes = [
        f"No feature improves the prediction of {baseline.name or 'the target'} at "
        f"C={baseline.model.C_:g}, so all features are irrelevant. To verify this with less "
        "regularization, set C to a larger number."
        for baseline in baselines
        if not baseline.model.uses_features
    ]
    if evidence[0] > EVIDENCE_LEVEL and calibration.compares_with_noise:
        notes.append(
            "There is no evidence that the target depends on the features (permutation test of the "
            f"whole table, p = {evidence[0]:.2g}). Do not interpret the bounds of single features."
        )
    return notes


def issue_notes(notes: Iterable[str]) -> None:
    """Issue each note as a warning."""
    for note in notes:
        warn_caller(note)


def calibrate(
    baselines: Sequence[FittedBaseline], settings: BoundsSettings
) -> tuple[Vector, list[FittedCalibration]]:
    """Return the p-value of each table and the fitted relevance rule of each subproblem."""
    evidence = table_pvalues(baselines, settings.test_seed)
    run = settings.run("calibration", "")
    return evidence, settings.calibration.fit(baselines, settings.tolerance, evidence, **run)


def bound_subproblem(
    baseline: FittedBaseline, settings: BoundsSettings, calibration: FittedCalibration
) -> SubproblemBounds:
    """Compute bounds and relevance classes over the models equivalent to a baseline."""
    models = settings.formulation.equivalent_models(baseline, settings.tolerance)
    cutoff = calibration.screening_cutoff()
    deadline = None if settings.max_seconds is None else time.time() + settings.max_seconds
    ranges, outer, range_notes = solve_ranges(models, baseline, cutoff, deadline, settings)
    ranges = refine_undecided(models, ranges, calibration, settings)
    blocks = solve_blocks(models, baseline, ranges, deadline, settings)
    notes = (*calibration.notes, *range_notes)
    return SubproblemBounds.from_ranges(
        baseline,
        models,
        FeatureRanges(ranges, blocks),
        outer,
        calibration,
        tol=settings.tol,
        notes=notes,
    )


def solve_ranges(
    models: EquivalentModels,
    baseline: FittedBaseline,
    cutoff: Vector,
    deadline: float | None,
    settings: BoundsSettings,
) -> tuple[WeightRanges, Matrix, list[str]]:
    """Return exact ranges of the solved weights, outer ranges of all, and warning messages.

    Only features with a single weight are solved; :func:`solve_blocks` solves the others. With
    screening, features are solved in rounds, those with the largest outer bounds first. The dual
    certificate of each LP tightens the outer bounds of all features, and features that become
    certified irrelevant are skipped in later rounds. Some features may stay unsolved if time runs
    out or a worker process crashes.
    """
    outer, layout = outer_ranges(models), baseline.layout
    weights = layout.weights_of(baseline.varying[layout.has_one_weight(baseline.varying)])
    if len(weights) == 0:
        return empty_ranges(models), outer, []
    threshold = cutoff if settings.screen else np.full_like(cutoff, -np.inf)
    threshold = threshold[layout.features_of_weights]
    round_size = FEATURES_IN_FIRST_ROUND if settings.screen else len(weights)
    waiting = _largest_bound_first(weights, outer)
    # At least one feature is always solved.
    waiting = waiting[_can_exceed(waiting, outer, threshold) | (waiting == waiting[0])]
    parts: list[WeightRanges] = []
    notes: list[str] = []
    n_started = 0
    while len(waiting):
        batch, waiting = waiting[:round_size], waiting[round_size:]
        n_started += len(batch)
        parts += _solve_round(models, batch, deadline, baseline.name, settings, notes)
        outer = reduce(intersect, [part.outer for part in parts], outer)
        waiting = _largest_bound_first(waiting[_can_exceed(waiting, outer, threshold)], outer)
        round_size *= 2
    # Weights that are certified to be zero must not differ from zero by rounding errors.
    ranges = join_ranges(parts).with_zeros(np.abs(outer).max(axis=1) <= MIN_NORM)
    n_missing = n_started - len(ranges.features)
    if n_missing:
        seconds = settings.max_seconds
        limit = "" if seconds is None else f" within {seconds:g} seconds"
        remedy = "" if seconds is None else " Increase max_seconds to solve them."
        notes.append(
            f"{n_missing} of {n_started} features were not solved{limit}. Their bounds are "
            "certified but not tight (exact_ is False; gap_ gives the largest error), so some "
            f"features reported as weak may be irrelevant or strong.{remedy}"
        )
    return ranges, outer, notes


def refine_undecided(
    models: EquivalentModels,
    ranges: WeightRanges,
    calibration: FittedCalibration,
    settings: BoundsSettings,
) -> WeightRanges:
    """Solve again, to the smallest tolerance, where the class depends on the gap of the bounds."""
    if settings.tol <= EXACT_TOL:
        return ranges
    interval, proven = ranges.interval, absolute(ranges.proven)
    corners = [
        np.column_stack([lower[:, 0], upper[:, 1]])
        for lower in (interval, proven)
        for upper in (interval, proven)
    ]
    layout = calibration.layout
    features = layout.features_of_weights[ranges.features]
    classes = []
    for corner in corners:
        intervals = np.zeros((layout.n_all_features, 2))
        intervals[features] = corner
        classes.append(calibration.classify(intervals)[features])
    is_undecided = np.any([c != classes[0] for c in classes[1:]], axis=0)
    if not is_undecided.any():
        return ranges
    refined = weight_ranges(models, ranges.features[is_undecided], tol=EXACT_TOL)
    return join_ranges([ranges.take(np.flatnonzero(~is_undecided)), refined])


def solve_blocks(
    models: EquivalentModels,
    baseline: FittedBaseline,
    ranges: WeightRanges,
    deadline: float | None,
    settings: BoundsSettings,
) -> dict[int, BlockRange]:
    """Return the ranges of features with several weights; after the deadline, outer bounds."""
    layout = baseline.layout
    features = [int(j) for j in baseline.varying if j in layout.blocks]
    known = KnownModels(ranges.coef, ranges.offset)

    def solve(feature: int) -> BlockRange:
        solver = BlockSolver(models, layout, known)
        if deadline is not None and time.time() >= deadline:
            return solver.outer_range(feature)
        return solver.range(feature)

    run = settings.run("categories", baseline.name)
    return dict(zip(features, parallel_map(solve, features, **run), strict=True))


def _solve_round(
    models: EquivalentModels,
    features: NDArray[np.intp],
    deadline: float | None,
    name: str,
    settings: BoundsSettings,
    notes: list[str],
) -> list[WeightRanges]:
    with_outer_ranges = (
        settings.screen or deadline is not None
    )  # otherwise, all features are solved
    starts = range(0, len(features), FEATURES_PER_TASK)
    try:
        return parallel_map(
            partial(
                weight_ranges,
                models,
                deadline=deadline,
                with_outer_ranges=with_outer_ranges,
                tol=settings.tol,
            ),
            [features[start : start + FEATURES_PER_TASK] for start in starts],
            describe=lambda task: f"the bounds of {len(task)} features: {reprlib.repr(list(task))}",
            **settings.run("intervals", name),
        )
    except WorkerDiedError as error:
        if not error.results:
            raise
        notes.append(str(error))
        return list(error.results.values())


def _largest_bound_first(features: NDArray[np.intp], outer: Matrix) -> NDArray[np.intp]:
    """Sort features by their largest possible absolute weight, in descending order."""
    return features[np.argsort(-np.abs(outer[features]).max(axis=1), kind="stable")]


def _can_exceed(features: NDArray[np.intp], outer: Matrix, cutoff: Vector) -> NDArray[np.bool_]:
    """Return a mask of the features whose outer bound exceeds the cutoff."""
    return np.abs(outer[features]).max(axis=1) > cutoff[features]
