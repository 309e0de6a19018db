"""How many rows are taken at a time where a whole table would be too much.

Rows and targets that come a few at a time, as a model and a gain want them.

From the saliency of every row to one number a feature.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Matrix, Table, Vector
from ..exceptions import InputError
from .differentiable import DifferentiableModel, Linearization, linearized, predicted_codes
from .gains import Gain, Targets


def row_batches(
    n_rows: int, n_features: int, *, budget: int, least: int = 1, most: int | None = None
) -> Iterator[slice]:
    """Rows of a table, some at a time.

    Parameters
    ----------
    n_rows, n_features : int
    budget : int
        So many numbers at a time.
    least : int, default=1
        So many rows at least, even where that is above the budget.
    most : int or None, default=None
        So many rows at most.

    Examples
    --------
    >>> list(row_batches(5, 100, budget=250))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = rows_within(n_features, budget=budget, least=least, most=most)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def rows_within(n_features: int, *, budget: int, least: int = 1, most: int | None = None) -> int:
    """Number of rows that stay within a budget of numbers; see :func:`row_batches`.

    Examples
    --------
    >>> rows_within(100, budget=250), rows_within(100, budget=250, least=7)
    (2, 7)
    """
    size = max(least, budget // max(n_features, 1))
    return size if most is None else min(size, most)


def flat_batches(batches: Iterable[Any], n_classes: int | None) -> Iterator[tuple[Table, Targets]]:
    """Batches as arrays: pictures as rows, classes as codes.

    Parameters
    ----------
    batches : iterable of (X, targets)
        Arrays or tensors.
    n_classes : int or None
        None of numbers.

    Raises
    ------
    InputError
        If a batch is anything else, or classes are no codes.

    Examples
    --------
    >>> import numpy as np
    >>> ((rows, codes),) = flat_batches([(np.zeros((2, 3, 3)), [0.0, 1.0])], n_classes=2)
    >>> rows.shape, codes.tolist()
    ((2, 9), [0, 1])
    """
    for batch in batches:
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise InputError(
                "Each batch must be a pair, rows and their targets; got "
                f"{_kind(batch)}. A loader of both is "
                "DataLoader(TensorDataset(X, targets))."
            )
        X, targets = batch
        rows = X if sp.issparse(X) else _array(X).reshape(len(X), -1)
        own = _array(targets).ravel()
        if len(own) != rows.shape[0]:
            raise InputError(f"A batch has {rows.shape[0]} rows and {len(own)} targets.")
        yield rows, _numbers(own) if n_classes is None else _codes(own, n_classes)


def _array(values: Any) -> np.ndarray:
    # A tensor that is part of a graph or on a GPU is no array yet.
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _kind(batch: Any) -> str:
    if isinstance(batch, tuple | list):
        return f"a {type(batch).__name__} of {len(batch)}"
    return f"{type(batch).__name__} alone"


def _numbers(targets: np.ndarray) -> np.ndarray:
    if targets.dtype.kind not in "biuf":
        raise InputError(f"Targets must be numbers; got {str(targets[0])!r}.")
    return targets


def _codes(targets: np.ndarray, n_classes: int) -> np.ndarray:
    """Whole numbers from 0, of any type."""
    wrong = f"Targets must be codes of the classes, 0 to {n_classes - 1}"
    if targets.dtype.kind not in "biuf":
        raise InputError(f"{wrong}; got {str(targets[0])!r}.")
    bad = targets[~np.isin(targets, np.arange(n_classes))]
    if len(bad):
        raise InputError(f"{wrong}; got {bad[0]}.")
    return targets.astype(np.int64)


# Gradients are dense even where the table is sparse: so many numbers at a time, but so many rows at
# least. Small blocks also stay in the cache.
_BATCH, _MIN_ROWS = 2**18, 64


@dataclass(frozen=True)
class AggregatedSaliency:
    """What a trained model says of its features.

    Attributes
    ----------
    saliency : ndarray of shape (d,)
        Of each feature, over all rows.
    score : float
        How much the model is to be listened to: its accuracy on the rows, or one over its mean
        absolute error.
    """

    saliency: Vector
    score: float


def aggregate_saliency(
    model: DifferentiableModel,
    X: Table,
    targets: Targets,
    *,
    n_classes: int | None,
    gain: Gain | None = None,
    units: Vector | None = None,
) -> AggregatedSaliency:
    """Saliency summed over rows (Algorithms 2 and 3 of Cancela et al. 2020).

    Of classes, the absolute gradients are summed within each class and divided by their total, so
    that each class has the same say; of numbers they are summed.

    Parameters
    ----------
    model : DifferentiableModel
    X : ndarray or csr_array of shape (n, d)
        Never made dense as a whole.
    targets : ndarray of shape (n,)
        Codes of the classes, or numbers.
    n_classes : int or None
        None of numbers.
    gain : Gain or None, default=None
        By default the one that goes with the loss of the model.
    units : ndarray of shape (d,), default=None
        What counts as one unit of each feature. By default one.

    Raises
    ------
    InputError
        If the outputs are not as many as the classes, or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from allrelevant.saliency import as_differentiable
    >>> X, y = np.array([[0.0, 1.0], [1.0, 1.1], [0.1, 0.9], [0.9, 1.0]]), np.array([0, 1, 0, 1])
    >>> model = as_differentiable(LogisticRegression().fit(X, y))
    >>> found = aggregate_saliency(model, X, y, n_classes=2)
    >>> found.saliency.sum().round(6), found.score
    (np.float64(2.0), 1.0)
    """
    parts = (
        (X[rows], targets[rows]) for rows in row_batches(*X.shape, budget=_BATCH, least=_MIN_ROWS)
    )
    return aggregate_batches(model, parts, n_classes=n_classes, gain=gain, units=units)


def aggregate_batches(
    model: DifferentiableModel,
    batches: Iterable[tuple[Any, Any]],
    *,
    n_classes: int | None,
    gain: Gain | None = None,
    units: Vector | None = None,
) -> AggregatedSaliency:
    """The same of rows that come a few at a time, as from a ``DataLoader`` of torch.

    So a table need not fit into memory.

    Parameters
    ----------
    model : DifferentiableModel
    batches : iterable of (X, targets)
        Arrays or tensors; pictures are made flat, so their model must know their shape. Targets
        are the codes of the classes, whole numbers of any type, or numbers.
    n_classes : int or None
        None of numbers.
    gain : Gain or None, default=None
        By default the one that goes with the loss of the model.
    units : ndarray of shape (d,), default=None
        What counts as one unit of each feature. By default one.

    Returns
    -------
    Aggregate

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from allrelevant.saliency import as_differentiable
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([1.0, 2.0, 3.0])
    >>> model = as_differentiable(Ridge().fit(X, y))
    >>> by_row = aggregate_batches(model, zip(X[:, None], y[:, None]), n_classes=None)
    >>> bool(np.allclose(by_row.saliency, aggregate_saliency(model, X, y, n_classes=None).saliency))
    True
    """
    gain = model.gain if gain is None else gain
    sums: Matrix | None = None
    merit, n_rows = 0.0, 0
    for part, own in flat_batches(batches, n_classes):
        found = linearized(model, part)
        outputs = _checked(found.outputs, n_classes)
        merit += _merit(found, own, n_classes)
        n_rows += len(own)
        gradient = np.abs(found.vjp(gain.gradient(outputs, own)))
        sums = np.zeros((n_classes or 1, gradient.shape[1])) if sums is None else sums
        groups = np.zeros(len(own), dtype=np.int64) if n_classes is None else own
        for group in np.unique(groups):
            sums[group] += gradient[groups == group].sum(axis=0)
    if sums is None:
        raise InputError("There are no rows.")
    if units is not None:
        sums *= units
    if n_classes is None:
        return AggregatedSaliency(sums[0], 1.0 / max(merit / n_rows, np.finfo(np.float64).tiny))
    totals = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    return AggregatedSaliency(shares.sum(axis=0), merit / n_rows)


def _checked(outputs: Matrix, n_classes: int | None) -> Matrix:
    if outputs.ndim != 2 or outputs.shape[1] != (n_classes or 1):
        wanted = "one for a number" if n_classes is None else f"{n_classes}, one for each class"
        raise InputError(
            f"The outputs of the model have shape {outputs.shape}, and it needs {wanted}."
        )
    if not np.isfinite(outputs).all():
        raise InputError(
            "The outputs of the model are not finite. Its training has diverged: bring features to "
            "one scale, or lower the learning rate."
        )
    return outputs


def _merit(found: Linearization, targets: Targets, n_classes: int | None) -> float:
    if n_classes is None:
        return float(np.abs(found.outputs[:, 0] - targets).sum())
    return float((predicted_codes(found) == targets).sum())
