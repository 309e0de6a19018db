"""Influence of the order of the rows on rankings by a linear SVM that has not converged.

In Table 8 of Cancela et al. (2020), the best ranking of MADELON at gamma 0 has an accuracy of 62.3
with a sigmoid SVM. The classes are not linearly separable: a linear SVM needs millions of libsvm
steps, but in the paper libsvm stops after a few thousand (see ``saliency_scalings``). The ranking
of such an SVM depends on the order of the rows. This script ranks all features in one round for
many orders of the rows, and evaluates each ranking with the sigmoid SVM of the paper. For
comparison, it also ranks with a converged SVM.

usage: python -m benchmarks.unconverged_svm --data FOLDER [--steps N ...] [--orders N]
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from allrelevant.saliency import aggregate_saliency, as_differentiable

from .saliency_evaluators import best, evaluate
from .saliency_sets import PUBLISHED, ChallengeSet, load

NO_LIMIT = -1


@dataclass(frozen=True)
class Evaluation:
    """Number of libsvm steps, best accuracy, and smallest number of features that attains it."""

    steps: int
    accuracy: float
    n_features: int


def rank_and_evaluate(data: ChallengeSet, steps: int, seed: int) -> Evaluation:
    """Rank the features with the rows in random order, and evaluate the ranking."""
    rows = np.random.default_rng(seed).permutation(len(data.y))
    ranker = data.svm("linear").set_params(max_iter=steps)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # as intended
        ranker.fit(data.X[rows], data.y[rows])
        codes = (data.y == ranker.classes_[1]).astype(int)
        aggregated = aggregate_saliency(as_differentiable(ranker), data.X, codes, n_classes=2)
        order = np.argsort(-aggregated.saliency, kind="stable")
        accuracy, size = best(evaluate(data, order, ["sigmoid"])["sigmoid"])
    return Evaluation(int(ranker.n_iter_[0]), accuracy, size)


def format_row(evaluations: list[Evaluation], published: float) -> str:
    accuracies = np.array([evaluation.accuracy for evaluation in evaluations])
    highest = max(evaluations, key=lambda one: (one.accuracy, -one.n_features))
    cells = (
        f"{np.mean([evaluation.steps for evaluation in evaluations]):,.0f}",
        str(len(evaluations)),
        f"{accuracies.mean():.1f} ± {accuracies.std():.1f}",
        f"{accuracies.min():.1f}",
        f"{highest.accuracy:.1f} ({highest.n_features})",
        str((accuracies > published - 1.05).sum()),  # values are rounded to a tenth
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with madelon.npz")
    parser.add_argument(
        "--steps",
        type=int,
        nargs="+",
        default=[5_000, 10_000, NO_LIMIT],
        help=f"maximum numbers of libsvm steps ({NO_LIMIT}: until convergence)",
    )
    parser.add_argument("--orders", type=int, default=40, help="number of orders of the rows")
    args = parser.parse_args()
    data = load("madelon", args.data)
    cell = PUBLISHED["madelon"]["SFS best, gamma 0"][-1]
    published = float(cell.split()[0])
    print(
        "| libsvm steps | row orders | mean | lowest | highest "
        f"| orders within one point of {cell} |\n|{' --- |' * 6}"
    )
    for steps in args.steps:
        # At convergence, the order of the rows hardly matters.
        n_orders = 3 if steps == NO_LIMIT else args.orders
        evaluations = Parallel(n_jobs=-1)(
            delayed(rank_and_evaluate)(data, steps, seed) for seed in range(n_orders)
        )
        print(format_row(evaluations, published), flush=True)


if __name__ == "__main__":
    main()
