"""A whole network: the mask in front, the network, the scale of the target behind."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

from .mask import InputMask


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
