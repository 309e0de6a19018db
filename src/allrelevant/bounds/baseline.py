"""The model that sets the standard: as good as this one is what "equivalent" means.

From samples to the set of models that are as good as the best one.

Choice of C, the weight of the loss against the norm, by cross-validation.

How well the features of a set do on rows that were held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Matrix, Table, Vector
from ..parallel import parallel_map
from ..resampling import Fold, stratified_folds
from ..terms.scaling import Scaling
from .models import LinearModel
from .programs.equivalent_models import EquivalentModels, joint_budget, separate_budgets
from .solver.families import solvers_for
from .task import TaskData


def l1_path(samples: TaskData, grid: Iterable[float]) -> Iterator[LinearModel]:
    """The l1-regularised model, ``min |w|_1 + C * loss``, for each C of a grid.

    Only the objective depends on C, so each solution starts from the last.
    """
    solver = solvers_for(samples.rows).baseline()
    for C in grid:
        found = solver.solve(C)
        model = samples.model(found.coef, found.offset, C, found.rows)
        yield replace(model, start_=found)


def l2_svm_path(samples: TaskData, grid: Iterable[float]) -> Iterator[LinearModel]:
    """The common SVM, ``min |w|_2^2 / 2 + C * loss``, for each C of a grid.

    The budget it sets is measured on the model as it is, so the set of equivalent models is well
    defined however closely libsvm comes to its optimum.
    """
    from sklearn.svm import SVC

    for C in grid:
        svm = SVC(kernel="linear", C=C, tol=1e-4, cache_size=500, max_iter=1_000_000)
        svm.fit(samples.X, samples.y, sample_weight=samples.weight)
        coef = svm.coef_.toarray() if sp.issparse(svm.coef_) else svm.coef_
        yield samples.model(coef.ravel(), svm.intercept_, C)


def uses_features(model: LinearModel) -> bool:
    """Whether any weight is more than rounding."""
    return model.norm_ > 1e-10


@dataclass(frozen=True)
class Tolerance:
    """How much worse than the baseline an equivalent model may be.

    Attributes
    ----------
    norm_slack : float
        Relative slack of the norm.
    loss_slack : float
        Relative slack of the loss.
    loss_tol : float
        Absolute slack of the loss: a share of a loss of zero would allow nothing.
    """

    norm_slack: float
    loss_slack: float
    loss_tol: float

    def norm_limit(self, baseline: LinearModel) -> float:
        return (1.0 + self.norm_slack) * baseline.norm_

    def loss_limit(self, baseline: LinearModel) -> float:
        return (1.0 + self.loss_slack) * baseline.loss_ + self.loss_tol


class SeparateBudgets:
    """Norm and loss each within a budget of its own, around the l1-regularised model.

    Göpfert et al., "Interpretation of linear classifiers by means of feature relevance bounds",
    Neurocomputing 2018.
    """

    def baseline_path(self, samples: TaskData, grid: Iterable[float]) -> Iterator[LinearModel]:
        return l1_path(samples, grid)

    def equivalent(
        self, samples: TaskData, baseline: LinearModel, slack: Tolerance
    ) -> EquivalentModels:
        norm, loss = slack.norm_limit(baseline), slack.loss_limit(baseline)
        start = baseline.start_
        return separate_budgets(samples.rows if start is None else start.rows, norm, loss, start)


class JointBudget:
    """Norm plus C times the loss within one budget, around the common l2-regularised SVM.

    Göpfert, Pfannschmidt and Hammer, "Feature relevance bounds for linear classification",
    ESANN 2017.
    """

    def baseline_path(self, samples: TaskData, grid: Iterable[float]) -> Iterator[LinearModel]:
        return l2_svm_path(samples, grid)

    def equivalent(
        self, samples: TaskData, baseline: LinearModel, slack: Tolerance
    ) -> EquivalentModels:
        limit = slack.norm_limit(baseline) + baseline.C_ * slack.loss_limit(baseline)
        # The l2 baseline is no vertex of the set; the l1 one is, and has the same C.
        (vertex,) = l1_path(samples, [baseline.C_])
        return joint_budget(samples.rows, baseline.C_, limit, vertex.start_)


Formulation = SeparateBudgets | JointBudget


FORMULATIONS: dict[str, Formulation] = {"separate": SeparateBudgets(), "joint": JointBudget()}


@dataclass(frozen=True)
class FittedBaseline:
    """A problem and the baseline that sets the standard for it.

    Attributes
    ----------
    samples : Samples
        Scaled.
    features : ndarray
        The weights whose columns are not constant.
    formulation : SeparateBudgets or JointBudget
        How the baseline was trained, and how the set of equivalent models follows from it.
    baseline : LinearModel
    score : float or None
        Cross-validated score of the baseline, where C was chosen by it.
    name : str
        What messages and progress bars call this problem.
    """

    samples: TaskData
    features: NDArray[np.intp]
    formulation: Formulation
    baseline: LinearModel
    score: float | None
    name: str


def fit_baseline(formulation: Formulation, samples: TaskData, C: float) -> LinearModel:
    """The baseline at one C."""
    return next(iter(formulation.baseline_path(samples, [C])))


N_FOLDS = 5


# C times the total weight of the samples: the loss is a sum, so the same C means more to a
# larger table. Two values to a factor of ten, from next to no feature to next to no margin.
GRID = np.logspace(0.0, 3.5, 8)


BaselinePath = Callable[[TaskData, Iterable[float]], Iterator[LinearModel]]


FitScaling = Callable[[Table, Vector], Scaling]


@dataclass(frozen=True)
class ChosenC:
    """The C that cross-validates best, and how well it does.

    Attributes
    ----------
    C : float
    score : float
        Mean score on the folds held out.
    chance : float
        Score of a model without features.
    """

    C: float
    score: float
    chance: float


def choose_C(
    samples: TaskData,
    path: BaselinePath,
    scale: FitScaling,
    *,
    random_state: int,
    grid: Vector | None = None,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> ChosenC:
    """The smallest C of the grid that cross-validates best, among those that use any feature.

    Parameters
    ----------
    samples : Samples
        Not yet scaled: each fold scales by what it trains on.
    path : callable
        Fits the baseline for each C of a grid.
    scale : callable
        Takes the table and the weights of its rows, gives the scaling to train under.
    random_state : int
        Seed of the split into folds.
    grid : ndarray, default=None
        By default :data:`GRID` over the total weight of the samples.
    n_jobs, progress
        See :func:`allrelevant.parallel.parallel_map`.
    """
    grid = GRID / samples.total_weight if grid is None else grid

    def models_of(part: TaskData) -> list[LinearModel]:
        scalings = [scale(table, part.weight) for table in part.tables]
        scaled = tuple(s.apply(table) for s, table in zip(scalings, part.tables, strict=True))
        models = path(part.with_tables(scaled), grid)
        return [model.on_tables(scalings[0]) for model in models]

    def judged(fold: Fold) -> Matrix:
        held_out = samples.take(fold[1])
        models = models_of(samples.take(fold[0]))
        return np.array([(held_out.merit(model), held_out.score(model)) for model in models])

    in_play = np.flatnonzero([uses_features(model) for model in models_of(samples)])
    if len(in_play) == 0:  # no feature helps, whatever C
        in_play = np.array([len(grid) - 1])
    folds = samples.folds(N_FOLDS, random_state)
    mean = np.mean(parallel_map(judged, folds, n_jobs=n_jobs, progress=progress), axis=0)
    best = in_play[np.argmax(mean[in_play, 0])]
    return ChosenC(float(grid[best]), float(mean[best, 1]), samples.chance())


@dataclass(frozen=True)
class HeldOutScore:
    """Mean score over the folds, and the standard error of that mean."""

    mean: float
    error: float


def cross_validated_score(
    standards: Sequence[FittedBaseline],
    members: NDArray[np.intp],
    scale: FitScaling,
    seed: int,
) -> HeldOutScore:
    """Score of baselines that see some of the features only, each trained without a fold.

    With several classes the score is the share of rows whose class has the largest value.

    Parameters
    ----------
    standards : sequence of Standard
        One for each problem; their C is used.
    members : ndarray of int
        Columns of the table.
    scale : callable
        Takes a table and the weights of its rows, gives its scaling.
    seed : int
        Of the split into folds: the same for sets that are to be compared.
    """
    problems = [_with_columns(standard.samples, members) for standard in standards]
    scores = np.array([_score(standards, problems, fold, scale) for fold in _folds(problems, seed)])
    return HeldOutScore(
        float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(max(len(scores), 1)))
    )


def _with_columns(samples: TaskData, members: NDArray[np.intp]) -> TaskData:
    X, *privileged = samples.tables
    return samples.with_tables((X[:, members], *privileged))


def _folds(problems: Sequence[TaskData], seed: int) -> list[Fold]:
    if len(problems) == 1:
        return problems[0].folds(N_FOLDS, seed)
    return stratified_folds(_class_of_row(problems).astype(float), N_FOLDS, seed)


def _class_of_row(problems: Sequence[TaskData]) -> NDArray[np.intp]:
    return np.argmax([samples.y for samples in problems], axis=0)


def _score(
    standards: Sequence[FittedBaseline], problems: Sequence[TaskData], fold: Fold, scale: FitScaling
) -> float:
    train, test = fold
    models = [
        _trained(standard, samples.take(train), scale)
        for standard, samples in zip(standards, problems, strict=True)
    ]
    held_out = problems[0].take(test)
    if len(models) == 1:
        return held_out.score(models[0])
    values = np.array([model.decision_function(held_out.X) for model in models])
    right = values.argmax(axis=0) == _class_of_row(problems)[test]
    return float(np.average(right, weights=held_out.weight))


def _trained(standard: FittedBaseline, samples: TaskData, scale: FitScaling) -> LinearModel:
    scalings = [scale(table, samples.weight) for table in samples.tables]
    tables = tuple(s.apply(table) for s, table in zip(scalings, samples.tables, strict=True))
    model = fit_baseline(standard.formulation, samples.with_tables(tables), standard.baseline.C_)
    return model.on_tables(scalings[0])
