"""Baseline (reference model): training, choice of C and cross-validated scores.

A formulation defines how the baseline is trained and which models are equivalent to it. C, the
weight of the loss relative to the norm, is chosen by cross-validation unless it is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..parallel import RunOptions, parallel_map
from ..resampling import Fold, make_folds
from ..terms.layout import WeightLayout
from ..terms.scaling import Scaling, no_scaling
from .models import LinearModel
from .programs.equivalent_models import (
    EquivalentModels,
    StartingVertex,
    joint_budget,
    separate_budgets,
)
from .solver.families import solvers_for
from .task import FitScaling, TaskData

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
class Tolerance:
    """Slack by which equivalent models may exceed the norm and the loss of the baseline.

    Norm and loss have a relative slack. The loss also has an absolute slack, because a relative
    slack has no effect on a loss of zero.
    """

    norm_slack: float
    loss_slack: float
    loss_tol: float

    def norm_limit(self, baseline: LinearModel) -> float:
        return (1.0 + self.norm_slack) * baseline.norm_

    def loss_limit(self, baseline: LinearModel) -> float:
        return (1.0 + self.loss_slack) * baseline.loss_ + self.loss_tol


@dataclass(frozen=True)
class FittedBaseline:
    """Fitted baseline with its scaled training data.

    ``start`` is the LP solution that defines the model, ``varying`` has the indices of the features
    that are not constant, and ``scaling`` is the scaling of ``X``. ``score`` is the
    cross-validated score, or None without cross-validation. Messages refer to the subproblem by
    ``name``.
    """

    data: TaskData
    model: LinearModel
    start: StartingVertex | None
    formulation: Formulation
    varying: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    scaling: Scaling | None = None
    score: float | None = None
    name: str = ""

    @property
    def layout(self) -> WeightLayout:
        return self.data.layout


class Formulation(ABC):
    """Abstract definition of a baseline and of the models equivalent to it."""

    @abstractmethod
    def path(
        self, data: TaskData, grid: Iterable[float], gap: float = 0.0
    ) -> Iterator[FittedBaseline]:
        """Fit the baseline to scaled data for each C in a grid.

        ``gap`` is the relative duality gap that the baselines may have if there are many rows.
        """

    @abstractmethod
    def equivalent_models(self, baseline: FittedBaseline, tolerance: Tolerance) -> EquivalentModels:
        """Return the set of models whose norm and loss are within a tolerance of a baseline's."""

    def fit(self, data: TaskData, C: float, gap: float = 0.0) -> FittedBaseline:
        """Fit the baseline to scaled data."""
        return next(self.path(data, [C], gap))


class SeparateBudgets(Formulation):
    """Formulation with separate budgets for norm and loss and an l1-regularized baseline.

    Göpfert et al., "Interpretation of linear classifiers by means of feature relevance bounds",
    Neurocomputing 2018.
    """

    def path(
        self, data: TaskData, grid: Iterable[float], gap: float = 0.0
    ) -> Iterator[FittedBaseline]:
        """Minimize ``|w|_1 + C * loss`` for each C, with one solver for all values."""
        values = list(grid)
        solver = solvers_for(data.rows).baseline(gap, values)
        for C in values:
            start = solver.solve(C)
            model = data.model(start.coef, start.offset, C, start.rows)
            yield FittedBaseline(data, model, start, self)

    def equivalent_models(self, baseline: FittedBaseline, tolerance: Tolerance) -> EquivalentModels:
        start, model = baseline.start, baseline.model
        rows = baseline.data.rows if start is None else start.rows
        norm, loss = tolerance.norm_limit(model), tolerance.loss_limit(model)
        return separate_budgets(rows, norm, loss, start)


class JointBudget(Formulation):
    """Formulation with one budget for norm plus C times loss; the baseline is an l2 SVM.

    Göpfert, Pfannschmidt and Hammer, "Feature relevance bounds for linear classification",
    ESANN 2017.
    """

    def path(
        self, data: TaskData, grid: Iterable[float], gap: float = 0.0
    ) -> Iterator[FittedBaseline]:
        """Minimize ``|w|_2^2 / 2 + C * loss`` for each C.

        The budget is computed from the fitted model, so the set of equivalent models is well
        defined even if libsvm stops before the exact optimum.
        """
        from sklearn.svm import SVC

        for C in grid:
            svm = SVC(kernel="linear", C=C, tol=1e-4, cache_size=500, max_iter=1_000_000)
            svm.fit(data.X, data.y, sample_weight=data.weight)
            coef = svm.coef_.toarray() if sp.issparse(svm.coef_) else svm.coef_
            yield FittedBaseline(data, data.model(coef.ravel(), svm.intercept_, C), None, self)

    def equivalent_models(self, baseline: FittedBaseline, tolerance: Tolerance) -> EquivalentModels:
        model, data = baseline.model, baseline.data
        limit = tolerance.norm_limit(model) + model.C_ * tolerance.loss_limit(model)
        # The l2 baseline is not a vertex of the set. The l1 baseline at the same C is.
        start = SEPARATE.fit(data, model.C_).start
        return joint_budget(data.rows, model.C_, limit, start)


SEPARATE, JOINT = SeparateBudgets(), JointBudget()

FORMULATIONS: dict[str, Formulation] = {"separate": SEPARATE, "joint": JOINT}


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
    *,
    seed: int,
    grid: Vector | None = None,
    **run: Unpack[RunOptions],
) -> ChosenC:
    """Choose the C with the best cross-validation score among values whose baseline uses features.

    Ties are resolved in favor of the smallest C. ``data`` is unscaled, because each fold is scaled
    by its training samples; ``scaled`` is the same data scaled by all samples. The default grid is
    that of :func:`default_grid`.
    """
    values = default_grid(data) if grid is None else grid
    candidates = _usable_values(scaled, formulation, values)
    mean = fold_scores(data, formulation, fit_scaling, values, seed, **run).mean(axis=0)
    best = candidates[np.argmax(mean[candidates, 0])]
    return ChosenC(float(values[best]), float(mean[best, 1]))


def choose_sparse_C(
    scaled: Sequence[TaskData],
    formulation: Formulation,
    *,
    seed: int,
    **run: Unpack[RunOptions],
) -> float:
    """Choose one C for several scaled tables by the one-standard-error rule.

    The result is the smallest C whose mean cross-validation score, over all tables and folds, is
    within one standard error of the best. Table k uses folds of seed ``seed + k``. With many rows
    or pairs, larger values are not tried in a fold once they no longer improve its score.
    """
    values = default_grid(scaled[0])
    stop_early = scaled[0].n_loss_terms >= MANY_TERMS

    def table_scores(index: int) -> tuple[Matrix, NDArray[np.intp]]:
        data = scaled[index]
        scores = fold_scores(
            data, formulation, no_scaling, values, seed + index, stop_early=stop_early
        )
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
    values: Vector,
    seed: int,
    *,
    stop_early: bool = False,
    **run: Unpack[RunOptions],
) -> NDArray[np.float64]:
    """Return the selection score and the score of each C on each held-out fold.

    The result has shape (n_folds, n_values, 2). With ``stop_early``, values of C after the score
    has stopped improving get the last scores computed.
    """

    def score_fold(fold: Fold) -> Matrix:
        train, held_out = data.take(fold[0]), data.take(fold[1])
        models = _fit_unscaled(train, formulation, fit_scaling, values, SELECTION_GAP)
        scores: list[tuple[float, float]] = []
        for model in models:
            scores.append((held_out.selection_score(model), held_out.score(model)))
            if stop_early and _has_leveled_off([first for first, _ in scores]):
                break
        return np.array([*scores, *[scores[-1]] * (len(values) - len(scores))])

    return np.array(parallel_map(score_fold, data.folds(N_FOLDS, seed), **run))


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
    seed: int,
) -> tuple[float, float]:
    """Return the cross-validated score of a fixed feature subset, and its standard error.

    The subset is the same in all folds; see :func:`nested_score`.
    """
    return nested_score(baselines, lambda train: features, fit_scaling, seed)


def nested_score(
    baselines: Sequence[FittedBaseline],
    select: Callable[[NDArray[np.intp]], NDArray[np.intp]],
    fit_scaling: FitScaling,
    seed: int,
    **run: Unpack[RunOptions],
) -> tuple[float, float]:
    """Return the nested cross-validation score of a feature selection, and its standard error.

    ``select`` returns features, given the indices of the training samples. There is one baseline
    per subproblem, and its C is reused. With one subproblem per class, the score is the accuracy of
    predicting the class with the largest value. Use the same seed to compare feature sets.
    """
    samples = [baseline.data for baseline in baselines]
    # Class of each sample, if there is one subproblem per class.
    classes = np.argmax([data.y for data in samples], axis=0)
    if len(samples) == 1:
        folds = samples[0].folds(N_FOLDS, seed)
    else:
        strata = classes.astype(float)
        folds = make_folds(len(classes), N_FOLDS, seed, strata, samples[0].row_groups)

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
            return held_out.score(models[0])
        values = np.array([model.decision_function(held_out.X) for model in models])
        correct = values.argmax(axis=0) == classes[test]
        return float(np.average(correct, weights=held_out.weight))

    scores = np.array(parallel_map(fold_score, folds, **run))
    return float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(max(len(scores), 1)))
