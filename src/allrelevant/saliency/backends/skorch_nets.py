"""Gradients of trained skorch nets."""

from __future__ import annotations

from typing import Any

import torch
from skorch import NeuralNet, NeuralNetClassifier
from torch import Tensor, nn

from ...exceptions import InputError
from ..differentiable import register
from .torch_modules import OutputKind, TorchModel

# What a module returns follows from the loss that it was trained by.
_KINDS: dict[type[Any], OutputKind] = {
    nn.CrossEntropyLoss: "logits",
    nn.NLLLoss: "logits",  # of logarithms of probabilities the softmax are these probabilities
    nn.BCEWithLogitsLoss: "logits",
    nn.BCELoss: "probabilities",
    nn.MSELoss: "numbers",
    nn.L1Loss: "numbers",
    nn.SmoothL1Loss: "numbers",
    nn.HuberLoss: "numbers",
}


_OF_TWO_CLASSES = (nn.BCEWithLogitsLoss, nn.BCELoss)


class BothClasses(nn.Module):
    """Two outputs from the one of a module that tells two classes apart.

    The logit z of the second class is that of ``[0, z]``, its probability p of ``[1 - p, p]``.

    Parameters
    ----------
    module : nn.Module
        Returns shape (n,) or (n, 1).
    rest : float
        What the output of the first class is, for an output of zero.
    """

    def __init__(self, module: nn.Module, rest: float) -> None:
        super().__init__()
        self.module = module
        self.rest = rest

    def forward(self, rows: Tensor) -> Tensor:
        second = self.module(rows).reshape(len(rows), 1)
        return torch.cat([self.rest * (1 - second), second], dim=1)


def has_one_output_for_two_classes(net: NeuralNet) -> bool:
    """Whether a net, trained or not, has a single output for two classes."""
    loss = net.criterion if isinstance(net.criterion, type) else type(net.criterion)
    return issubclass(loss, _OF_TWO_CLASSES)


def predicts_numbers(net: NeuralNet) -> bool:
    """Whether the loss of a net, trained or not, is one of numbers."""
    loss = net.criterion if isinstance(net.criterion, type) else type(net.criterion)
    return _KINDS.get(loss) == "numbers"


@register(NeuralNet)
def _(fitted: NeuralNet) -> TorchModel:
    if not fitted.initialized_:
        raise InputError(f"This {type(fitted).__name__} is not fitted yet: call fit first.")
    kind = _kind(fitted)
    module = fitted.module_
    if has_one_output_for_two_classes(fitted):
        module = BothClasses(module, 1.0 if kind == "probabilities" else 0.0)
    return TorchModel(module, outputs=kind, batch_size=_batch_size(fitted))


def _kind(net: NeuralNet) -> OutputKind:
    if isinstance(net, NeuralNetClassifier) and isinstance(net.criterion_, nn.NLLLoss):
        return "probabilities"  # such a net takes the logarithm itself
    kind = _KINDS.get(type(net.criterion_))
    if kind is None:
        raise InputError(
            f"What a net trained by {type(net.criterion_).__name__} returns is not known here: "
            "wrap its module, as TorchModel(net.module_, outputs='logits')."
        )
    return kind


def _batch_size(net: NeuralNet) -> int:
    return int(net.batch_size) if net.batch_size > 0 else 1024
