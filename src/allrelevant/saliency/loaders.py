"""Rows and targets that come a few at a time, as a model and a gain want them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Table
from ..exceptions import InputError
from .gains import Targets


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
