"""Estimators trained in saliency-based selection, their seeds, and their error messages.

:func:`trainer_for` converts the ``estimator`` parameter of a selector to an unfitted estimator.
:func:`clone_with_seed` clones it for each repetition, with a seed from :func:`draw_entropy` and
:func:`derive_seed`. :func:`report_training_errors` reports training errors in one line, with their
likely cause.

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
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from .._typing import Vector
from .._validation import is_continuous
from ..checkpoints import fingerprint
from ..exceptions import InputError, WorkerDiedError
from ..tables.inference import exceeds_class_limit
from .networks import NetworkClassifier, NetworkRegressor

# Name of the scaler in a pipeline, chosen so that it does not clash with the steps of users.
_SCALER = "standardize_features"


def declares(kind: Callable[[Any], bool], estimator: Any) -> bool:
    """Return whether an estimator has scikit-learn tags and passes a given check.

    The check is a function such as ``is_classifier``.
    """
    return hasattr(estimator, "__sklearn_tags__") and kind(estimator)


def predicts_classes(estimator: Any, y: NDArray[Any]) -> bool:
    """Return whether the task is classification, given the estimator and the target.

    If the estimator does not declare its type, the task is inferred from the target: fractional
    numbers or many distinct integers mean regression. The command line uses the same rule.
    """
    if declares(is_classifier, estimator):
        return True
    if declares(is_regressor, estimator):
        return False
    if is_continuous(y) or _has_regression_loss(estimator):
        return False
    return y.dtype.kind not in "iuf" or not exceeds_class_limit(len(np.unique(y)), len(y))


def _has_regression_loss(estimator: Any) -> bool:
    if not _is_skorch_net(estimator):
        return False
    from .backends.skorch_nets import has_regression_loss

    return has_regression_loss(estimator)


def trainer_for(estimator: Any, *, classes: bool) -> Any:
    """Convert the parameter ``estimator`` to a new, unfitted classifier or regressor.

    An argument without ``fit`` is a network name, module or factory and is passed to
    ``NetworkClassifier`` or ``NetworkRegressor``. A skorch net, alone or at the end of a pipeline,
    is wrapped.
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
    """Return whether an estimator requires all columns, so that none can be dropped."""
    return bool(getattr(_last_step(estimator), "requires_all_columns", False))


def trains_at_random(estimator: Any) -> bool:
    """Return whether the result of training depends on the seed, as for neural networks."""
    model = _last_step(estimator)
    is_sklearn_network = type(model).__module__.startswith("sklearn.neural_network")
    return is_sklearn_network or bool(getattr(model, "trains_at_random", False))


def with_scaler(trainer: Any, *, center: bool) -> Any:
    """Return a pipeline that standardizes the features before training."""
    scaler = StandardScaler(with_mean=center)
    if isinstance(trainer, Pipeline):
        return Pipeline([(_SCALER, scaler), *trainer.steps])
    return Pipeline([(_SCALER, scaler), ("model", trainer)])


def check_weighted_training(trainer: Any) -> None:
    """Raise if an estimator cannot be trained with sample weights."""
    model = _last_step(trainer)
    if not has_fit_parameter(model, "sample_weight"):
        raise InputError(
            f"sample_weight requires an estimator whose fit method accepts it, but that of "
            f"{type(model).__name__} does not. Use a different estimator, such as an SVM, or omit "
            "the weights."
        )


def weight_arguments(trainer: Any, weight: Vector) -> dict[str, Vector]:
    """Return the arguments of ``fit`` that pass weights to every step that accepts them."""
    if not isinstance(trainer, Pipeline):
        return {"sample_weight": weight}
    return {
        f"{name}__sample_weight": weight
        for name, step in trainer.steps
        if hasattr(step, "fit") and has_fit_parameter(step, "sample_weight")
    }


def hash_initial_weights(estimator: Any) -> str:
    """Return a hash of the predefined initial weights of a skorch net, or "" if there are none.

    If the module is an instance, skorch starts from its weights.
    """
    net = _last_step(estimator)
    module: Any = net.module if _is_skorch_net(net) else None
    if isinstance(module, type) or not hasattr(module, "state_dict"):
        return ""
    state = sorted(module.state_dict().items())
    return fingerprint(*(np.atleast_1d(weights.detach().cpu().numpy()) for _, weights in state))


def _last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def _is_skorch_net(estimator: Any) -> bool:
    """Return whether an estimator is a skorch net, without importing skorch."""
    return any(base.__module__.partition(".")[0] == "skorch" for base in type(estimator).__mro__)


def clone_with_seed(estimator: Any, seed: int) -> Any:
    """Return a clone with all ``random_state`` parameters, even nested ones, set to the seed."""
    cloned = clone(estimator)
    names = _random_states(cloned)
    return cloned.set_params(**dict.fromkeys(names, seed)) if names else cloned


def draw_entropy(random_state: Any, estimator: Any) -> int:
    """Draw a random number, used to derive the seeds of all trained models.

    If ``random_state`` is None, the random states of the estimator are used. They are not advanced.
    """
    if random_state is None and hasattr(estimator, "get_params"):
        states = [state for state in _random_states(estimator).values() if state is not None]
        if states:
            return derive_seed(*(_draw(copy.deepcopy(state)) for state in states))
    return _draw(random_state)


def derive_seed(entropy: int, *place: int) -> int:
    """Derive a seed from a random number and from integers that identify a model."""
    return int(np.random.SeedSequence([entropy, *place]).generate_state(1)[0])


def _draw(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31))


def _random_states(estimator: Any) -> dict[str, Any]:
    """Return all ``random_state`` parameters of an estimator, even nested ones, keyed by name."""
    return {
        name: value
        for name, value in sorted(estimator.get_params(deep=True).items())
        if name == "random_state" or name.endswith("__random_state")
    }


# Fragments of PyTorch error messages, and their likely causes and remedies.
_CAUSES = {
    "shapes cannot be multiplied": (
        "the network expects a different number of columns; use keep_shape=True to set removed "
        "columns to zero instead of dropping them"
    ),
    "does not require grad": (
        "the outputs do not depend on trainable weights; check for frozen weights, and check the "
        "forward pass for argmax, detach or a conversion to NumPy"
    ),
    "empty parameter list": (
        "the network has no weights, or all of them are frozen; use trainable weights"
    ),
    "out of memory": "lower batch_size, or use a smaller network",
    "same dtype": "rows and weights differ in precision; keep the network in single precision",
    "more than 1 value per channel": (
        "batch normalization requires more than one row per batch; change batch_size"
    ),
}


@contextmanager
def report_training_errors(what: str) -> Iterator[None]:
    """Convert training errors within the block to an InputError that states the likely cause.

    The crash of a worker process is not a training error and is not converted.
    """
    try:
        yield
    except WorkerDiedError:
        raise
    except (ValueError, FloatingPointError, RuntimeError) as error:
        raise InputError(f"{what}: {_with_cause(error)}") from error


def _with_cause(error: Exception) -> str:
    message = str(error)
    if isinstance(error, RuntimeError):  # PyTorch appends a stack trace
        message = message.strip().partition("\n")[0] or type(error).__name__
    causes = [cause for part, cause in _CAUSES.items() if part in message]
    return f"{message.rstrip('.')} ({causes[0]})." if causes else message
