"""Settings of every cross-validation of a fit: folds, score and grid of C.

C is the weight of the loss relative to the norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._params import MAX_NUMBER
from .._typing import Vector
from ..exceptions import InputError, warn_caller
from ..resampling import Fold, given_splits, make_folds
from ..subsets import resolve_scorer
from .models import LinearModel
from .predictors import OneVsRestClassifier, apply_scorer
from .task import Subproblem, TaskData

# Default number of folds.
N_FOLDS = 5

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
            self.score_classes(data, [model] * len(samples), class_codes(samples))

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
    if values.ndim != 1 or len(values) == 0 or not ((values > 0) & (values <= MAX_NUMBER)).all():
        raise InputError(
            "Cs must contain at least one number, all of them positive and at most "
            f"{MAX_NUMBER:g} (got {Cs!r})."
        )
    return np.unique(values)


def default_grid(data: TaskData) -> Vector:
    """Return the default grid of C: :data:`GRID` divided by the total sample weight."""
    return GRID / data.total_weight


def class_codes(samples: Sequence[TaskData]) -> NDArray[np.intp]:
    """Return the class of each sample, if there is one subproblem per class."""
    return np.argmax([data.y for data in samples], axis=0)
