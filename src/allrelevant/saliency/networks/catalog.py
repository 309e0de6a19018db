"""Construction of networks from a name, a module or a factory function."""

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


# A name, a module to copy and reinitialize, or a factory. A factory takes the numbers of inputs
# and outputs, or no arguments.
Network: TypeAlias = Any


@dataclass(frozen=True)
class NamedNetwork:
    """Predefined network for rows or images, and the name of the function that builds it."""

    builder: str
    takes_images: bool

    def build(
        self, n_inputs: int, n_outputs: int, image_shape: tuple[int, ...] | None
    ) -> nn.Module:
        """Build an untrained network for ``n_inputs`` features or images of the given shape."""
        from . import architectures

        shape = (
            architectures.check_image_shape(n_inputs, image_shape)
            if self.takes_images
            else n_inputs
        )
        module: nn.Module = getattr(architectures, self.builder)(shape, n_outputs)
        return module


NETWORKS = {
    "mlp": NamedNetwork("perceptron", takes_images=False),
    "cnn": NamedNetwork("convolutional", takes_images=True),
    "wrn-16-4": NamedNetwork("wide_residual", takes_images=True),
}


def has_fixed_inputs(network: Network) -> bool:
    """Return whether a network has a fixed number of inputs, so that columns cannot be dropped."""
    if isinstance(network, str):
        return network in NETWORKS and NETWORKS[network].takes_images
    return not (_is_factory(network) and _takes(network, 1, 1))


def build_network(
    network: Network, n_inputs: int, n_outputs: int, image_shape: tuple[int, ...] | None
) -> nn.Module:
    """Build an untrained network, with initial weights drawn from PyTorch's random state.

    ``network`` is a name in :data:`NETWORKS`, a module or a factory. A module is copied, and the
    weights of the copy are reinitialized. A factory returns a module; it takes the numbers of
    inputs and outputs, or no arguments. ``image_shape`` applies to image networks only.
    """
    if isinstance(network, str):
        if network not in NETWORKS:
            names = ", ".join(repr(name) for name in NETWORKS)
            raise InputError(
                f"Unknown network {network!r}. Use {names}, a torch nn.Module or a function that "
                "returns one."
            )
        return NETWORKS[network].build(n_inputs, n_outputs, image_shape)
    if _is_factory(network):
        return _call_factory(network, n_inputs, n_outputs)
    return _reinitialized_copy(network)


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
            "A function passed as network must take either two arguments (the numbers of inputs "
            "and outputs) or none (if the network has a fixed input size). Change its signature."
        )
    if not isinstance(module, nn.Module):
        raise InputError(
            "A function passed as network must return a torch nn.Module (got "
            f"{type(module).__name__})."
        )
    return module


def _reinitialized_copy(module: Any) -> nn.Module:
    from torch import nn

    if not isinstance(module, nn.Module):
        raise InputError(
            f"network must be one of {', '.join(NETWORKS)}, a torch nn.Module or a function that "
            f"returns one (got {type(module).__name__})."
        )
    duplicate = copy.deepcopy(module)
    for layer in duplicate.modules():
        weights = next(iter(layer.parameters(recurse=False)), None)
        reset = getattr(layer, "reset_parameters", None)
        if weights is not None and reset is None:
            raise InputError(
                f"The layer {type(layer).__name__} has weights but no reset_parameters method, so "
                "a copy of the module cannot be reinitialized. Pass a function that returns the "
                "module."
            )
        if reset is not None:
            reset()
    return duplicate
