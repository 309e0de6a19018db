"""Who is trained: an estimator that was given, or a ready network by its name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.multiclass import type_of_target

from ..tables.task import are_values


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
    if str(type_of_target(y)).startswith("continuous"):
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
        return clone(estimator)
    networks = import_module("allrelevant.saliency.networks")
    return (networks.NetworkClassifier if classes else networks.NetworkRegressor)(estimator)


def seeded(estimator: Any, seed: int) -> Any:
    """A clone with this seed wherever it takes one."""
    copy = clone(estimator)
    names = [
        name
        for name in copy.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    ]
    return copy.set_params(**dict.fromkeys(names, seed)) if names else copy


def needs_its_shape(estimator: Any) -> bool:
    """Whether columns cannot be dropped from what the estimator is given."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    return bool(getattr(last, "needs_its_shape", False))


def seed_of(entropy: int, *place: int) -> int:
    """A seed for one of many trainings, independent of all others."""
    return int(np.random.SeedSequence([entropy, *place]).generate_state(1)[0])
