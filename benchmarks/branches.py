"""Which features decide a row: the toy of equation 13 (Table 3 of Cancela et al. 2020).

A network with a single hidden layer is trained on 10,000 rows, for each of 10 seeds, and the
saliency of 10,000 rows that it never saw is taken.

usage: python -m benchmarks.branches [--seeds N] [--epochs N]
"""

from __future__ import annotations

import argparse

import numpy as np
from torch import nn

from allrelevant import NetworkClassifier
from allrelevant.datasets import make_branches
from allrelevant.saliency import saliency

# The samples of Table 3; of the first one only the signs that its branch fixes are legible.
SAMPLES = np.array(
    [
        [-0.5, 0.5, 0.5, 0.5, 0.5],
        [-0.5, 0.5, -0.5, 0.5, 0.5],
        [0.5, 0.5, -0.5, -0.5, -0.5],
        [0.5, 0.5, 0.5, -0.5, 0.5],
    ]
)


def one_hidden_layer(n_inputs: int, n_outputs: int) -> nn.Module:
    """A network with 100 hidden units."""
    return nn.Sequential(nn.Linear(n_inputs, 100), nn.ReLU(), nn.Linear(100, n_outputs))


def run(seed: int, epochs: int) -> tuple[float, np.ndarray, float, np.ndarray]:
    """Accuracy, mean saliency by branch, share of rows with the three first, and the samples'."""
    train = make_branches(random_state=seed)
    new = make_branches(random_state=1000 + seed)
    network = NetworkClassifier(
        one_hidden_layer, max_epochs=epochs, learning_rate=0.01, l2=1e-5, random_state=seed
    ).fit(train.X, train.y)
    codes = np.searchsorted(network.classes_, new.y)
    found = np.abs(saliency(network.model_, new.X, codes))
    first = new.X[:, 0] < 0
    means = np.stack([found[first].mean(axis=0), found[~first].mean(axis=0)])
    right = np.asarray(network.predict(new.X) == new.y)
    best = np.argsort(-found, axis=1)[:, :3]
    hits = np.asarray(np.take_along_axis(new.deciding, best, axis=1).all(axis=1))
    answers = np.where(SAMPLES < 0, -1, 1)
    y = np.where(SAMPLES[:, 0] < 0, answers[:, 1] * answers[:, 2], answers[:, 3] * answers[:, 4])
    samples = np.abs(saliency(network.model_, SAMPLES, (y > 0).astype(np.int64)))
    return float(right.mean()), means, float(hits[right].mean()), samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=30)
    args = parser.parse_args()
    print("| seed | accuracy | x_a < 0: a b c d e | x_a >= 0: a b c d e | first in both | rows |")
    print("| --- | --- | --- | --- | --- | --- |")
    n_right = 0
    for seed in range(args.seeds):
        accuracy, means, share, samples = run(seed, args.epochs)
        wanted = ({0, 1, 2}, {0, 3, 4})
        right = all(
            set(np.argsort(-row)[:3].tolist()) == aim
            for row, aim in zip(means, wanted, strict=True)
        )
        n_right += right
        cells = " | ".join(" ".join(f"{value:.2f}" for value in row) for row in means)
        print(
            f"| {seed} | {100 * accuracy:.1f} | {cells} | {'yes' if right else 'no'} | "
            f"{100 * share:.0f} % |",
            flush=True,
        )
    print(f"\nThe three deciding features first in both branches: {n_right} of {args.seeds} seeds.")
    print("The samples of Table 3, last seed:")
    for row, values in zip(SAMPLES, samples, strict=True):
        print(f"  {row.tolist()}: {' '.join(f'{value:.1f}' for value in values)}")


if __name__ == "__main__":
    main()
