"""Why a training failed, in one line.

Training of skorch nets: rows and targets as torch wants them, and a seed that repeats.

Who is trained: an estimator that was given, or a ready network by its name.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from .._typing import Table
from ..checkpoints import fingerprint
from ..exceptions import InputError, WorkerDiedError
from ..tables.inference import are_values
from .differentiable import as_differentiable, register

if TYPE_CHECKING:
    from torch import Tensor


# What torch says, and what to know about it.
_CAUSES = {
    "shapes cannot be multiplied": (
        "the network takes another number of columns; with keep_shape=True those that left are set "
        "to zero and not dropped"
    ),
    "does not require grad": (
        "the outputs do not hang on the weights, for all of these are frozen, or something on the "
        "way (detach, argmax, numpy) breaks the gradient off"
    ),
    "empty parameter list": "the network has no weights to train, or all of them are frozen",
    "out of memory": "lower batch_size, or use a smaller network",
    "same dtype": "rows and weights differ in precision: leave the network in single precision",
    "more than 1 value per channel": (
        "batch normalisation cannot do with a batch of one row: take another batch_size"
    ),
}


@contextmanager
def training_errors_in_one_line(what: str) -> Iterator[None]:
    """Say in one line what failed and why, where a training fails in the block.

    Parameters
    ----------
    what : str
        What the block does.

    Raises
    ------
    InputError
        In the place of the errors of scikit-learn and torch. A worker that died is none of them.

    Examples
    --------
    >>> with training_errors_in_one_line("Round 1"):
    ...     raise ValueError("No rows.")
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: Round 1: No rows.
    """
    try:
        yield
    except WorkerDiedError:
        raise
    except (ValueError, FloatingPointError, RuntimeError) as error:
        raise InputError(f"{what}: {_with_cause(error)}") from error


def _with_cause(error: Exception) -> str:
    said = str(error)
    if isinstance(error, RuntimeError):  # torch appends where in its own code it was
        said = said.strip().partition("\n")[0] or type(error).__name__
    causes = [cause for sign, cause in _CAUSES.items() if sign in said]
    return f"{said.rstrip('.')} ({causes[0]})." if causes else said


def is_skorch_net(estimator: Any) -> bool:
    """Whether an estimator is a net of skorch, which is not imported to find out."""
    return any(base.__module__.partition(".")[0] == "skorch" for base in type(estimator).__mro__)


def loss_is_of_numbers(estimator: Any) -> bool:
    """Whether an estimator is a net of skorch that is trained by a loss of numbers."""
    if not is_skorch_net(estimator):
        return False
    from .backends.skorch_nets import predicts_numbers

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
    def requires_all_columns(self) -> bool:
        """Whether columns cannot be dropped: so it is, unless the net says otherwise."""
        return bool(getattr(self.net, "requires_all_columns", True))

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
        from .backends.torch_modules import (
            applied,
            precision,
            threads_for,
            torch_seed,
            torch_threads,
        )

        if sp.issparse(X):
            raise InputError(
                "A net of skorch is given dense rows: use X.toarray(), or NetworkClassifier(module)"
                " and NetworkRegressor(module), which take sparse tables."
            )
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with torch_seed(seed):  # loaders draw random numbers even where they do not shuffle
            untrained = self._untrained()
            module = untrained.module_
            like = precision(module, otherwise="float32")
            rows = np.ascontiguousarray(X, dtype=_numpy_name(like))
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

    def _untrained(self) -> Any:
        """A net to look at, what it needs and returns, before the long work starts."""
        from .backends.torch_modules import device_for

        device_for(self.net.device)  # refused here in one line, if it is not there
        return clone(self.net).set_params(verbose=0).initialize()

    def _targets(self, y: NDArray[Any], outputs: Tensor) -> NDArray[Any]:
        """As the loss wants them: codes of classes, or one number for each output."""
        from .backends.skorch_nets import has_one_output_for_two_classes

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
    return as_differentiable(fitted.net_)


def declares(kind: Callable[[Any], bool], estimator: Any) -> bool:
    """Whether an estimator says that it is of a kind; names and modules say nothing."""
    return hasattr(estimator, "__sklearn_tags__") and kind(estimator)


def predicts_classes(estimator: Any, y: NDArray[Any]) -> bool:
    """Whether the task is to tell classes apart: as the estimator says, or else the target.

    Of a target the same holds as on the command line: fractions are values to predict, and so are
    whole numbers of which there are many different ones.
    """
    if declares(is_classifier, estimator):
        return True
    if declares(is_regressor, estimator):
        return False
    if str(type_of_target(y)).startswith("continuous") or loss_is_of_numbers(estimator):
        return False
    return y.dtype.kind not in "iuf" or not are_values(len(np.unique(y)), len(y))


def trainer_for(estimator: Any, *, classes: bool) -> Any:
    """Something with ``fit``, not yet fitted; the estimator itself is left as it is.

    Parameters
    ----------
    estimator : estimator, str, or anything that a ready network can be made of
        Names and modules are those of ``NetworkClassifier`` and ``NetworkRegressor``.
    classes : bool
        Whether to predict classes or numbers.
    """
    if hasattr(estimator, "fit"):
        return _trainable(clone(estimator), classes)
    networks = import_module("allrelevant.saliency.networks")
    return (networks.NetworkClassifier if classes else networks.NetworkRegressor)(estimator)


def _trainable(estimator: Any, classes: bool) -> Any:
    """The same with a net of skorch, alone or at the end of a pipeline, made ready for it."""
    steps = getattr(estimator, "steps", None)
    if is_skorch_net(estimator):
        return SkorchTrainer(estimator, classes=classes)
    if steps and is_skorch_net(steps[-1][1]):
        name, net = steps[-1]
        return estimator.set_params(**{name: SkorchTrainer(net, classes=classes)})
    return estimator


def clone_with_seed(estimator: Any, seed: int) -> Any:
    """A clone with this seed wherever it takes one."""
    fresh = clone(estimator)
    names = _random_states(fresh)
    return fresh.set_params(**dict.fromkeys(names, seed)) if names else fresh


def draw_entropy(random_state: Any, estimator: Any) -> int:
    """Where the seeds of all trainings come from: of the selector, or else of its estimator.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        Of the selector. None leaves it to the estimator.
    estimator : object
        Its own ones, if it has any, are left as they are.
    """
    if random_state is None and hasattr(estimator, "get_params"):
        own = [state for state in _random_states(estimator).values() if state is not None]
        if own:
            return derive_seed(*(_drawn(copy.deepcopy(state)) for state in own))
    return _drawn(random_state)


def _drawn(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31))


def _random_states(estimator: Any) -> dict[str, Any]:
    """Those of all parts, by name."""
    return {
        name: value
        for name, value in sorted(estimator.get_params(deep=True).items())
        if name == "random_state" or name.endswith("__random_state")
    }


def requires_all_columns(estimator: Any) -> bool:
    """Whether columns cannot be dropped from what the estimator is given."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    return bool(getattr(last, "requires_all_columns", False))


def derive_seed(entropy: int, *place: int) -> int:
    """A seed for one of many trainings, independent of all others."""
    return int(np.random.SeedSequence([entropy, *place]).generate_state(1)[0])
