"""A table whose rows are decided by different features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..exceptions import InputError
from .known_truth import RandomState


class Branches(NamedTuple):
    """A table, and which features decide each of its rows.

    Attributes
    ----------
    X : ndarray of shape (n, 5)
    y : ndarray of shape (n,)
        Classes -1 and 1.
    deciding : ndarray of bool of shape (n, 5)
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    deciding: NDArray[np.bool_]


def make_branches(n_samples: int = 10_000, *, random_state: RandomState = None) -> Branches:
    """The toy of Cancela et al. (2020), equation 13: one feature says which two others decide.

    Where the first is negative, the class is the product of the signs of the second and the third,
    elsewhere of the fourth and the fifth. All are uniform between -1 and 1. Over the whole table
    every feature is relevant, and to each row only three.

    Parameters
    ----------
    n_samples : int, default=10_000
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    Branches

    Examples
    --------
    >>> from allrelevant.datasets import make_branches
    >>> data = make_branches(2, random_state=1)
    >>> data.X.round(1).tolist()
    [[-0.2, 0.4, -1.0, -0.4, -0.7], [-0.8, -0.6, -0.3, -0.2, 0.1]]
    >>> data.y.tolist(), data.deciding[0].tolist()
    ([-1, 1], [True, True, True, False, False])
    """
    if n_samples < 1:
        raise InputError(f"n_samples must be at least 1, got {n_samples}.")
    X = check_random_state(random_state).uniform(-1.0, 1.0, size=(n_samples, 5))
    first = X[:, 0] < 0
    signs = np.where(X < 0, -1, 1)
    y = np.where(first, signs[:, 1] * signs[:, 2], signs[:, 3] * signs[:, 4])
    deciding = np.ones((n_samples, 5), dtype=bool)
    deciding[first, 3:] = False
    deciding[~first, 1:3] = False
    return Branches(X, y, deciding)
