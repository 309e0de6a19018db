"""MADELON's 62.3 by a sigmoid judge, gamma 0, is a draw: Cancela et al. (2020), Table 8.

No plane separates the classes of MADELON: a linear SVM needs millions of libsvm's steps there, and
the paper's ended after some thousands (``saliency_scalings``). How such a machine ranks depends on
the order of the rows, which means nothing. Here it ranks in many orders of them, all features in
one round, and the sigmoid SVM of the paper judges every ranking; then the same machine ranks when
it has come to its end.

usage: python -m benchmarks.unfinished_ranker --data FOLDER [--steps N ...] [--draws N]
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

from .saliency_judges import best, judged
from .saliency_sets import PUBLISHED, ChallengeSet, load

TO_THE_END = -1


@dataclass(frozen=True)
class Draw:
    """Steps of libsvm taken; best accuracy of the judge, and the fewest features that have it."""

    steps: int
    accuracy: float
    n_features: int


def drawn(data: ChallengeSet, steps: int, seed: int) -> Draw:
    """Ranked with the rows in an order of their own, and judged."""
    rows = np.random.default_rng(seed).permutation(len(data.y))
    ranker = data.machine("linear").set_params(max_iter=steps)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is the point
        ranker.fit(data.X[rows], data.y[rows])
        codes = (data.y == ranker.classes_[1]).astype(int)
        found = aggregate_saliency(as_differentiable(ranker), data.X, codes, n_classes=2)
        order = np.argsort(-found.saliency, kind="stable")
        accuracy, size = best(judged(data, order, ["sigmoid"])["sigmoid"])
    return Draw(int(ranker.n_iter_[0]), accuracy, size)


def line(draws: list[Draw], published: float) -> str:
    """Of the table that is printed."""
    accuracies = np.array([draw.accuracy for draw in draws])
    highest = max(draws, key=lambda draw: (draw.accuracy, -draw.n_features))
    cells = (
        f"{np.mean([draw.steps for draw in draws]):,.0f}",
        str(len(draws)),
        f"{accuracies.mean():.1f} ± {accuracies.std():.1f}",
        f"{accuracies.min():.1f}",
        f"{highest.accuracy:.1f} ({highest.n_features})",
        str((accuracies > published - 1.05).sum()),  # figures are rounded to a tenth
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--steps", type=int, nargs="+", default=[5_000, 10_000, TO_THE_END])
    parser.add_argument("--draws", type=int, default=40)
    args = parser.parse_args()
    data = load("madelon", args.data)
    cell = PUBLISHED["madelon"]["SFS best, gamma 0"][-1]
    published = float(cell.split()[0])
    print(
        f"| steps | draws | mean | lowest | highest | within a point of {cell} |\n|{' --- |' * 6}"
    )
    for steps in args.steps:
        n_draws = 3 if steps == TO_THE_END else args.draws  # at the end, orders hardly matter
        draws = Parallel(n_jobs=-1)(delayed(drawn)(data, steps, seed) for seed in range(n_draws))
        print(line(draws, published), flush=True)


if __name__ == "__main__":
    main()
