"""What the tables ask of every method: which features of a table does it call relevant?"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Classes = NDArray[np.int64]
Chosen = NDArray[np.bool_]


class Comparator(Protocol):
    """Features that a method selects.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Two classes, -1 and 1.
    folds : int
        Of the cross-validation that tunes the method.
    seed : int

    Returns
    -------
    ndarray of shape (n_features,) of bool
    """

    def __call__(self, X: Table, y: Classes, *, folds: int, seed: int) -> Chosen: ...


class NotInstalledError(Exception):
    """A peer could not be installed in its environment; its rows are skipped, and said to be."""
