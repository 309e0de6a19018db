"""Which features decide, row by row: :func:`explain` and its result, :class:`Explanation`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from .._optional import display, import_extra
from .._typing import Matrix, Table, Vector
from ..exceptions import InputError
from .differentiable import (
    DifferentiableModel,
    as_differentiable,
    checked_rows,
    class_codes,
    linearized,
    predicted_codes,
    row_labels,
)
from .gains import Gain, OutputGain, Targets

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import RowSaliencyDisplay, SaliencyMapDisplay


def explain(
    fitted: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    target: Any = None,
    gain: Gain | None = None,
    units: ArrayLike | None = None,
) -> Explanation:
    """Which features decide, row by row, in a model that is already trained.

    Parameters
    ----------
    fitted : estimator
        Of a type whose gradients are known; see :func:`~allrelevant.saliency.as_differentiable`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), default=None
        The true classes or numbers: what speaks for them. A row that the model gets wrong has a
        saliency close to zero. By default the prediction is explained; a predicted number, by how
        it would change.
    target : class, default=None
        Explain what speaks for this class, in every row.
    gain : Gain or None, default=None
        What is differentiated. None is the gain that goes with the loss of the model.
    units : array-like of shape (n_features,), default=None
        What counts as one unit of each feature: ``X_train.std(axis=0)`` makes features of different
        scales comparable. By default one, as for any gradient.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from allrelevant import explain
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.where(X[:, 1] > 0, "up", "down")
    >>> explanation = explain(SVC().fit(X, y), X[:2], y[:2])
    >>> explanation.to_frame(0)["feature"][0], explanation.note(0)
    ('x1', "predicted as 'up'")
    """
    if hasattr(fitted, "explain") and hasattr(fitted, "ranking_"):
        raise InputError(f"A {type(fitted).__name__} explains by itself: selector.explain(X, y).")
    rows, names = checked_rows(fitted, X, accept_sparse=True)
    explanation = explain_rows(
        as_differentiable(fitted),
        rows,
        ExplanationTarget(y, target, gain),
        classes=getattr(fitted, "classes_", None),
        names=names,
        index=row_labels(X),
    )
    if units is None:
        return explanation
    values = explanation.saliency * _checked_units(units, rows.shape[1])
    return replace(explanation, saliency=values)


def _checked_units(units: ArrayLike, n_features: int) -> Vector:
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


@dataclass(frozen=True)
class Explanation:
    """The saliency of some rows: how the gain of each would change with each feature.

    Attributes
    ----------
    saliency : ndarray of shape (n, d)
        With signs: positive where a larger value of the feature would speak more for the target.
    features : ndarray or sparse array of shape (n, d)
        The rows themselves.
    targets : ndarray of shape (n,)
        What is explained: a class or a number for each row.
    predicted : ndarray of shape (n,)
        What the model predicts.
    gains : ndarray of shape (n,)
        How right the prediction is.
    names : list of str
        Names of the features.
    of_classes : bool
        Whether targets are classes or numbers.
    index : sequence or None
        Labels of the rows, if they come from a DataFrame.
    """

    saliency: Matrix
    features: Table
    targets: NDArray[Any]
    predicted: NDArray[Any]
    gains: Vector
    names: list[str]
    of_classes: bool
    index: Any = None

    @property
    def absolute(self) -> Matrix:
        """Saliency without signs."""
        return np.abs(self.saliency)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Rows that the model puts into another class than the target; none for numbers."""
        if not self.of_classes:
            return np.zeros(len(self.saliency), dtype=bool)
        return np.asarray(self.predicted != self.targets)

    def note(self, row: int) -> str:
        """Prediction and target of a row, in one line.

        Parameters
        ----------
        row : int
            Index of the row.
        """
        if not self.of_classes:
            return f"predicted {self.predicted[row]:.4g}, explained for {self.targets[row]:.4g}"
        target, predicted = str(self.targets[row]), str(self.predicted[row])
        if self.wrong[row]:
            return (
                f"predicted as {predicted!r}, not {target!r}: little or nothing in the row speaks "
                f"for {target!r}"
            )
        return f"predicted as {predicted!r}"

    def to_frame(self, row: int | None = None) -> pd.DataFrame:
        """As a table.

        Parameters
        ----------
        row : int or None, default=None
            One row: its features, the most salient first. None: all rows, one column a feature,
            with signs.
        """
        pandas = import_extra("pandas", "cli")
        if row is None:
            return pandas.DataFrame(self.saliency, columns=self.names, index=self.index)
        order = np.argsort(-self.absolute[row], kind="stable")
        return pandas.DataFrame(
            {
                "feature": [self.names[j] for j in order],
                "value": self.row(row)[order],
                "saliency": self.saliency[row, order],
                "absolute": self.absolute[row, order],
            }
        )

    def plot(self, row: int = 0, **kwargs: Any) -> RowSaliencyDisplay:
        """Draw a row as bars.

        Parameters
        ----------
        row : int, default=0
        **kwargs
            Passed on to :meth:`RowSaliencyDisplay.plot`.
        """
        return display("RowSaliencyDisplay").from_result(self, row, **kwargs)

    def plot_map(
        self, row: int = 0, shape: tuple[int, ...] | None = None, **kwargs: Any
    ) -> SaliencyMapDisplay:
        """Draw a row that is an image, with its saliency over it.

        Parameters
        ----------
        row : int, default=0
        shape : tuple of int or None, default=None
            Height and width, and channels if there are any; None is a square.
        **kwargs
            Passed on to :meth:`SaliencyMapDisplay.plot`.
        """
        return display("SaliencyMapDisplay").from_result(self, row, shape, **kwargs)

    def row(self, row: int) -> Vector:
        """The features of a row; shape (d,)."""
        values = self.features[[row]]
        return np.asarray(values.toarray() if sp.issparse(values) else values).ravel()


@dataclass(frozen=True)
class ExplanationTarget:
    """What is explained: the truth, the prediction, or one class for all rows."""

    y: ArrayLike | None = None
    target: Any = None
    gain: Gain | None = None

    def __post_init__(self) -> None:
        if self.y is not None and self.target is not None:
            raise InputError(
                "Give y, the truth of each row, or target, one class for all; not both."
            )

    def numbers(self, predicted: Vector) -> Vector:
        """The number that is explained for each row."""
        if self.target is not None:
            raise InputError(
                "target is a class to explain, and this model predicts numbers: give y."
            )
        if self.y is None:
            return predicted
        y = check_array(column_or_1d(self.y), ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(y, predicted)
        return y

    def codes(self, predicted: NDArray[np.int64], classes: NDArray[Any]) -> NDArray[np.int64]:
        """Code of the class that is explained for each row."""
        if self.target is not None:
            return class_codes([self.target] * len(predicted), classes)
        if self.y is None:
            return predicted
        labels = column_or_1d(self.y)
        check_consistent_length(labels, predicted)
        return class_codes(labels, classes)


def explain_rows(
    model: DifferentiableModel,
    X: Table,
    request: ExplanationTarget,
    *,
    classes: NDArray[Any] | None,
    names: Sequence[str],
    index: Any = None,
) -> Explanation:
    """Explain rows that have been checked; ``classes`` is None if the model does not name any."""
    linearization = linearized(model, X)
    outputs = linearization.outputs
    if classes is None:
        classes = _unnamed_classes(model, outputs)
    gain = model.gain if request.gain is None else request.gain
    predicted: NDArray[Any]
    labels: NDArray[Any]
    targets: Targets
    if classes is None:
        predicted = outputs[:, 0]
        labels = targets = request.numbers(predicted)
        if request.y is None:
            gain = OutputGain()  # a prediction is its own target: there is no error to reduce
    else:
        codes = predicted_codes(linearization)
        predicted = classes[codes]
        targets = request.codes(codes, classes)
        labels = classes[targets]
    return Explanation(
        linearization.vjp(gain.gradient(outputs, targets)),
        X,
        labels,
        predicted,
        gain.value(outputs, targets),
        list(names),
        classes is not None,
        index,
    )


def _unnamed_classes(model: DifferentiableModel, outputs: Matrix) -> NDArray[np.int64] | None:
    """Codes as the classes of a model that does not name them; None for a number."""
    n_outputs = outputs.shape[1]
    of_classes = getattr(model.gain, "of_classes", None)  # a gain of a user need not say
    if n_outputs > 1 and of_classes is False:
        raise InputError(
            f"The model predicts {n_outputs} numbers: explain one that predicts a single one."
        )
    if n_outputs == 1 and of_classes:
        raise InputError(
            "The model has 1 output, and one that tells classes apart needs one for each class, "
            "two at least."
        )
    return np.arange(n_outputs) if n_outputs > 1 else None
