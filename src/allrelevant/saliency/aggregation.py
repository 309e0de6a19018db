"""Aggregation of saliency over rows into one value per feature.

:func:`aggregate_saliency` takes a table. :func:`aggregate_batches` takes an iterable of batches,
such as a ``DataLoader``. :func:`row_batches` splits a table into batches of limited size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Matrix, Table, Vector
from ..exceptions import InputError
from .differentiable import DifferentiableModel, Linearization, linearize, predicted_codes
from .gains import Gain, Targets

# Gradients are dense even for sparse tables, so batches are limited. Small batches also fit into
# the cache.
NUMBERS_PER_BATCH, MIN_ROWS_PER_BATCH = 2**18, 64


@dataclass(frozen=True)
class AggregatedSaliency:
    """Saliency of each feature, aggregated over rows, with the score of the model.

    Attributes
    ----------
    saliency : ndarray of shape (d,)
        Saliency of each feature, summed over all rows.
    score : float
        Weight of the model when several models are combined: its accuracy on the rows, or the
        inverse of its mean absolute error.
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
    weight: Vector | None = None,
) -> AggregatedSaliency:
    """Aggregate each feature's saliency over rows (Cancela et al. 2020, Algorithms 2 and 3).

    For classification, the absolute gradients are summed within each class and divided by their
    total, so that each class has the same weight. For regression, they are summed over all rows.

    Parameters
    ----------
    model : DifferentiableModel
    X : ndarray or csr_array of shape (n, d)
        Rows. A sparse table is converted to dense arrays batch by batch.
    targets : ndarray of shape (n,)
        Class codes, or numeric targets.
    n_classes : int or None
        Number of classes, or None for regression.
    gain : Gain or None, default=None
        Gain function. None uses ``model.gain``, which matches the training loss.
    units : ndarray of shape (d,), default=None
        Size of one unit of each feature. None means one.
    weight : ndarray of shape (n,), default=None
        Weight of each row. None means one.

    Returns
    -------
    AggregatedSaliency

    Raises
    ------
    InputError
        If the number of outputs differs from the number of classes, or if an output is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from allrelevant.saliency import as_differentiable
    >>> X, y = np.array([[0.0, 1.0], [1.0, 1.1], [0.1, 0.9], [0.9, 1.0]]), np.array([0, 1, 0, 1])
    >>> model = as_differentiable(LogisticRegression().fit(X, y))
    >>> result = aggregate_saliency(model, X, y, n_classes=2)
    >>> round(float(result.saliency.sum()), 6), result.score
    (2.0, 1.0)
    """
    slices = list(row_batches(*X.shape, budget=NUMBERS_PER_BATCH, min_rows=MIN_ROWS_PER_BATCH))
    validated = _validate_batches(((X[rows], targets[rows]) for rows in slices), n_classes)
    weights = (None if weight is None else weight[rows] for rows in slices)
    batches = ((*batch, part) for batch, part in zip(validated, weights, strict=True))
    return _aggregate(model, batches, n_classes, gain, units)


def aggregate_batches(
    model: DifferentiableModel,
    batches: Iterable[tuple[Any, Any]],
    *,
    n_classes: int | None,
    gain: Gain | None = None,
    units: Vector | None = None,
) -> AggregatedSaliency:
    """Aggregate saliency over batches of rows, such as those of a PyTorch ``DataLoader``.

    The full table does not need to fit into memory.

    Parameters
    ----------
    model : DifferentiableModel
    batches : iterable of (X, targets)
        Arrays or tensors. Images are flattened, so the model must restore their shape. Targets are
        class codes (integers of any dtype) or numeric targets.
    n_classes : int or None
        Number of classes, or None for regression.
    gain : Gain or None, default=None
        Gain function. None uses ``model.gain``, which matches the training loss.
    units : ndarray of shape (d,), default=None
        Size of one unit of each feature. None means one.

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
    validated = ((*batch, None) for batch in _validate_batches(batches, n_classes))
    return _aggregate(model, validated, n_classes, gain, units)


def _aggregate(
    model: DifferentiableModel,
    batches: Iterable[tuple[Table, Targets, Vector | None]],
    n_classes: int | None,
    gain: Gain | None,
    units: Vector | None,
) -> AggregatedSaliency:
    """Aggregate saliency over batches of rows, targets and optional weights."""
    gain = model.gain if gain is None else gain
    sums: Matrix | None = None
    total_score, n_rows = 0.0, 0.0
    for rows, targets, weight in batches:
        linearization = linearize(model, rows)
        outputs = _check_outputs(linearization.outputs, n_classes)
        scores = _row_scores(linearization, targets, n_classes)
        total_score += float(scores.sum() if weight is None else scores @ weight)
        n_rows += len(targets) if weight is None else float(weight.sum())
        gradient = np.abs(linearization.vjp(gain.gradient(outputs, targets)))
        gradient = gradient if weight is None else gradient * weight[:, None]
        sums = np.zeros((n_classes or 1, gradient.shape[1])) if sums is None else sums
        codes = np.zeros(len(targets), dtype=np.int64) if n_classes is None else targets
        for code in np.unique(codes):
            sums[code] += gradient[codes == code].sum(axis=0)
    if sums is None:
        raise InputError("The batches contain no rows. Pass at least one row.")
    if units is not None:
        sums *= units
    if n_classes is None:
        mean_error = max(total_score / n_rows, np.finfo(np.float64).tiny)
        return AggregatedSaliency(sums[0], 1.0 / mean_error)
    totals = sums.sum(axis=1, keepdims=True)
    fractions = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    return AggregatedSaliency(fractions.sum(axis=0), total_score / n_rows)


def _validate_batches(
    batches: Iterable[Any], n_classes: int | None
) -> Iterator[tuple[Table, Targets]]:
    """Yield the validated rows and targets of each batch, with images flattened."""
    for batch in batches:
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise InputError(
                f"Each batch must be a pair of rows and targets (got {_describe(batch)}). Use a "
                "DataLoader(TensorDataset(X, targets)), for example."
            )
        X, y = batch
        rows = X if sp.issparse(X) else _array(X).reshape(len(X), -1)
        targets = _array(y).ravel()
        if len(targets) != rows.shape[0]:
            raise InputError(
                f"A batch has {rows.shape[0]} rows but {len(targets)} targets. "
                "Provide one target per row."
            )
        yield rows, _check_targets(targets, n_classes)


def _array(values: Any) -> np.ndarray:
    # NumPy cannot read a tensor that requires gradients or is on a GPU.
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _describe(batch: Any) -> str:
    if isinstance(batch, tuple | list):
        return f"a {type(batch).__name__} of length {len(batch)}"
    return f"a single {type(batch).__name__}"


def _check_targets(targets: np.ndarray, n_classes: int | None) -> np.ndarray:
    """Validate the targets of a batch and return them, with class codes as integers."""
    requirement = (
        "Targets must be numbers"
        if n_classes is None
        else f"Targets must be class codes from 0 to {n_classes - 1}"
    )
    if targets.dtype.kind not in "biuf":
        raise InputError(f"{requirement} (got {str(targets[0])!r}).")
    if n_classes is None:
        return targets
    invalid = targets[~np.isin(targets, np.arange(n_classes))]
    if len(invalid):
        raise InputError(f"{requirement} (got {invalid[0]}).")
    return targets.astype(np.int64)


def _check_outputs(outputs: Matrix, n_classes: int | None) -> Matrix:
    if outputs.ndim != 2 or outputs.shape[1] != (n_classes or 1):
        needed = "1 output" if n_classes is None else f"{n_classes} outputs, one per class"
        raise InputError(
            f"The outputs of the model have shape {outputs.shape}, which does not match the "
            f"targets. Use a model with {needed}."
        )
    if not np.isfinite(outputs).all():
        raise InputError(
            "The outputs of the model are not finite, so its training has diverged. Standardize "
            "the features or lower the learning rate."
        )
    return outputs


def _row_scores(
    linearization: Linearization, targets: Targets, n_classes: int | None
) -> NDArray[Any]:
    """Return whether each prediction is correct or, for a regressor, its absolute error."""
    if n_classes is None:
        return np.asarray(np.abs(linearization.outputs[:, 0] - targets))
    return np.asarray(predicted_codes(linearization) == targets)


def row_batches(
    n_rows: int, n_features: int, *, budget: int, min_rows: int = 1, max_rows: int | None = None
) -> Iterator[slice]:
    """Yield row slices with at most ``budget`` values each, but at least ``min_rows`` rows."""
    size = rows_within(n_features, budget=budget, min_rows=min_rows, max_rows=max_rows)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def rows_within(
    n_features: int, *, budget: int, min_rows: int = 1, max_rows: int | None = None
) -> int:
    """Return the batch size: at most ``budget`` values, but at least ``min_rows`` rows."""
    size = max(min_rows, budget // max(n_features, 1))
    return size if max_rows is None else min(size, max_rows)
