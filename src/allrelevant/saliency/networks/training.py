"""Which rows an epoch goes through.

A look at what an untrained network makes of two rows, before the long work starts.

What a network is trained on: rows of a table as tensors, a mini-batch at a time.

A sparse table stays sparse; only the rows of a mini-batch are dense.

The training of a network: epochs of Adam over mini-batches.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from ..._typing import Table
from ...exceptions import InputError, TrainingError
from ..aggregation import row_batches
from ..backends.torch_modules import applied
from .architectures import InputMask, MaskOptimizer, MaskPenalty


class ShuffledRows:
    """Each row once."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def draw(self) -> Tensor:
        """Rows in a new order."""
        return torch.randperm(self.n_rows)


class BalancedRows:
    """Rows of rarer classes several times, so that all classes are equally frequent.

    Every row comes at least once; which come once more than others is drawn anew.
    """

    def __init__(self, codes: Tensor) -> None:
        self.classes = [torch.nonzero(codes == c).ravel() for c in codes.unique()]
        self.size = max(len(rows) for rows in self.classes)

    def draw(self) -> Tensor:
        """Rows in a new order."""
        drawn = torch.cat([self._repeated(rows) for rows in self.classes])
        return drawn[torch.randperm(len(drawn))]

    def _repeated(self, rows: Tensor) -> Tensor:
        whole, rest = divmod(self.size, len(rows))
        return torch.cat([rows.repeat(whole), rows[torch.randperm(len(rows))[:rest]]])


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


class Inputs(Protocol):
    """A table that hands out rows as tensors."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        ...

    def rows(self, places: Tensor) -> Tensor:
        """The rows at some places; dense, shape (number of places, d)."""
        ...

    def varying(self) -> Tensor:
        """Which features do not hold one value in all rows; shape (d,)."""
        ...

    def largest(self) -> float:
        """The largest absolute value."""
        ...


class DenseInputs:
    """Rows of an array, moved to the device as a whole."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self._X = torch.from_numpy(X).to(device)

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape[0], self._X.shape[1]

    def rows(self, places: Tensor) -> Tensor:
        return self._X[places]

    def varying(self) -> Tensor:
        return self._X.amax(dim=0) > self._X.amin(dim=0)

    def largest(self) -> float:
        return self._X.abs().max().item()


class SparseInputs:
    """Rows of a sparse table; those that are asked for are made dense, then moved."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self._X = sp.csr_array(X)
        self._device = device

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape[0], self._X.shape[1]

    def rows(self, places: Tensor) -> Tensor:
        chosen = self._X[places.cpu().numpy()]
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


Loss = Callable[[Tensor, Tensor], Tensor]


# Rows held back go through the network so many numbers at a time, and so many rows.
_BUDGET, _MOST_ROWS = 2**24, 1024


class EpochSampler(Protocol):
    """Says which rows an epoch goes through, and in which order."""

    def draw(self) -> Tensor:
        """Rows of the next epoch."""
        ...


@dataclass(frozen=True)
class Patience:
    """When training ends early: so many epochs without progress on rows held back."""

    X: Inputs
    targets: Tensor
    epochs: int
    tol: float


@dataclass(frozen=True)
class TrainingSettings:
    """How a network is trained.

    Attributes
    ----------
    loss : callable
        From outputs and targets to the mean loss.
    max_epochs, batch_size : int
    learning_rate : float
    annealing : bool
        Whether the learning rate falls along half a cosine, to zero after the last epoch.
    l2, l1 : float
        Factors of the squared and of the absolute weights of all layers in the loss, biases and
        normalisation apart.
    input_noise : float
        Standard deviation of normal noise on inputs that vary, drawn anew for each mini-batch.
    mask : MaskPenalty or None
        Of the mask in front of the network, if it has one.
    patience : Patience or None
        None: all epochs are done.
    """

    loss: Loss
    max_epochs: int
    batch_size: int
    learning_rate: float
    l2: float = 0.0
    l1: float = 0.0
    input_noise: float = 0.0
    annealing: bool = False
    mask: MaskPenalty | None = None
    patience: Patience | None = None


@dataclass
class TrainingRecord:
    """What happened.

    Attributes
    ----------
    losses : list of float
        Mean loss of each epoch, penalties apart.
    held_back : list of float
        Loss on the rows held back after each epoch, if there are any.
    mask_steps : Tensor or None
        For how many steps each weight of the mask was not zero.
    """

    losses: list[float] = field(default_factory=list)
    held_back: list[float] = field(default_factory=list)
    mask_steps: Tensor | None = None


class Training:
    """One network on its way through the epochs.

    Parameters
    ----------
    module : nn.Module
        Trained in place.
    plan : TrainingSettings
    """

    def __init__(self, module: nn.Module, plan: TrainingSettings) -> None:
        self.module = module
        self.plan = plan
        self.record = TrainingRecord()
        self._mask = self._mask_descent()
        own = None if self._mask is None else self._mask.weight
        others = [p for p in module.parameters() if p.requires_grad and p is not own]
        self._weights = [p for p in others if p.ndim > 1]
        # The gradient of l2 * w^2 is 2 * l2 * w, and the optimiser adds weight_decay * w.
        groups = [
            {"params": self._weights, "weight_decay": 2 * plan.l2},
            {"params": [p for p in others if p.ndim < 2], "weight_decay": 0.0},
        ]
        self._optimiser = torch.optim.Adam(
            [group for group in groups if group["params"]], lr=plan.learning_rate, fused=True
        )

    def _mask_descent(self) -> MaskOptimizer | None:
        mask = next((part for part in self.module.modules() if isinstance(part, InputMask)), None)
        if mask is None or self.plan.mask is None:
            return None
        self.record.mask_steps = torch.zeros_like(mask.weight)
        return MaskOptimizer(mask.weight, self.plan.mask, self.plan.learning_rate)

    def run(
        self, X: Inputs, targets: Tensor, rows: EpochSampler, advance: Callable[[], object]
    ) -> TrainingRecord:
        """Train.

        Parameters
        ----------
        X : Inputs
        targets : Tensor of shape (n,)
        rows : EpochSampler
        advance : callable
            Called after each epoch.
        """
        noise = self.plan.input_noise * X.varying() if self._noisy else None
        best = _Best(self.plan.patience)
        for _ in range(self.plan.max_epochs):
            self.module.train()
            self._epoch(X, targets, rows.draw().to(targets.device), noise)
            advance()
            if self.plan.patience is not None:
                self.record.held_back.append(self._loss_held_back(self.plan.patience))
                if best.is_over(self.record.held_back[-1], self.module):
                    break
        best.restore(self.module)
        self.module.eval()
        return self.record

    @property
    def _noisy(self) -> bool:
        return self.plan.input_noise > 0

    def _epoch(self, X: Inputs, targets: Tensor, order: Tensor, noise: Tensor | None) -> None:
        # Batches of nearly equal size: batch normalisation cannot do with a last one of one row.
        batches = order.tensor_split(math.ceil(len(order) / self.plan.batch_size))
        n_steps = self.plan.max_epochs * len(batches)
        total = torch.zeros((), device=targets.device)
        for step, batch in enumerate(batches, start=len(self.record.losses) * len(batches)):
            if self.plan.annealing:
                self._set_pace(step / n_steps)
            inputs = X.rows(batch)
            if noise is not None:
                inputs = inputs + noise * torch.randn_like(inputs)
            total += len(batch) * self._step(inputs, targets[batch])
        self.record.losses.append(total.item() / len(order))
        if not math.isfinite(self.record.losses[-1]):
            raise self._diverged(X)

    def _set_pace(self, share: float) -> None:
        """Learning rates after a share of all steps."""
        rate = self.plan.learning_rate * (1 + math.cos(math.pi * share)) / 2
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        if self._mask is not None:
            self._mask.learning_rate = rate

    def _step(self, inputs: Tensor, targets: Tensor) -> Tensor:
        self._optimiser.zero_grad()
        loss = self.plan.loss(self.module(inputs), targets)
        penalised = loss
        if self.plan.l1 > 0:
            penalised = loss + self.plan.l1 * sum(weight.abs().sum() for weight in self._weights)
        penalised.backward()
        self._optimiser.step()
        if self._mask is not None and self.record.mask_steps is not None:
            self._mask.step()
            self.record.mask_steps += self._mask.weight.detach() != 0
        return loss.detach()

    @torch.no_grad()
    def _loss_held_back(self, patience: Patience) -> float:
        self.module.eval()
        total = 0.0
        for part in row_batches(*patience.X.shape, budget=_BUDGET, most=_MOST_ROWS):
            outputs = self.module(patience.X.rows(torch.arange(part.start, part.stop)))
            loss = self.plan.loss(outputs, patience.targets[part])
            total += (part.stop - part.start) * loss.item()
        return total / len(patience.targets)

    def _diverged(self, X: Inputs) -> TrainingError:
        largest = X.largest()
        cause = (
            f"X has values as large as {largest:.3g}: scale it"
            if largest > 1e3
            else f"learning_rate={self.plan.learning_rate:g} is likely too high: lower it"
        )
        return TrainingError(
            f"The loss became {self.record.losses[-1]} in epoch {len(self.record.losses)}: {cause}."
        )


class _Best:
    """The best weights so far, and how long ago they were."""

    def __init__(self, patience: Patience | None) -> None:
        self._patience = patience
        self._loss = math.inf
        self._weights: dict[str, Tensor] | None = None
        self._waited = 0

    def is_over(self, loss: float, module: nn.Module) -> bool:
        """Whether patience has ended with this loss."""
        if self._patience is None:
            return False
        self._waited = 0 if loss < self._loss - self._patience.tol else self._waited + 1
        if loss < self._loss:
            self._loss, self._weights = loss, copy.deepcopy(module.state_dict())
        return self._waited >= self._patience.epochs

    def restore(self, module: nn.Module) -> None:
        """Give the network its best weights, if some were kept."""
        if self._weights is not None:
            module.load_state_dict(self._weights)
