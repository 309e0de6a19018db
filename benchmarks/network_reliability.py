"""How little fools a network, with and without noise in training (Table 15 of Cancela et al. 2020).

Digits of MNIST are changed, by as little as is found, until the small convolutional network is 95 %
certain of each class. The paper has WRN-16-4; here fewer rows and epochs as well.

usage: python -m benchmarks.network_reliability --data FOLDER [--rows N] [--epochs N]
                                                [--picture FILE]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from allrelevant import NetworkClassifier, RelevanceWarning, robustness
from allrelevant.saliency.robustness import Robustness

from .picture_sets import SETS

NOISES = (0.0, 0.3)
N_DIGITS = 10


def stacked(found: list[Robustness]) -> Robustness:
    """One row of pictures for each network: the same digit as each class."""

    def first_rows(name: str) -> NDArray:
        return np.concatenate([getattr(one, name)[:1] for one in found])

    return Robustness(
        X=first_rows("X"),
        targets=found[0].targets,
        changed=first_rows("changed"),
        distance=first_rows("distance"),
        certainty=first_rows("certainty"),
        reached=first_rows("reached"),
        steps=first_rows("steps"),
        required_certainty=found[0].required_certainty,
        max_steps=found[0].max_steps,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--picture", type=Path, default=None)
    args = parser.parse_args()
    warnings.simplefilter("ignore", RelevanceWarning)  # what was not reached is in the table
    pictures = SETS["mnist"].load(args.data)
    X, y = pictures.first(args.rows)
    X_new, y_new = pictures.X_new, pictures.y_new
    digits = np.array([np.flatnonzero(y_new == digit)[0] for digit in range(N_DIGITS)])
    digits = np.roll(digits, -1)  # the paper's digit is a 1
    print(f"{args.rows} rows, {args.epochs} epochs\n")
    print("| noise | accuracy | median change | reached |")
    print("| --- | --- | --- | --- |")
    found = []
    for noise in NOISES:
        network = NetworkClassifier(
            "cnn", max_epochs=args.epochs, l2=5e-4, input_noise=noise, random_state=0
        ).fit(X, y)
        result = robustness(network, X_new[digits], max_steps=60, bounds=(0.0, 1.0))
        found.append(result)
        other = result.distance > 0
        print(
            f"| {noise} | {100 * network.score(X_new, y_new):.2f} | "
            f"{np.median(result.distance[other]):.2f} | "
            f"{result.reached.sum()} of {result.reached.size} |",
            flush=True,
        )
    if args.picture is not None:
        mpl.use("Agg")
        stacked(found).plot().figure_.savefig(args.picture, dpi=120)


if __name__ == "__main__":
    main()
