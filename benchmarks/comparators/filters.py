"""Filter methods used for comparison in Cancela et al. (2020): mutual information and ReliefF."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.feature_selection import mutual_info_classif

# Number of nearest neighbors in the same class, and in other classes, as in skrebate.
N_NEIGHBORS = 100
_COLUMNS_PER_BLOCK = 2_000


def mutual_information(X, y: np.ndarray, random_state: int = 0) -> np.ndarray:
    """Return the mutual information of each feature with the class.

    For sparse tables, values are reduced to zero or nonzero.
    """
    if not sp.issparse(X):
        return mutual_info_classif(X, y, random_state=random_state)
    occurs = (X != 0).astype(float)
    n_rows, information = len(y), np.zeros(X.shape[1])
    frequency = np.asarray(occurs.mean(axis=0)).ravel()
    for label in np.unique(y):
        in_class = np.asarray(occurs[y == label].sum(axis=0)).ravel() / n_rows
        prior = (y == label).mean()
        for joint, marginal in ((in_class, frequency), (prior - in_class, 1 - frequency)):
            with np.errstate(divide="ignore", invalid="ignore"):
                term = joint * np.log(joint / (prior * marginal))
            information += np.nan_to_num(term, nan=0.0)
    return information


def blocks(X) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield dense blocks of columns, with each column scaled to a range of 1."""
    for start in range(0, X.shape[1], _COLUMNS_PER_BLOCK):
        columns = slice(start, min(start + _COLUMNS_PER_BLOCK, X.shape[1]))
        part = X[:, columns]
        dense = part.toarray() if sp.issparse(part) else np.array(part)
        width = dense.max(axis=0) - dense.min(axis=0)
        yield columns, dense / np.where(width > 0, width, 1.0)


def relieff(X, y: np.ndarray) -> np.ndarray:
    """Return the ReliefF weight of each feature.

    A weight is the mean distance to the nearest neighbors in other classes minus the mean distance
    to those in the same class, summed over the rows.
    """
    distances = sum(cdist(dense, dense, "cityblock") for _, dense in blocks(X))
    coefficients = np.zeros((len(y), len(y)))
    for row in range(len(y)):
        for same in (True, False):
            others = np.flatnonzero(((y == y[row]) == same) & (np.arange(len(y)) != row))
            near = others[np.argsort(distances[row, others], kind="stable")[:N_NEIGHBORS]]
            coefficients[row, near] = (-1 if same else 1) / len(near)
    weights = np.zeros(X.shape[1])
    for columns, dense in blocks(X):
        for row in range(len(y)):
            near = np.flatnonzero(coefficients[row])
            weights[columns] += coefficients[row, near] @ np.abs(dense[near] - dense[row])
    return weights
