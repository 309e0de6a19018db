"""MNIST: the small convolutional network as ranker and as judge (Table 11 of Cancela et al. 2020).

Far from the 60,000 rows and 40 epochs of the paper, for one training there takes as long as all of
this; and the judge there is WRN-16-4. --rows and --epochs say how far.

usage: python -m benchmarks.network_pictures --data FOLDER [--rows N] [--epochs N]
                                             [--judge-epochs N] [--checkpoints FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from allrelevant import NetworkClassifier

from .network_rankers import Order, Rankers

SIZES = (39, 78, 196, 392)
# Table 11, ranked by the 3-layer CNN, judged by WRN-16-4.
PAPER = {
    "DFS": (95.73, 98.56, 99.32, 99.46),
    "SFS, gamma 0": (89.78, 95.66, 99.14, 99.53),
    "SFS, gamma 0.9": (97.08, 98.49, 99.13, 99.56),
    "SFS+DFS, gamma 0": (95.60, 98.47, 99.38, 99.48),
}


def load(folder: Path, n_rows: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Some rows to train on, and all to judge on; pixels from 0 to 1."""
    data = np.load(folder / "mnist.npz")
    X, y, test = data["X"].reshape(len(data["y"]), -1), data["y"], data["split"] == 1
    kept = np.random.default_rng(0).permutation(np.flatnonzero(~test))[:n_rows]
    return X[kept] / np.float32(255), y[kept], X[test] / np.float32(255), y[test]


def judged(data: tuple, order: Order, n_features: int, epochs: int) -> float:
    """Accuracy on the test rows with the pixels that rank first; the others are black."""
    X, y, X_new, y_new = data
    alive = np.zeros(X.shape[1], dtype=np.float32)
    alive[order[:n_features]] = 1
    network = NetworkClassifier("cnn", max_epochs=epochs, l2=5e-4, random_state=1)
    return 100 * network.fit(X * alive, y).score(X_new * alive, y_new)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--judge-epochs", type=int, default=5)
    parser.add_argument("--checkpoints", type=Path, default=Path("network-checkpoints"))
    args = parser.parse_args()
    args.checkpoints.mkdir(exist_ok=True)
    data = load(args.data, args.rows)
    network = NetworkClassifier("cnn", max_epochs=args.epochs, l2=5e-4)
    label = f"mnist-{args.rows}-{args.epochs}"
    rankers = Rankers(network, 5e-4, 1, min(SIZES), args.checkpoints, label)
    print(f"{args.rows} rows, {args.epochs} epochs, judged after {args.judge_epochs}", flush=True)
    lines = []
    orders = rankers.everything(data[0], data[1], seed=0, gammas=(0.0, 0.9), masked_gammas=(0.0,))
    for name, order in orders.items():
        scores = [judged(data, order, size, args.judge_epochs) for size in SIZES]
        cells = " | ".join(f"{score:.2f}" for score in scores)
        paper = " / ".join(f"{score:.2f}" for score in PAPER.get(name, ()))
        lines.append(f"| {name} | {cells} | {paper} |")
        print(lines[-1], flush=True)
    print(f"\n| ranked by | {' | '.join(map(str, SIZES))} | the paper's |")
    print("| --- | --- | --- | --- | --- | --- |", *lines, sep="\n")
    everything = judged(data, np.arange(784), 784, args.judge_epochs)
    print(f"\nWith all 784 pixels: {everything:.2f}")


if __name__ == "__main__":
    main()
