"""The modules of torch that networks are made of.

:func:`perceptron`, :func:`convolutional` and :func:`wide_residual` are the networks of Cancela et
al. (2020). :func:`assemble` puts an input mask in front of a network and the scale of the target
behind it. The mask is that of deep feature selection (Li, Chen and Wasserman 2016): one weight for
each input, all 1 in the beginning, under an elastic net that sets most of them to zero.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from math import isqrt, prod

import torch
from torch import Tensor, nn

from ...exceptions import InputError

# Units of the perceptron; channels and units of the convolutional network; channels of the wide
# residual network before widening.
PERCEPTRON_UNITS = (150, 100, 50)
CNN_CHANNELS, CNN_UNITS = (16, 32), 1024
WRN_CHANNELS = (16, 16, 32, 64)

# Networks for images halve them twice.
MIN_IMAGE_SIDE = 4


def perceptron(n_inputs: int, n_outputs: int) -> nn.Module:
    """Three hidden layers of 150, 100 and 50 units, each with batch normalization and ReLU."""
    layers: list[nn.Module] = []
    for before, after in pairwise((n_inputs, *PERCEPTRON_UNITS)):
        layers += [nn.Linear(before, after), nn.BatchNorm1d(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(PERCEPTRON_UNITS[-1], n_outputs))


def convolutional(shape: tuple[int, int, int], n_outputs: int) -> nn.Module:
    """Two 3 x 3 convolutions of 16 and 32 channels, pooled by 2, and a dense layer of 1,024."""
    height, width, channels = shape
    layers: list[nn.Module] = [ToImage(shape)]
    for after in CNN_CHANNELS:
        layers += [
            nn.Conv2d(channels, after, kernel_size=3, padding=1),
            nn.BatchNorm2d(after),
            nn.MaxPool2d(2),  # before the ReLU: the same result from a quarter of the numbers
            nn.ReLU(),
        ]
        channels, height, width = after, height // 2, width // 2
    return nn.Sequential(
        *layers,
        nn.Flatten(),
        nn.Linear(channels * height * width, CNN_UNITS),
        nn.BatchNorm1d(CNN_UNITS),
        nn.ReLU(),
        nn.Linear(CNN_UNITS, n_outputs),
    )


def wide_residual(
    shape: tuple[int, int, int], n_outputs: int, *, depth: int = 16, widening: int = 4
) -> nn.Module:
    """The wide residual network of Zagoruyko and Komodakis (2016), by default WRN-16-4.

    A convolution, three groups of residual blocks, and the mean over the image. ``depth`` is the
    number of layers with weights, 4 plus a multiple of 6; ``widening`` multiplies the channels.
    """
    n_blocks = (depth - 4) // 6
    first, *groups = WRN_CHANNELS
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
    """Two 3 x 3 convolutions, normalization and ReLU before each, beside a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.normalized = nn.Sequential(nn.BatchNorm2d(before), nn.ReLU())
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
        normalized = self.normalized(values)
        # A shortcut that changes the shape starts after the normalization, as in the original.
        kept = values if self.shortcut is None else self.shortcut(normalized)
        changed: Tensor = kept + self.residual(normalized)
        return changed


class ToImage(nn.Module):
    """Turn flat rows into images with the channels first, as convolutions take them.

    ``shape`` is (height, width, channels). In the table the channels of a pixel are side by side.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, rows: Tensor) -> Tensor:
        return rows.reshape(-1, *self.shape).permute(0, 3, 1, 2).contiguous()


def checked_shape(n_inputs: int, shape: tuple[int, ...] | None) -> tuple[int, int, int]:
    """Height, width and channels of images; without a shape, of a square with one channel."""
    if shape is None:
        side = isqrt(n_inputs)
        if side * side != n_inputs:
            raise InputError(
                f"{n_inputs} features are no square image: give image_shape=(height, width) or "
                "(height, width, channels)."
            )
        shape = (side, side)
    if len(shape) not in (2, 3) or prod(shape) != n_inputs:
        raise InputError(
            f"image_shape={shape} does not hold the {n_inputs} features of X: give (height, "
            "width) or (height, width, channels) whose product they are."
        )
    height, width, channels = (*shape, 1)[:3]
    if min(height, width) < MIN_IMAGE_SIDE:
        raise InputError(
            f"An image of {height} x {width} is too small for this network, which halves it "
            f"twice: {MIN_IMAGE_SIDE} x {MIN_IMAGE_SIDE} is the least."
        )
    return height, width, channels


def assemble(
    network: nn.Module, mask: InputMask | None = None, scale: TargetScale | None = None
) -> nn.Sequential:
    """Mask, network and scale in this order; those that are None are left out."""
    parts = {"mask": mask, "network": network, "scale": scale}
    return nn.Sequential(
        OrderedDict((name, part) for name, part in parts.items() if part is not None)
    )


class TargetScale(nn.Module):
    """Bring outputs from mean 0 and spread 1 to the unit of the target.

    The outputs are double precision: a spread that is small beside the mean would be lost.
    """

    mean: Tensor
    spread: Tensor

    def __init__(self, mean: float, spread: float) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float64))
        self.register_buffer("spread", torch.tensor(spread, dtype=torch.float64))

    def forward(self, values: Tensor) -> Tensor:
        return self.mean + self.spread * values.double()


class InputMask(nn.Module):
    """Multiply each input by a weight of its own."""

    def __init__(self, n_inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n_inputs))

    def forward(self, rows: Tensor) -> Tensor:
        return rows * self.weight


class MaskOptimizer:
    """Proximal gradient descent of a mask, with the step sizes of Adam.

    The penalty is the elastic net ``strength * ((1 - l1_ratio) / 2 * |w|^2 + l1_ratio * |w|_1)``.
    The gradient of the absolute value never leaves a weight at zero; its proximal operator does.
    As Adam, it averages gradients and divides the step of each weight by their root mean square.
    The proximal operator has the same metric: with any other, it would not converge to the minimum
    of the penalized loss. No step is longer than ten times that of the typical weight: otherwise an
    input whose first gradients happen to be tiny would become zero at once.
    """

    betas = (0.9, 0.999)
    longest = 10.0
    epsilon = 1e-12

    def __init__(
        self, weight: nn.Parameter, strength: float, l1_ratio: float, learning_rate: float
    ) -> None:
        self.weight = weight
        self.strength = strength
        self.l1_ratio = l1_ratio
        self.learning_rate = learning_rate
        self.n_steps = 0
        self._mean = torch.zeros_like(weight)
        self._square = torch.zeros_like(weight)

    @torch.no_grad()
    def step(self) -> None:
        """Follow the gradient that the weights have, then shrink them."""
        if self.weight.grad is None:
            return
        gradient = self.weight.grad + self.strength * (1 - self.l1_ratio) * self.weight
        slow, slower = self.betas
        self.n_steps += 1
        self._mean.lerp_(gradient, 1 - slow)
        self._square.lerp_(gradient.square(), 1 - slower)
        root = (self._square / (1 - slower**self.n_steps)).sqrt()
        length = self.learning_rate / (root.maximum(root.mean() / self.longest) + self.epsilon)
        moved = self.weight - length / (1 - slow**self.n_steps) * self._mean
        threshold = length * self.strength * self.l1_ratio
        self.weight.copy_(torch.relu(moved.abs() - threshold) * moved.sign())
        self.weight.grad = None
