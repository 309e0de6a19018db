"""Training of skorch nets: rows and targets as torch wants them, and a seed that repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..arrays import Table
from ..checkpoints import fingerprint
from ..exceptions import InputError
from .registry import differentiable, register

if TYPE_CHECKING:
    from torch import Tensor


def is_skorch_net(estimator: Any) -> bool:
    """Whether an estimator is a net of skorch, which is not imported to find out."""
    return any(base.__module__.partition(".")[0] == "skorch" for base in type(estimator).__mro__)


def loss_is_of_numbers(estimator: Any) -> bool:
    """Whether an estimator is a net of skorch that is trained by a loss of numbers."""
    if not is_skorch_net(estimator):
        return False
    from .skorch_model import predicts_numbers

    return predicts_numbers(estimator)


def starting_weights(estimator: Any) -> str:
    """A hash of the weights that a net of skorch starts from; empty where they are random.

    skorch trains on from those of a module that is given as an instance.
    """
    steps = getattr(estimator, "steps", None)
    net = steps[-1][1] if steps else estimator
    module: Any = net.module if is_skorch_net(net) else None
    if isinstance(module, type) or not hasattr(module, "state_dict"):
        return ""
    state = sorted(module.state_dict().items())
    return fingerprint(*(np.atleast_1d(weights.detach().cpu().numpy()) for _, weights in state))


class SkorchTrainer(BaseEstimator):
    """A skorch net that is trained as the estimators of scikit-learn are.

    Rows come in the precision of the module, classes of any kind as the numbers of their places,
    numbers in the shape of the outputs. Weights and the order of rows come from ``random_state``;
    torch's own random numbers go on afterwards as if nothing had happened.

    Parameters
    ----------
    net : NeuralNet
        It is cloned.
    classes : bool, default=True
        Whether to tell classes apart or to predict numbers.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    net_ : NeuralNet
        The trained net.
    classes_ : ndarray
        What its outputs stand for, if they stand for classes.
    """

    net_: Any
    classes_: NDArray[Any]

    def __init__(self, net: Any, *, classes: bool = True, random_state: Any = None) -> None:
        self.net = net
        self.classes = classes
        self.random_state = random_state

    @property
    def needs_its_shape(self) -> bool:
        """Whether columns cannot be dropped: so it is, unless the net says otherwise."""
        return bool(getattr(self.net, "needs_its_shape", True))

    def fit(self, X: Table, y: NDArray[Any]) -> Self:
        """Train.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)

        Returns
        -------
        self
        """
        from .networks.threads import seeded, threads_for, torch_threads
        from .torch_model import applied, precision

        if sp.issparse(X):
            raise InputError(
                "A net of skorch is given dense rows: use X.toarray(), or NetworkClassifier(module)"
                " and NetworkRegressor(module), which take sparse tables."
            )
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with seeded(seed):  # loaders draw random numbers even where they do not shuffle
            untrained = self._untrained()
            module = untrained.module_
            like = precision(module, otherwise="float32")
            rows = np.ascontiguousarray(X, dtype=_numpy_name(like))
            outputs = applied(untrained.forward, rows[:2], type(module).__name__)
        targets = self._targets(y, outputs)
        with torch_threads(threads_for(module, None)), seeded(seed):
            self.net_ = clone(self.net).fit(rows, targets)
        return self

    def predict(self, X: Table) -> NDArray[Any]:
        """The likeliest class or the number of each row."""
        check_is_fitted(self)
        outputs = differentiable(self).outputs(X)
        return self.classes_[outputs.argmax(axis=1)] if self.classes else outputs[:, 0]

    def _untrained(self) -> Any:
        """A net to look at, what it needs and returns, before the long work starts."""
        from .devices import device_for

        device_for(self.net.device)  # refused here in one line, if it is not there
        return clone(self.net).set_params(verbose=0).initialize()

    def _targets(self, y: NDArray[Any], outputs: Tensor) -> NDArray[Any]:
        """As the loss wants them: codes of classes, or one number for each output."""
        from .skorch_model import has_one_output_for_two_classes

        codes, n_classes = y, 1
        if self.classes:
            self.classes_, codes = np.unique(y, return_inverse=True)
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
            return codes.astype(np.int64)
        # In another shape than the outputs, each target would be compared with every output.
        return codes.astype(_numpy_name(outputs)).reshape(-1, *outputs.shape[1:])


def _numpy_name(like: Tensor) -> str:
    """What numpy calls the type of a tensor."""
    return str(like.dtype).removeprefix("torch.")


@register(SkorchTrainer)
def _(fitted: SkorchTrainer) -> Any:
    check_is_fitted(fitted)
    return differentiable(fitted.net_)
