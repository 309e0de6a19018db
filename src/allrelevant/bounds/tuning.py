"""Choice of C, the weight of the loss against the norm, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ..arrays import Table, Vector
from ..exceptions import InputError
from ..parallel import run_tasks
from .models import LinearModel
from .programs.classification import Samples
from .scaling import Scaling

N_FOLDS = 5

# C times the total weight of the samples: the loss is a sum, so the same C means more to a
# larger table. Two values to a factor of ten, from next to no feature to next to no margin.
GRID = np.logspace(0.0, 3.5, 8)

BaselinePath = Callable[[Samples, Iterable[float]], Iterator[LinearModel]]
FitScaling = Callable[[Table, Vector], Scaling]


def choose_C(
    samples: Samples,
    path: BaselinePath,
    scale: FitScaling,
    *,
    random_state: int,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> float:
    """The smallest C of the grid that cross-validates best.

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
    splits = StratifiedKFold(_n_folds(samples.y), shuffle=True, random_state=random_state)

    def fold_scores(fold: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Vector:
        train, test = samples.take(fold[0]), samples.take(fold[1])
        scaling = scale(train.X, train.weight)
        held_out = scaling.apply(test.X)
        models = path(Samples(scaling.apply(train.X), train.y, train.weight), grid)
        right = [(held_out @ m.coef_ + m.intercept_ > 0) == (test.y > 0) for m in models]
        return np.array(right) @ test.weight / test.weight.sum()

    folds = list(splits.split(samples.y, samples.y))
    scores = np.array(run_tasks(fold_scores, folds, n_jobs=n_jobs, progress=progress))
    return float(grid[np.argmax(scores.mean(axis=0))])


def _n_folds(y: Vector) -> int:
    smallest = int(min((y > 0).sum(), (y < 0).sum()))
    if smallest < 2:
        raise InputError(
            "C='cv' needs at least two rows of each class, but one class has a single row. "
            "Give C as a number instead, for example C=1.0."
        )
    return min(N_FOLDS, smallest)
