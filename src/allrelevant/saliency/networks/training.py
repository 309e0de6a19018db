"""Training of networks by Adam over mini-batches, with optional early stopping.

:class:`Training` runs the epochs. A sampler draws the rows of each epoch, either all rows once or
with balanced classes (:class:`BalancedRows`). :class:`Inputs` provides rows as dense tensors,
converting a sparse table one mini-batch at a time. :func:`check_trainable` raises an error before
training starts if a network cannot be trained.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from ..._typing import Table
from ...exceptions import InputError, TrainingError
from ..aggregation import row_batches
from ..backends.torch_modules import apply_module
from .architectures import MaskOptimizer

Loss = Callable[[Tensor, Tensor], Tensor]

# Maximum number of values and rows per batch of validation rows.
NUMBERS_PER_BATCH, MAX_ROWS_PER_BATCH = 2**24, 1024


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of the training loop, with the same meaning as in ``NetworkClassifier``."""

    loss: Loss
    max_epochs: int
    batch_size: int
    learning_rate: float
    l2: float = 0.0
    l1: float = 0.0
    input_noise: float = 0.0
    annealing: bool = False
    early_stopping: EarlyStopping | None = None


@dataclass(frozen=True)
class EarlyStopping:
    """Settings for early stopping: validation rows, patience (in epochs) and tolerance."""

    X: Inputs
    targets: Tensor
    patience: int
    tol: float


@dataclass
class TrainingRecord:
    """Mean training loss (without penalties) and validation loss of each epoch.

    ``mask_steps`` counts the steps in which each weight of the mask was not zero.
    """

    losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    mask_steps: Tensor | None = None


class Training:
    """Training loop that updates the weights of a PyTorch module in place."""

    def __init__(
        self, module: nn.Module, settings: TrainingSettings, mask: MaskOptimizer | None = None
    ) -> None:
        self.module = module
        self.settings = settings
        self.record = TrainingRecord()
        self._mask = mask
        mask_weight = None if mask is None else mask.weight
        if mask is not None:
            self.record.mask_steps = torch.zeros_like(mask.weight)
        others = [p for p in module.parameters() if p.requires_grad and p is not mask_weight]
        self._weights = [p for p in others if p.ndim > 1]
        # The gradient of l2 * w^2 is 2 * l2 * w; the optimizer adds weight_decay * w.
        groups = [
            {"params": self._weights, "weight_decay": 2 * settings.l2},
            {"params": [p for p in others if p.ndim < 2], "weight_decay": 0.0},
        ]
        self._optimizer = torch.optim.Adam(
            [group for group in groups if group["params"]], lr=settings.learning_rate, fused=True
        )

    def run(
        self,
        X: Inputs,
        targets: Tensor,
        sampler: Callable[[], Tensor],
        advance: Callable[[], object],
    ) -> TrainingRecord:
        """Train for all epochs and return their losses; call ``advance`` after each epoch."""
        input_noise = self.settings.input_noise
        noise = input_noise * X.varying() if input_noise > 0 else None
        early_stopping = self.settings.early_stopping
        best = _BestEpoch(early_stopping)
        for _ in range(self.settings.max_epochs):
            self.module.train()
            self._epoch(X, targets, sampler().to(targets.device), noise)
            advance()
            if early_stopping is not None:
                self.record.validation_losses.append(self._validation_loss(early_stopping))
                if best.is_over(self.record.validation_losses[-1], self.module):
                    break
        best.restore(self.module)
        self.module.eval()
        return self.record

    def _epoch(self, X: Inputs, targets: Tensor, order: Tensor, noise: Tensor | None) -> None:
        # Batches have nearly equal sizes, because batch normalization needs more than one row.
        batches = order.tensor_split(math.ceil(len(order) / self.settings.batch_size))
        n_steps = self.settings.max_epochs * len(batches)
        total = torch.zeros((), device=targets.device)
        for step, batch in enumerate(batches, start=len(self.record.losses) * len(batches)):
            if self.settings.annealing:
                self._set_learning_rates(step / n_steps)
            inputs = X.rows(batch)
            if noise is not None:
                inputs = inputs + noise * torch.randn_like(inputs)
            total += len(batch) * self._step(inputs, targets[batch])
        self.record.losses.append(total.item() / len(order))
        if not math.isfinite(self.record.losses[-1]):
            raise self._diverged(X)

    def _set_learning_rates(self, progress: float) -> None:
        """Set annealed learning rates, given the fraction of training steps already completed."""
        rate = self.settings.learning_rate * (1 + math.cos(math.pi * progress)) / 2
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        if self._mask is not None:
            self._mask.learning_rate = rate

    def _step(self, inputs: Tensor, targets: Tensor) -> Tensor:
        self._optimizer.zero_grad()
        loss = self.settings.loss(self.module(inputs), targets)
        penalized = loss
        if self.settings.l1 > 0:
            penalized = loss + self.settings.l1 * sum(
                weight.abs().sum() for weight in self._weights
            )
        penalized.backward()
        self._optimizer.step()
        if self._mask is not None and self.record.mask_steps is not None:
            self._mask.step()
            self.record.mask_steps += self._mask.weight.detach() != 0
        return loss.detach()

    @torch.no_grad()
    def _validation_loss(self, validation: EarlyStopping) -> float:
        self.module.eval()
        total = 0.0
        for part in row_batches(
            *validation.X.shape, budget=NUMBERS_PER_BATCH, max_rows=MAX_ROWS_PER_BATCH
        ):
            outputs = self.module(validation.X.rows(torch.arange(part.start, part.stop)))
            loss = self.settings.loss(outputs, validation.targets[part])
            total += (part.stop - part.start) * loss.item()
        return total / len(validation.targets)

    def _diverged(self, X: Inputs) -> TrainingError:
        largest = X.max_abs()
        cause = (
            f"X has values as large as {largest:.3g}. Standardize it"
            if largest > 1e3
            else f"learning_rate={self.settings.learning_rate:g} is probably too high. Lower it"
        )
        return TrainingError(
            f"The loss became {self.record.losses[-1]} in epoch {len(self.record.losses)}: {cause}."
        )


class _BestEpoch:
    """Weights of the best epoch so far, and number of epochs without improvement."""

    def __init__(self, early_stopping: EarlyStopping | None) -> None:
        self._early_stopping = early_stopping
        self._loss = math.inf
        self._weights: dict[str, Tensor] | None = None
        self._n_waited = 0

    def is_over(self, loss: float, module: nn.Module) -> bool:
        """Record a validation loss and the best weights; return whether training should stop."""
        if self._early_stopping is None:
            return False
        improved = loss < self._loss - self._early_stopping.tol
        self._n_waited = 0 if improved else self._n_waited + 1
        if loss < self._loss:
            self._loss, self._weights = loss, copy.deepcopy(module.state_dict())
        return self._n_waited >= self._early_stopping.patience

    def restore(self, module: nn.Module) -> None:
        """Restore the best weights, if any were stored."""
        if self._weights is not None:
            module.load_state_dict(self._weights)


class BalancedRows:
    """Sampler that repeats rows of rare classes so that all classes are equally frequent.

    Every row occurs at least once. In each epoch, the rows that occur one extra time
    are drawn at random.
    """

    def __init__(self, codes: Tensor) -> None:
        self.classes = [torch.nonzero(codes == c).ravel() for c in codes.unique()]
        self.size = max(len(rows) for rows in self.classes)

    def __call__(self) -> Tensor:
        drawn = torch.cat([self._repeat(rows) for rows in self.classes])
        return drawn[torch.randperm(len(drawn))]

    def _repeat(self, rows: Tensor) -> Tensor:
        whole, rest = divmod(self.size, len(rows))
        return torch.cat([rows.repeat(whole), rows[torch.randperm(len(rows))[:rest]]])


class Inputs(ABC):
    """Table that provides its rows as dense tensors on a device."""

    _X: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of features."""
        return self._X.shape[0], self._X.shape[1]

    @abstractmethod
    def rows(self, indices: Tensor) -> Tensor:
        """Return the rows with the given indices as a dense tensor."""

    @abstractmethod
    def varying(self) -> Tensor:
        """Return a Boolean mask of the features that are not constant; shape (d,)."""

    @abstractmethod
    def max_abs(self) -> float:
        """Return the largest absolute value in the table."""


class DenseInputs(Inputs):
    """Dense table, stored on the device used for training."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self._X = torch.from_numpy(X).to(device)

    def rows(self, indices: Tensor) -> Tensor:
        return self._X[indices]

    def varying(self) -> Tensor:
        return self._X.amax(dim=0) > self._X.amin(dim=0)

    def max_abs(self) -> float:
        return self._X.abs().max().item()


class SparseInputs(Inputs):
    """Sparse table whose rows are converted to dense tensors one mini-batch at a time."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self._X = sp.csr_array(X)
        self._device = device

    def rows(self, indices: Tensor) -> Tensor:
        chosen = self._X[indices.cpu().numpy()]
        # Allocated by PyTorch, not NumPy: memory alignment can change the last digit of a matrix
        # product, and sparse and dense tables must give identical results.
        dense = torch.empty(chosen.shape, dtype=torch.float32)
        chosen.toarray(out=dense.numpy())
        return dense.to(self._device)

    def varying(self) -> Tensor:
        high, low = self._X.max(axis=0).toarray(), self._X.min(axis=0).toarray()
        return torch.from_numpy(np.ravel(high > low)).to(self._device)

    def max_abs(self) -> float:
        return float(abs(self._X).max())


def make_inputs(X: Table, device: torch.device) -> Inputs:
    """Wrap a dense or sparse single-precision table as :class:`Inputs` for the given device."""
    return SparseInputs(X, device) if sp.issparse(X) else DenseInputs(X, device)


def check_trainable(network: nn.Module, module: nn.Module, rows: Tensor, n_outputs: int) -> None:
    """Raise if a network cannot be trained on the given rows.

    ``module`` consists of the network and, if used, its input mask and target scale.
    """
    name = type(network).__name__
    outputs = apply_module(module.eval(), rows, name)
    if tuple(outputs.shape) != (len(rows), n_outputs):
        raise InputError(
            f"The network returns shape {tuple(outputs.shape)} for {len(rows)} rows, but "
            f"shape ({len(rows)}, {n_outputs}) is required. Change its last layer: a classifier "
            "needs one output per class, a regressor a single output."
        )
    if not any(weight.requires_grad for weight in network.parameters()):
        raise InputError(
            f"{name} has no weights, or all of them are frozen. Pass a network with trainable "
            "weights. To explain a network that is already trained, wrap it in TorchModel."
        )
    if not outputs.requires_grad:
        raise InputError(
            f"The outputs of {name} have no gradient with respect to its weights. Check the "
            "forward pass for argmax, detach or a conversion to NumPy."
        )
