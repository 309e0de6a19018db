"""Wide residual networks (Zagoruyko and Komodakis 2016), of which the paper takes WRN-16-4."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from .pictures import ToPicture

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
        ToPicture(shape),
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
