"""Who is trained: an estimator that was given, or a ready network by its name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from ..tables.task import are_values
from .skorch_trainer import SkorchTrainer, is_skorch_net, loss_is_of_numbers


def is_one(kind: Callable[[Any], bool], estimator: Any) -> bool:
    """Whether an estimator says that it is of a kind; names and modules say nothing."""
    return hasattr(estimator, "__sklearn_tags__") and kind(estimator)


def predicts_classes(estimator: Any, y: NDArray[Any]) -> bool:
    """Whether the task is to tell classes apart: as the estimator says, or else the target.

    Of a target the same holds as on the command line: fractions are values to predict, and so are
    whole numbers of which there are many different ones.
    """
    if is_one(is_classifier, estimator):
        return True
    if is_one(is_regressor, estimator):
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


def seeded(estimator: Any, seed: int) -> Any:
    """A clone with this seed wherever it takes one."""
    fresh = clone(estimator)
    names = _random_states(fresh)
    return fresh.set_params(**dict.fromkeys(names, seed)) if names else fresh


def entropy_from(random_state: Any, estimator: Any) -> int:
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
            return seed_of(*(_drawn(copy.deepcopy(state)) for state in own))
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


def needs_its_shape(estimator: Any) -> bool:
    """Whether columns cannot be dropped from what the estimator is given."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    return bool(getattr(last, "needs_its_shape", False))


def seed_of(entropy: int, *place: int) -> int:
    """A seed for one of many trainings, independent of all others."""
    return int(np.random.SeedSequence([entropy, *place]).generate_state(1)[0])
