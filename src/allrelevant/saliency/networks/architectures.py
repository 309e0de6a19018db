"""PyTorch modules for the predefined networks, their input mask and their target scale.

:func:`perceptron`, :func:`convolutional` and :func:`wide_residual` are the networks of Cancela et
al. (2020). :func:`assemble` adds an input mask before a network and the target scale after it. The
mask implements deep feature selection (Li, Chen and Wasserman 2016). It has one weight per input,
initially 1, and an elastic-net penalty that sets most weights to zero.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from math import isqrt, prod

import torch
from torch import Tensor, nn

from ...exceptions import InputError

# Hidden units of the MLP; channels and hidden units of the CNN; channels of the wide residual
# network before widening.
PERCEPTRON_UNITS = (150, 100, 50)
CNN_CHANNELS, CNN_UNITS = (16, 32), 1024
WRN_CHANNELS = (16, 16, 32, 64)

# Image networks halve the height and width twice.
MIN_IMAGE_SIDE = 4


def perceptron(n_inputs: int, n_outputs: int) -> nn.Module:
    """Build an MLP with hidden layers of 150, 100 and 50 units, batch normalization and ReLU."""
    layers: list[nn.Module] = []
    for before, after in pairwise((n_inputs, *PERCEPTRON_UNITS)):
        layers += [nn.Linear(before, after), nn.BatchNorm1d(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(PERCEPTRON_UNITS[-1], n_outputs))


def convolutional(shape: tuple[int, int, int], n_outputs: int) -> nn.Module:
    """Build a CNN: 3 x 3 convolutions (16 and 32 channels), 2 x 2 pooling, 1,024 hidden units."""
    height, width, channels = shape
    layers: list[nn.Module] = [ToImage(shape)]
    for after in CNN_CHANNELS:
        layers += [
            nn.Conv2d(channels, after, kernel_size=3, padding=1),
            nn.BatchNorm2d(after),
            nn.MaxPool2d(2),  # before the ReLU: same result, a quarter of the values
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
    """Build the wide residual network of Zagoruyko and Komodakis (2016), by default WRN-16-4.

    The network consists of a convolution, three groups of residual blocks and global average
    pooling. ``depth`` is the number of layers with weights, 4 plus a multiple of 6. ``widening``
    multiplies the number of channels.
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
    """Residual block of two 3 x 3 convolutions, each preceded by batch normalization and ReLU."""

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
        # As in the original, a shortcut that changes the shape is applied to normalized values.
        identity = values if self.shortcut is None else self.shortcut(normalized)
        outputs: Tensor = identity + self.residual(normalized)
        return outputs


class ToImage(nn.Module):
    """Module that reshapes flat rows into channels-first images.

    ``shape`` is (height, width, channels). In the table, the channels of a pixel are adjacent.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, rows: Tensor) -> Tensor:
        return rows.reshape(-1, *self.shape).permute(0, 3, 1, 2).contiguous()


def check_image_shape(n_inputs: int, shape: tuple[int, ...] | None) -> tuple[int, int, int]:
    """Return the validated (height, width, channels) of images.

    If ``shape`` is None, images are square with one channel.
    """
    if shape is None:
        side = isqrt(n_inputs)
        if side * side != n_inputs:
            raise InputError(
                f"{n_inputs} features do not form a square image. Set image_shape=(height, width) "
                "or (height, width, channels)."
            )
        shape = (side, side)
    if len(shape) not in (2, 3) or prod(shape) != n_inputs:
        raise InputError(
            f"image_shape={shape} does not match the {n_inputs} features. Use (height, width) or "
            f"(height, width, channels) with a product of {n_inputs}."
        )
    height, width, channels = (*shape, 1)[:3]
    if min(height, width) < MIN_IMAGE_SIDE:
        raise InputError(
            f"An image of {height} x {width} pixels is too small for this network. Use images of "
            f"at least {MIN_IMAGE_SIDE} x {MIN_IMAGE_SIDE} pixels."
        )
    return height, width, channels


def assemble(
    network: nn.Module, mask: InputMask | None = None, scale: TargetScale | None = None
) -> nn.Sequential:
    """Chain input mask, network and target scale into one module; omit those that are None."""
    parts = {"mask": mask, "network": network, "scale": scale}
    return nn.Sequential(
        OrderedDict((name, part) for name, part in parts.items() if part is not None)
    )


class TargetScale(nn.Module):
    """Module that converts standardized outputs to the unit of the target.

    Outputs are in double precision. Single precision would lose a standard deviation that is small
    compared with the mean.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, mean: float, std: float) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float64))
        self.register_buffer("std", torch.tensor(std, dtype=torch.float64))

    def forward(self, values: Tensor) -> Tensor:
        return self.mean + self.std * values.double()


class InputMask(nn.Module):
    """Module that multiplies each input by a separate weight."""

    def __init__(self, n_inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n_inputs))

    def forward(self, rows: Tensor) -> Tensor:
        return rows * self.weight


class MaskOptimizer:
    """Proximal gradient descent for an input mask, with the step sizes of Adam.

    The penalty is the elastic net ``strength * ((1 - l1_ratio) / 2 * |w|^2 + l1_ratio * |w|_1)``.
    The proximal operator of the l1 term sets weights to exactly zero, which its gradient cannot do.
    As in Adam, gradients are averaged, and the step of each weight is divided by their root mean
    square. The proximal operator uses the same metric; otherwise the method would not converge to
    the minimum of the penalized loss. No step is longer than ten times a typical step. Without this
    limit, an input with tiny initial gradients would be set to zero in the first step.
    """

    betas = (0.9, 0.999)
    max_step_ratio = 10.0
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
        """Update the mask by a gradient step, then by the proximal operator."""
        if self.weight.grad is None:
            return
        gradient = self.weight.grad + self.strength * (1 - self.l1_ratio) * self.weight
        slow, slower = self.betas
        self.n_steps += 1
        self._mean.lerp_(gradient, 1 - slow)
        self._square.lerp_(gradient.square(), 1 - slower)
        root = (self._square / (1 - slower**self.n_steps)).sqrt()
        length = self.learning_rate / (
            root.maximum(root.mean() / self.max_step_ratio) + self.epsilon
        )
        moved = self.weight - length / (1 - slow**self.n_steps) * self._mean
        threshold = length * self.strength * self.l1_ratio
        self.weight.copy_(torch.relu(moved.abs() - threshold) * moved.sign())
        self.weight.grad = None
