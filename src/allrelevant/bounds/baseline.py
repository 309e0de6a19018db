"""The baseline: the model that sets the level of quality of equivalent models.

A formulation says how the baseline is trained and which models are as good. C, the weight of the
loss against the norm, is chosen by cross-validation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..parallel import RunOptions, parallel_map
from ..resampling import Fold, stratified_folds
from ..terms.layout import WeightLayout
from ..terms.scaling import Scaling
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

# C times the total weight of the samples: the loss is a sum, so the same C means more to a
# larger table. Two values to a factor of ten, from next to no feature to next to no margin.
GRID = np.logspace(0.0, 3.5, 8)


@dataclass(frozen=True)
class Tolerance:
    """How much worse than the baseline an equivalent model may be.

    Norm and loss have a relative slack. The loss has an absolute one as well: a share of a loss of
    zero would allow nothing.
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
    """A baseline, and the scaled data it was trained on.

    ``start`` is the solution of the linear program whose optimum the model is, ``varying`` the
    weights whose columns are not constant, ``scaling`` that of ``X``. There is a cross-validated
    ``score`` where C was chosen by it. Messages call the subproblem ``name``; ``notes`` are for the
    user.
    """

    data: TaskData
    model: LinearModel
    start: StartingVertex | None
    formulation: Formulation
    varying: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    scaling: Scaling | None = None
    score: float | None = None
    name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def layout(self) -> WeightLayout:
        return self.data.layout


class Formulation(ABC):
    """How a baseline is trained, and which models are as good as it."""

    @abstractmethod
    def path(self, data: TaskData, grid: Iterable[float]) -> Iterator[FittedBaseline]:
        """The baseline on scaled data, for each C of a grid."""

    @abstractmethod
    def equivalent_models(self, baseline: FittedBaseline, tolerance: Tolerance) -> EquivalentModels:
        """The models as good as the baseline."""

    def fit(self, data: TaskData, C: float) -> FittedBaseline:
        """The baseline on scaled data, at one C."""
        return next(self.path(data, [C]))


class SeparateBudgets(Formulation):
    """Norm and loss each within a budget of its own, around the l1-regularized model.

    Göpfert et al., "Interpretation of linear classifiers by means of feature relevance bounds",
    Neurocomputing 2018.
    """

    def path(self, data: TaskData, grid: Iterable[float]) -> Iterator[FittedBaseline]:
        """Minimize ``|w|_1 + C * loss``. Only the objective depends on C: each solution starts
        from the last.
        """
        solver = solvers_for(data.rows).baseline()
        for C in grid:
            start = solver.solve(C)
            model = data.model(start.coef, start.offset, C, start.rows)
            yield FittedBaseline(data, model, start, self)

    def equivalent_models(self, baseline: FittedBaseline, tolerance: Tolerance) -> EquivalentModels:
        start, model = baseline.start, baseline.model
        rows = baseline.data.rows if start is None else start.rows
        norm, loss = tolerance.norm_limit(model), tolerance.loss_limit(model)
        return separate_budgets(rows, norm, loss, start)


class JointBudget(Formulation):
    """Norm plus C times the loss within one budget, around the common l2-regularized SVM.

    Göpfert, Pfannschmidt and Hammer, "Feature relevance bounds for linear classification",
    ESANN 2017.
    """

    def path(self, data: TaskData, grid: Iterable[float]) -> Iterator[FittedBaseline]:
        """Minimize ``|w|_2^2 / 2 + C * loss``.

        The budget is measured on the model as it is, so the set of equivalent models is well
        defined however closely libsvm comes to its optimum.
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
        # The l2 baseline is no vertex of the set; the l1 one is, and has the same C.
        start = SEPARATE.fit(data, model.C_).start
        return joint_budget(data.rows, model.C_, limit, start)


SEPARATE, JOINT = SeparateBudgets(), JointBudget()

FORMULATIONS: dict[str, Formulation] = {"separate": SEPARATE, "joint": JOINT}


@dataclass(frozen=True)
class ChosenC:
    """The C that cross-validates best, its mean score on held-out rows, and that of no features."""

    C: float
    score: float
    chance: float


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
    """The smallest C of the grid that cross-validates best, among those that use any feature.

    ``data`` are not yet scaled, for each fold scales by what it trains on; ``scaled`` are the same
    on the scale of all rows. The grid is by default :data:`GRID` over the total weight.
    """
    values = GRID / data.total_weight if grid is None else grid

    def fold_scores(fold: Fold) -> Matrix:
        held_out = data.take(fold[1])
        models = _models_on_scale(data.take(fold[0]), formulation, fit_scaling, values)
        return np.array([(held_out.selection_score(m), held_out.score(m)) for m in models])

    uses_features = [baseline.model.uses_features for baseline in formulation.path(scaled, values)]
    candidates = np.flatnonzero(uses_features)
    if len(candidates) == 0:  # no feature helps, whatever C
        candidates = np.array([len(values) - 1])
    folds = data.folds(N_FOLDS, seed)
    mean = np.mean(parallel_map(fold_scores, folds, **run), axis=0)
    best = candidates[np.argmax(mean[candidates, 0])]
    return ChosenC(float(values[best]), float(mean[best, 1]), data.chance_score())


def _models_on_scale(
    data: TaskData, formulation: Formulation, fit_scaling: FitScaling, grid: Iterable[float]
) -> list[LinearModel]:
    """Baselines on data that are not yet scaled, for such tables, at each C of a grid."""
    scaled = data.scale(fit_scaling)
    baselines = formulation.path(data.with_tables(scaled.tables), grid)
    return [baseline.model.with_scaling(scaled.scalings[0]) for baseline in baselines]


def cross_validated_score(
    baselines: Sequence[FittedBaseline],
    features: NDArray[np.intp],
    fit_scaling: FitScaling,
    seed: int,
) -> tuple[float, float]:
    """Score of baselines that see some of the features only, each trained without a fold.

    There is one baseline for each subproblem, whose C is used. With several classes the score is
    the share of rows whose class has the largest value. Sets of features that are to be compared
    need the same seed. Returns the mean over the folds and its standard error.
    """
    parts = [
        data.with_tables((data.X[:, features], *data.tables[1:]))
        for data in (baseline.data for baseline in baselines)
    ]
    # The class of each row, where each class is a subproblem.
    classes = np.argmax([data.y for data in parts], axis=0)
    if len(parts) == 1:
        folds = parts[0].folds(N_FOLDS, seed)
    else:
        folds = stratified_folds(classes.astype(float), N_FOLDS, seed)

    def fold_score(train: NDArray[np.intp], test: NDArray[np.intp]) -> float:
        models = [
            model
            for baseline, data in zip(baselines, parts, strict=True)
            for model in _models_on_scale(
                data.take(train), baseline.formulation, fit_scaling, [baseline.model.C_]
            )
        ]
        held_out = parts[0].take(test)
        if len(models) == 1:
            return held_out.score(models[0])
        values = np.array([model.decision_function(held_out.X) for model in models])
        correct = values.argmax(axis=0) == classes[test]
        return float(np.average(correct, weights=held_out.weight))

    scores = np.array([fold_score(*fold) for fold in folds])
    return float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(max(len(scores), 1)))
