"""Choice of C, the weight of the loss against the norm, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ..arrays import Table, Vector
from ..exceptions import InputError
from ..parallel import run_tasks
from .baseline import uses_features
from .models import LinearModel
from .programs.classification import Samples
from .scaling import Scaling

N_FOLDS = 5

# C times the total weight of the samples: the loss is a sum, so the same C means more to a
# larger table. Two values to a factor of ten, from next to no feature to next to no margin.
GRID = np.logspace(0.0, 3.5, 8)

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
BaselinePath = Callable[[Samples, Iterable[float]], Iterator[LinearModel]]
FitScaling = Callable[[Table, Vector], Scaling]


@dataclass(frozen=True)
class Choice:
    """The C that cross-validates best, and how well it does.

    Attributes
    ----------
    C : float
    score : float
        Mean weighted accuracy on the folds held out.
    chance : float
        Weighted accuracy of always saying the heavier class.
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
    n_jobs, progress
        See :func:`allrelevant.parallel.run_tasks`.
    """
    grid = GRID / samples.weight.sum()

    def models_and_scaling(part: Samples) -> tuple[list[LinearModel], Scaling]:
        scaling = scale(part.X, part.weight)
        return list(path(part.with_table(scaling.apply(part.X)), grid)), scaling

    def scores(fold: Fold) -> Vector:
        test = samples.take(fold[1])
        models, scaling = models_and_scaling(samples.take(fold[0]))
        held_out = scaling.apply(test.X)
        right = [(held_out @ m.coef_ + m.intercept_ > 0) == (test.y > 0) for m in models]
        return np.array(right) @ test.weight / test.weight.sum()

    models, _ = models_and_scaling(samples)
    in_play = np.flatnonzero([uses_features(model) for model in models])
    if len(in_play) == 0:  # no feature helps, whatever C
        in_play = np.array([len(grid) - 1])
    splits = StratifiedKFold(_n_folds(samples.y), shuffle=True, random_state=random_state)
    folds = list(splits.split(samples.y, samples.y))
    mean = np.mean(run_tasks(scores, folds, n_jobs=n_jobs, progress=progress), axis=0)
    best = in_play[np.argmax(mean[in_play])]
    positive = float(samples.weight[samples.y > 0].sum() / samples.weight.sum())
    return Choice(float(grid[best]), float(mean[best]), max(positive, 1.0 - positive))


def _n_folds(y: Vector) -> int:
    smallest = int(min((y > 0).sum(), (y < 0).sum()))
    if smallest < 2:
        raise InputError(
            "C='cv' needs at least two rows of each class, but one class has a single row. "
            "Give C as a number instead, for example C=1.0."
        )
    return min(N_FOLDS, smallest)
