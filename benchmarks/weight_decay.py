"""Influence of weight decay on feature rankings by a network.

The network of Cancela et al. (2020) ranks the features of two NIPS 2003 challenge sets, with the
weight decay stated in the paper (0.001) and that of the authors' published scripts (0.1). There are
three repetitions and 100 epochs, at gamma 0.9. An RBF SVM evaluates the rankings.

usage: python -m benchmarks.weight_decay --data FOLDER [--sets SET ...] [--decays VALUE ...]
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from pathlib import Path

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from allrelevant import RelevanceWarning

from .saliency_evaluators import best, evaluate
from .saliency_rankers import WEIGHT_DECAY, Ranking, rank
from .saliency_sets import PUBLISHED, load

SETS = ("arcene", "madelon")


def measure_row(name: str, decay: float, folder: Path) -> str:
    """Return a Markdown row with the accuracy at one weight decay and the published accuracy."""
    data = load(name, folder)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)  # some columns are constant
        order = rank(data, Ranking("NN", 0.9, n_repeats=3, weight_decay=decay))["order"]
        accuracy, size = best(evaluate(data, order, ["rbf"])["rbf"])
    published = PUBLISHED[name]["SFS NN, gamma 0.9"][2]
    return f"| {name.upper()} | {decay:g} | {accuracy:.1f} ({size}) | {published} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--decays", nargs="+", type=float, default=(0.001, WEIGHT_DECAY))
    args = parser.parse_args()
    print("| set | `l2` | RBF evaluation model | paper |\n| --- | --- | --- | --- |", flush=True)
    tasks = (delayed(measure_row)(*pair, args.data) for pair in product(args.sets, args.decays))
    print("\n".join(Parallel(n_jobs=-1)(tasks)))


if __name__ == "__main__":
    main()
