"""How sparse a mask becomes as its penalty grows, with and without batch normalisation.

Three of 20 features decide, 400 rows. For each penalty: weights of the mask that are zero in the
end, how often a weight left zero on the way, and the accuracy on the rows themselves.

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


def without_normalisation(n_inputs: int, n_outputs: int) -> nn.Module:
    """The layers of ``"mlp"`` and nothing between them but ReLU."""
    widths = (n_inputs, 150, 100, 50)
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], n_outputs))


NETWORKS = {"mlp": "mlp", "mlp without batch normalisation": without_normalisation}


@contextmanager
def returns_from_zero() -> Iterator[list[int]]:
    """How many weights left zero, step by step."""
    counts: list[int] = []
    step = MaskOptimizer.step

    def counted(descent: MaskOptimizer) -> None:
        before = descent.weight.detach() == 0
        step(descent)
        counts.append(int((before & (descent.weight.detach() != 0)).sum()))

    with patch.object(MaskOptimizer, "step", counted):
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
                found = DeepFeatureSelection(net, penalty=penalty, random_state=args.seed)
                found.fit(X, y)
            zeros = np.count_nonzero(found.mask_ == 0)
            accuracy = 100 * found.score(X, y)
            print(
                f"| {name} | {penalty:g} | {zeros} | {sum(counts)} | {accuracy:.1f} |", flush=True
            )


if __name__ == "__main__":
    main()
