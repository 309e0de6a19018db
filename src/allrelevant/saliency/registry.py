"""From a fitted estimator to its gradients, by its type.

A library joins by a line in :data:`HOMES`: the module that says how its models are differentiated,
which is imported when the first of them comes along. That module registers its types::

    @register(Module)
    def _(fitted: Module) -> DifferentiableModel:
        return TorchModel(fitted)
"""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module
from typing import Any

from ..exceptions import InputError
from .differentiable import DifferentiableModel

# The library that a class comes from, and our module that knows its models.
HOMES = {
    "sklearn": "allrelevant.saliency.closed_forms",
    "skorch": "allrelevant.saliency.skorch_model",
    "torch": "allrelevant.saliency.torch_model",
}


@singledispatch
def _found(fitted: Any) -> DifferentiableModel:
    raise InputError(
        f"{type(fitted).__name__} has no gradients with respect to its inputs that are known here. "
        "Use an SVM, a linear model or a network, or give an object with outputs(X), "
        "pull_back(X, cotangent) and the gain that goes with its loss."
    )


register = _found.register


def differentiable(fitted: Any) -> DifferentiableModel:
    """The differentiable model inside a fitted estimator.

    Parameters
    ----------
    fitted : object
        A fitted estimator of a known type or a subclass of one, or a
        :class:`~allrelevant.saliency.differentiable.DifferentiableModel` itself.

    Raises
    ------
    InputError
        If the type has no gradients that are known.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    >>> model = differentiable(Ridge(alpha=1e-9).fit(X, 3 * X[:, 0] - X[:, 1]))
    >>> model.pull_back(X[:1], np.ones((1, 1))).round(3)
    array([[ 3., -1.]])
    """
    if isinstance(fitted, DifferentiableModel):
        return fitted
    for base in type(fitted).__mro__:
        home = HOMES.get(base.__module__.partition(".")[0])
        if home is not None:
            import_module(home)
    return _found(fitted)
