"""Choice of C, the weight of the loss against the norm, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Matrix, Table, Vector
from ..parallel import run_tasks
from .baseline import uses_features
from .models import LinearModel
from .programs.samples import Fold, Samples
from .scaling import Scaling

N_FOLDS = 5

# C times the total weight of the samples: the loss is a sum, so the same C means more to a
# larger table. Two values to a factor of ten, from next to no feature to next to no margin.
GRID = np.logspace(0.0, 3.5, 8)

BaselinePath = Callable[[Samples, Iterable[float]], Iterator[LinearModel]]
FitScaling = Callable[[Table, Vector], Scaling]


@dataclass(frozen=True)
class Choice:
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
    samples: Samples,
    path: BaselinePath,
    scale: FitScaling,
    *,
    random_state: int,
    grid: Vector | None = None,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Choice:
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
        See :func:`allrelevant.parallel.run_tasks`.
    """
    grid = GRID / samples.total_weight if grid is None else grid

    def models_of(part: Samples) -> list[LinearModel]:
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
    mean = np.mean(run_tasks(judged, folds, n_jobs=n_jobs, progress=progress), axis=0)
    best = in_play[np.argmax(mean[in_play, 0])]
    return Choice(float(grid[best]), float(mean[best, 1]), samples.chance())
