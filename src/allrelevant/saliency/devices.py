"""Where torch works."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

import torch

from ..exceptions import InputError


def device_for(wanted: Any, otherwise: Any = "cpu") -> torch.device:
    """The device that is wanted, or else a GPU if there is one.

    Parameters
    ----------
    wanted : str, torch.device or None
    otherwise : str or torch.device, default="cpu"
        Where to work if nothing is wanted and there is no GPU.

    Raises
    ------
    InputError
        If there is no such device.

    Examples
    --------
    >>> device_for("cpu")
    device(type='cpu')
    """
    if wanted is None:
        return torch.device("cuda" if torch.cuda.is_available() else otherwise)
    try:
        device = torch.device(wanted)
        if device.type == "meta":
            raise ValueError("it holds no numbers")
        torch.empty(0, device=device)
    # Without CUDA torch asserts; of a device that it does not know, it says so by type or value.
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        first = shorten(str(error).partition("\n")[0], 120, placeholder=" ...").rstrip(".")
        raise InputError(
            f"device={str(wanted)!r} cannot be used here: {first}. device=None takes a GPU if "
            "there is one, and else the processor."
        ) from error
    return device
