"""Elimination runs on the verbs of VPS-30-En and on the tasks that replace them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

from allrelevant import EBRFE

from ....elimination_tasks import TASKS, THESIS, Task
from ...table import Figures
from .setups import Setup
from .vps30en import VerbPatterns, load_vps30en

# Subfolder of VPS-30-En in the data folder.
FOLDER = "vps30en"
# Number of folds for the corpus, if its files define none, and for the tasks that replace it.
N_CORPUS_FOLDS = 9
N_FOLDS = 5

# Function that fits a setup, with folds shuffled by a seed.
Runner = Callable[[Setup, int], EBRFE]


def task_runner(name: str, folder: Path) -> Runner:
    return run_on_task(TASKS[name](folder))


def run_on_task(task: Task) -> Runner:
    def fit(setup: Setup, seed: int) -> EBRFE:
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        model = EBRFE(cv=folds, nested_cv=folds, **THESIS, **setup.arguments)
        return model.fit(task.varying_most(setup.n_kept), task.y)

    return fit


def verb_runner(verb: str, folder: Path) -> Runner:
    return run_on_verb(load_vps30en(folder / FOLDER, verbs=[verb])[verb])


def run_on_verb(table: VerbPatterns) -> Runner:
    """Return a function that runs an elimination setup on one verb.

    The folds of the corpus are the outer folds, and the remaining ones are the inner folds.
    """

    def fit(setup: Setup, seed: int) -> EBRFE:
        folds: Any = LeaveOneGroupOut()
        if table.fold is None:
            folds = StratifiedKFold(N_CORPUS_FOLDS, shuffle=True, random_state=seed)
        model = EBRFE(
            cv=folds,
            nested_cv=folds,
            min_variance=setup.min_variance,
            **THESIS,
            **setup.arguments,
        )
        return model.fit(table.X, table.y, groups=table.fold)

    return fit


def measure(
    seed: int, data: Path, *, load: Callable[[Path], Runner], setups: Sequence[Setup]
) -> Figures:
    """Return inner and nested accuracies in percent and numbers of features, by setup."""
    fit = load(data)
    figures: dict[str, float] = {}
    for setup in setups:
        model = fit(setup, seed)
        figures |= {
            f"{setup.name} inner": 100 * model.best_score_,
            f"{setup.name} inner features": model.n_features_,
            f"{setup.name} nested": 100 * model.held_out_score_.score,
            f"{setup.name} nested features": float(model.held_out_score_.n_features.mean()),
        }
    return figures
