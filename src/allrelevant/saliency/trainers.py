"""What is trained: clones of an estimator, each with its seed, or a ready network by its name.

:func:`trainer_for` makes an estimator of what the user gave. :func:`clone_with_seed` makes the one
of a single training, with a seed from :func:`draw_entropy` and :func:`derive_seed`. Errors of a
training are told in one line, with their likely cause (:func:`training_errors_in_one_line`).

torch and skorch are imported only when a network is trained.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from ..checkpoints import fingerprint
from ..exceptions import InputError, WorkerDiedError
from ..tables.inference import are_values
from .networks import NetworkClassifier, NetworkRegressor


def declares(kind: Callable[[Any], bool], estimator: Any) -> bool:
    """Whether an estimator declares to be of a kind; names and modules declare nothing."""
    return hasattr(estimator, "__sklearn_tags__") and kind(estimator)


def predicts_classes(estimator: Any, y: NDArray[Any]) -> bool:
    """Whether the task is classification: as the estimator declares, or else by the target.

    For a target the same holds as on the command line: fractions are values to predict, and so are
    whole numbers of which there are many different ones.
    """
    if declares(is_classifier, estimator):
        return True
    if declares(is_regressor, estimator):
        return False
    if str(type_of_target(y)).startswith("continuous") or _loss_is_of_numbers(estimator):
        return False
    return y.dtype.kind not in "iuf" or not are_values(len(np.unique(y)), len(y))


def _loss_is_of_numbers(estimator: Any) -> bool:
    if not _is_skorch_net(estimator):
        return False
    from .backends.skorch_nets import predicts_numbers

    return predicts_numbers(estimator)


def trainer_for(estimator: Any, *, classes: bool) -> Any:
    """An unfitted estimator of classes or numbers; the argument itself is left as it is.

    Anything without ``fit`` is a network of ``NetworkClassifier`` or ``NetworkRegressor``: a name,
    a module or a factory. A net of skorch, alone or at the end of a pipeline, is wrapped.
    """
    if not hasattr(estimator, "fit"):
        return (NetworkClassifier if classes else NetworkRegressor)(estimator)
    trainer = clone(estimator)
    net = _last_step(trainer)
    if not _is_skorch_net(net):
        return trainer
    from .backends.skorch_nets import SkorchTrainer

    wrapped = SkorchTrainer(net, classes=classes)
    return wrapped if net is trainer else trainer.set_params(**{trainer.steps[-1][0]: wrapped})


def requires_all_columns(estimator: Any) -> bool:
    """Whether columns cannot be dropped from the tables that an estimator is trained on."""
    return bool(getattr(_last_step(estimator), "requires_all_columns", False))


def starting_weights(estimator: Any) -> str:
    """A hash of the weights that a net of skorch starts from; empty where they are random.

    skorch continues from the weights of a module that is given as an instance.
    """
    net = _last_step(estimator)
    module: Any = net.module if _is_skorch_net(net) else None
    if isinstance(module, type) or not hasattr(module, "state_dict"):
        return ""
    state = sorted(module.state_dict().items())
    return fingerprint(*(np.atleast_1d(weights.detach().cpu().numpy()) for _, weights in state))


def _last_step(estimator: Any) -> Any:
    """The estimator itself, or the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def _is_skorch_net(estimator: Any) -> bool:
    """Whether an estimator is a net of skorch, which is not imported to find out."""
    return any(base.__module__.partition(".")[0] == "skorch" for base in type(estimator).__mro__)


def clone_with_seed(estimator: Any, seed: int) -> Any:
    """A clone; all its ``random_state`` parameters, those of its parts too, are the seed."""
    fresh = clone(estimator)
    names = _random_states(fresh)
    return fresh.set_params(**dict.fromkeys(names, seed)) if names else fresh


def draw_entropy(random_state: Any, estimator: Any) -> int:
    """The source of the seeds of all trainings: of the selector, or else of its estimator.

    Without a ``random_state`` of the selector, those of the estimator decide; they are not changed.
    """
    if random_state is None and hasattr(estimator, "get_params"):
        states = [state for state in _random_states(estimator).values() if state is not None]
        if states:
            return derive_seed(*(_draw(copy.deepcopy(state)) for state in states))
    return _draw(random_state)


def derive_seed(entropy: int, *place: int) -> int:
    """A seed for one of many trainings, independent of all others."""
    return int(np.random.SeedSequence([entropy, *place]).generate_state(1)[0])


def _draw(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31))


def _random_states(estimator: Any) -> dict[str, Any]:
    """The random states of an estimator and all its parts, by the name of the parameter."""
    return {
        name: value
        for name, value in sorted(estimator.get_params(deep=True).items())
        if name == "random_state" or name.endswith("__random_state")
    }


# Part of a message of torch, and its likely cause.
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
        "batch normalization cannot do with a batch of one row: take another batch_size"
    ),
}


@contextmanager
def training_errors_in_one_line(what: str) -> Iterator[None]:
    """Turn errors of a training in the block into an InputError that says what failed and why.

    A worker that died is not an error of the training.
    """
    try:
        yield
    except WorkerDiedError:
        raise
    except (ValueError, FloatingPointError, RuntimeError) as error:
        raise InputError(f"{what}: {_with_cause(error)}") from error


def _with_cause(error: Exception) -> str:
    message = str(error)
    if isinstance(error, RuntimeError):  # torch appends where in its own code it was
        message = message.strip().partition("\n")[0] or type(error).__name__
    causes = [cause for part, cause in _CAUSES.items() if part in message]
    return f"{message.rstrip('.')} ({causes[0]})." if causes else message
