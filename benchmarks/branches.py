"""Saliency of individual rows with known ground truth (Cancela et al. 2020, Table 3).

The first of five features determines whether the second and third, or the fourth and fifth, are
relevant. For each of 10 seeds, a network with one hidden layer is trained on 10,000 rows. Its
saliency is computed on 10,000 new rows.

usage: python -m benchmarks.branches [--seeds N] [--epochs N]
"""

from __future__ import annotations

import argparse

import numpy as np
from torch import nn

from allrelevant import NetworkClassifier
from allrelevant.datasets import make_branches
from allrelevant.saliency import saliency

# The samples of Table 3. For the first sample, only the signs that determine its class are legible.
SAMPLES = np.array(
    [
        [-0.5, 0.5, 0.5, 0.5, 0.5],
        [-0.5, 0.5, -0.5, 0.5, 0.5],
        [0.5, 0.5, -0.5, -0.5, -0.5],
        [0.5, 0.5, 0.5, -0.5, 0.5],
    ]
)


def one_hidden_layer(n_inputs: int, n_outputs: int) -> nn.Module:
    """Return a network with one hidden layer of 100 units."""
    return nn.Sequential(nn.Linear(n_inputs, 100), nn.ReLU(), nn.Linear(100, n_outputs))


def run(seed: int, epochs: int) -> tuple[float, np.ndarray, float, np.ndarray]:
    """Train a network with one seed, and evaluate its accuracy and saliency.

    Returns
    -------
    accuracy : float
        Accuracy on new rows.
    means : ndarray of shape (2, 5)
        Mean absolute saliency of each feature, for rows with x_a < 0 and with x_a >= 0.
    fraction : float
        Fraction of the correctly classified rows in which the three relevant features rank first.
    samples : ndarray of shape (4, 5)
        Absolute saliency of the samples of Table 3.
    """
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
    print(
        "| seed | accuracy | x_a < 0: a b c d e | x_a >= 0: a b c d e "
        "| relevant features rank first on average | in single rows |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    n_correct = 0
    for seed in range(args.seeds):
        accuracy, means, fraction, samples = run(seed, args.epochs)
        relevant = ({0, 1, 2}, {0, 3, 4})
        is_correct = all(
            set(np.argsort(-row)[:3].tolist()) == expected
            for row, expected in zip(means, relevant, strict=True)
        )
        n_correct += is_correct
        cells = " | ".join(" ".join(f"{value:.2f}" for value in row) for row in means)
        print(
            f"| {seed} | {100 * accuracy:.1f} | {cells} | {'yes' if is_correct else 'no'} | "
            f"{100 * fraction:.0f}% |",
            flush=True,
        )
    print(f"\nThe three relevant features rank first in {n_correct} of {args.seeds} seeds.")
    print("Saliency of the samples of Table 3, last seed:")
    for row, values in zip(SAMPLES, samples, strict=True):
        print(f"  {row.tolist()}: {' '.join(f'{value:.1f}' for value in values)}")


if __name__ == "__main__":
    main()
