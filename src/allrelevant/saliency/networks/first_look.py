"""A look at what an untrained network makes of two rows, before the long work starts."""

from __future__ import annotations

from torch import Tensor, nn

from ...exceptions import InputError
from ..torch_model import applied


def require_trainable(network: nn.Module, whole: nn.Module, rows: Tensor, n_outputs: int) -> None:
    """Refuse a network that could not be trained.

    Parameters
    ----------
    network : nn.Module
    whole : nn.Module
        The same with what stands before it.
    rows : Tensor of shape (2, d)
    n_outputs : int
        How many outputs it must have.

    Raises
    ------
    InputError
        If it does not take such rows, has no weights to train, no gradients, or other outputs.
    """
    name = type(network).__name__
    outputs = applied(whole.eval(), rows, name)
    if tuple(outputs.shape) != (len(rows), n_outputs):
        raise InputError(
            f"The network returns shape {tuple(outputs.shape)} for {len(rows)} rows, and "
            f"{n_outputs} output(s) are needed: one for each class, or a single one for a number."
        )
    if not any(weight.requires_grad for weight in network.parameters()):
        raise InputError(
            f"{name} has no weights to train: there are none, or all of them are frozen. A network "
            "that is trained already is explained by TorchModel."
        )
    if not outputs.requires_grad:
        raise InputError(
            f"The outputs of {name} have no gradient with respect to its weights: something on the "
            "way (argmax, detach, numpy) breaks it off."
        )
