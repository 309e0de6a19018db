"""Which features decide, for one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    checked_units,
    linearized,
    predicted_codes,
    row_labels,
)
from .gains import OF_CLASSES, Gain, OutputGain, RegressionGain, Targets

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import RowSaliencyDisplay, SaliencyMapDisplay


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
        What the model says.
    gains : ndarray of shape (n,)
        How right that is.
    names : list of str
        Of the features.
    of_classes : bool
        Whether targets are classes or numbers.
    index : sequence or None
        What the rows are called, of a DataFrame.
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
        """Without signs."""
        return np.abs(self.saliency)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Rows that the model puts into another class; none of numbers."""
        if not self.of_classes:
            return np.zeros(len(self.saliency), dtype=bool)
        return np.asarray(self.predicted != self.targets)

    def note(self, row: int) -> str:
        """What to know about a row, in one line.

        Parameters
        ----------
        row : int
            Its place among the rows.
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
        """Draw a row that is a picture, with its saliency over it.

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
        found = self.features[[row]]
        return np.asarray(found.toarray() if sp.issparse(found) else found).ravel()


@dataclass(frozen=True)
class ExplanationTarget:
    """What is to be explained: the truth, the prediction, or a class of one's choice."""

    y: ArrayLike | None = None
    target: Any = None
    gain: Gain | None = None

    def __post_init__(self) -> None:
        if self.y is not None and self.target is not None:
            raise InputError(
                "Give y, the truth of each row, or target, one class for all; not both."
            )


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
        The true classes or numbers: what speaks for them. A row that the model gets wrong shows
        close to nothing. By default the prediction is explained; of numbers, how it would change.
    target : class, default=None
        Explain what speaks for this class, in every row.
    gain : Gain or None, default=None
        What is differentiated. None goes by the loss of the model.
    units : array-like of shape (n_features,), default=None
        What counts as one unit of each feature: ``X_train.std(axis=0)`` makes features of different
        scales comparable. By default one, as of any gradient.

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
    >>> found = explain(SVC().fit(X, y), X[:2], y[:2])
    >>> found.to_frame(0)["feature"][0], found.note(0)
    ('x1', "predicted as 'up'")
    """
    if hasattr(fitted, "explain") and hasattr(fitted, "ranking_"):
        raise InputError(f"A {type(fitted).__name__} explains by itself: selector.explain(X, y).")
    rows, names = checked_rows(fitted, X, accept_sparse=True)
    return explain_rows(
        as_differentiable(fitted),
        rows,
        ExplanationTarget(y, target, gain),
        classes=getattr(fitted, "classes_", None),
        names=names,
        units=None if units is None else checked_units(units, rows.shape[1]),
        index=row_labels(X),
    )


def explain_rows(
    model: DifferentiableModel,
    X: Table,
    question: ExplanationTarget,
    *,
    classes: NDArray[Any] | None,
    names: Sequence[str],
    expand: Callable[[Matrix], Matrix] | None = None,
    features: Table | None = None,
    units: Vector | None = None,
    index: Any = None,
) -> Explanation:
    """Answer a question about rows.

    Parameters
    ----------
    model : DifferentiableModel
    X : ndarray or csr_array of shape (n, d)
        As the model wants them.
    question : Question
    classes : ndarray or None
        None of a model that predicts numbers.
    names : sequence of str
    expand : callable, default=None
        From saliency over the columns of X to that over all features, where X has been reduced.
    features : ndarray or csr_array, default=None
        The rows before that.
    units : ndarray of shape (d,), default=None
        What counts as one unit of each feature.
    index : sequence, default=None
        What the rows are called.
    """
    found = linearized(model, X)
    outputs = found.outputs
    if classes is None:
        classes = _unnamed_classes(model, outputs)
    gain = model.gain if question.gain is None else question.gain
    predicted: NDArray[Any]
    targets: NDArray[Any]
    if classes is None:
        predicted = outputs[:, 0]
        targets = _numbers(question, predicted)
        if question.y is None:
            gain = OutputGain()  # a prediction is its own target: there is no error to lessen
        goals: Targets = targets
    else:
        codes = predicted_codes(found)
        predicted = classes[codes]
        goals = _codes(question, codes, classes)
        targets = classes[goals]
    values = found.vjp(gain.gradient(outputs, goals))
    values = values if expand is None else expand(values)
    return Explanation(
        values if units is None else values * units,
        X if features is None else features,
        targets,
        predicted,
        gain.value(outputs, goals),
        list(names),
        classes is not None,
        index,
    )


def _unnamed_classes(model: DifferentiableModel, outputs: Matrix) -> NDArray[np.int64] | None:
    """The classes of a model that does not name them, by their places; None of a number."""
    n_outputs = outputs.shape[1]
    if n_outputs > 1 and isinstance(model.gain, RegressionGain):
        raise InputError(
            f"The model predicts {n_outputs} numbers: explain one that predicts a single one."
        )
    if n_outputs == 1 and isinstance(model.gain, OF_CLASSES):
        raise InputError(
            "The model has 1 output, and one that tells classes apart needs one for each class, "
            "two at least."
        )
    return np.arange(n_outputs) if n_outputs > 1 else None


def _numbers(question: ExplanationTarget, predicted: Vector) -> Vector:
    if question.target is not None:
        raise InputError("target is a class to explain, and this model predicts numbers: give y.")
    if question.y is None:
        return predicted
    y = check_array(column_or_1d(question.y), ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(y, predicted)
    return y


def _codes(
    question: ExplanationTarget, predicted: NDArray[np.int64], classes: NDArray[Any]
) -> NDArray[np.int64]:
    """Places among the classes; a label that the model has never seen is refused."""
    if question.y is None and question.target is None:
        return predicted
    if question.y is None:
        wanted = np.array([question.target] * len(predicted))
    else:
        wanted = column_or_1d(question.y)
        check_consistent_length(wanted, predicted)
    places = {label: place for place, label in enumerate(classes.tolist())}
    unseen = [label for label in wanted.tolist() if label not in places]
    if unseen:
        known = ", ".join(repr(label) for label in classes[:10].tolist())
        raise InputError(
            f"The model has never seen the class {unseen[0]!r}: it knows {known}"
            f"{' and others' if len(classes) > 10 else ''}."
        )
    return np.array([places[label] for label in wanted.tolist()], dtype=np.int64)
