"""The training of a network: epochs of Adam over mini-batches, with early stopping.

:class:`Training` runs the epochs. A sampler draws the rows that an epoch has, all of them once or
classes balanced (:class:`BalancedRows`), and :class:`Inputs` hand out rows as tensors: a sparse
table stays sparse, only the rows of a mini-batch are dense. :func:`require_trainable` refuses a
network that cannot be trained before the long work starts.
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
from ..backends.torch_modules import applied
from .architectures import MaskOptimizer

Loss = Callable[[Tensor, Tensor], Tensor]

# Rows held back go through the network in batches of at most so many numbers and rows.
NUMBERS_PER_BATCH, MAX_ROWS_PER_BATCH = 2**24, 1024


@dataclass(frozen=True)
class TrainingSettings:
    """How a network is trained; see the parameters of the estimators."""

    loss: Loss
    max_epochs: int
    batch_size: int
    learning_rate: float
    l2: float = 0.0
    l1: float = 0.0
    input_noise: float = 0.0
    annealing: bool = False
    patience: Patience | None = None


@dataclass(frozen=True)
class Patience:
    """Early stopping: after so many epochs without progress on the rows held back."""

    X: Inputs
    targets: Tensor
    epochs: int
    tol: float


@dataclass
class TrainingRecord:
    """Mean loss of each epoch, without penalties, and loss after it on the rows held back.

    ``mask_steps`` counts for each weight of the mask the steps in which it was not zero.
    """

    losses: list[float] = field(default_factory=list)
    held_back: list[float] = field(default_factory=list)
    mask_steps: Tensor | None = None


class Training:
    """The training of a module, in place; ``mask`` optimizes the weights of its inputs."""

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
        # The gradient of l2 * w^2 is 2 * l2 * w, and the optimizer adds weight_decay * w.
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
        """Run the epochs; ``advance`` is called after each."""
        input_noise = self.settings.input_noise
        noise = input_noise * X.varying() if input_noise > 0 else None
        best = _BestEpoch(self.settings.patience)
        for _ in range(self.settings.max_epochs):
            self.module.train()
            self._epoch(X, targets, sampler().to(targets.device), noise)
            advance()
            if self.settings.patience is not None:
                self.record.held_back.append(self._loss_held_back(self.settings.patience))
                if best.is_over(self.record.held_back[-1], self.module):
                    break
        best.restore(self.module)
        self.module.eval()
        return self.record

    def _epoch(self, X: Inputs, targets: Tensor, order: Tensor, noise: Tensor | None) -> None:
        # Batches of nearly equal size: batch normalization needs more than one row.
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

    def _set_learning_rates(self, share: float) -> None:
        """Learning rates after a share of all steps."""
        rate = self.settings.learning_rate * (1 + math.cos(math.pi * share)) / 2
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
    def _loss_held_back(self, patience: Patience) -> float:
        self.module.eval()
        total = 0.0
        for part in row_batches(
            *patience.X.shape, budget=NUMBERS_PER_BATCH, max_rows=MAX_ROWS_PER_BATCH
        ):
            outputs = self.module(patience.X.rows(torch.arange(part.start, part.stop)))
            loss = self.settings.loss(outputs, patience.targets[part])
            total += (part.stop - part.start) * loss.item()
        return total / len(patience.targets)

    def _diverged(self, X: Inputs) -> TrainingError:
        largest = X.largest()
        cause = (
            f"X has values as large as {largest:.3g}: scale it"
            if largest > 1e3
            else f"learning_rate={self.settings.learning_rate:g} is likely too high: lower it"
        )
        return TrainingError(
            f"The loss became {self.record.losses[-1]} in epoch {len(self.record.losses)}: {cause}."
        )


class _BestEpoch:
    """The weights of the best epoch so far, and the number of epochs since."""

    def __init__(self, patience: Patience | None) -> None:
        self._patience = patience
        self._loss = math.inf
        self._weights: dict[str, Tensor] | None = None
        self._n_waited = 0

    def is_over(self, loss: float, module: nn.Module) -> bool:
        """Whether training ends with this loss on the rows held back."""
        if self._patience is None:
            return False
        self._n_waited = 0 if loss < self._loss - self._patience.tol else self._n_waited + 1
        if loss < self._loss:
            self._loss, self._weights = loss, copy.deepcopy(module.state_dict())
        return self._n_waited >= self._patience.epochs

    def restore(self, module: nn.Module) -> None:
        """Set the network to the best weights, if some were kept."""
        if self._weights is not None:
            module.load_state_dict(self._weights)


class BalancedRows:
    """Rows of rarer classes repeated, so that all classes are equally frequent.

    Every row comes at least once; which come once more than others is drawn for each epoch.
    """

    def __init__(self, codes: Tensor) -> None:
        self.classes = [torch.nonzero(codes == c).ravel() for c in codes.unique()]
        self.size = max(len(rows) for rows in self.classes)

    def __call__(self) -> Tensor:
        drawn = torch.cat([self._repeated(rows) for rows in self.classes])
        return drawn[torch.randperm(len(drawn))]

    def _repeated(self, rows: Tensor) -> Tensor:
        whole, rest = divmod(self.size, len(rows))
        return torch.cat([rows.repeat(whole), rows[torch.randperm(len(rows))[:rest]]])


class Inputs(ABC):
    """A table that hands out rows as tensors."""

    _X: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        return self._X.shape[0], self._X.shape[1]

    @abstractmethod
    def rows(self, indices: Tensor) -> Tensor:
        """The rows with these indices; dense."""

    @abstractmethod
    def varying(self) -> Tensor:
        """Which features do not hold one value in all rows; shape (d,)."""

    @abstractmethod
    def largest(self) -> float:
        """The largest absolute value."""


class DenseInputs(Inputs):
    """Rows of an array, moved to the device as a whole."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self._X = torch.from_numpy(X).to(device)

    def rows(self, indices: Tensor) -> Tensor:
        return self._X[indices]

    def varying(self) -> Tensor:
        return self._X.amax(dim=0) > self._X.amin(dim=0)

    def largest(self) -> float:
        return self._X.abs().max().item()


class SparseInputs(Inputs):
    """Rows of a sparse table; those of a mini-batch are made dense, then moved."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self._X = sp.csr_array(X)
        self._device = device

    def rows(self, indices: Tensor) -> Tensor:
        chosen = self._X[indices.cpu().numpy()]
        # Memory of torch, not of numpy: products of matrices may differ in the last digit by where
        # in memory a matrix begins, and a sparse table must give what the dense one gives.
        dense = torch.empty(chosen.shape, dtype=torch.float32)
        chosen.toarray(out=dense.numpy())
        return dense.to(self._device)

    def varying(self) -> Tensor:
        high, low = self._X.max(axis=0).toarray(), self._X.min(axis=0).toarray()
        return torch.from_numpy(np.ravel(high > low)).to(self._device)

    def largest(self) -> float:
        return float(abs(self._X).max())


def inputs_of(X: Table, device: torch.device) -> Inputs:
    """The rows of an array or of a sparse table, in single precision."""
    return SparseInputs(X, device) if sp.issparse(X) else DenseInputs(X, device)


def require_trainable(network: nn.Module, whole: nn.Module, rows: Tensor, n_outputs: int) -> None:
    """Refuse a network that cannot be trained on such rows, ``whole`` including its mask."""
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
