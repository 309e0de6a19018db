"""A weight on every input, and the penalty that makes most of them zero.

Deep feature selection (Li, Chen and Wasserman 2016) puts the weights w in front of a network, all 1
in the beginning, and adds ``strength * ((1 - l1_ratio) / 2 * |w|^2 + l1_ratio * |w|_1)`` to its
loss. The gradient of the absolute value never brings a weight to zero and leaves it there; its
proximal operator does.

A whole network: the mask in front, the network, the scale of the target behind.

Rows of a table as pictures.

The small convolutional network of the paper.

The fully connected network of the paper.

Wide residual networks (Zagoruyko and Komodakis 2016), of which the paper takes WRN-16-4.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt, prod

import torch
from torch import Tensor, nn

from ...exceptions import InputError


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


class MaskOptimizer:
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


class TargetScale(nn.Module):
    """Bring outputs from mean 0 and spread 1 to the units of the target.

    A network is trained towards numbers of that size, whatever the target is measured in. The
    outputs are double precision: a spread that is small beside the mean would be lost.
    """

    mean: Tensor
    spread: Tensor

    def __init__(self, mean: float, spread: float) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float64))
        self.register_buffer("spread", torch.tensor(spread, dtype=torch.float64))

    def forward(self, values: Tensor) -> Tensor:
        return self.mean + self.spread * values.double()


def assemble(
    network: nn.Module, mask: InputMask | None = None, scale: TargetScale | None = None
) -> nn.Sequential:
    """Put the parts in a row; those that are None are left out."""
    parts = {"mask": mask, "network": network, "scale": scale}
    return nn.Sequential(
        OrderedDict((name, part) for name, part in parts.items() if part is not None)
    )


# Two poolings, or two strides, halve a picture twice.
SMALLEST = 4


class ToImage(nn.Module):
    """Turn flat rows into pictures with the channels first, as convolutions want them.

    Parameters
    ----------
    shape : tuple of int
        Height, width and channels. In the table the channels of a pixel stand side by side.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, rows: Tensor) -> Tensor:
        return rows.reshape(-1, *self.shape).permute(0, 3, 1, 2).contiguous()


def picture_shape(n_inputs: int, shape: tuple[int, ...] | None) -> tuple[int, int, int]:
    """Height, width and channels of pictures with so many values.

    Parameters
    ----------
    n_inputs : int
    shape : tuple of int or None
        (height, width) or (height, width, channels); None: a square of one channel.

    Examples
    --------
    >>> picture_shape(784, None)
    (28, 28, 1)
    """
    if shape is None:
        side = isqrt(n_inputs)
        if side * side != n_inputs:
            raise InputError(
                f"{n_inputs} features are no square picture: give image_shape=(height, width) or "
                "(height, width, channels)."
            )
        shape = (side, side)
    if len(shape) not in (2, 3) or prod(shape) != n_inputs:
        raise InputError(
            f"image_shape={shape} does not hold the {n_inputs} features of X: give (height, "
            "width) or (height, width, channels) whose product they are."
        )
    height, width, channels = (*shape, 1)[:3]
    if min(height, width) < SMALLEST:
        raise InputError(
            f"A picture of {height} x {width} is too small for this network, which halves it "
            f"twice: {SMALLEST} x {SMALLEST} is the least."
        )
    return height, width, channels


CHANNELS = (16, 32)


DENSE = 1024


def convolutional(shape: tuple[int, int, int], n_outputs: int) -> nn.Module:
    """Two 3 x 3 convolutions of 16 and 32 channels, pooled by 2, and a dense layer of 1,024."""
    height, width, channels = shape
    layers: list[nn.Module] = [ToImage(shape)]
    for after in CHANNELS:
        layers += [
            nn.Conv2d(channels, after, kernel_size=3, padding=1),
            nn.BatchNorm2d(after),
            nn.MaxPool2d(2),  # before the rectifier: the same numbers, of a quarter as many
            nn.ReLU(),
        ]
        channels, height, width = after, height // 2, width // 2
    return nn.Sequential(
        *layers,
        nn.Flatten(),
        nn.Linear(channels * height * width, DENSE),
        nn.BatchNorm1d(DENSE),
        nn.ReLU(),
        nn.Linear(DENSE, n_outputs),
    )


WIDTHS = (150, 100, 50)


def perceptron(n_inputs: int, n_outputs: int) -> nn.Module:
    """Three hidden layers of 150, 100 and 50 units, each with batch normalisation and ReLU."""
    layers: list[nn.Module] = []
    for before, after in pairwise((n_inputs, *WIDTHS)):
        layers += [nn.Linear(before, after), nn.BatchNorm1d(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTHS[-1], n_outputs))


_WIDTHS = (16, 16, 32, 64)


def wide_residual(
    shape: tuple[int, int, int], n_outputs: int, *, depth: int = 16, widening: int = 4
) -> nn.Module:
    """A first convolution, three groups of residual blocks, the mean over the picture.

    Parameters
    ----------
    shape : tuple of int
        Height, width and channels.
    n_outputs : int
    depth : int, default=16
        Number of layers with weights on the longest way: 4 and a multiple of 6.
    widening : int, default=4
        Factor of the channels in the groups.
    """
    n_blocks = (depth - 4) // 6
    first, *groups = _WIDTHS
    widths = (first, *(widening * width for width in groups))
    layers: list[nn.Module] = [
        ToImage(shape),
        nn.Conv2d(shape[2], first, kernel_size=3, padding=1, bias=False),
    ]
    for group, (before, after) in enumerate(pairwise(widths)):
        layers.append(ResidualBlock(before, after, stride=1 if group == 0 else 2))
        layers += [ResidualBlock(after, after, stride=1) for _ in range(n_blocks - 1)]
    return nn.Sequential(
        *layers,
        nn.BatchNorm2d(widths[-1]),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(widths[-1], n_outputs),
    )


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions, normalised and rectified before each, beside a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.normalised = nn.Sequential(nn.BatchNorm2d(before), nn.ReLU())
        self.residual = nn.Sequential(
            nn.Conv2d(before, after, kernel_size=3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.Conv2d(after, after, kernel_size=3, padding=1, bias=False),
        )
        self.shortcut = (
            None
            if before == after and stride == 1
            else nn.Conv2d(before, after, kernel_size=1, stride=stride, bias=False)
        )

    def forward(self, values: Tensor) -> Tensor:
        normalised = self.normalised(values)
        # A shortcut that changes the shape starts after the normalisation, as in the original.
        kept = values if self.shortcut is None else self.shortcut(normalised)
        changed: Tensor = kept + self.residual(normalised)
        return changed
