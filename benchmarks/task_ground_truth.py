"""F1 scores of the relevant features on data with known ground truth, for each task.

Scores are means over several instances, with default settings. ``--rule probes`` uses the rule of
the papers for relevance.

usage: python -m benchmarks.task_ground_truth [--task ranking] [--rule probes] [--seeds N]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from allrelevant import (
    ClassificationBounds,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    RelevanceWarning,
)
from allrelevant._params import CutoffName
from allrelevant.datasets import (
    make_linear_regression,
    make_ordinal_classification,
    make_privileged,
    make_ranking,
)

from .scores import best_f1, class_scores

Task = Literal["classification", "regression", "ordinal", "ranking"]

ESTIMATORS: dict[Task, Callable[..., Any]] = {
    "classification": ClassificationBounds,
    "regression": RegressionBounds,
    "ordinal": OrdinalBounds,
    "ranking": RankingBounds,
}
N_SEEDS = 10

# Task, generators without and with noise, and description of the noise.
PLAIN: list[tuple[Task, Callable[..., Any], Callable[..., Any], str]] = [
    (
        "regression",
        make_linear_regression,
        partial(make_linear_regression, target_noise=0.3),
        "noise of 0.3 standard deviations added to the target",
    ),
    (
        "ordinal",
        make_ordinal_classification,
        partial(make_ordinal_classification, flip=0.1),
        "10% of the rows assigned to a neighboring class",
    ),
    (
        "ranking",
        partial(make_ranking, 300),
        partial(make_ranking, 300, flip=0.04),
        "10% of the rare class swapped with rows of the other class",
    ),
    (
        "ranking",
        partial(make_ranking, 300),
        partial(make_ranking, 300, flip=0.1),
        "25% of the rare class swapped with rows of the other class",
    ),
]
FEATURE_NOISE = 0.1


class MeanF1(NamedTuple):
    """Mean F1 scores of the relevant features, with the estimated and with the best cutoff.

    Attributes
    ----------
    own : float
        F1 score with the estimated cutoff.
    best : float
        F1 score with the best possible cutoff, chosen with knowledge of the ground truth.
    privileged : float or None
        F1 score of the privileged features.
    """

    own: float
    best: float
    privileged: float | None


def mean_f1(
    task: Task,
    generate: Callable[..., Any],
    rule: CutoffName = "fdr",
    seeds: Iterable[int] = range(N_SEEDS),
) -> MeanF1:
    """Compute the mean F1 scores over tables generated with different seeds."""
    own, best, privileged = [], [], []
    for seed in seeds:
        data = generate(random_state=seed)
        bounds = ESTIMATORS[task](cutoff=rule, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)
            if hasattr(data, "privileged"):
                bounds.fit(data.X, data.y, privileged=data.privileged)
                scores = class_scores(data.privileged_relevance, bounds.privileged_relevance_)
                privileged.append(scores["relevant"])
            else:
                bounds.fit(data.X, data.y)
        own.append(class_scores(data.relevance, bounds.relevance_)["relevant"])
        best.append(best_f1(data.relevance, bounds.interval_[:, 1]))
    mean_privileged = float(np.mean(privileged)) if privileged else None
    return MeanF1(float(np.mean(own)), float(np.mean(best)), mean_privileged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=list(ESTIMATORS), help="measure only this task")
    parser.add_argument("--rule", choices=("fdr", "probes"), default="fdr")
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help="number of instances")
    args = parser.parse_args()
    only, measure = args.task, partial(mean_f1, rule=args.rule, seeds=range(args.seeds))
    print("| Task | F1 | F1 with noise | Noise |")
    print("| --- | --- | --- | --- |")
    best = []
    for task, clean, noisy, noise in PLAIN:
        if only in (None, task):
            without, with_noise = measure(task, clean), measure(task, noisy)
            print(f"| {task} | {without.own:.3f} | {with_noise.own:.3f} | {noise} |", flush=True)
            best.append(f"{task} {with_noise.best:.3f}")
    print(f"\nF1 with noise and the best possible cutoff, row by row: {', '.join(best)}.")
    print("\nWith privileged features:\n")
    print(
        "| Task | F1 | F1, privileged features | F1 with noise "
        "| F1 with noise, privileged features |"
    )
    print("| --- | --- | --- | --- | --- |")
    for task in ESTIMATORS if only is None else [only]:
        scores = [
            f"{score:.3f}"
            for noise in (0.0, FEATURE_NOISE)
            for score in measure(task, partial(make_privileged, task, noise=noise))[::2]
        ]
        print(f"| {task} | {' | '.join(scores)} |", flush=True)
    print(f"\nNoise: {FEATURE_NOISE:g} standard deviations, added to all features of both tables.")


if __name__ == "__main__":
    main()
