"""Training and gradients of skorch nets.

``trainers`` detects skorch nets without importing skorch.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from skorch import NeuralNet, NeuralNetClassifier
from torch import Tensor, nn

from ..._typing import Table
from ...exceptions import InputError
from ..differentiable import DifferentiableModel, as_differentiable, register
from .torch_modules import (
    OutputKind,
    TorchModel,
    apply_module,
    device_for,
    threads_for,
    torch_seed,
    torch_threads,
    weight_template,
)

# Kind of module outputs for each training loss.
_OUTPUT_KINDS: dict[type[Any], OutputKind] = {
    nn.CrossEntropyLoss: "logits",
    nn.NLLLoss: "logits",  # the softmax of log-probabilities gives the probabilities
    nn.BCEWithLogitsLoss: "logits",
    nn.BCELoss: "probabilities",
    nn.MSELoss: "numbers",
    nn.L1Loss: "numbers",
    nn.SmoothL1Loss: "numbers",
    nn.HuberLoss: "numbers",
}
_BINARY_LOSSES = (nn.BCEWithLogitsLoss, nn.BCELoss)


class SkorchTrainer(BaseEstimator):
    """Wrapper that trains a skorch net through the scikit-learn API.

    Rows are converted to the precision of the module, class labels to codes, and numeric targets to
    the shape of the outputs. ``random_state`` determines the initial weights and the order of the
    rows; the random state of PyTorch is restored afterwards. The net is cloned, and ``net_`` is the
    trained clone.
    """

    trains_at_random: ClassVar[bool] = True
    net_: Any
    classes_: NDArray[Any]

    def __init__(self, net: Any, *, classes: bool = True, random_state: Any = None) -> None:
        self.net = net
        self.classes = classes
        self.random_state = random_state

    @property
    def requires_all_columns(self) -> bool:
        """Whether the net requires all columns of the table; True unless it declares otherwise."""
        return bool(getattr(self.net, "requires_all_columns", True))

    def fit(self, X: Table, y: NDArray[Any]) -> Self:
        """Train a clone of the net on a dense table; raise if the table is sparse."""
        if sp.issparse(X):
            raise InputError(
                "skorch nets require dense rows. Use X.toarray(), or NetworkClassifier(module) or "
                "NetworkRegressor(module), which accept sparse tables."
            )
        device_for(self.net.device)  # raises if the device is not available
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with torch_seed(seed):  # data loaders draw random numbers even without shuffling
            untrained = clone(self.net).set_params(verbose=0).initialize()
            module = untrained.module_
            dtype = _numpy_name(weight_template(module, default="float32"))
            rows = np.ascontiguousarray(X, dtype=dtype)
            outputs = apply_module(untrained.forward, rows[:2], type(module).__name__)
        targets = self._targets(y, outputs)
        with torch_threads(threads_for(module, None)), torch_seed(seed):
            self.net_ = clone(self.net).fit(rows, targets)
        return self

    def predict(self, X: Table) -> NDArray[Any]:
        """Return the predicted class label or numeric target of each row."""
        check_is_fitted(self)
        outputs = as_differentiable(self).outputs(X)
        return self.classes_[outputs.argmax(axis=1)] if self.classes else outputs[:, 0]

    def _targets(self, y: NDArray[Any], outputs: Tensor) -> NDArray[Any]:
        """Convert targets to the form that the loss expects: class codes or numeric targets."""
        targets, n_classes = y, 1
        if self.classes:
            self.classes_, targets = np.unique(y, return_inverse=True)
            n_classes = len(self.classes_)
        single_output = self.classes and has_single_binary_output(self.net)
        if single_output and n_classes != 2:
            raise InputError(
                f"{type(self.net).__name__} requires two classes, but there are {n_classes}. Use "
                "NeuralNetClassifier with a module that has one output per class."
            )
        n_outputs = 1 if single_output else n_classes
        if outputs.numel() != len(outputs) * n_outputs:
            raise InputError(
                f"The module of {type(self.net).__name__} returns shape {tuple(outputs.shape)} for "
                f"{len(outputs)} rows, but the number of outputs per row must be {n_outputs}. "
                "Change its last layer: a classifier needs one output per class, a regressor a "
                "single output."
            )
        if n_outputs > 1:
            return targets.astype(np.int64)
        # If the shapes differed, broadcasting would compare each target with every output.
        return targets.astype(_numpy_name(outputs)).reshape(-1, *outputs.shape[1:])


def _numpy_name(tensor: Tensor) -> str:
    """Return the name of the NumPy dtype that corresponds to a tensor's dtype."""
    return str(tensor.dtype).removeprefix("torch.")


def has_single_binary_output(net: NeuralNet) -> bool:
    """Return whether the loss of a net requires a single output for two classes."""
    return issubclass(_loss_type(net), _BINARY_LOSSES)


def has_regression_loss(net: NeuralNet) -> bool:
    """Return whether the loss of a net is a regression loss."""
    return _OUTPUT_KINDS.get(_loss_type(net)) == "numbers"


def _loss_type(net: NeuralNet) -> type[Any]:
    return net.criterion if isinstance(net.criterion, type) else type(net.criterion)


@register(SkorchTrainer)
def _from_trainer(fitted: SkorchTrainer) -> DifferentiableModel:
    check_is_fitted(fitted)
    return as_differentiable(fitted.net_)


@register(NeuralNet)
def _from_net(fitted: NeuralNet) -> TorchModel:
    if not fitted.initialized_:
        raise InputError(f"This {type(fitted).__name__} is not fitted yet. Call fit first.")
    kind = _output_kind(fitted)
    module = fitted.module_
    if has_single_binary_output(fitted):
        module = TwoClassOutputs(module, 1.0 if kind == "probabilities" else 0.0)
    batch_size = int(fitted.batch_size) if fitted.batch_size > 0 else 1024
    return TorchModel(module, outputs=kind, batch_size=batch_size)


def _output_kind(net: NeuralNet) -> OutputKind:
    if isinstance(net, NeuralNetClassifier) and isinstance(net.criterion_, nn.NLLLoss):
        return "probabilities"  # NeuralNetClassifier takes the logarithm itself
    kind = _OUTPUT_KINDS.get(type(net.criterion_))
    if kind is None:
        raise InputError(
            f"Cannot determine whether a net trained with {type(net.criterion_).__name__} returns "
            "logits, probabilities or numeric predictions. Wrap its module to specify this, for "
            "example TorchModel(net.module_, outputs='logits')."
        )
    return kind


class TwoClassOutputs(nn.Module):
    """Module that expands the single output of a binary classifier into two outputs.

    A logit z becomes ``[0, z]`` (``at_zero=0``). A probability p becomes ``[1 - p, p]``
    (``at_zero=1``). ``at_zero`` is the output of the first class if that of the second is zero.
    """

    def __init__(self, module: nn.Module, at_zero: float) -> None:
        super().__init__()
        self.module = module
        self.at_zero = at_zero

    def forward(self, rows: Tensor) -> Tensor:
        second = self.module(rows).reshape(len(rows), 1)
        return torch.cat([self.at_zero * (1 - second), second], dim=1)
