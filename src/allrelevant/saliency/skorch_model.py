"""Gradients of trained skorch nets."""

from __future__ import annotations

from typing import Any

from skorch import NeuralNet
from torch import nn

from ..exceptions import InputError
from .registry import register
from .torch_model import OutputKind, TorchModel

# What a module returns follows from the loss that it was trained by.
_KINDS: dict[type[Any], OutputKind] = {
    nn.CrossEntropyLoss: "logits",
    nn.NLLLoss: "probabilities",  # skorch takes the logarithm itself
    nn.MSELoss: "numbers",
    nn.L1Loss: "numbers",
    nn.SmoothL1Loss: "numbers",
    nn.HuberLoss: "numbers",
}


@register(NeuralNet)
def _(fitted: NeuralNet) -> TorchModel:
    if not fitted.initialized_:
        raise InputError(f"This {type(fitted).__name__} is not fitted yet: call fit first.")
    kind = _KINDS.get(type(fitted.criterion_))
    if kind is None:
        raise InputError(
            f"What a net trained by {type(fitted.criterion_).__name__} returns is not known here: "
            "wrap its module, as TorchModel(net.module_, outputs='logits')."
        )
    return TorchModel(fitted.module_, outputs=kind, batch_size=_batch_size(fitted))


def _batch_size(net: NeuralNet) -> int:
    return int(net.batch_size) if net.batch_size > 0 else 1024
