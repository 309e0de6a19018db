"""A look at what an untrained network makes of two rows, before the long work starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ...exceptions import InputError
from ..torch_model import kind_of


def outputs_of_two_rows(forward: Callable[[Any], Any], rows: Any, name: str) -> Tensor:
    """Outputs of an untrained network, or why it cannot be used.

    Parameters
    ----------
    forward : callable
        The network, in evaluation mode.
    rows : Tensor or ndarray of shape (2, d)
    name : str
        What to call it.

    Raises
    ------
    InputError
        If it does not take such rows, or returns anything but a tensor of numbers.
    """
    with torch.no_grad():
        try:
            outputs = forward(rows)
        except (RuntimeError, IndexError) as error:
            first = str(error).partition("\n")[0]
            raise InputError(
                f"The network does not take rows of {rows.shape[1]} features: {first}"
            ) from error
    if not isinstance(outputs, Tensor) or not outputs.is_floating_point():
        raise InputError(
            f"{name} returns {kind_of(outputs)}: a tensor of floating-point outputs is needed. "
            "Give a module that returns nothing else."
        )
    return outputs
