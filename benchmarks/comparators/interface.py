"""Interface of the feature selection methods that are compared with allrelevant."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Classes = NDArray[np.int64]
Chosen = NDArray[np.bool_]


class Comparator(Protocol):
    """Function that selects features of a table.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Two classes, -1 and 1.
    folds : int
        Number of folds of the cross-validation that tunes the method.
    seed : int

    Returns
    -------
    ndarray of shape (n_features,) of bool
    """

    def __call__(self, X: Table, y: Classes, *, folds: int, seed: int) -> Chosen: ...


class NotInstalledError(Exception):
    """Raised if a package cannot be installed; its table rows are then skipped."""
