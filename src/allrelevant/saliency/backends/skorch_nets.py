"""skorch nets: training as scikit-learn's estimators are trained, and gradients.

Whether an estimator is a net of skorch is found out in ``trainers``, without importing skorch.
"""

from __future__ import annotations

from typing import Any, Self

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
    applied,
    device_for,
    like_weights,
    threads_for,
    torch_seed,
    torch_threads,
)

# The loss of the training says what a module returns.
_OUTPUT_KINDS: dict[type[Any], OutputKind] = {
    nn.CrossEntropyLoss: "logits",
    nn.NLLLoss: "logits",  # the softmax of log-probabilities are the probabilities
    nn.BCEWithLogitsLoss: "logits",
    nn.BCELoss: "probabilities",
    nn.MSELoss: "numbers",
    nn.L1Loss: "numbers",
    nn.SmoothL1Loss: "numbers",
    nn.HuberLoss: "numbers",
}
_LOSSES_OF_TWO_CLASSES = (nn.BCEWithLogitsLoss, nn.BCELoss)


class SkorchTrainer(BaseEstimator):
    """A skorch net that is trained as the estimators of scikit-learn are.

    Rows are converted to the precision of the module, classes of any kind to codes, numbers to the
    shape of the outputs. Weights and the order of rows follow from ``random_state``; the random
    numbers of torch continue afterwards as before. The net is cloned: ``net_`` is the trained one.
    """

    net_: Any
    classes_: NDArray[Any]

    def __init__(self, net: Any, *, classes: bool = True, random_state: Any = None) -> None:
        self.net = net
        self.classes = classes
        self.random_state = random_state

    @property
    def requires_all_columns(self) -> bool:
        """Whether columns cannot be dropped: so it is, unless the net says otherwise."""
        return bool(getattr(self.net, "requires_all_columns", True))

    def fit(self, X: Table, y: NDArray[Any]) -> Self:
        """Train on dense rows."""
        if sp.issparse(X):
            raise InputError(
                "A net of skorch is given dense rows: use X.toarray(), or NetworkClassifier(module)"
                " and NetworkRegressor(module), which take sparse tables."
            )
        device_for(self.net.device)  # refuses a device that is not there
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with torch_seed(seed):  # loaders draw random numbers even where they do not shuffle
            untrained = clone(self.net).set_params(verbose=0).initialize()
            module = untrained.module_
            dtype = _numpy_name(like_weights(module, default="float32"))
            rows = np.ascontiguousarray(X, dtype=dtype)
            outputs = applied(untrained.forward, rows[:2], type(module).__name__)
        targets = self._targets(y, outputs)
        with torch_threads(threads_for(module, None)), torch_seed(seed):
            self.net_ = clone(self.net).fit(rows, targets)
        return self

    def predict(self, X: Table) -> NDArray[Any]:
        """The likeliest class or the number of each row."""
        check_is_fitted(self)
        outputs = as_differentiable(self).outputs(X)
        return self.classes_[outputs.argmax(axis=1)] if self.classes else outputs[:, 0]

    def _targets(self, y: NDArray[Any], outputs: Tensor) -> NDArray[Any]:
        """Targets as the loss takes them: codes of classes, or one number for each output."""
        targets, n_classes = y, 1
        if self.classes:
            self.classes_, targets = np.unique(y, return_inverse=True)
            n_classes = len(self.classes_)
        two_by_one = self.classes and has_one_output_for_two_classes(self.net)
        if two_by_one and n_classes != 2:
            raise InputError(
                f"{type(self.net).__name__} tells two classes apart, and there are {n_classes}: "
                "use NeuralNetClassifier with a module of one output for each class."
            )
        n_outputs = 1 if two_by_one else n_classes
        if outputs.numel() != len(outputs) * n_outputs:
            raise InputError(
                f"The module of {type(self.net).__name__} returns shape {tuple(outputs.shape)} for "
                f"{len(outputs)} rows, and {n_outputs} output(s) are needed: one for each class, "
                "or a single one for a number."
            )
        if n_outputs > 1:
            return targets.astype(np.int64)
        # In another shape than the outputs, each target would be compared with every output.
        return targets.astype(_numpy_name(outputs)).reshape(-1, *outputs.shape[1:])


def _numpy_name(tensor: Tensor) -> str:
    """Name in numpy of the type of a tensor."""
    return str(tensor.dtype).removeprefix("torch.")


def has_one_output_for_two_classes(net: NeuralNet) -> bool:
    """Whether a net, trained or not, has a single output for two classes."""
    return issubclass(_loss_type(net), _LOSSES_OF_TWO_CLASSES)


def predicts_numbers(net: NeuralNet) -> bool:
    """Whether the loss of a net, trained or not, is one of numbers."""
    return _OUTPUT_KINDS.get(_loss_type(net)) == "numbers"


def _loss_type(net: NeuralNet) -> type[Any]:
    return net.criterion if isinstance(net.criterion, type) else type(net.criterion)


@register(SkorchTrainer)
def _of_trainer(fitted: SkorchTrainer) -> DifferentiableModel:
    check_is_fitted(fitted)
    return as_differentiable(fitted.net_)


@register(NeuralNet)
def _of_net(fitted: NeuralNet) -> TorchModel:
    if not fitted.initialized_:
        raise InputError(f"This {type(fitted).__name__} is not fitted yet: call fit first.")
    kind = _output_kind(fitted)
    module = fitted.module_
    if has_one_output_for_two_classes(fitted):
        module = BothClasses(module, 1.0 if kind == "probabilities" else 0.0)
    batch_size = int(fitted.batch_size) if fitted.batch_size > 0 else 1024
    return TorchModel(module, outputs=kind, batch_size=batch_size)


def _output_kind(net: NeuralNet) -> OutputKind:
    if isinstance(net, NeuralNetClassifier) and isinstance(net.criterion_, nn.NLLLoss):
        return "probabilities"  # such a net takes the logarithm itself
    kind = _OUTPUT_KINDS.get(type(net.criterion_))
    if kind is None:
        raise InputError(
            f"What a net trained by {type(net.criterion_).__name__} returns is not known here: "
            "wrap its module, as TorchModel(net.module_, outputs='logits')."
        )
    return kind


class BothClasses(nn.Module):
    """Two outputs from the one of a module of two classes.

    A logit z becomes ``[0, z]`` (``at_zero`` 0), a probability p ``[1 - p, p]`` (``at_zero`` 1).
    ``at_zero`` is the output of the first class where that of the second is zero.
    """

    def __init__(self, module: nn.Module, at_zero: float) -> None:
        super().__init__()
        self.module = module
        self.at_zero = at_zero

    def forward(self, rows: Tensor) -> Tensor:
        second = self.module(rows).reshape(len(rows), 1)
        return torch.cat([self.at_zero * (1 - second), second], dim=1)
