"""Steps of a fit: baseline, calibration, equivalent models and ranges of their weights."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._params import FDR, PROBES, CutoffName
from .._typing import Matrix, Vector
from ..deadline import Deadline, attempt
from ..exceptions import WorkerDiedError, warn_caller
from ..parallel import (
    Job,
    RunOptions,
    TimedOptions,
    deadline_of,
    parallel_map,
    timed_map,
    with_deadline,
)
from .baseline import FittedBaseline, Formulation, Tolerance
from .calibration import Calibration, FittedCalibration, FixedCutoff
from .cross_validation import SELECTION_GAP, ChosenC, choose_C
from .models import MIN_NORM
from .permutations import EVIDENCE_LEVEL, PermutationCalibration, table_pvalues
from .probes import ProbeCalibration
from .programs.equivalent_models import EquivalentModels
from .result import SubproblemBounds
from .solver.blocks import BlockRange, BlockSolver, FeatureRanges, KnownModels
from .solver.interface import EXACT_TOL
from .solver.projection import ProjectedCertificates
from .solver.proofs import intersect, outer_ranges
from .solver.ranges import (
    CheckedSolver,
    WeightRanges,
    absolute,
    empty_ranges,
    join_ranges,
    weight_ranges,
)
from .task import FitScaling, ScaledTables, Subproblem, TaskData
from .tuning import Tuning

# Maximum number of features per parallel task; LPs within a task are warm-started. A round of
# screening has at least this many tasks, if there are as many features. The numbers are fixed, so
# that the result does not depend on the number of workers.
FEATURES_PER_TASK = 100
MIN_TASKS_PER_ROUND = 8

# Number of features per parallel task of projections.
FEATURES_PER_PROJECTION = 1000

# Number of features (at most twice as many) that are projected first, and the fraction of them
# that must become certified irrelevant.
PROJECTED_SAMPLE, MIN_CERTIFIED = 100, 0.3

# Number of features in the first screening round; each further round has twice as many.
FEATURES_IN_FIRST_ROUND = 100


# Stages of a fit, with their usual relative durations.
CHOICE, CALIBRATION, BOUNDS = "choosing C", "calibration", "bounds"
FIT_STAGES = {CHOICE: 0.3, CALIBRATION: 0.4, BOUNDS: 0.3}

# Parts of the remaining time for the choice of C with the baseline, and for the calibration. The
# choice of C gets a part of the first, so that time is left for the baseline.
BASELINE_SHARE = 0.45
CHOICE_SHARE = 0.7
CALIBRATION_SHARE = 0.6


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
    test_seed: int
    n_jobs: int | None
    job: Job

    def run(self, stage: str, n_loops: int = 1) -> TimedOptions:
        """Return the number of workers, the progress and the deadline for a stage of the job."""
        return self.job.stage(stage, self.n_jobs, n_loops)

    def until(self, deadline: Deadline) -> Self:
        """Return the settings with an earlier deadline, for one step."""
        return replace(self, job=self.job.until(deadline))


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


def fit_baselines(
    subproblems: Sequence[Subproblem], scaled: ScaledTables, settings: BoundsSettings
) -> tuple[list[FittedBaseline], list[str]]:
    """Return the baseline of each subproblem, and warning messages on the time limit."""
    limit = settings.job.deadline.share(BASELINE_SHARE)
    run = settings.run(CHOICE, sum(len(subproblem.variants) for subproblem in subproblems))
    baselines, notes = [], []
    for index, subproblem in enumerate(subproblems):
        own = with_deadline(run, limit.for_item(index, len(subproblems)))
        baseline, note = fit_baseline(subproblem, scaled, settings, own)
        baselines.append(baseline)
        notes += note
    return baselines, notes


def fit_baseline(
    subproblem: Subproblem, scaled: ScaledTables, settings: BoundsSettings, run: TimedOptions
) -> tuple[FittedBaseline, list[str]]:
    """Choose C and the variant of the data by cross-validation if needed; fit the baseline.

    Also return warning messages on the time limit.
    """
    data, C, score, name = subproblem.variants[0], settings.C, None, subproblem.name
    tuning, notes = settings.tuning, []
    if C is None or len(subproblem.variants) > 1:
        tuning = tuning if C is None else replace(tuning, grid=np.array([C]))
        choices = _choose_C(subproblem, scaled, replace(settings, tuning=tuning), run)
        if choices:
            best = int(np.argmax([choice.score for _, choice in choices]))
            data, choice = choices[best]
            C, score = choice.C, choice.score
            notes += [] if choice.note is None else [choice.note]
    with_tables = data.with_tables(scaled.tables)
    values = tuning.values(data)
    deadline = deadline_of(run)
    fitted = None
    if C is not None:
        fitted = attempt(partial(settings.formulation.fit, with_tables, C, deadline=deadline))
    if fitted is not None and notes and not fitted.model.uses_features:
        fitted = C = None  # larger values, which were not compared, may use features
    if fitted is None:
        fitted = _cheap_baseline(with_tables, C, values, settings)
        score = None
        notes.append(_note_cheap_baseline(fitted, C))
    return replace(
        fitted,
        varying=np.flatnonzero(data.layout.any_weight(scaled.varying)),
        scaling=scaled.scalings[0],
        score=score,
        name=name,
    ), notes


def _choose_C(
    subproblem: Subproblem, scaled: ScaledTables, settings: BoundsSettings, run: TimedOptions
) -> list[tuple[TaskData, ChosenC]]:
    """Return the variants of the data whose C was chosen in time, with their choices."""
    limit, variants = deadline_of(run).share(CHOICE_SHARE), subproblem.variants
    found = []
    for index, variant in enumerate(variants):
        own = with_deadline(run, limit.for_item(index, len(variants)))
        choice = attempt(
            partial(
                choose_C,
                variant,
                variant.with_tables(scaled.tables),
                settings.formulation,
                settings.fit_scaling,
                settings.tuning,
                **own,
            )
        )
        if choice is not None:
            found.append((variant, choice))
    return found


def _cheap_baseline(
    data: TaskData, C: float | None, values: Vector, settings: BoundsSettings
) -> FittedBaseline:
    """Return a baseline if the time did not suffice for the one at C: at a smaller C, if needed.

    Small values of C are fast, because few features are used. The first baseline that uses a
    feature is fitted in any case.
    """
    smaller = [float(value) for value in values if C is None or value <= C] or [float(values[0])]
    limit = settings.job.deadline.share(BASELINE_SHARE)
    path = settings.formulation.path(data, smaller, SELECTION_GAP, limit)
    best: FittedBaseline | None = None
    while (fitted := attempt(partial(next, path, None))) is not None:
        best = fitted
    if best is not None and best.model.uses_features:
        return best
    for best in settings.formulation.path(data, smaller, SELECTION_GAP):
        if best.model.uses_features:
            break
    assert best is not None  # there is at least one value
    return best


def _note_cheap_baseline(fitted: FittedBaseline, C: float | None) -> str:
    name, used = fitted.name or "the target", fitted.model.C_
    reason = "C was chosen" if C is None else f"the baseline of {name} at C={C:g} was fitted"
    return (
        f"The time limit was reached before {reason}. The baseline at C={used:g} is used instead; "
        f"its objective is within {SELECTION_GAP:.1%} of the optimum. Increase max_seconds, or "
        "pass C as a number."
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
    n_loops = 2 * len(baselines) * baselines[0].layout.n_tables  # the choice of C, and the draws
    run = settings.run(CALIBRATION, n_loops)
    evidence = table_pvalues(baselines, settings.test_seed)
    run = with_deadline(run, deadline_of(run).share(CALIBRATION_SHARE))
    return evidence, settings.calibration.fit(baselines, settings.tolerance, evidence, **run)


def bound_subproblems(
    baselines: Sequence[FittedBaseline],
    settings: BoundsSettings,
    calibrations: Sequence[FittedCalibration],
) -> tuple[SubproblemBounds, ...]:
    """Compute the bounds of all subproblems, with equal time for each."""
    settings.run(BOUNDS)
    found = []
    for index, (baseline, calibration) in enumerate(zip(baselines, calibrations, strict=True)):
        own = settings.until(settings.job.deadline.for_item(index, len(baselines)))
        found.append(bound_subproblem(baseline, own, calibration))
    return tuple(found)


def bound_subproblem(
    baseline: FittedBaseline, settings: BoundsSettings, calibration: FittedCalibration
) -> SubproblemBounds:
    """Compute bounds and relevance classes over the models equivalent to a baseline."""
    models = settings.formulation.equivalent_models(baseline, settings.tolerance)
    cutoff = calibration.screening_cutoff(baseline)
    ranges, outer, range_notes = solve_ranges(models, baseline, cutoff, settings)
    ranges = refine_undecided(models, ranges, calibration, settings)
    blocks = solve_blocks(models, baseline, ranges, settings)
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
    settings: BoundsSettings,
) -> tuple[WeightRanges, Matrix, list[str]]:
    """Return exact ranges of the solved weights, outer ranges of all, and warning messages.

    Only features with a single weight are solved; :func:`solve_blocks` solves the others. With
    screening, features are solved in rounds, those with the largest outer bounds first. The dual
    certificate of each LP tightens the outer bounds of all features, and features that become
    certified irrelevant are skipped in later rounds. Some features may stay unsolved if time runs
    out or a worker process crashes.
    """
    first_outer, layout = outer_ranges(models), baseline.layout
    outer = first_outer
    weights = layout.weights_of(baseline.varying[layout.has_one_weight(baseline.varying)])
    if len(weights) == 0:
        return empty_ranges(models), outer, []
    threshold = cutoff if settings.screen else np.full_like(cutoff, -np.inf)
    threshold = threshold[layout.features_of_weights]
    round_size = FEATURES_IN_FIRST_ROUND if settings.screen else len(weights)
    waiting = _largest_bound_first(weights, outer)
    # At least one feature is always started.
    waiting = waiting[_can_exceed(waiting, outer, threshold) | (waiting == waiting[0])]
    if settings.screen:
        outer = _project_certificates(models, waiting, outer, threshold, settings)
        is_first = waiting == waiting[0]
        waiting = _largest_bound_first(
            waiting[_can_exceed(waiting, outer, threshold) | is_first], outer
        )
    parts: list[WeightRanges] = []
    notes: list[str] = []
    n_started = 0
    while len(waiting):
        batch, waiting = waiting[:round_size], waiting[round_size:]
        n_started += len(batch)
        # Each round but the last one takes half of the rest of the progress bar.
        run = settings.run(BOUNDS, 2 if len(waiting) else 1)
        parts += _solve_round(models, batch, settings, run, notes)
        outer = reduce(intersect, [part.outer for part in parts], outer)
        waiting = _largest_bound_first(waiting[_can_exceed(waiting, outer, threshold)], outer)
        round_size *= 2
        if settings.job.deadline.is_over:
            n_started += len(waiting)
            break
    ranges = join_ranges(parts or [empty_ranges(models)])
    n_missing = n_started - len(ranges.features)
    if not n_missing and not settings.screen:
        outer = first_outer  # the same with and without a time limit
    # Weights that are certified to be zero must not differ from zero by rounding errors.
    ranges = ranges.with_zeros(np.abs(outer).max(axis=1) <= MIN_NORM)
    if n_missing:
        has_limit = settings.job.deadline.is_set
        limit = " within the time limit" if has_limit else ""
        remedy = " Increase max_seconds to solve them." if has_limit else ""
        notes.append(
            f"{n_missing} of {n_started} features were not solved{limit}. Their bounds are "
            "certified but not tight (exact_ is False; gap_ gives the largest error). Features "
            f"whose class depends on these errors are unconfirmed.{remedy}"
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
    undecided = ranges.features[is_undecided]
    refined = weight_ranges(models, undecided, deadline=settings.job.deadline, tol=EXACT_TOL)
    is_kept = ~np.isin(ranges.features, refined.features)
    return join_ranges([ranges.take(np.flatnonzero(is_kept)), refined])


def solve_blocks(
    models: EquivalentModels,
    baseline: FittedBaseline,
    ranges: WeightRanges,
    settings: BoundsSettings,
) -> dict[int, BlockRange]:
    """Return the ranges of features with several weights; after the deadline, outer bounds."""
    layout = baseline.layout
    features = [int(j) for j in baseline.varying if j in layout.blocks]
    known = KnownModels(ranges.coef, ranges.offset)

    def solve(feature: int, deadline: Deadline) -> BlockRange:
        checked = CheckedSolver(models, deadline=deadline)
        return BlockSolver(models, layout, known, checked).range(feature)

    found = timed_map(solve, features, **settings.run(BOUNDS))
    solver = BlockSolver(models, layout, known)
    return {
        feature: solver.outer_range(feature) if part is None else part
        for feature, part in zip(features, found, strict=True)
    }


def _project_certificates(
    models: EquivalentModels,
    features: NDArray[np.intp],
    outer: Matrix,
    threshold: Vector,
    settings: BoundsSettings,
) -> Matrix:
    """Return tighter outer ranges of features whose outer range exceeds the threshold.

    The projections take much less time than an LP, but they rarely help if the table is dense.
    Other features are not projected if few features of a sample become certified irrelevant.
    """
    if models.start is None or not sp.issparse(models.rows.table):
        return outer
    projected = ProjectedCertificates(models)
    features = features[projected.can_reach(threshold[features])]

    def project(task: NDArray[np.intp], deadline: Deadline) -> Matrix:
        return projected.ranges(task, threshold[task], deadline)

    sample = features[:: max(1, len(features) // PROJECTED_SAMPLE)]
    run = settings.run(BOUNDS, 2)
    (ranges,) = timed_map(project, [sample], n_jobs=run["n_jobs"], deadline=deadline_of(run))
    if ranges is None:
        return outer
    is_certified = np.abs(ranges).max(axis=1) <= threshold[sample]
    if is_certified.sum() < MIN_CERTIFIED * len(sample):
        return outer
    tasks = [
        features[start : start + FEATURES_PER_PROJECTION]
        for start in range(0, len(features), FEATURES_PER_PROJECTION)
    ]
    found = timed_map(project, tasks, **run)
    tighter = outer.copy()
    for task, ranges in zip(tasks, found, strict=True):
        if ranges is not None:
            tighter[task] = intersect(outer[task], ranges)
    return tighter


def _solve_round(
    models: EquivalentModels,
    features: NDArray[np.intp],
    settings: BoundsSettings,
    options: RunOptions,
    notes: list[str],
) -> list[WeightRanges]:
    deadline = settings.job.deadline
    with_outer_ranges = settings.screen or deadline.is_set  # otherwise, all features are solved
    run: RunOptions = {"n_jobs": options["n_jobs"], "progress": options["progress"]}
    size = FEATURES_PER_TASK
    if settings.screen:
        size = min(size, -(-len(features) // MIN_TASKS_PER_ROUND))
    starts = range(0, len(features), size)

    def solve(task: NDArray[np.intp]) -> WeightRanges | None:
        if deadline.is_over:
            return None
        return weight_ranges(
            models,
            task,
            deadline=deadline,
            with_outer_ranges=with_outer_ranges,
            tol=settings.tol,
        )

    try:
        found = parallel_map(
            solve,
            [features[start : start + size] for start in starts],
            describe=lambda task: f"the bounds of {len(task)} features: {reprlib.repr(list(task))}",
            **run,
        )
    except WorkerDiedError as error:
        if not error.results:
            raise
        notes.append(str(error))
        found = list(error.results.values())
    return [part for part in found if part is not None]


def _largest_bound_first(features: NDArray[np.intp], outer: Matrix) -> NDArray[np.intp]:
    """Sort features by their largest possible absolute weight, in descending order."""
    return features[np.argsort(-np.abs(outer[features]).max(axis=1), kind="stable")]


def _can_exceed(features: NDArray[np.intp], outer: Matrix, cutoff: Vector) -> NDArray[np.bool_]:
    """Return a mask of the features whose outer bound exceeds the cutoff."""
    return np.abs(outer[features]).max(axis=1) > cutoff[features]
