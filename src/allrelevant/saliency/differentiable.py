"""From a fitted estimator to its gradients: what a model must offer, and where to find it.

:func:`as_differentiable` turns a fitted estimator into a :class:`DifferentiableModel` by its type.
Each library of models has a module in ``backends``, listed in ``backends.HOMES`` and imported when
the first of its models is used. That module registers its types::

    @register(Module)
    def _(fitted: Module) -> DifferentiableModel:
        return TorchModel(fitted)

:func:`saliency` is the gradient of a gain through such a model. :func:`checked_rows` checks rows
that users give together with a trained model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._typing import Matrix, Table
from ..exceptions import InputError
from .gains import Gain, Targets


@runtime_checkable
class DifferentiableModel(Protocol):
    """A trained model whose outputs have gradients with respect to its inputs.

    Attributes
    ----------
    gain : Gain
        The gain that goes with the loss of its training.
    """

    @property
    def gain(self) -> Gain:
        """The gain that goes with the loss."""

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)

        Returns
        -------
        ndarray of shape (n, k)
            One column for each class (two for a binary classifier), or a single one for a number.
        """

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        """Vector-Jacobian product: gradient of ``sum(output_gradient * outputs)``, row by row.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
        output_gradient : ndarray of shape (n, k)
            Derivative of some quantity with respect to the outputs.

        Returns
        -------
        ndarray of shape (n, d)
            Its derivative with respect to the inputs. Dense even for sparse rows: pass few rows at
            a time where there are many features.
        """


def as_differentiable(fitted: Any) -> DifferentiableModel:
    """The differentiable model of a fitted estimator.

    Parameters
    ----------
    fitted : object
        A fitted estimator of a known type or a subclass of one, or a
        :class:`~allrelevant.saliency.differentiable.DifferentiableModel` itself.

    Raises
    ------
    InputError
        If the gradients of this type are not known.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    >>> model = as_differentiable(Ridge(alpha=1e-9).fit(X, 3 * X[:, 0] - X[:, 1]))
    >>> model.vjp(X[:1], np.ones((1, 1))).round(3)
    array([[ 3., -1.]])
    """
    if isinstance(fitted, DifferentiableModel):
        return fitted
    # By name: backends import this module.
    backends = import_module(f"{__package__}.backends")
    for base in type(fitted).__mro__:
        for module in backends.HOMES.get(base.__module__.partition(".")[0], ()):
            import_module(f"{backends.__name__}.{module}")
    return _convert(fitted)


@singledispatch
def _convert(fitted: Any) -> DifferentiableModel:
    raise InputError(
        f"{type(fitted).__name__} has no gradients with respect to its inputs that are known here. "
        "Use an SVM, a linear model or a network, or give an object with outputs(X), "
        "vjp(X, output_gradient) and the gain that goes with its loss."
    )


register = _convert.register


class Linearization(Protocol):
    """A model at some rows: its outputs there, and their gradients."""

    @property
    def outputs(self) -> Matrix:
        """Outputs of each row; shape (n, k)."""

    def vjp(self, output_gradient: Matrix) -> Matrix:
        """Gradient of ``sum(output_gradient * outputs)`` with respect to the inputs."""


@dataclass(frozen=True)
class TwoPassLinearization:
    """The linearization of a model that computes its outputs again for its gradients."""

    model: DifferentiableModel
    X: Table
    outputs: Matrix

    def vjp(self, output_gradient: Matrix) -> Matrix:
        return self.model.vjp(self.X, output_gradient)


def linearized(model: DifferentiableModel, X: Table) -> Linearization:
    """A model at some rows; in one pass if it has a method ``linearized``."""
    one_pass = getattr(model, "linearized", None)
    if one_pass is None:
        return TwoPassLinearization(model, X, model.outputs(X))
    linearization: Linearization = one_pass(X)
    return linearization


def predicted_codes(linearization: Linearization) -> NDArray[np.int64]:
    """Code of the class predicted for each row.

    The class with the highest output, unless the model has another rule (``codes``), such as votes.
    """
    codes: NDArray[np.int64] | None = getattr(linearization, "codes", None)
    return linearization.outputs.argmax(axis=1) if codes is None else codes


def saliency(
    model: DifferentiableModel, X: Table, targets: Targets, gain: Gain | None = None
) -> Matrix:
    """Gradient of the gain of each row with respect to its features, with signs.

    Parameters
    ----------
    model : DifferentiableModel
    X : ndarray or csr_array of shape (n, d)
    targets : ndarray of shape (n,)
        Codes of the classes, or numbers.
    gain : Gain or None, default=None
        By default the one that goes with the loss of the model.

    Returns
    -------
    ndarray of shape (n, d)
    """
    gain = model.gain if gain is None else gain
    linearization = linearized(model, X)
    return linearization.vjp(gain.gradient(linearization.outputs, targets))


def checked_rows(model: Any, X: Any, *, accept_sparse: bool = False) -> tuple[Table, list[str]]:
    """The rows as an array, and the names of their columns.

    A model that is not trained, or was trained on other columns or in another order, is refused.
    """
    if hasattr(model, "best_estimator_"):
        raise InputError(f"Give the model inside this {type(model).__name__}: best_estimator_.")
    if hasattr(model, "__sklearn_tags__"):
        check_is_fitted(model)
    names = _column_names(model, X)
    sparse = "csr" if accept_sparse else False
    rows = check_array(X, accept_sparse=sparse, dtype=[np.float64, np.float32])
    width = getattr(model, "n_features_in_", rows.shape[1])
    if rows.shape[1] != width:
        raise InputError(f"X has {rows.shape[1]} features, and the model was trained on {width}.")
    return rows, names or [f"x{j}" for j in range(width)]


def _column_names(model: Any, X: Any) -> list[str]:
    """Names of the columns of the table, or else of the training table, if there are any."""
    names = [str(name) for name in getattr(X, "columns", ())]
    training_names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    for place, (name, expected) in enumerate(zip(names, training_names, strict=False)):
        if name != expected:
            raise InputError(
                f"Column {place + 1} of X is {name!r}, and the model was trained on {expected!r} "
                "there: give the columns in the order of its training."
            )
    return names or training_names


def row_labels(X: Any) -> Any:
    """The index of a DataFrame; None for other tables."""
    return getattr(X, "index", None) if hasattr(X, "columns") else None


def class_codes(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Code of each label; a class that the model does not know is refused."""
    codes = {label: code for code, label in enumerate(classes.tolist())}
    names = np.asarray(labels).tolist()
    unknown = [label for label in names if label not in codes]
    if unknown:
        shown = ", ".join(repr(label) for label in classes[:10].tolist())
        raise InputError(
            f"The model has never seen the class {unknown[0]!r}: it knows {shown}"
            f"{' and others' if len(classes) > 10 else ''}."
        )
    return np.array([codes[label] for label in names], dtype=np.int64)
