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
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from allrelevant import SaliencySelector

from .saliency_judges import best, judged
from .saliency_sets import PUBLISHED, ChallengeSet, load

TO_THE_END = -1


def judged_draw(data: ChallengeSet, steps: int, seed: int) -> tuple[float, int]:
    """Best accuracy of a sigmoid SVM, and the fewest features that have it, by one such ranking."""
    rows = np.random.default_rng(seed).permutation(len(data.y))
    machine = data.machine("linear").set_params(max_iter=steps)
    selector = SaliencySelector(machine, gamma=0.0, n_features_to_select=1, random_state=0)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is the point
        order = np.argsort(selector.fit(data.X[rows], data.y[rows]).ranking_)
        return best(judged(data, order, ["sigmoid"])["sigmoid"])


def line(data: ChallengeSet, steps: int, draws: int, published: float) -> str:
    """Of the table that is printed."""
    found = Parallel(n_jobs=-1)(delayed(judged_draw)(data, steps, seed) for seed in range(draws))
    accuracies = np.array([accuracy for accuracy, _ in found])
    highest, size = max(found, key=lambda draw: (draw[0], -draw[1]))
    cells = (
        "to the end" if steps == TO_THE_END else f"{steps:,}",
        str(draws),
        f"{accuracies.mean():.1f} ± {accuracies.std():.1f}",
        f"{accuracies.min():.1f}",
        f"{highest:.1f} ({size})",
        str((accuracies > published - 1.05).sum()),  # figures are rounded to a tenth
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--steps", type=int, nargs="+", default=[5_000, 10_000, TO_THE_END])
    parser.add_argument("--draws", type=int, default=60)
    args = parser.parse_args()
    data = load("madelon", args.data)
    cell = PUBLISHED["madelon"]["SFS best, gamma 0"][-1]
    published = float(cell.split()[0])
    print(
        f"| steps | draws | mean | lowest | highest | within a point of {cell} |\n|{' --- |' * 6}"
    )
    for steps in args.steps:
        draws = 3 if steps == TO_THE_END else args.draws  # they are all but the same
        print(line(data, steps, draws, published), flush=True)


if __name__ == "__main__":
    main()
