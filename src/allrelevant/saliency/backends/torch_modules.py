"""Gradients of torch modules with respect to their inputs; device, threads and seed of torch.

:class:`TorchModel` leaves the module as it was. :func:`applied`, :func:`device_for`,
:func:`torch_threads` and :func:`torch_seed` also serve the training of networks.
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

from ..._optional import missing

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise missing("torch", "torch") from error

from ..._typing import Matrix, Table
from ...exceptions import InputError
from ..aggregation import row_batches, rows_within
from ..differentiable import Linearization, TwoPassLinearization, register
from ..gains import CrossEntropyGain, Gain, ProbabilityGain, RegressionGain

# Rows of a wide sparse table are made dense, so many numbers at a time.
NUMBERS_PER_BATCH = 2**24


OutputKind = Literal["logits", "probabilities", "numbers"]


_GAINS: dict[str, type[Gain]] = {
    "logits": CrossEntropyGain,
    "probabilities": ProbabilityGain,
    "numbers": RegressionGain,
}


class TorchModel:
    """A torch module as a differentiable model.

    Nothing of the module changes: modes, gradients, device and weights stay as they were. It is
    used in evaluation mode: without dropout, and with the running averages of batch normalization.

    Parameters
    ----------
    module : nn.Module or callable
        Takes rows, a tensor of shape (n, d), and returns a tensor of shape (n, k); or a function
        without arguments that returns such a module.
    outputs : {"logits", "probabilities", "numbers"}
        What its outputs are. A classifier has one for each class; a single number may also come as
        shape (n,).
    input_shape : tuple of int or None, default=None
        Shape of a row as the module takes it, such as (1, 28, 28); None leaves rows flat.
    batch_size : int, default=1024
        How many rows go through the module at a time; fewer if a table has very many columns.
    device : str, torch.device or None, default=None
        Where to compute. None: on a GPU if there is one (with a copy, if the module is not there),
        else where the module is.

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
                f"outputs must say what the module returns, one of {', '.join(_GAINS)}; got "
                f"{outputs!r}."
            )
        self.module = _on_device(_module_of(module), device)
        self.kind = outputs
        self.input_shape = input_shape
        self.batch_size = batch_size

    @property
    def gain(self) -> Gain:
        """The gain that goes with the outputs."""
        return _GAINS[self.kind]()

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row; shape (n, k)."""
        with _evaluation_mode(self.module), torch.no_grad():
            return _stacked([_as_array(self._forward(rows)) for rows in self._batches(X)])

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        """Gradient of ``sum(output_gradient * outputs)`` with respect to the inputs; (n, d)."""
        gradients, start = [], 0
        for rows in self._batches(X):
            stop = start + len(rows)
            gradients.append(self._pass(rows).vjp(output_gradient[start:stop]))
            start = stop
        return _stacked(gradients)

    def linearized(self, X: Table) -> Linearization:
        """The module at some rows; in one pass if they are one batch, to save memory."""
        if X.shape[0] > rows_within(X.shape[1], budget=NUMBERS_PER_BATCH, max_rows=self.batch_size):
            return TwoPassLinearization(self, X, self.outputs(X))
        (rows,) = self._batches(X)
        return self._pass(rows)

    def _pass(self, rows: Tensor) -> TapedModule:
        rows = rows.requires_grad_()
        with _evaluation_mode(self.module), torch.enable_grad():
            return TapedModule(type(self.module).__name__, rows, self._forward(rows))

    def _forward(self, rows: Tensor) -> Tensor:
        outputs = applied(self.module, self._shaped(rows), type(self.module).__name__)
        if outputs.ndim == 1:
            outputs = outputs[:, None]
        if outputs.ndim != 2 or len(outputs) != len(rows):
            raise InputError(
                f"{type(self.module).__name__} returns shape {tuple(outputs.shape)} for "
                f"{len(rows)} rows: (rows, outputs) is needed."
            )
        return outputs

    def _shaped(self, rows: Tensor) -> Tensor:
        if self.input_shape is None:
            return rows
        if math.prod(self.input_shape) != rows.shape[1]:
            raise InputError(
                f"input_shape={self.input_shape} is of {math.prod(self.input_shape)} features, and "
                f"rows have {rows.shape[1]}."
            )
        return rows.reshape(-1, *self.input_shape)

    def _batches(self, X: Table) -> Iterator[Tensor]:
        like = like_weights(self.module, default="float64")
        for part in row_batches(*X.shape, budget=NUMBERS_PER_BATCH, max_rows=self.batch_size):
            rows = X[part]
            dense = rows.toarray() if sp.issparse(rows) else np.ascontiguousarray(rows)
            # A tensor of its own: it may share memory with the caller's rows otherwise.
            yield torch.tensor(dense, dtype=like.dtype, device=like.device)


@dataclass(frozen=True)
class TapedModule:
    """A module at some rows, with the graph that torch has recorded."""

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
                f"The module has {results.shape[1]} outputs, and {output_gradient.shape[1]} were "
                "expected: one for each class, or a single one for a number."
            )
        gradient = None
        if results.requires_grad:
            weights = torch.as_tensor(output_gradient, dtype=results.dtype, device=results.device)
            # Not backward(): that would add to the gradients of the caller's weights.
            (gradient,) = torch.autograd.grad(
                results, self.rows, weights, allow_unused=True, retain_graph=True
            )
        if gradient is None:
            raise InputError(
                f"The outputs of {self.name} have no gradient with respect to its inputs: "
                "something on the way (argmax, detach, numpy) breaks it off."
            )
        return _as_array(gradient)


@register(nn.Module)
def _(fitted: nn.Module) -> TorchModel:
    raise InputError(
        f"{type(fitted).__name__} does not say whether its outputs are logits, probabilities or "
        "numbers: wrap it, as TorchModel(module, outputs='logits')."
    )


def _module_of(source: Any) -> nn.Module:
    module = source() if callable(source) and not isinstance(source, nn.Module) else source
    if not isinstance(module, nn.Module):
        raise InputError(
            f"A torch nn.Module or a function that makes one is needed, got {_describe(module)}."
        )
    return module


def _on_device(module: nn.Module, device: Any) -> nn.Module:
    current = next((p.device for p in module.parameters()), torch.device("cpu"))
    target = device_for(device, default=current)
    if target.type == current.type and target.index in (None, current.index):
        return module
    return copy.deepcopy(module).to(target)


@contextmanager
def _evaluation_mode(module: nn.Module) -> Iterator[None]:
    """Evaluation mode in the block; afterwards each part has its mode back."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def _as_array(tensor: Tensor) -> Matrix:
    return tensor.detach().reshape(len(tensor), -1).to("cpu", torch.float64).numpy()


def _stacked(parts: list[Matrix]) -> Matrix:
    if not parts:
        raise InputError("There are no rows.")
    return np.concatenate(parts)


def like_weights(module: nn.Module, *, default: str) -> Tensor:
    """A tensor with the precision and on the device of the weights of a module."""
    weights = next((p for p in module.parameters() if p.is_floating_point()), None)
    return torch.empty(0, dtype=getattr(torch, default)) if weights is None else weights


def applied(module: Callable[[Any], Any], rows: Any, name: str) -> Tensor:
    """The outputs of a module for some rows, or in one line why it has no gradients for them."""
    try:
        outputs = module(rows)
    except (RuntimeError, IndexError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        if "memory" in first_line:
            raise
        raise InputError(
            f"{name} does not take rows of {math.prod(rows.shape[1:])} features: {first_line}."
            f"{_hint(module, rows)}"
        ) from error
    if not isinstance(outputs, Tensor) or not outputs.is_floating_point():
        raise InputError(
            f"{name} returns {_describe(outputs)}, which has no gradients: a tensor of "
            "floating-point outputs is needed, and nothing else."
        )
    return outputs


def _hint(module: Any, rows: Any) -> str:
    convolutions = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    parts = module.modules() if isinstance(module, nn.Module) else ()
    if rows.ndim > 2 or not any(isinstance(part, convolutions) for part in parts):
        return ""
    return (
        " It takes images: give their shape as input_shape of TorchModel, or begin the module "
        "with nn.Unflatten(1, (1, 28, 28))."
    )


def _describe(value: Any) -> str:
    """A value in few words, however large it is."""
    if isinstance(value, Tensor):
        return f"{type(value).__name__} of {value.dtype}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value) if isinstance(value, str) else type(value).__name__


def device_for(device: Any, default: Any = "cpu") -> torch.device:
    """The device asked for, if it can be used; without one a GPU, or else the default."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else default)
    try:
        chosen = torch.device(device)
        if chosen.type == "meta":
            raise ValueError("it holds no numbers")
        torch.empty(0, device=chosen)
    # Without CUDA torch asserts; an unknown device is an error of type or value.
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        first_line = shorten(str(error).partition("\n")[0], 120, placeholder=" ...").rstrip(".")
        raise InputError(
            f"device={str(device)!r} cannot be used here: {first_line}. device=None takes a GPU if "
            "there is one, and else the processor."
        ) from error
    return chosen


# With fewer weights than this, threads wait for each other longer than they save.
SINGLE_THREAD_BELOW = 1_000_000


def threads_for(module: nn.Module, n_threads: int | None) -> int:
    """Number of threads for a network; by default one for a small one."""
    if n_threads is not None:
        return n_threads
    n_parameters = sum(parameter.numel() for parameter in module.parameters())
    return 1 if n_parameters < SINGLE_THREAD_BELOW else torch.get_num_threads()


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Limit torch to so many threads in the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Seed torch in the block; afterwards its random numbers continue as before."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield
