"""Choice of C by cross-validation, and cross-validated scores of feature subsets.

C, the weight of the loss relative to the norm, is chosen by cross-validation unless it is given.
:class:`Tuning` holds the settings of every cross-validation of a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import Matrix, Vector
from ..exceptions import InputError, warn_caller
from ..parallel import RunOptions, parallel_map
from ..resampling import Fold, given_splits, make_folds
from ..subsets import resolve_scorer, standard_errors
from ..terms.scaling import no_scaling
from .baseline import FittedBaseline, Formulation
from .models import LinearModel
from .predictors import OneVsRestClassifier, apply_scorer
from .task import FitScaling, Subproblem, TaskData

# Default number of folds.
N_FOLDS = 5

# Relative duality gap of the baselines that are compared to choose C, if there are many rows.
SELECTION_GAP = 1e-3

# With at least this many rows or pairs, the choice of a sparse C ends at the first value that
# improves the score by no more than this fraction of what smaller values have gained.
MANY_TERMS = 3_000
MIN_IMPROVEMENT = 0.01

# Grid of C, multiplied by the total sample weight because the loss is a sum over samples. There are
# two values per factor of ten, from models with almost no features to models with almost no margin.
GRID = np.logspace(0.0, 3.5, 8)


@dataclass(frozen=True)
class Tuning:
    """Settings of cross-validation: folds, score and grid of C.

    ``splits`` are given folds; without them, ``n_folds`` folds are shuffled with ``seed``.
    ``scorer`` is a scikit-learn scorer; None means the score of the task. ``grid`` has values of C
    in ascending order; None means :func:`default_grid`.
    """

    seed: int
    n_folds: int = N_FOLDS
    splits: tuple[Fold, ...] | None = None
    scorer: Any = None
    grid: Vector | None = None

    def with_seed(self, seed: int) -> Self:
        """Return a copy whose folds are shuffled with a different seed; given folds stay."""
        return replace(self, seed=seed)

    def folds(self, data: TaskData) -> list[Fold]:
        """Return the folds of a problem; fewer than ``n_folds`` if there are few samples."""
        if self.splits is None:
            return data.folds(self.n_folds, self.seed)
        return data.usable_folds(self.splits)

    def folds_of_classes(self, classes: NDArray[np.intp], row_groups: Any) -> list[Fold]:
        """Return the folds of a problem with one subproblem per class."""
        if self.splits is not None:
            return list(self.splits)
        strata = classes.astype(float)
        return make_folds(len(classes), self.n_folds, self.seed, strata, row_groups)

    def values(self, data: TaskData) -> Vector:
        """Return the grid of C."""
        return default_grid(data) if self.grid is None else self.grid

    def score(self, held_out: TaskData, model: LinearModel) -> float:
        """Return the score of a model on held-out samples; higher is better."""
        if self.scorer is None:
            return held_out.score(model)
        predictor, y = held_out.predictor(model), held_out.observed()
        return apply_scorer(self.scorer, predictor, held_out.X, y, held_out.score_weight)

    def selection_score(self, held_out: TaskData, model: LinearModel) -> float:
        """Return the score by which C is chosen."""
        if self.scorer is None:
            return held_out.selection_score(model)
        return self.score(held_out, model)

    def score_classes(
        self, held_out: TaskData, models: Sequence[LinearModel], classes: NDArray[np.intp]
    ) -> float:
        """Return the score of predicting the class with the largest value of its model."""
        predictor = OneVsRestClassifier(models)
        if self.scorer is None:
            correct = predictor.predict(held_out.X) == classes
            return float(np.average(correct, weights=held_out.weight))
        weight = held_out.score_weight
        return apply_scorer(self.scorer, predictor, held_out.X, classes, weight)

    def check(self, subproblems: Sequence[Subproblem], *, warn_few_folds: bool) -> None:
        """Raise if the scorer does not apply to the task; warn if there are few folds.

        The scorer is tried on models without features. With more than two classes, it must also
        accept the predictions of all classes.
        """
        if warn_few_folds:
            self._warn_few_folds(subproblems)
        if self.scorer is None:
            return
        samples = [subproblem.variants[0] for subproblem in subproblems]
        data, model = samples[0].without_features()
        self.score(data, model)
        if len(samples) > 1:
            self.score_classes(data, [model] * len(samples), _class_codes(samples))

    def _warn_few_folds(self, subproblems: Sequence[Subproblem]) -> None:
        """Warn if there are fewer folds than requested."""
        n_folds = min(len(self.folds(part.variants[0])) for part in subproblems)
        if self.splits is None and n_folds < self.n_folds:
            warn_caller(
                f"There are {n_folds} folds instead of {self.n_folds}, because the smallest class "
                "has too few rows or groups. Scores are uncertain."
            )


def read_tuning(
    cv: Any,
    scoring: Any,
    Cs: ArrayLike | None,
    *,
    seed: int,
    y: NDArray[Any],
    row_groups: NDArray[Any] | None,
    present: NDArray[np.bool_],
) -> Tuning:
    """Return the settings of cross-validation that the parameters of an estimator define.

    Splits refer to all rows; only the rows in the mask ``present`` are kept.
    """
    tuning = Tuning(
        seed,
        scorer=None if scoring is None else resolve_scorer(scoring),
        grid=None if Cs is None else _check_grid(Cs),
    )
    if cv is None:
        return tuning
    if isinstance(cv, Integral):
        return replace(tuning, n_folds=int(cv))
    given = given_splits(cv, y, row_groups)
    _warn_separated_groups(given, row_groups)
    place = np.cumsum(present) - 1
    splits = []
    for number, fold in enumerate(given):
        train, test = (place[rows[present[rows]]] for rows in fold)
        if min(len(train), len(test)) == 0:
            raise InputError(
                f"Fold {number} of cv has no training rows or no test rows of positive weight. Use "
                "different folds."
            )
        splits.append((train, test))
    return replace(tuning, splits=tuple(splits), n_folds=len(splits))


def _warn_separated_groups(folds: Sequence[Fold], row_groups: NDArray[Any] | None) -> None:
    if row_groups is None:
        return
    if any(np.isin(row_groups[test], row_groups[train]).any() for train, test in folds):
        warn_caller(
            "The folds of cv separate rows of the same group, so scores are optimistic. Use a "
            "splitter that keeps groups together, such as GroupKFold, or a number."
        )


def _check_grid(Cs: ArrayLike) -> Vector:
    try:
        values = np.asarray(Cs, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or len(values) == 0 or not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            f"Cs must contain at least one number, all of them finite and positive (got {Cs!r})."
        )
    return np.unique(values)


@dataclass(frozen=True)
class ChosenC:
    """Value of C chosen by cross-validation, and its mean score on held-out samples."""

    C: float
    score: float


def choose_C(
    data: TaskData,
    scaled: TaskData,
    formulation: Formulation,
    fit_scaling: FitScaling,
    tuning: Tuning,
    **run: Unpack[RunOptions],
) -> ChosenC:
    """Choose the C with the best cross-validation score among values whose baseline uses features.

    Ties are resolved in favor of the smallest C. ``data`` is unscaled, because each fold is scaled
    by its training samples; ``scaled`` is the same data scaled by all samples.
    """
    values = tuning.values(data)
    candidates = _usable_values(scaled, formulation, values)
    mean = fold_scores(data, formulation, fit_scaling, tuning, **run).mean(axis=0)
    best = candidates[np.argmax(mean[candidates, 0])]
    return ChosenC(float(values[best]), float(mean[best, 1]))


def choose_sparse_C(
    scaled: Sequence[TaskData],
    formulation: Formulation,
    tuning: Tuning,
    **run: Unpack[RunOptions],
) -> float:
    """Choose one C for several scaled tables by the one-standard-error rule.

    The result is the smallest C whose mean cross-validation score, over all tables and folds, is
    within one standard error of the best. Table k uses folds of seed ``tuning.seed + k``. With many
    rows or pairs, larger values are not tried in a fold once they no longer improve its score.
    """
    values = tuning.values(scaled[0])
    stop_early = scaled[0].n_loss_terms >= MANY_TERMS

    def table_scores(index: int) -> tuple[Matrix, NDArray[np.intp]]:
        data = scaled[index]
        own = tuning.with_seed(tuning.seed + index)
        scores = fold_scores(data, formulation, no_scaling, own, stop_early=stop_early)
        return scores[:, :, 0], _usable_values(data, formulation, values)

    parts = parallel_map(table_scores, range(len(scaled)), **run)
    scores = np.concatenate([part for part, _ in parts])
    candidates = np.unique(np.concatenate([usable for _, usable in parts]))
    mean = scores.mean(axis=0)[candidates]
    best = int(np.argmax(mean))
    error = scores[:, candidates[best]].std(ddof=1) / np.sqrt(len(scores))
    return float(values[candidates[np.flatnonzero(mean >= mean[best] - error)[0]]])


def default_grid(data: TaskData) -> Vector:
    """Return the default grid of C: :data:`GRID` divided by the total sample weight."""
    return GRID / data.total_weight


def fold_scores(
    data: TaskData,
    formulation: Formulation,
    fit_scaling: FitScaling,
    tuning: Tuning,
    *,
    stop_early: bool = False,
    **run: Unpack[RunOptions],
) -> NDArray[np.float64]:
    """Return the selection score and the score of each C on each held-out fold.

    The result has shape (n_folds, n_values, 2). With ``stop_early``, values of C after the score
    has stopped improving get the last scores computed.
    """
    values = tuning.values(data)

    def score_fold(fold: Fold) -> Matrix:
        train, held_out = data.take(fold[0]), data.take(fold[1])
        models = _fit_unscaled(train, formulation, fit_scaling, values, SELECTION_GAP)
        scores: list[tuple[float, float]] = []
        for model in models:
            scores.append((tuning.selection_score(held_out, model), tuning.score(held_out, model)))
            if stop_early and _has_leveled_off([first for first, _ in scores]):
                break
        return np.array([*scores, *[scores[-1]] * (len(values) - len(scores))])

    scores = np.array(parallel_map(score_fold, tuning.folds(data), **run))
    if not np.isfinite(scores).all():
        raise InputError(
            "The cross-validation score is not a finite number in some fold. Use folds with more "
            "test rows, which contain every class that the score requires, or pass C as a number."
        )
    return scores


def _has_leveled_off(scores: Sequence[float]) -> bool:
    """Return whether the last of several scores is hardly better than the best before it."""
    *before, last = scores
    gained = max(before, default=last) - scores[0]
    return gained > 0 and last - max(before) <= MIN_IMPROVEMENT * gained


def _usable_values(scaled: TaskData, formulation: Formulation, values: Vector) -> NDArray[np.intp]:
    """Return the indices of values of C whose baseline uses features; if none, the last index.

    The values are in ascending order, and the norm of the baseline does not decrease with C.
    Approximate solutions use features only if the zero model is not optimal.
    """
    path = formulation.path(scaled, values, SELECTION_GAP)
    first = next((i for i, baseline in enumerate(path) if baseline.model.uses_features), None)
    return np.arange(len(values) - 1 if first is None else first, len(values))


def _fit_unscaled(
    data: TaskData,
    formulation: Formulation,
    fit_scaling: FitScaling,
    grid: Iterable[float],
    gap: float = 0.0,
) -> Iterator[LinearModel]:
    """Scale the data and fit a baseline for each C; the models accept unscaled tables."""
    scaled = data.scale(fit_scaling)
    for baseline in formulation.path(data.with_tables(scaled.tables), grid, gap):
        yield baseline.model.with_scaling(scaled.scalings[0])


def cross_validated_score(
    baselines: Sequence[FittedBaseline],
    features: NDArray[np.intp],
    fit_scaling: FitScaling,
    tuning: Tuning,
) -> tuple[float, float]:
    """Return the cross-validated score of a fixed feature subset, and its standard error.

    The subset is the same in all folds; see :func:`nested_score`.
    """
    return nested_score(baselines, lambda train: features, fit_scaling, tuning)


def nested_score(
    baselines: Sequence[FittedBaseline],
    select: Callable[[NDArray[np.intp]], NDArray[np.intp]],
    fit_scaling: FitScaling,
    tuning: Tuning,
    **run: Unpack[RunOptions],
) -> tuple[float, float]:
    """Return the nested cross-validation score of a feature selection, and its standard error.

    ``select`` returns features, given the indices of the training samples. There is one baseline
    per subproblem, and its C is reused. With one subproblem per class, the class with the largest
    value is predicted. Use the same seed to compare feature sets.
    """
    samples = [baseline.data for baseline in baselines]
    classes = _class_codes(samples)
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
            )
        ]
        held_out = samples[0].take(test).take_features(features)
        if len(models) == 1:
            return tuning.score(held_out, models[0])
        return tuning.score_classes(held_out, models, classes[test])

    scores = np.array(parallel_map(fold_score, folds, **run))
    return float(scores.mean()), float(standard_errors(scores[None])[0])


def _class_codes(samples: Sequence[TaskData]) -> NDArray[np.intp]:
    """Return the class of each sample, if there is one subproblem per class."""
    return np.argmax([data.y for data in samples], axis=0)
