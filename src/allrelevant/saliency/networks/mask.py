"""A weight on every input, and the penalty that makes most of them zero.

Deep feature selection (Li, Chen and Wasserman 2016) puts the weights w in front of a network, all 1
in the beginning, and adds ``strength * ((1 - l1_ratio) / 2 * |w|^2 + l1_ratio * |w|_1)`` to its
loss. The gradient of the absolute value never brings a weight to zero and leaves it there; its
proximal operator does.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


class InputMask(nn.Module):
    """Multiply each input by a weight of its own."""

    def __init__(self, n_inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n_inputs))

    def forward(self, rows: Tensor) -> Tensor:
        return rows * self.weight


@dataclass(frozen=True)
class MaskPenalty:
    """Elastic net on the weights of a mask.

    Attributes
    ----------
    strength : float
    l1_ratio : float
        Share of the absolute values; the rest goes to half the squares.
    """

    strength: float
    l1_ratio: float


class MaskDescent:
    """Proximal gradient descent of a mask, at the pace of Adam.

    As Adam, it averages gradients and divides the step of each weight by their root mean square.
    The proximal operator is that of the same metric: with any other, it would come to rest where
    the penalised loss is not least. No step is longer than ten times that of the typical weight:
    else an input whose first gradients happen to be tiny would be taken to zero at once.

    Parameters
    ----------
    weight : nn.Parameter of shape (d,)
    penalty : MaskPenalty
    learning_rate : float
    """

    betas = (0.9, 0.999)
    longest = 10.0
    epsilon = 1e-12

    def __init__(self, weight: nn.Parameter, penalty: MaskPenalty, learning_rate: float) -> None:
        self.weight = weight
        self.penalty = penalty
        self.learning_rate = learning_rate
        self.n_steps = 0
        self._mean = torch.zeros_like(weight)
        self._square = torch.zeros_like(weight)

    @torch.no_grad()
    def step(self) -> None:
        """Follow the gradient that the weights have, then shrink them."""
        if self.weight.grad is None:
            return
        strength, l1_ratio = self.penalty.strength, self.penalty.l1_ratio
        gradient = self.weight.grad + strength * (1 - l1_ratio) * self.weight
        slow, slower = self.betas
        self.n_steps += 1
        self._mean.lerp_(gradient, 1 - slow)
        self._square.lerp_(gradient.square(), 1 - slower)
        root = (self._square / (1 - slower**self.n_steps)).sqrt()
        length = self.learning_rate / (root.maximum(root.mean() / self.longest) + self.epsilon)
        moved = self.weight - length / (1 - slow**self.n_steps) * self._mean
        threshold = length * strength * l1_ratio
        self.weight.copy_(torch.relu(moved.abs() - threshold) * moved.sign())
        self.weight.grad = None
