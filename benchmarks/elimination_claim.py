"""Inner and nested scores of evaluation-based RFE, compared with SVM-RFE.

Krupka (2016) found that EB-RFE selects better and smaller subsets on 30 tasks. The thesis compares
inner scores, which were also used to choose the subsets. This benchmark reports inner and nested
cross-validation scores, with the paired t-test of the thesis over the tasks.

Each run has a checkpoint. To resume an interrupted benchmark, repeat the command.

usage: python -m benchmarks.elimination_claim --data FOLDER [--checkpoints FOLDER]
                                              [--tasks NAME ...] [--candidates N ...]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_1samp
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from allrelevant import EBRFE

from .elimination_tasks import KEPT, TASKS, THESIS, Task

# The settings of the thesis (model R2), except the folds: the thesis uses those of its corpus.
SETTINGS: dict[str, Any] = {
    "kernel": "rbf",
    "C": (1 / 4, 1.0, 4.0, 16.0, 64.0),
    "class_weight": "cw3",
    "cv": StratifiedKFold(5),
    "nested_cv": StratifiedKFold(5),
    **THESIS,
}
CANDIDATES = (1, 3, 5, 8, 12)

Row = dict[int, tuple[float, int, float, float]]


def run(task: Task, n_candidates: int, folder: Path) -> tuple[float, int, float, float]:
    """Return the inner score and subset size, and the nested score and mean subset size."""
    model = EBRFE(
        n_candidates=n_candidates,
        checkpoint=folder / f"{task.name.replace(' ', '')}-{n_candidates}.ckpt",
        **SETTINGS,
    )
    model.fit(task.X, task.y)
    nested = model.held_out_score_
    return model.best_score_, model.n_features_, nested.score, float(nested.n_features.mean())


def print_scores(tasks: list[Task], found: dict[str, Row], candidates: tuple[int, ...]) -> None:
    titles = [f"{'SVM-RFE' if n == 1 else f'EB{n}'}" for n in candidates]
    print(f"\n| task | rows x features, classes | {' | '.join(titles)} |")
    print(f"|{' --- |' * (len(titles) + 2)}")
    for task in tasks:
        shape = f"{task.X.shape[0]} x {task.X.shape[1]}, {len(np.unique(task.y))}"
        cells = [
            f"{100 * inner:.1f} ({size}) / {100 * nested:.1f} ({mean:.0f})"
            for inner, size, nested, mean in found[task.name].values()
        ]
        print(f"| {task.name} | {shape} | {' | '.join(cells)} |")
    means = [np.mean([row[n] for row in found.values()], axis=0) for n in candidates]
    cells = [f"{100 * a:.1f} ({b:.0f}) / {100 * c:.1f} ({d:.0f})" for a, b, c, d in means]
    print(f"| mean | | {' | '.join(cells)} |")


def print_tests(found: dict[str, Row], candidates: tuple[int, ...]) -> None:
    """Print relative improvements over SVM-RFE, and 100% minus their p-values.

    The p-value is that of the one-sided paired t-test over the tasks.
    """
    print("\n| | " + " | ".join(f"EB{n}" for n in candidates[1:]) + " |")
    print(f"|{' --- |' * len(candidates)}")
    for name, column, sign in (
        ("inner accuracy", 0, 1),
        ("nested accuracy", 2, 1),
        ("reduction in subset size, inner", 1, -1),
        ("reduction in subset size, nested", 3, -1),
    ):
        cells = []
        for n in candidates[1:]:
            before = np.array([row[1][column] for row in found.values()], dtype=float)
            after = np.array([row[n][column] for row in found.values()], dtype=float)
            gain = sign * 100 * (after - before) / before
            confidence = 100 * (1 - ttest_1samp(gain, 0.0, alternative="greater").pvalue)
            cells.append(f"{gain.mean():+.1f}% (P {confidence:.1f}%)")
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the tables")
    parser.add_argument(
        "--checkpoints",
        type=Path,
        default=Path("elimination-checkpoints"),
        help="folder for checkpoints",
    )
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument(
        "--candidates",
        nargs="+",
        type=int,
        default=list(CANDIDATES),
        help="numbers of candidates per step; 1 is SVM-RFE and always included",
    )
    args = parser.parse_args()
    args.checkpoints.mkdir(exist_ok=True)
    candidates = tuple(sorted({1, *args.candidates}))
    tasks = [TASKS[name](args.data) for name in args.tasks]
    found: dict[str, Row] = {}
    with threadpool_limits(1):
        for task in tasks:
            start = time.perf_counter()
            found[task.name] = {n: run(task, n, args.checkpoints) for n in candidates}
            print(f"{task.name}: {time.perf_counter() - start:.0f} s", flush=True)
    print(
        f"\n{len(tasks)} tasks, the {KEPT} features with the largest variance. Inner accuracy in "
        "percent (number of features) / nested accuracy (mean number of features)."
    )
    print_scores(tasks, found, candidates)
    print_tests(found, candidates)


if __name__ == "__main__":
    main()
