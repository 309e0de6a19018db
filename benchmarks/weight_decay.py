"""A network that overfits ranks what it overfits to: what rankings are worth by weight decay.

The network of Cancela et al. (2020) ranks features of two sets of the NIPS 2003 challenge with the
weight decay that the paper writes (0.001) and with that of the scripts its authors published (0.1),
gamma 0.9, three repetitions, 100 epochs; an RBF SVM judges.

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

from .saliency_judges import best, judged
from .saliency_rankers import WEIGHT_DECAY, Ranking, ranked
from .saliency_sets import PUBLISHED, load

SETS = ("arcene", "madelon")


def line(name: str, decay: float, folder: Path) -> str:
    """Of the table that is printed."""
    data = load(name, folder)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)  # some columns are constant
        order = ranked(data, Ranking("NN", 0.9, n_repeats=3, weight_decay=decay))["order"]
        accuracy, size = best(judged(data, order, ["rbf"])["rbf"])
    of_paper = PUBLISHED[name]["SFS NN, gamma 0.9"][2]
    return f"| {name.upper()} | {decay:g} | {accuracy:.1f} ({size}) | {of_paper} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--decays", nargs="+", type=float, default=(0.001, WEIGHT_DECAY))
    args = parser.parse_args()
    print("| set | weight decay | RBF judge | paper |\n| --- | --- | --- | --- |", flush=True)
    tasks = (delayed(line)(*pair, args.data) for pair in product(args.sets, args.decays))
    print("\n".join(Parallel(n_jobs=-1)(tasks)))


if __name__ == "__main__":
    main()
