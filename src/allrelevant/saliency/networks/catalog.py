"""Networks by name, and what else a caller may give in the place of a name."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ..._optional import import_extra
from ...exceptions import InputError

if TYPE_CHECKING:
    from torch import nn


# A name, a module to copy and train anew, or a function of the numbers of inputs and outputs, or
# of nothing.
Network: TypeAlias = Any


OF_PICTURES = ("cnn", "wrn-16-4")


NAMES = ("mlp", *OF_PICTURES)


def requires_all_columns(network: Network) -> bool:
    """Whether a network takes a fixed number of inputs, so that columns cannot be dropped.

    Examples
    --------
    >>> requires_all_columns("mlp"), requires_all_columns("cnn")
    (False, True)
    """
    if isinstance(network, str):
        return network in OF_PICTURES
    return not (_is_factory(network) and _takes(network, 1, 1))


def build_network(
    network: Network, n_inputs: int, n_outputs: int, image_shape: tuple[int, ...] | None
) -> nn.Module:
    """A network that is not yet trained, with weights drawn from torch's random numbers.

    Parameters
    ----------
    network : str, nn.Module or callable
        A name of :data:`NAMES`; a module, which is copied and whose layers draw new weights; or a
        function that makes a module from the numbers of inputs and outputs, or from nothing.
    n_inputs, n_outputs : int
    image_shape : tuple of int or None
        Of the networks for pictures.
    """
    if isinstance(network, str):
        return _named(network, n_inputs, n_outputs, image_shape)
    if _is_factory(network):
        return _made_by(network, n_inputs, n_outputs)
    return _fresh_copy(network)


def _named(
    name: str, n_inputs: int, n_outputs: int, image_shape: tuple[int, ...] | None
) -> nn.Module:
    from .architectures import convolutional, perceptron, picture_shape, wide_residual

    if name == "mlp":
        return perceptron(n_inputs, n_outputs)
    if name not in OF_PICTURES:
        names = ", ".join(repr(known) for known in NAMES)
        raise InputError(f"No network is called {name!r}: take {names}, a module or a factory.")
    shape = picture_shape(n_inputs, image_shape)
    of_pictures = {"cnn": convolutional, "wrn-16-4": wide_residual}
    return of_pictures[name](shape, n_outputs)


def _is_factory(network: Network) -> bool:
    nn = import_extra("torch.nn", "torch")
    return callable(network) and not isinstance(network, nn.Module)


def _takes(factory: Callable[..., Any], *arguments: int) -> bool:
    try:
        inspect.signature(factory).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # of some built-in functions nothing is known
        return True
    return True


def _made_by(factory: Callable[..., Any], n_inputs: int, n_outputs: int) -> nn.Module:
    from torch import nn

    if _takes(factory, n_inputs, n_outputs):
        made = factory(n_inputs, n_outputs)
    elif _takes(factory):
        made = factory()
    else:
        raise InputError(
            "The network's factory must take the numbers of inputs and outputs, or nothing, if the "
            "network takes all columns in any case."
        )
    if not isinstance(made, nn.Module):
        raise InputError(
            f"The network's factory returned {type(made).__name__}: it must return a torch "
            "nn.Module, given the numbers of inputs and outputs."
        )
    return made


def _fresh_copy(module: Any) -> nn.Module:
    from torch import nn

    if not isinstance(module, nn.Module):
        raise InputError(
            f"network must be one of {', '.join(NAMES)}, a torch nn.Module or a function that "
            f"makes one, got {type(module).__name__}."
        )
    fresh = copy.deepcopy(module)
    for layer in fresh.modules():
        own = next(iter(layer.parameters(recurse=False)), None)
        reset = getattr(layer, "reset_parameters", None)
        if own is not None and reset is None:
            raise InputError(
                f"The layer {type(layer).__name__} has weights and no reset_parameters, so a copy "
                "of the module cannot start anew: give a function that makes the module."
            )
        if reset is not None:
            reset()
    return fresh
