"""MADELON's 62.3 with 58 features by a sigmoid judge, gamma 0: Cancela et al. (2020), Table 8.

Each of the four kernels ranks in one round, and a sigmoid SVM judges every number of features: with
gamma one over that number, and coef0 both as their accuracy on all features tells (0) and as they
state it (1). Nothing is left out, so what is printed is the most that these settings can give.

usage: python -m benchmarks.madelon_sigmoid --data FOLDER [--rankers KERNEL ...]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from .saliency_judges import best
from .saliency_rankers import Ranking, ranked
from .saliency_sets import KERNELS, ChallengeSet, load


def at_every_size(data: ChallengeSet, order: np.ndarray, coef0: float) -> list[tuple[int, float]]:
    """Numbers of features, and how accurate the judge is with so many."""
    svc = data.machine("sigmoid").set_params(coef0=coef0)
    found = []
    for size in range(1, len(order) + 1):
        kept = order[:size]
        svc.fit(data.X[:, kept], data.y)
        found.append((size, float(svc.score(data.X_test[:, kept], data.y_test))))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rankers", nargs="+", choices=KERNELS, default=list(KERNELS))
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the cap on libsvm's steps, on purpose
    data = load("madelon", args.data)
    print("| ranked by, gamma 0 | coef0 | best accuracy | features |\n| --- | --- | --- | --- |")
    with threadpool_limits(1):
        for ranker in args.rankers:
            order = ranked(data, Ranking(ranker))["order"]
            for coef0 in (0.0, 1.0):
                accuracy, size = best(at_every_size(data, order, coef0))
                print(f"| {ranker} | {coef0:g} | {accuracy:.1f} | {size} |", flush=True)


if __name__ == "__main__":
    main()
