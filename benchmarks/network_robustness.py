"""Adversarial robustness with and without noise in training (Table 15 of Cancela et al. 2020).

For ten digits of MNIST, this script searches for the smallest perturbation with which the network
"cnn" predicts each class with a probability of 95%. The paper uses WRN-16-4, more rows and more
epochs.

usage: python -m benchmarks.network_robustness --data FOLDER [--rows N] [--epochs N] [--figure FILE]
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

from .image_sets import SETS

NOISES = (0.0, 0.3)
N_DIGITS = 10


def stack_first_rows(results: list[Robustness]) -> Robustness:
    """Combine the results of several networks for the first digit, one row per network."""

    def first_rows(name: str) -> NDArray:
        return np.concatenate([getattr(result, name)[:1] for result in results])

    return Robustness(
        X=first_rows("X"),
        targets=results[0].targets,
        changed=first_rows("changed"),
        distance=first_rows("distance"),
        certainty=first_rows("certainty"),
        reached=first_rows("reached"),
        steps=first_rows("steps"),
        required_certainty=results[0].required_certainty,
        max_steps=results[0].max_steps,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with mnist.npz")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--figure", type=Path, default=None, help="file for the figure")
    args = parser.parse_args()
    warnings.simplefilter(
        "ignore", RelevanceWarning
    )  # the table counts the targets that were not reached
    images = SETS["mnist"].load(args.data)
    X, y = images.first(args.rows)
    X_new, y_new = images.X_new, images.y_new
    digits = np.array([np.flatnonzero(y_new == digit)[0] for digit in range(N_DIGITS)])
    digits = np.roll(digits, -1)  # the paper shows a 1
    print(f"{args.rows} rows, {args.epochs} epochs\n")
    print(
        "| noise in training | accuracy "
        "| median norm of the perturbations (10 digits, each class not yet predicted) | reached |"
    )
    print("| --- | --- | --- | --- |")
    results = []
    for noise in NOISES:
        network = NetworkClassifier(
            "cnn", max_epochs=args.epochs, l2=5e-4, input_noise=noise, random_state=0
        ).fit(X, y)
        result = robustness(network, X_new[digits], max_steps=60, bounds=(0.0, 1.0))
        results.append(result)
        other = result.distance > 0
        print(
            f"| {noise or 'none'} | {100 * network.score(X_new, y_new):.2f} | "
            f"{np.median(result.distance[other]):.2f} | "
            f"{result.reached.sum()} of {result.reached.size} |",
            flush=True,
        )
    if args.figure is not None:
        mpl.use("Agg")
        stack_first_rows(results).plot().figure_.savefig(args.figure, dpi=120)


if __name__ == "__main__":
    main()
