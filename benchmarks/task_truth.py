"""F1 of the relevant features on data of known truth, every task, ten instances, defaults.

usage: python -m benchmarks.task_truth [--task ranking]
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
SEEDS = range(10)

# Name, estimator, and the generator without and with noise.
PLAIN: list[tuple[Task, Callable[..., Any], Callable[..., Any], str]] = [
    (
        "regression",
        make_linear_regression,
        partial(make_linear_regression, target_noise=0.3),
        "noise of 0.3 standard deviations on the target",
    ),
    (
        "ordinal",
        make_ordinal_classification,
        partial(make_ordinal_classification, flip=0.1),
        "10 % of the rows in a neighbouring class",
    ),
    (
        "ranking",
        partial(make_ranking, 300),
        partial(make_ranking, 300, flip=0.04),
        "10 % of the rows of the rare class exchanged with others",
    ),
    (
        "ranking",
        partial(make_ranking, 300),
        partial(make_ranking, 300, flip=0.1),
        "25 % of them: too much",
    ),
]
FEATURE_NOISE = 0.1


class MeanF1(NamedTuple):
    """Mean F1 of the relevant features, at the best cutoff there is, and of privileged ones."""

    own: float
    best: float
    privileged: float | None


def mean_f1(task: Task, generate: Callable[..., Any], seeds: Iterable[int] = SEEDS) -> MeanF1:
    """Means over seeds."""
    own, best, privileged = [], [], []
    for seed in seeds:
        data = generate(random_state=seed)
        bounds = ESTIMATORS[task](random_state=seed, n_jobs=-1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)
            if hasattr(data, "privileged"):
                bounds.fit(data.X, data.y, privileged=data.privileged)
                found = class_scores(data.privileged_relevance, bounds.privileged_relevance_)
                privileged.append(found["relevant"])
            else:
                bounds.fit(data.X, data.y)
        own.append(class_scores(data.relevance, bounds.relevance_)["relevant"])
        best.append(best_f1(data.relevance, bounds.interval_[:, 1]))
    of_privileged = float(np.mean(privileged)) if privileged else None
    return MeanF1(float(np.mean(own)), float(np.mean(best)), of_privileged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=list(ESTIMATORS), help="only this one")
    only = parser.parse_args().task
    print("| task | F1 | F1 with noise | at the best cutoff | the noise |")
    print("| --- | --- | --- | --- | --- |")
    for task, clean, noisy, noise in PLAIN:
        if only in (None, task):
            without, with_noise = mean_f1(task, clean), mean_f1(task, noisy)
            figures = f"{without.own:.3f} | {with_noise.own:.3f} | {with_noise.best:.3f}"
            print(f"| {task} | {figures} | {noise} |", flush=True)
    print("\n| task, with privileged features | F1 | privileged | F1 with noise | privileged |")
    print("| --- | --- | --- | --- | --- |")
    for task in ESTIMATORS if only is None else [only]:
        scores = [
            f"{score:.3f}"
            for noise in (0.0, FEATURE_NOISE)
            for score in mean_f1(task, partial(make_privileged, task, noise=noise))[::2]
        ]
        print(f"| {task} | {' | '.join(scores)} |", flush=True)
    print(f"\nNoise of {FEATURE_NOISE:g} standard deviations on every feature of both tables.")


if __name__ == "__main__":
    main()
