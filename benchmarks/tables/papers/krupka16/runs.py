"""Setups run on the verbs of VPS-30-En, and on the tables that stand in for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

from allrelevant import EBRFE

from ....elimination_tasks import TASKS, Task
from ...table import Figures
from .setups import Setup
from .vps30en import VerbPatterns, load_vps30en

# The folder of VPS-30-En in that of the public tables.
FOLDER = "vps30en"
# Those of the corpus, if its files have none; and those of the tables that stand in for it.
N_CORPUS_FOLDS = 9
N_FOLDS = 5

# Runs a setup, folds by a seed.
Fit = Callable[[Setup, int], EBRFE]


def stand_in(name: str, folder: Path) -> Fit:
    return on_task(TASKS[name](folder))


def on_task(task: Task) -> Fit:
    def fit(setup: Setup, seed: int) -> EBRFE:
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        model = EBRFE(cv=folds, nested_cv=folds, **setup.arguments)
        return model.fit(task.varying_most(setup.n_kept), task.y)

    return fit


def of_verb(verb: str, folder: Path) -> Fit:
    return on_verb(load_vps30en(folder / FOLDER, verbs=[verb])[verb])


def on_verb(table: VerbPatterns) -> Fit:
    """With the folds of the corpus: one is held out, and of the others one at a time within."""

    def fit(setup: Setup, seed: int) -> EBRFE:
        folds: Any = LeaveOneGroupOut()
        if table.fold is None:
            folds = StratifiedKFold(N_CORPUS_FOLDS, shuffle=True, random_state=seed)
        model = EBRFE(cv=folds, nested_cv=folds, min_variance=setup.min_variance, **setup.arguments)
        return model.fit(table.X, table.y, groups=table.fold)

    return fit


def measure(
    seed: int, data: Path, *, load: Callable[[Path], Fit], setups: Sequence[Setup]
) -> Figures:
    """Accuracy in percent and features: of the folds that chose the subset, and of those beyond."""
    fit = load(data)
    figures: dict[str, float] = {}
    for setup in setups:
        model = fit(setup, seed)
        figures |= {
            f"{setup.name} inner": 100 * model.best_score_,
            f"{setup.name} inner features": model.n_features_,
            f"{setup.name} nested": 100 * model.nested_score_.score,
            f"{setup.name} nested features": float(model.nested_score_.n_features.mean()),
        }
    return figures
