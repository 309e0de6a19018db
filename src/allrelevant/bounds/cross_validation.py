"""Choice of C by cross-validation, and cross-validated scores of feature subsets.

C, the weight of the loss relative to the norm, is chosen by cross-validation unless it is given.
The folds, the score and the grid of C are those of :class:`.Tuning`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..deadline import NO_DEADLINE, Deadline, attempt
from ..exceptions import InputError, TimeLimitError
from ..parallel import RunOptions, TimedOptions, deadline_of, divide_loop, parallel_map, timed_map
from ..resampling import Fold
from ..subsets import standard_errors
from ..terms.scaling import no_scaling
from .baseline import FittedBaseline, Formulation
from .models import LinearModel
from .task import FitScaling, TaskData
from .tuning import Tuning, class_codes

# Relative duality gap of the baselines that are compared to choose C, if there are many rows.
SELECTION_GAP = 1e-3

# The values of C are compared in ascending order. In two cases, the search ends at the first value
# that improves the score by no more than MIN_IMPROVEMENT of what smaller values have gained: if a
# sparse C is chosen for at least MANY_TERMS rows or pairs, and in tables with more features than
# rows and at least MANY_CELLS cells, where a baseline with a large C can take minutes.
MANY_TERMS = 3_000
MANY_CELLS = 5_000_000
MIN_IMPROVEMENT = 0.01

# Part of the time for the choice of C in which the values are found whose baseline uses features.
SEARCH_SHARE = 0.25


@dataclass(frozen=True)
class ChosenC:
    """Value of C chosen by cross-validation, and its mean score on held-out samples.

    ``note`` is a message if the time did not suffice to compare all values on all folds.
    """

    C: float
    score: float
    note: str | None = None


def choose_C(
    data: TaskData,
    scaled: TaskData,
    formulation: Formulation,
    fit_scaling: FitScaling,
    tuning: Tuning,
    **run: Unpack[TimedOptions],
) -> ChosenC:
    """Choose the C with the best cross-validation score among values whose baseline uses features.

    Ties are resolved in favor of the smallest C. ``data`` is unscaled, because each fold is scaled
    by its training samples; ``scaled`` is the same data scaled by all samples. In large tables with
    more features than rows, values of C are not tried once they no longer improve the score.
    After the deadline, the values and folds finished by then are compared; :exc:`TimeLimitError` is
    raised if there are none.
    """
    values = tuning.values(data)
    search = deadline_of(run).share(SEARCH_SHARE)
    candidates = _usable_values(scaled, formulation, values, search)
    if is_large_and_wide(data):
        n_first = min(int(candidates[0]) + 1, len(values))
        scores = _scores_until_level(data, formulation, fit_scaling, tuning, n_first, **run)
    else:
        scores = fold_scores(data, formulation, fit_scaling, tuning, **run)
    finished = _finished(scores)
    mean = finished.mean(axis=0)
    candidates = candidates[candidates < len(mean)]
    if len(candidates) == 0:
        raise TimeLimitError("No usable value of C was scored in time. Increase max_seconds.")
    best = candidates[np.argmax(mean[candidates, 0])]
    note = _note_unfinished(scores, finished)
    return ChosenC(float(values[best]), float(mean[best, 1]), note)


def _finished(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of the smallest values of C on the folds that finished them.

    Scores that were not reached are NaN. As many values are compared as at least half of the folds
    finished.
    """
    lengths = np.isfinite(scores[:, :, 0]).sum(axis=1)
    n_values = max(1, int(np.sort(lengths)[len(lengths) // 2]))
    if lengths.max() < n_values:
        raise TimeLimitError("No value of C was scored in time. Increase max_seconds.")
    return scores[lengths >= n_values, :n_values]


def _note_unfinished(scores: NDArray[np.float64], finished: NDArray[np.float64]) -> str | None:
    if finished.shape == scores.shape:
        return None
    (n_folds, n_values), (n_used, n_tried) = scores.shape[:2], finished.shape[:2]
    return (
        f"The time limit was reached while C was chosen: {n_tried} of {n_values} values were "
        f"compared, on {n_used} of {n_folds} folds. Larger values of C may give a better baseline. "
        "Increase max_seconds to compare all of them, or pass C as a number."
    )


def choose_sparse_C(
    scaled: Sequence[TaskData],
    formulation: Formulation,
    tuning: Tuning,
    **run: Unpack[TimedOptions],
) -> float:
    """Choose one C for several scaled tables by the one-standard-error rule.

    The result is the smallest C whose mean cross-validation score, over all tables and folds, is
    within one standard error of the best. Table k uses folds of seed ``tuning.seed + k``. With many
    rows or pairs, larger values are not tried in a fold once they no longer improve its score.
    After the deadline, the values and folds finished by then are compared.
    """
    values = tuning.values(scaled[0])
    stop_early = scaled[0].n_loss_terms >= MANY_TERMS

    def table_scores(index: int, deadline: Deadline) -> tuple[NDArray[np.float64], Any]:
        data = scaled[index]
        own = tuning.with_seed(tuning.seed + index)
        scores = fold_scores(
            data, formulation, no_scaling, own, stop_early=stop_early, deadline=deadline
        )
        return scores, _usable_values(data, formulation, values, deadline)

    found = timed_map(table_scores, range(len(scaled)), equal_shares=True, **run)
    parts = [part for part in found if part is not None]
    if not parts:
        raise TimeLimitError("No value of C was scored in time. Increase max_seconds.")
    scores = _finished(np.concatenate([part for part, _ in parts]))[:, :, 0]
    candidates = np.unique(np.concatenate([usable for _, usable in parts]))
    candidates = candidates[candidates < scores.shape[1]]
    if len(candidates) == 0:
        raise TimeLimitError("No usable value of C was scored in time. Increase max_seconds.")
    mean = scores.mean(axis=0)[candidates]
    best = int(np.argmax(mean))
    error = 0.0
    if len(scores) > 1:
        error = scores[:, candidates[best]].std(ddof=1) / np.sqrt(len(scores))
    return float(values[candidates[np.flatnonzero(mean >= mean[best] - error)[0]]])


def fold_scores(
    data: TaskData,
    formulation: Formulation,
    fit_scaling: FitScaling,
    tuning: Tuning,
    *,
    stop_early: bool = False,
    **run: Unpack[TimedOptions],
) -> NDArray[np.float64]:
    """Return the selection score and the score of each C on each held-out fold.

    The result has shape (n_folds, n_values, 2). With ``stop_early``, values of C after the score
    has stopped improving get the last scores computed. Values that are not reached before the
    deadline get NaN.
    """
    values = tuning.values(data)

    def score_fold(fold: Fold, deadline: Deadline) -> Matrix:
        train, held_out = data.take(fold[0]), data.take(fold[1])
        models = _fit_unscaled(train, formulation, fit_scaling, values, SELECTION_GAP, deadline)
        scores: list[tuple[float, float]] = []
        while len(scores) < len(values):
            model = attempt(lambda: next(models))
            if model is None:
                return np.array(scores).reshape(-1, 2)
            scores.append((tuning.selection_score(held_out, model), tuning.score(held_out, model)))
            if stop_early and _has_leveled_off([first for first, _ in scores]):
                break
        return np.array([*scores, *[scores[-1]] * (len(values) - len(scores))])

    parts = timed_map(score_fold, tuning.folds(data), equal_shares=True, **run)
    reached = [np.empty((0, 2)) if part is None else part for part in parts]
    if not all(np.isfinite(part).all() for part in reached):
        raise InputError(
            "The cross-validation score is not a finite number in some fold. Use folds with more "
            "test rows, which contain every class that the score requires, or pass C as a number."
        )
    scores = np.full((len(reached), len(values), 2), np.nan)
    for fold, part in enumerate(reached):
        scores[fold, : len(part)] = part
    return scores


def is_large_and_wide(data: TaskData) -> bool:
    """Return whether a table has so many features that large values of C are expensive."""
    n_rows, n_features = data.X.shape
    return n_features > n_rows and n_rows * n_features >= MANY_CELLS


def _scores_until_level(
    data: TaskData,
    formulation: Formulation,
    fit_scaling: FitScaling,
    tuning: Tuning,
    n_first: int,
    **run: Unpack[TimedOptions],
) -> NDArray[np.float64]:
    """Return the scores of :func:`fold_scores` up to the first C that no longer improves the mean.

    Each round adds one value of C, first to the smallest ``n_first`` values. A round fits the
    smaller values again, as warm starts, because all folds are compared after each round. The time
    for this is short, because larger values take much longer.
    """
    values = tuning.values(data)
    divide_loop(run, len(values) - n_first + 1)
    scores = np.full((0, 0, 2), np.nan)
    for n_values in range(n_first, len(values) + 1):
        smaller = replace(tuning, grid=values[:n_values])
        former, scores = scores, fold_scores(data, formulation, fit_scaling, smaller, **run)
        if not np.isfinite(scores).all():  # the deadline is over
            known = scores[: len(former), : former.shape[1]]
            known[:] = np.where(np.isnan(known), former, known)
            break
        if _has_leveled_off(scores[:, :, 0].mean(axis=0).tolist()):
            break
    return scores


def _has_leveled_off(scores: Sequence[float]) -> bool:
    """Return whether the last of several scores is hardly better than the best before it."""
    *before, last = scores
    gained = max(before, default=last) - scores[0]
    return gained > 0 and last - max(before) <= MIN_IMPROVEMENT * gained


def _usable_values(
    scaled: TaskData, formulation: Formulation, values: Vector, deadline: Deadline
) -> NDArray[np.intp]:
    """Return the indices of values of C whose baseline uses features; if none, the last index.

    The values are in ascending order, and the norm of the baseline does not decrease with C. After
    the deadline, all values count as usable. Approximate solutions use features only if the zero
    model is not optimal.
    """
    path = enumerate(formulation.path(scaled, values, SELECTION_GAP, deadline))
    last = len(values) - 1
    first = attempt(lambda: next((i for i, fit in path if fit.model.uses_features), last))
    return np.arange(first or 0, len(values))


def _fit_unscaled(
    data: TaskData,
    formulation: Formulation,
    fit_scaling: FitScaling,
    grid: Iterable[float],
    gap: float = 0.0,
    deadline: Deadline = NO_DEADLINE,
) -> Iterator[LinearModel]:
    """Scale the data and fit a baseline for each C; the models accept unscaled tables."""
    scaled = data.scale(fit_scaling)
    for baseline in formulation.path(data.with_tables(scaled.tables), grid, gap, deadline):
        yield baseline.model.with_scaling(scaled.scalings[0])


def cross_validated_score(
    baselines: Sequence[FittedBaseline],
    features: NDArray[np.intp],
    fit_scaling: FitScaling,
    tuning: Tuning,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[float, float]:
    """Return the cross-validated score of a fixed feature subset, and its standard error.

    The subset is the same in all folds; see :func:`nested_score`.
    """
    return nested_score(baselines, lambda train: features, fit_scaling, tuning, deadline)


def nested_score(
    baselines: Sequence[FittedBaseline],
    select: Callable[[NDArray[np.intp]], NDArray[np.intp]],
    fit_scaling: FitScaling,
    tuning: Tuning,
    deadline: Deadline = NO_DEADLINE,
    **run: Unpack[RunOptions],
) -> tuple[float, float]:
    """Return the nested cross-validation score of a feature selection, and its standard error.

    ``select`` returns features, given the indices of the training samples. There is one baseline
    per subproblem, and its C is reused. With one subproblem per class, the class with the largest
    value is predicted. Use the same seed to compare feature sets. After the deadline,
    :exc:`TimeLimitError` is raised.
    """
    samples = [baseline.data for baseline in baselines]
    classes = class_codes(samples)
    if len(samples) == 1:
        folds = tuning.folds(samples[0])
    else:
        folds = tuning.folds_of_classes(classes, samples[0].row_groups)

    def fold_score(fold: Fold) -> float:
        train, test = fold
        features = select(train)
        models = [
            model
            for baseline in baselines
            for model in _fit_unscaled(
                baseline.data.take(train).take_features(features),
                baseline.formulation,
                fit_scaling,
                [baseline.model.C_],
                deadline=deadline,
            )
        ]
        held_out = samples[0].take(test).take_features(features)
        if len(models) == 1:
            return tuning.score(held_out, models[0])
        return tuning.score_classes(held_out, models, classes[test])

    scores = np.array(parallel_map(fold_score, folds, **run))
    return float(scores.mean()), float(standard_errors(scores[None])[0])
