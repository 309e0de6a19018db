"""The fully connected network of the paper."""

from __future__ import annotations

from itertools import pairwise

from torch import nn

WIDTHS = (150, 100, 50)


def perceptron(n_inputs: int, n_outputs: int) -> nn.Module:
    """Three hidden layers of 150, 100 and 50 units, each with batch normalisation and ReLU."""
    layers: list[nn.Module] = []
    for before, after in pairwise((n_inputs, *WIDTHS)):
        layers += [nn.Linear(before, after), nn.BatchNorm1d(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTHS[-1], n_outputs))
