"""Explanation of individual predictions: :func:`explain` and its result, :class:`Explanation`."""

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
    check_rows,
    class_codes,
    linearize,
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
    """Explain individual predictions of a fitted model by the saliency of each feature.

    Parameters
    ----------
    fitted : estimator
        Fitted estimator of a supported type; see :func:`~allrelevant.saliency.as_differentiable`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows to explain, as numbers. For tables with categories or missing values, use
        :meth:`SaliencySelector.explain`, which encodes them.
    y : array-like of shape (n_samples,), default=None
        True classes or numeric targets to explain. The saliency of a misclassified row is close to
        zero. By default, the prediction is explained. For regression, the saliency is then the
        gradient of the prediction.
    target : class label, default=None
        Class to explain for every row, instead of the true or predicted class.
    gain : Gain or None, default=None
        Gain function to differentiate. None uses the gain that matches the loss of the model.
    units : array-like of shape (n_features,), default=None
        Size of one unit of each feature. ``X_train.std(axis=0)`` makes features on different scales
        comparable. None means one, the plain gradient.

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
        raise InputError(
            f"explain does not accept a {type(fitted).__name__}. Call its explain method instead."
        )
    rows, names = check_rows(fitted, X, accept_sparse=True)
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
    values = explanation.saliency * _check_units(units, rows.shape[1])
    return replace(explanation, saliency=values)


def _check_units(units: ArrayLike, n_features: int) -> Vector:
    try:
        values = np.asarray(units, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"units must be numbers, one per feature. Original error: {error}."
        ) from error
    if values.shape != (n_features,):
        raise InputError(
            f"units must be an array of shape ({n_features},), one number per feature (got shape "
            f"{values.shape})."
        )
    invalid = values[~(np.isfinite(values) & (values >= 0))]
    if len(invalid):
        raise InputError(f"units must be finite and nonnegative (got {invalid[0]:g}).")
    return values


@dataclass(frozen=True)
class Explanation:
    """Saliency of individual predictions: the gradient of the gain function at each row.

    :attr:`percent` is easier to read than the gradient itself, which has no natural unit.

    Attributes
    ----------
    saliency : ndarray of shape (n, d)
        Signed gradient of the gain. It is positive if a larger value of the feature supports the
        target. For a category, the absolute value is the norm of the gradient over its levels, and
        the sign is positive if the level of the row supports the target, compared with the average
        row. The same holds for a missing value.
    features : ndarray or sparse array of shape (n, d)
        Feature values of the rows. For tables with categories or missing values, an array of
        objects: numbers, words, and None for missing values.
    targets : ndarray of shape (n,)
        Class or numeric target that is explained for each row.
    predicted : ndarray of shape (n,)
        Predictions of the model.
    gains : ndarray of shape (n,)
        Gain of each row; large if the prediction is correct.
    names : list of str
        Feature names.
    of_classes : bool
        True for classification, False for regression.
    index : sequence or None
        Row labels, if the rows come from a DataFrame.
    """

    saliency: Matrix
    features: Table | NDArray[Any]
    targets: NDArray[Any]
    predicted: NDArray[Any]
    gains: Vector
    names: list[str]
    of_classes: bool
    index: Any = None

    @property
    def percent(self) -> Matrix:
        """Saliency in percent of the row's total absolute saliency; zero if the total is zero."""
        total = self.absolute.sum(axis=1, keepdims=True)
        return 100.0 * self.saliency / np.where(total > 0, total, 1.0)

    @property
    def absolute(self) -> Matrix:
        """Absolute values of the saliency."""
        return np.abs(self.saliency)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Mask of rows whose predicted and explained classes differ; all False for regression."""
        if not self.of_classes:
            return np.zeros(len(self.saliency), dtype=bool)
        return np.asarray(self.predicted != self.targets)

    def note(self, row: int) -> str:
        """Return one line of text with the predicted and the explained target of a row.

        Parameters
        ----------
        row : int
            Index of the row.
        """
        if not self.of_classes:
            return (
                f"predicted {self.predicted[row]:.4g}, explained for target {self.targets[row]:.4g}"
            )
        target, predicted = str(self.targets[row]), str(self.predicted[row])
        if self.wrong[row]:
            return (
                f"predicted as {predicted!r}, not {target!r}: few or no features support {target!r}"
            )
        return f"predicted as {predicted!r}"

    def to_frame(self, row: int | None = None) -> pd.DataFrame:
        """Return the saliency of one row or of all rows as a DataFrame.

        Parameters
        ----------
        row : int or None, default=None
            Index of a row, to list its features by decreasing absolute saliency, with their value,
            ``percent`` and raw ``saliency``. None returns the signed saliency of all rows, with one
            column per feature.
        """
        pandas = import_extra("pandas", "pandas")

        if row is None:
            return pandas.DataFrame(self.saliency, columns=self.names, index=self.index)
        order = np.argsort(-self.absolute[row], kind="stable")
        return pandas.DataFrame(
            {
                "feature": [self.names[j] for j in order],
                "value": self.row(row)[order],
                "percent": self.percent[row, order],
                "saliency": self.saliency[row, order],
            }
        )

    def plot(self, row: int = 0, **kwargs: Any) -> RowSaliencyDisplay:
        """Plot the saliency of a row as a bar chart.

        Parameters
        ----------
        row : int, default=0
        **kwargs
            Passed to :meth:`RowSaliencyDisplay.plot`.
        """
        return display("RowSaliencyDisplay").from_result(self, row, **kwargs)

    def plot_map(
        self, row: int = 0, shape: tuple[int, ...] | None = None, **kwargs: Any
    ) -> SaliencyMapDisplay:
        """Plot a row as an image, with its saliency as an overlay.

        Parameters
        ----------
        row : int, default=0
        shape : tuple of int or None, default=None
            Height and width, and optionally the number of channels. None means a square image.
        **kwargs
            Passed to :meth:`SaliencyMapDisplay.plot`.
        """
        return display("SaliencyMapDisplay").from_result(self, row, shape, **kwargs)

    def row(self, row: int) -> NDArray[Any]:
        """Return the feature values of a row; shape (d,)."""
        values: Any = self.features[[row]]
        return np.asarray(values.toarray() if sp.issparse(values) else values).ravel()


@dataclass(frozen=True)
class ExplanationTarget:
    """Targets to explain: the given ones, the predictions, or one class for all rows."""

    y: ArrayLike | None = None
    target: Any = None
    gain: Gain | None = None

    def __post_init__(self) -> None:
        if self.y is not None and self.target is not None:
            raise InputError(
                "y and target cannot both be set. Pass y to explain the true target of each row, "
                "or target to explain one class for all rows."
            )

    def fixed(self, explanation: Explanation) -> ExplanationTarget:
        """Return the same targets for changed rows, whose predictions may differ."""
        is_prediction = self.y is None and self.target is None
        if explanation.of_classes and is_prediction:
            return replace(self, y=explanation.targets)
        return self

    def numbers(self, predicted: Vector) -> Vector:
        """Return the numeric target to explain for each row."""
        if self.target is not None:
            raise InputError(
                f"target={self.target!r} requires a classifier, but this model is a regressor. "
                "Pass y instead."
            )
        if self.y is None:
            return predicted
        y = check_array(column_or_1d(self.y), ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(y, predicted)
        return y

    def codes(self, predicted: NDArray[np.int64], classes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the integer code of the class to explain for each row."""
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
    """Explain validated rows; ``classes`` is None if the model has no class labels."""
    linearization = linearize(model, X)
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
            gain = OutputGain()  # the prediction is its own target, so there is no error
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
    """Return 0, 1, ... as the labels of an unlabeled classifier, or None for a regressor."""
    n_outputs = outputs.shape[1]
    of_classes = getattr(model.gain, "of_classes", None)  # user-defined gains may not define it
    if n_outputs > 1 and of_classes is False:
        raise InputError(
            f"The model predicts {n_outputs} numbers per row, but only a single number can be "
            "explained. Use a model with a single output."
        )
    if n_outputs == 1 and of_classes:
        raise InputError(
            "The model has 1 output, but a classifier requires at least two. Use a model with one "
            "output per class."
        )
    return np.arange(n_outputs) if n_outputs > 1 else None
