"""Input gradients of PyTorch modules, and control of PyTorch devices, threads and seeds.

:class:`TorchModel` does not modify the module. :func:`apply_module`, :func:`device_for`,
:func:`torch_threads` and :func:`torch_seed` are also used to train networks.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..._optional import missing_extra_error

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise missing_extra_error("torch", "torch") from error

from ..._typing import Matrix, Table
from ...exceptions import InputError
from ..aggregation import row_batches, rows_within
from ..differentiable import Linearization, TwoPassLinearization, register
from ..gains import CrossEntropyGain, Gain, ProbabilityGain, RegressionGain

# Maximum number of values per dense batch; limits memory for wide sparse tables.
NUMBERS_PER_BATCH = 2**24


OutputKind = Literal["logits", "probabilities", "numbers"]


_GAINS: dict[str, type[Gain]] = {
    "logits": CrossEntropyGain,
    "probabilities": ProbabilityGain,
    "numbers": RegressionGain,
}


class TorchModel:
    """Differentiable model that wraps a PyTorch module.

    The module is not modified: its modes, gradients, device and weights stay the same. It runs in
    evaluation mode, that is, without dropout and with the running averages of batch normalization.

    Parameters
    ----------
    module : nn.Module or callable
        Module that maps rows, a tensor of shape (n, d), to a tensor of shape (n, k); or a function
        without arguments that returns such a module.
    outputs : {"logits", "probabilities", "numbers"}
        Kind of outputs. A classifier has one output per class. A regressor ("numbers") has a single
        output, which may also have shape (n,).
    input_shape : tuple of int or None, default=None
        Shape of a row as the module expects it, such as (1, 28, 28). None keeps rows flat.
    batch_size : int, default=1024
        Maximum number of rows per forward pass; smaller if the table has very many columns.
    device : str, torch.device or None, default=None
        Device to compute on. None uses a GPU if one is available, and the device of the module
        otherwise. If the module is on a different device, a copy is used.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> module = torch.nn.Linear(2, 1, dtype=torch.float64)
    >>> model = TorchModel(module, outputs="numbers")
    >>> slopes = model.vjp(np.ones((3, 2)), np.ones((3, 1)))
    >>> bool(np.allclose(slopes, module.weight.detach().numpy()))
    True
    """

    def __init__(
        self,
        module: Any,
        *,
        outputs: OutputKind,
        input_shape: tuple[int, ...] | None = None,
        batch_size: int = 1024,
        device: Any = None,
    ) -> None:
        if outputs not in _GAINS:
            raise InputError(
                f"outputs must be one of {', '.join(_GAINS)}, depending on the module (got "
                f"{outputs!r})."
            )
        self.module = _move_to_device(_resolve_module(module), device)
        self.kind = outputs
        self.input_shape = input_shape
        self.batch_size = batch_size

    @property
    def gain(self) -> Gain:
        """Gain function that matches the outputs: logits, probabilities or numbers."""
        return _GAINS[self.kind]()

    def outputs(self, X: Table) -> Matrix:
        """Return the outputs for each row; shape (n, k)."""
        with _evaluation_mode(self.module), torch.no_grad():
            return _concatenate([_as_array(self._forward(rows)) for rows in self._batches(X)])

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        """Return the gradient of ``sum(output_gradient * outputs)`` with respect to the inputs."""
        gradients, start = [], 0
        for rows in self._batches(X):
            stop = start + len(rows)
            gradients.append(self._pass(rows).vjp(output_gradient[start:stop]))
            start = stop
        return _concatenate(gradients)

    def linearize(self, X: Table) -> Linearization:
        """Linearize the module at given rows.

        Rows that fit into one batch need a single forward pass. For more rows, a second pass
        computes the gradients, which saves memory.
        """
        if X.shape[0] > rows_within(X.shape[1], budget=NUMBERS_PER_BATCH, max_rows=self.batch_size):
            return TwoPassLinearization(self, X, self.outputs(X))
        (rows,) = self._batches(X)
        return self._pass(rows)

    def _pass(self, rows: Tensor) -> TapedModule:
        rows = rows.requires_grad_()
        with _evaluation_mode(self.module), torch.enable_grad():
            return TapedModule(type(self.module).__name__, rows, self._forward(rows))

    def _forward(self, rows: Tensor) -> Tensor:
        outputs = apply_module(self.module, self._reshape(rows), type(self.module).__name__)
        if outputs.ndim == 1:
            outputs = outputs[:, None]
        if outputs.ndim != 2 or len(outputs) != len(rows):
            raise InputError(
                f"{type(self.module).__name__} returns shape {tuple(outputs.shape)} for "
                f"{len(rows)} rows. Change the module to return shape (n_rows, n_outputs)."
            )
        return outputs

    def _reshape(self, rows: Tensor) -> Tensor:
        if self.input_shape is None:
            return rows
        if math.prod(self.input_shape) != rows.shape[1]:
            raise InputError(
                f"input_shape={self.input_shape} requires {math.prod(self.input_shape)} features, "
                f"but rows have {rows.shape[1]}. Change input_shape."
            )
        return rows.reshape(-1, *self.input_shape)

    def _batches(self, X: Table) -> Iterator[Tensor]:
        template = weight_template(self.module, default="float64")
        for part in row_batches(*X.shape, budget=NUMBERS_PER_BATCH, max_rows=self.batch_size):
            rows = X[part]
            dense = rows.toarray() if sp.issparse(rows) else np.ascontiguousarray(rows)
            # Copy, so that the tensor does not share memory with the caller's rows.
            yield torch.tensor(dense, dtype=template.dtype, device=template.device)


@dataclass(frozen=True)
class TapedModule:
    """PyTorch module linearized at given rows, with the autograd graph stored for gradients."""

    name: str
    rows: Tensor
    results: Tensor

    @property
    def outputs(self) -> Matrix:
        return _as_array(self.results)

    def vjp(self, output_gradient: Matrix) -> Matrix:
        results = self.results
        if output_gradient.shape[1] != results.shape[1]:
            raise InputError(
                f"The module has {results.shape[1]} outputs, but {output_gradient.shape[1]} were "
                "expected. Change its last layer: a classifier needs one output per class, a "
                "regressor a single output."
            )
        gradient = None
        if results.requires_grad:
            weights = torch.as_tensor(output_gradient, dtype=results.dtype, device=results.device)
            # backward() would accumulate gradients in the caller's weights.
            (gradient,) = torch.autograd.grad(
                results, self.rows, weights, allow_unused=True, retain_graph=True
            )
        if gradient is None:
            raise InputError(
                f"The outputs of {self.name} have no gradient with respect to its inputs. Check "
                "the forward pass for argmax, detach or a conversion to NumPy."
            )
        return _as_array(gradient)


@register(nn.Module)
def _(fitted: nn.Module) -> TorchModel:
    raise InputError(
        f"Cannot determine whether {type(fitted).__name__} returns logits, probabilities or "
        "numeric predictions. Wrap the module to specify this, for example "
        "TorchModel(module, outputs='logits')."
    )


def _resolve_module(source: Any) -> nn.Module:
    module = source() if callable(source) and not isinstance(source, nn.Module) else source
    if not isinstance(module, nn.Module):
        raise InputError(
            "module must be a torch nn.Module or a function that returns one (got "
            f"{_describe(module)})."
        )
    return module


def _move_to_device(module: nn.Module, device: Any) -> nn.Module:
    current = next((p.device for p in module.parameters()), torch.device("cpu"))
    target = device_for(device, default=current)
    if target.type == current.type and target.index in (None, current.index):
        return module
    return copy.deepcopy(module).to(target)


@contextmanager
def _evaluation_mode(module: nn.Module) -> Iterator[None]:
    """Set evaluation mode within the block, and restore the mode of each submodule afterwards."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def _as_array(tensor: Tensor) -> Matrix:
    return tensor.detach().reshape(len(tensor), -1).to("cpu", torch.float64).numpy()


def _concatenate(parts: list[Matrix]) -> Matrix:
    if not parts:
        raise InputError("X has no rows. Pass at least one row.")
    return np.concatenate(parts)


def weight_template(module: nn.Module, *, default: str) -> Tensor:
    """Return a tensor with the dtype and device of a module's weights.

    For a module without weights, the dtype is ``default`` and the device is the CPU.
    """
    weights = next((p for p in module.parameters() if p.is_floating_point()), None)
    return torch.empty(0, dtype=getattr(torch, default)) if weights is None else weights


def apply_module(module: Callable[[Any], Any], rows: Any, name: str) -> Tensor:
    """Return the outputs of a module; raise if it fails or its outputs have no gradients."""
    try:
        outputs = module(rows)
    except (RuntimeError, IndexError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        if "memory" in first_line:
            raise
        raise InputError(
            f"{name} failed on rows with {math.prod(rows.shape[1:])} features: {first_line}. Check "
            f"the input size of its first layer.{_hint(module, rows)}"
        ) from error
    if not isinstance(outputs, Tensor) or not outputs.is_floating_point():
        raise InputError(
            f"{name} returns {_describe(outputs)}, which has no gradients. Change it to "
            "return a single floating-point tensor."
        )
    return outputs


def _hint(module: Any, rows: Any) -> str:
    convolutions = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    parts = module.modules() if isinstance(module, nn.Module) else ()
    if rows.ndim > 2 or not any(isinstance(part, convolutions) for part in parts):
        return ""
    return (
        " The module expects images. Pass their shape to TorchModel as input_shape, or start the "
        "module with a layer such as nn.Unflatten(1, (1, 28, 28))."
    )


def _describe(value: Any) -> str:
    """Return a short description of an object, such as its type and length."""
    if isinstance(value, Tensor):
        return f"a {type(value).__name__} of {value.dtype}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of length {len(value)}"
    return repr(value) if isinstance(value, str) else type(value).__name__


def device_for(device: Any, default: Any = "cpu") -> torch.device:
    """Return the requested device; None means a GPU if available, and the default otherwise."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else default)
    try:
        chosen = torch.device(device)
        if chosen.type == "meta":
            raise ValueError("the meta device stores no values")
        torch.empty(0, device=chosen)
    # PyTorch raises AssertionError without CUDA, TypeError or ValueError for unknown devices.
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        first_line = shorten(str(error).partition("\n")[0], 120, placeholder=" ...").rstrip(".")
        raise InputError(
            f"device={str(device)!r} is not available: {first_line}. Use device=None to select a "
            "GPU if one is available, and the CPU otherwise."
        ) from error
    return chosen


# Below this number of weights, synchronization costs more than threads save.
SINGLE_THREAD_BELOW = 1_000_000


def threads_for(module: nn.Module, n_threads: int | None) -> int:
    """Return the number of PyTorch threads; the default depends on the size of the network."""
    if n_threads is not None:
        return n_threads
    n_parameters = sum(parameter.numel() for parameter in module.parameters())
    return 1 if n_parameters < SINGLE_THREAD_BELOW else torch.get_num_threads()


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Set the number of PyTorch threads within the block, and restore it afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Seed PyTorch within the block, and restore its random state afterwards."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield
