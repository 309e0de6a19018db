"""The small convolutional network of the paper."""

from __future__ import annotations

from torch import nn

from .pictures import ToPicture

CHANNELS = (16, 32)
DENSE = 1024


def convolutional(shape: tuple[int, int, int], n_outputs: int) -> nn.Module:
    """Two 3 x 3 convolutions of 16 and 32 channels, pooled by 2, and a dense layer of 1,024."""
    height, width, channels = shape
    layers: list[nn.Module] = [ToPicture(shape)]
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
