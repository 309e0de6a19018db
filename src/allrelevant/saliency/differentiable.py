"""What a model must offer for the saliency of its inputs.

A trained model and rows to ask it about, as users give them: checked.

From a fitted estimator to its gradients, by its type.

A library joins by a line in :data:`HOMES`: the module that says how its models are differentiated,
which is imported when the first of them comes along. That module registers its types::

    @register(Module)
    def _(fitted: Module) -> DifferentiableModel:
        return TorchModel(fitted)
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

from .._typing import Matrix, Table, Vector
from ..exceptions import InputError
from .backends import HOMES
from .gains import Gain, Targets


@runtime_checkable
class DifferentiableModel(Protocol):
    """A trained model whose outputs have gradients with respect to its inputs.

    Attributes
    ----------
    gain : Gain
        The one that goes with the loss it was trained by.
    """

    @property
    def gain(self) -> Gain:
        """The gain that goes with the loss."""
        ...

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)

        Returns
        -------
        ndarray of shape (n, k)
            One column for each class (two of a binary classifier), or a single one for a number.
        """
        ...

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        """Gradient with respect to the inputs of ``sum(output_gradient * outputs)``, row by row.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
        output_gradient : ndarray of shape (n, k)

        Returns
        -------
        ndarray of shape (n, d)
            Dense, of sparse rows too: hand over few rows at a time where there are many features.
        """
        ...


class Linearization(Protocol):
    """A model at some rows: its outputs there, and the way back from them."""

    @property
    def outputs(self) -> Matrix:
        """Outputs of each row; shape (n, k)."""
        ...

    def vjp(self, output_gradient: Matrix) -> Matrix:
        """Gradient with respect to the inputs of ``sum(output_gradient * outputs)``."""
        ...


@runtime_checkable
class Linearizable(Protocol):
    """A model that need not compute again on the way back what it has computed on the way there."""

    def linearized(self, X: Table) -> Linearization:
        """The model at some rows."""
        ...


@dataclass(frozen=True)
class TwoPassLinearization:
    """The same of a model that does."""

    model: DifferentiableModel
    X: Table
    outputs: Matrix

    def vjp(self, output_gradient: Matrix) -> Matrix:
        return self.model.vjp(self.X, output_gradient)


def linearized(model: DifferentiableModel, X: Table) -> Linearization:
    """A model at some rows, in one pass where it can."""
    if isinstance(model, Linearizable):
        return model.linearized(X)
    return TwoPassLinearization(model, X, model.outputs(X))


def predicted_codes(found: Linearization) -> NDArray[np.int64]:
    """The class that is predicted for each row, as its place among the classes.

    That with the highest output, unless the model has another rule (``codes``), such as votes.
    """
    codes: NDArray[np.int64] | None = getattr(found, "codes", None)
    return found.outputs.argmax(axis=1) if codes is None else codes


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
    found = linearized(model, X)
    return found.vjp(gain.gradient(found.outputs, targets))


def checked_rows(model: Any, X: Any, *, accept_sparse: bool = False) -> tuple[Table, list[str]]:
    """The rows as an array, and what their columns are called.

    Parameters
    ----------
    model : estimator or DifferentiableModel
    X : array-like or sparse matrix of shape (n, d)
    accept_sparse : bool, default=False

    Raises
    ------
    InputError
        If the table has other columns than the model was trained on, or another order of them.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> table = pd.DataFrame({"height": [1.0, 2.0], "width": [0.5, 3.0]})
    >>> model = Ridge().fit(table, [1.0, 2.0])
    >>> checked_rows(model, table[["width", "height"]])
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: Column 1 of X is 'width', and the model was trained on \
'height' there: give the columns in the order of its training.
    """
    _require_trained(model)
    names = _names(model, X)
    sparse = "csr" if accept_sparse else False
    rows = check_array(X, accept_sparse=sparse, dtype=[np.float64, np.float32])
    width = getattr(model, "n_features_in_", rows.shape[1])
    if rows.shape[1] != width:
        raise InputError(f"X has {rows.shape[1]} features, and the model was trained on {width}.")
    return rows, names or [f"x{j}" for j in range(width)]


def row_labels(X: Any) -> Any:
    """What the rows of a DataFrame are called; None of other tables."""
    return getattr(X, "index", None) if hasattr(X, "columns") else None


def checked_units(units: ArrayLike, n_features: int) -> Vector:
    """What counts as one unit of each feature.

    Raises
    ------
    InputError
        If these are not one finite number for each, zero or above.
    """
    try:
        values = np.asarray(units, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"units must be numbers: {error}.") from error
    if values.shape != (n_features,):
        raise InputError(
            f"units must be one number for each of {n_features} features; their shape is "
            f"{values.shape}."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("units must be finite, and zero or above.")
    return values


def _require_trained(model: Any) -> None:
    if hasattr(model, "best_estimator_"):
        raise InputError(f"Give the model inside this {type(model).__name__}: best_estimator_.")
    if hasattr(model, "__sklearn_tags__"):
        check_is_fitted(model)


def _names(model: Any, X: Any) -> list[str]:
    """Of the table, or else of what the model was trained on, if there are any."""
    given = [str(name) for name in getattr(X, "columns", ())]
    known = [str(name) for name in getattr(model, "feature_names_in_", ())]
    for place, (own, wanted) in enumerate(zip(given, known, strict=False)):
        if own != wanted:
            raise InputError(
                f"Column {place + 1} of X is {own!r}, and the model was trained on {wanted!r} "
                "there: give the columns in the order of its training."
            )
    return given or known


@singledispatch
def _found(fitted: Any) -> DifferentiableModel:
    raise InputError(
        f"{type(fitted).__name__} has no gradients with respect to its inputs that are known here. "
        "Use an SVM, a linear model or a network, or give an object with outputs(X), "
        "vjp(X, output_gradient) and the gain that goes with its loss."
    )


register = _found.register


def as_differentiable(fitted: Any) -> DifferentiableModel:
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
    >>> model = as_differentiable(Ridge(alpha=1e-9).fit(X, 3 * X[:, 0] - X[:, 1]))
    >>> model.vjp(X[:1], np.ones((1, 1))).round(3)
    array([[ 3., -1.]])
    """
    if isinstance(fitted, DifferentiableModel):
        return fitted
    for base in type(fitted).__mro__:
        home = HOMES.get(base.__module__.partition(".")[0])
        if home is not None:
            import_module(home)
    return _found(fitted)
