"""From the saliency of every row to one number for each feature, in batches of rows.

:func:`aggregate_saliency` takes a table, :func:`aggregate_batches` rows that come a few at a time,
as from a ``DataLoader``. How many rows are processed at a time is decided by :func:`row_batches`.
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

# Gradients are dense even where the table is sparse. Small blocks also stay in the cache.
NUMBERS_PER_BATCH, MIN_ROWS_PER_BATCH = 2**18, 64


@dataclass(frozen=True)
class AggregatedSaliency:
    """Saliency of the features of a trained model.

    Attributes
    ----------
    saliency : ndarray of shape (d,)
        Of each feature, over all rows.
    score : float
        Weight of the model among others: its accuracy on the rows, or one over its mean absolute
        error.
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

    For classes, the absolute gradients are summed within each class and divided by their total, so
    that each class has the same weight; for numbers they are summed.

    Parameters
    ----------
    model : DifferentiableModel
    X : ndarray or csr_array of shape (n, d)
        Never made dense as a whole.
    targets : ndarray of shape (n,)
        Codes of the classes, or numbers.
    n_classes : int or None
        None for numbers.
    gain : Gain or None, default=None
        By default the one that goes with the loss of the model.
    units : ndarray of shape (d,), default=None
        What counts as one unit of each feature. By default one.

    Returns
    -------
    AggregatedSaliency

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
    >>> result = aggregate_saliency(model, X, y, n_classes=2)
    >>> result.saliency.sum().round(6), result.score
    (np.float64(2.0), 1.0)
    """
    batches = (
        (X[rows], targets[rows])
        for rows in row_batches(*X.shape, budget=NUMBERS_PER_BATCH, min_rows=MIN_ROWS_PER_BATCH)
    )
    return aggregate_batches(model, batches, n_classes=n_classes, gain=gain, units=units)


def aggregate_batches(
    model: DifferentiableModel,
    batches: Iterable[tuple[Any, Any]],
    *,
    n_classes: int | None,
    gain: Gain | None = None,
    units: Vector | None = None,
) -> AggregatedSaliency:
    """Saliency summed over rows that come a few at a time, as from a ``DataLoader`` of torch.

    The table need not fit into memory.

    Parameters
    ----------
    model : DifferentiableModel
    batches : iterable of (X, targets)
        Arrays or tensors. Images are flattened, so their model must know their shape. Targets are
        the codes of the classes, whole numbers of any type, or numbers.
    n_classes : int or None
        None for numbers.
    gain : Gain or None, default=None
        By default the one that goes with the loss of the model.
    units : ndarray of shape (d,), default=None
        What counts as one unit of each feature. By default one.

    Returns
    -------
    AggregatedSaliency

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
    total_score, n_rows = 0.0, 0
    for rows, targets in _checked_batches(batches, n_classes):
        linearization = linearized(model, rows)
        outputs = _checked_outputs(linearization.outputs, n_classes)
        total_score += _summed_score(linearization, targets, n_classes)
        n_rows += len(targets)
        gradient = np.abs(linearization.vjp(gain.gradient(outputs, targets)))
        sums = np.zeros((n_classes or 1, gradient.shape[1])) if sums is None else sums
        codes = np.zeros(len(targets), dtype=np.int64) if n_classes is None else targets
        for code in np.unique(codes):
            sums[code] += gradient[codes == code].sum(axis=0)
    if sums is None:
        raise InputError("There are no rows.")
    if units is not None:
        sums *= units
    if n_classes is None:
        mean_error = max(total_score / n_rows, np.finfo(np.float64).tiny)
        return AggregatedSaliency(sums[0], 1.0 / mean_error)
    totals = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    return AggregatedSaliency(shares.sum(axis=0), total_score / n_rows)


def _checked_batches(
    batches: Iterable[Any], n_classes: int | None
) -> Iterator[tuple[Table, Targets]]:
    """Batches as arrays: images as flat rows, classes as codes."""
    for batch in batches:
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise InputError(
                "Each batch must be a pair, rows and their targets; got "
                f"{_describe(batch)}. A loader of both is "
                "DataLoader(TensorDataset(X, targets))."
            )
        X, y = batch
        rows = X if sp.issparse(X) else _array(X).reshape(len(X), -1)
        targets = _array(y).ravel()
        if len(targets) != rows.shape[0]:
            raise InputError(f"A batch has {rows.shape[0]} rows and {len(targets)} targets.")
        yield rows, _checked_targets(targets, n_classes)


def _array(values: Any) -> np.ndarray:
    # A tensor that is part of a graph or on a GPU is no array yet.
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _describe(batch: Any) -> str:
    if isinstance(batch, tuple | list):
        return f"a {type(batch).__name__} of {len(batch)}"
    return f"{type(batch).__name__} alone"


def _checked_targets(targets: np.ndarray, n_classes: int | None) -> np.ndarray:
    """Numbers as they are; codes of classes, whole numbers of any type, as integers."""
    requirement = (
        "Targets must be numbers"
        if n_classes is None
        else f"Targets must be codes of the classes, 0 to {n_classes - 1}"
    )
    if targets.dtype.kind not in "biuf":
        raise InputError(f"{requirement}; got {str(targets[0])!r}.")
    if n_classes is None:
        return targets
    invalid = targets[~np.isin(targets, np.arange(n_classes))]
    if len(invalid):
        raise InputError(f"{requirement}; got {invalid[0]}.")
    return targets.astype(np.int64)


def _checked_outputs(outputs: Matrix, n_classes: int | None) -> Matrix:
    if outputs.ndim != 2 or outputs.shape[1] != (n_classes or 1):
        needed = "one for a number" if n_classes is None else f"{n_classes}, one for each class"
        raise InputError(
            f"The outputs of the model have shape {outputs.shape}, and it needs {needed}."
        )
    if not np.isfinite(outputs).all():
        raise InputError(
            "The outputs of the model are not finite. Its training has diverged: bring features to "
            "one scale, or lower the learning rate."
        )
    return outputs


def _summed_score(linearization: Linearization, targets: Targets, n_classes: int | None) -> float:
    """Number of right predictions, or sum of the absolute errors."""
    if n_classes is None:
        return float(np.abs(linearization.outputs[:, 0] - targets).sum())
    return float((predicted_codes(linearization) == targets).sum())


def row_batches(
    n_rows: int, n_features: int, *, budget: int, min_rows: int = 1, max_rows: int | None = None
) -> Iterator[slice]:
    """Rows of a table, so many at a time that a batch stays within a budget of numbers."""
    size = rows_within(n_features, budget=budget, min_rows=min_rows, max_rows=max_rows)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def rows_within(
    n_features: int, *, budget: int, min_rows: int = 1, max_rows: int | None = None
) -> int:
    """Number of rows in a batch; ``min_rows`` even where that exceeds the budget."""
    size = max(min_rows, budget // max(n_features, 1))
    return size if max_rows is None else min(size, max_rows)
