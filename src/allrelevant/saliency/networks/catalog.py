"""Networks by name, and what else a caller may give instead of a name; does not import torch."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ..._optional import import_extra
from ...exceptions import InputError

if TYPE_CHECKING:
    from torch import nn


# A name, a module to copy and train anew, or a function of the numbers of inputs and outputs, or
# of nothing.
Network: TypeAlias = Any


@dataclass(frozen=True)
class NamedNetwork:
    """A network of ``architectures``, by the name of the function that builds it."""

    builder: str
    of_images: bool

    def build(
        self, n_inputs: int, n_outputs: int, image_shape: tuple[int, ...] | None
    ) -> nn.Module:
        """An untrained network, for any number of inputs or for images of one shape."""
        from . import architectures

        shape = architectures.checked_shape(n_inputs, image_shape) if self.of_images else n_inputs
        module: nn.Module = getattr(architectures, self.builder)(shape, n_outputs)
        return module


NETWORKS = {
    "mlp": NamedNetwork("perceptron", of_images=False),
    "cnn": NamedNetwork("convolutional", of_images=True),
    "wrn-16-4": NamedNetwork("wide_residual", of_images=True),
}


def has_fixed_inputs(network: Network) -> bool:
    """Whether a network takes a fixed number of inputs, so that columns cannot be dropped."""
    if isinstance(network, str):
        return network in NETWORKS and NETWORKS[network].of_images
    return not (_is_factory(network) and _takes(network, 1, 1))


def build_network(
    network: Network, n_inputs: int, n_outputs: int, image_shape: tuple[int, ...] | None
) -> nn.Module:
    """An untrained network, with weights drawn from torch's random numbers.

    ``network`` is a name of :data:`NETWORKS`; a module, which is copied and whose layers draw new
    weights; or a function that returns a module, of the numbers of inputs and outputs or without
    arguments. ``image_shape`` is for networks of images.
    """
    if isinstance(network, str):
        if network not in NETWORKS:
            names = ", ".join(repr(name) for name in NETWORKS)
            raise InputError(
                f"No network is called {network!r}: take {names}, a module or a factory."
            )
        return NETWORKS[network].build(n_inputs, n_outputs, image_shape)
    if _is_factory(network):
        return _call_factory(network, n_inputs, n_outputs)
    return _fresh_copy(network)


def _is_factory(network: Network) -> bool:
    nn = import_extra("torch.nn", "torch")
    return callable(network) and not isinstance(network, nn.Module)


def _takes(factory: Callable[..., Any], *arguments: int) -> bool:
    try:
        inspect.signature(factory).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True


def _call_factory(factory: Callable[..., Any], n_inputs: int, n_outputs: int) -> nn.Module:
    from torch import nn

    if _takes(factory, n_inputs, n_outputs):
        module = factory(n_inputs, n_outputs)
    elif _takes(factory):
        module = factory()
    else:
        raise InputError(
            "The network's factory must take the numbers of inputs and outputs, or nothing, if the "
            "network takes all columns in any case."
        )
    if not isinstance(module, nn.Module):
        raise InputError(
            f"The network's factory returned {type(module).__name__}: it must return a torch "
            "nn.Module, given the numbers of inputs and outputs."
        )
    return module


def _fresh_copy(module: Any) -> nn.Module:
    from torch import nn

    if not isinstance(module, nn.Module):
        raise InputError(
            f"network must be one of {', '.join(NETWORKS)}, a torch nn.Module or a function that "
            f"makes one, got {type(module).__name__}."
        )
    fresh = copy.deepcopy(module)
    for layer in fresh.modules():
        weights = next(iter(layer.parameters(recurse=False)), None)
        reset = getattr(layer, "reset_parameters", None)
        if weights is not None and reset is None:
            raise InputError(
                f"The layer {type(layer).__name__} has weights and no reset_parameters, so a copy "
                "of the module cannot start anew: give a function that makes the module."
            )
        if reset is not None:
            reset()
    return fresh
