"""Interface of differentiable models, and conversion of fitted estimators to this interface.

:func:`as_differentiable` converts a fitted estimator to a :class:`DifferentiableModel`, depending
on its type. Each supported library has a module in ``backends``, listed in
``backends.BACKEND_MODULES``. The module is imported when a model of that library is first used. It
registers its types::

    @register(Module)
    def _(fitted: Module) -> DifferentiableModel:
        return TorchModel(fitted)

:func:`saliency` computes the gradient of a gain function through such a model. :func:`check_rows`
checks rows that users pass together with a trained model.
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
from .._validation import check_column_sizes
from ..exceptions import InputError
from ..terms.columns import columns_from_frame
from ..terms.encoding import needs_encoding
from ..terms.validation import check_sparse_indices
from .gains import Gain, Targets


@runtime_checkable
class DifferentiableModel(Protocol):
    """Interface of a trained model whose outputs can be differentiated with respect to its inputs.

    Attributes
    ----------
    gain : Gain
        Gain function that matches the training loss.
    """

    @property
    def gain(self) -> Gain:
        """Gain function that matches the training loss."""

    def outputs(self, X: Table) -> Matrix:
        """Return the outputs of the model for each row.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)

        Returns
        -------
        ndarray of shape (n, k)
            One column per class (two for a binary classifier), or a single column for regression.
        """

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        """Return the gradient of ``sum(output_gradient * outputs)`` with respect to the inputs.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
        output_gradient : ndarray of shape (n, k)
            Derivative of a scalar function of each row with respect to the outputs.

        Returns
        -------
        ndarray of shape (n, d)
            Derivative of the same function with respect to the inputs. The result is dense even for
            sparse rows, so pass small batches if there are many features.
        """


def as_differentiable(fitted: Any) -> DifferentiableModel:
    """Convert a fitted estimator to a differentiable model.

    Parameters
    ----------
    fitted : object
        Fitted estimator of a supported type, or of a subclass of one. A
        :class:`~allrelevant.saliency.differentiable.DifferentiableModel` is returned unchanged.

    Returns
    -------
    DifferentiableModel

    Raises
    ------
    InputError
        If gradients are not implemented for this type.

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
    # Imported by name, because the backends import this module.
    backends = import_module(f"{__package__}.backends")
    for base in type(fitted).__mro__:
        for module in backends.BACKEND_MODULES.get(base.__module__.partition(".")[0], ()):
            import_module(f"{backends.__name__}.{module}")
    return _convert(fitted)


@singledispatch
def _convert(fitted: Any) -> DifferentiableModel:
    raise InputError(
        f"Input gradients are not implemented for {type(fitted).__name__}. Use an SVM, a linear "
        "model or a network, or pass an object with the methods outputs(X) and "
        "vjp(X, output_gradient) and the attribute gain."
    )


register = _convert.register


class Linearization(Protocol):
    """Model linearized at given rows: outputs at these rows, and their gradients."""

    @property
    def outputs(self) -> Matrix:
        """Outputs for each row; shape (n, k)."""

    def vjp(self, output_gradient: Matrix) -> Matrix:
        """Return the gradient of ``sum(output_gradient * outputs)`` with respect to the inputs."""


@dataclass(frozen=True)
class TwoPassLinearization:
    """Linearized model that is evaluated a second time to compute gradients."""

    model: DifferentiableModel
    X: Table
    outputs: Matrix

    def vjp(self, output_gradient: Matrix) -> Matrix:
        return self.model.vjp(self.X, output_gradient)


def linearize(model: DifferentiableModel, X: Table) -> Linearization:
    """Linearize a model at given rows, in one pass if the model has a method ``linearize``."""
    one_pass = getattr(model, "linearize", None)
    if one_pass is None:
        return TwoPassLinearization(model, X, model.outputs(X))
    linearization: Linearization = one_pass(X)
    return linearization


def predicted_codes(linearization: Linearization) -> NDArray[np.int64]:
    """Return the integer code of the predicted class of each row.

    This is the class with the highest output, unless the linearization defines ``codes``, as
    one-vs-one SVMs do for their votes.
    """
    codes: NDArray[np.int64] | None = getattr(linearization, "codes", None)
    return linearization.outputs.argmax(axis=1) if codes is None else codes


def saliency(
    model: DifferentiableModel, X: Table, targets: Targets, gain: Gain | None = None
) -> Matrix:
    """Compute the signed gradient of the gain function at each row, with respect to the features.

    Parameters
    ----------
    model : DifferentiableModel
    X : ndarray or csr_array of shape (n, d)
    targets : ndarray of shape (n,)
        Class codes, or numeric targets.
    gain : Gain or None, default=None
        Gain function. None uses ``model.gain``, which matches the training loss.

    Returns
    -------
    ndarray of shape (n, d)
    """
    gain = model.gain if gain is None else gain
    linearization = linearize(model, X)
    return linearization.vjp(gain.gradient(linearization.outputs, targets))


def check_rows(model: Any, X: Any, *, accept_sparse: bool = False) -> tuple[Table, list[str]]:
    """Validate rows against a fitted model, and return them with their column names.

    Raise an error if the model is not fitted, or was fitted on different columns or in a different
    column order.
    """
    if hasattr(model, "best_estimator_"):
        raise InputError(
            f"A {type(model).__name__} has no gradients itself. Pass its best_estimator_ instead."
        )
    if hasattr(model, "__sklearn_tags__"):
        check_is_fitted(model)
    names = _column_names(model, X)
    _check_numbers(X)
    sparse = "csr" if accept_sparse else False
    check_sparse_indices(X)
    rows = check_array(X, accept_sparse=sparse, dtype=[np.float64, np.float32])
    check_column_sizes(rows, names or [f"x{j}" for j in range(rows.shape[1])])
    width = getattr(model, "n_features_in_", rows.shape[1])
    if rows.shape[1] != width:
        raise InputError(
            f"X has {rows.shape[1]} features, but the model was trained on {width}. Pass the "
            "columns used for training."
        )
    return rows, names or [f"x{j}" for j in range(width)]


def _check_numbers(X: Any) -> None:
    """Raise if a data frame or an array of objects has words or missing values."""
    unsuitable = [column for column in columns_from_frame(X) or () if needs_encoding([column])]
    if unsuitable:
        raise InputError(
            f"Column {unsuitable[0].name!r} has words or missing values, but gradients require "
            "numbers. Fit a SaliencySelector to the table and call its explain method: it encodes "
            "categories and missing values."
        )


def _column_names(model: Any, X: Any) -> list[str]:
    """Return the column names of ``X`` or, if it has none, those of the training table."""
    names = [str(name) for name in getattr(X, "columns", ())]
    training_names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    for place, (name, expected) in enumerate(zip(names, training_names, strict=False)):
        if name != expected:
            raise InputError(
                f"Column {place + 1} of X is {name!r}, but the model was trained with {expected!r} "
                "in this position. Use the same column order as in training."
            )
    return names or training_names


def row_labels(X: Any) -> Any:
    """Return the index of a DataFrame, or None for other tables."""
    return getattr(X, "index", None) if hasattr(X, "columns") else None


def class_codes(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Convert class labels to integer codes; raise if a label is not a class of the model."""
    codes = {label: code for code, label in enumerate(classes.tolist())}
    names = np.asarray(labels).tolist()
    unknown = [label for label in names if label not in codes]
    if unknown:
        shown = ", ".join(repr(label) for label in classes[:10].tolist())
        raise InputError(
            f"{unknown[0]!r} is not a class of the model. Use one of its classes: {shown}"
            f"{' and others' if len(classes) > 10 else ''}."
        )
    return np.array([codes[label] for label in names], dtype=np.int64)
