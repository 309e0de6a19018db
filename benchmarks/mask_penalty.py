"""Sparsity of input masks for several penalties, with and without batch normalization.

The table has 400 rows and 20 features, 3 of them relevant. For each penalty, this script prints the
number of zero weights, how often a weight returned from zero during training, and the training
accuracy.

usage: python -m benchmarks.mask_penalty [--epochs N] [--seed N]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from unittest.mock import patch

import numpy as np
from sklearn.datasets import make_classification
from torch import nn

from allrelevant import DeepFeatureSelection, NetworkClassifier
from allrelevant.saliency.networks.architectures import MaskOptimizer

PENALTIES = (0.005, 0.05, 0.2, 1.0, 10.0)


def without_normalization(n_inputs: int, n_outputs: int) -> nn.Module:
    """Return the predefined multilayer perceptron without batch normalization."""
    widths = (n_inputs, 150, 100, 50)
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], n_outputs))


NETWORKS = {"mlp": "mlp", "mlp without batch normalization": without_normalization}


@contextmanager
def returns_from_zero() -> Iterator[list[int]]:
    """Count the mask weights that become nonzero again in each optimizer step."""
    counts: list[int] = []
    step = MaskOptimizer.step

    def counting_step(optimizer: MaskOptimizer) -> None:
        before = optimizer.weight.detach() == 0
        step(optimizer)
        counts.append(int((before & (optimizer.weight.detach() != 0)).sum()))

    with patch.object(MaskOptimizer, "step", counting_step):
        yield counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    X, y = make_classification(
        400,
        20,
        n_informative=3,
        n_redundant=0,
        n_clusters_per_class=1,
        shuffle=False,
        random_state=1,
    )
    print("| network | penalty | zeros of 20 | returns from zero | accuracy |")
    print("| --- | --- | --- | --- | --- |")
    for name, network in NETWORKS.items():
        for penalty in PENALTIES:
            net = NetworkClassifier(network, max_epochs=args.epochs, learning_rate=0.01)
            with returns_from_zero() as counts:
                selector = DeepFeatureSelection(net, penalty=penalty, random_state=args.seed)
                selector.fit(X, y)
            zeros = np.count_nonzero(selector.mask_ == 0)
            accuracy = 100 * selector.score(X, y)
            print(
                f"| {name} | {penalty:g} | {zeros} | {sum(counts)} | {accuracy:.1f} |", flush=True
            )


if __name__ == "__main__":
    main()
