"""The comparators of Cancela et al. (2020): mutual information and ReliefF, plainly written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.feature_selection import mutual_info_classif

# Neighbours of each kind, as in skrebate.
NEIGHBOURS = 100
_BLOCK = 2_000


def mutual_information(X, y: np.ndarray, random_state: int = 0) -> np.ndarray:
    """Of each feature with the class; of sparse tables, of whether the feature is zero."""
    if not sp.issparse(X):
        return mutual_info_classif(X, y, random_state=random_state)
    occurs = (X != 0).astype(float)
    n_rows, information = len(y), np.zeros(X.shape[1])
    share = np.asarray(occurs.mean(axis=0)).ravel()
    for label in np.unique(y):
        own = np.asarray(occurs[y == label].sum(axis=0)).ravel() / n_rows
        rate = (y == label).mean()
        for joint, marginal in ((own, share), (rate - own, 1 - share)):
            with np.errstate(divide="ignore", invalid="ignore"):
                term = joint * np.log(joint / (rate * marginal))
            information += np.nan_to_num(term, nan=0.0)
    return information


def blocks(X) -> Iterator[tuple[slice, np.ndarray]]:
    """Columns on a range of 1, some at a time: a sparse table is never dense as a whole."""
    for start in range(0, X.shape[1], _BLOCK):
        columns = slice(start, min(start + _BLOCK, X.shape[1]))
        part = X[:, columns]
        dense = part.toarray() if sp.issparse(part) else np.array(part)
        spread = dense.max(axis=0) - dense.min(axis=0)
        yield columns, dense / np.where(spread > 0, spread, 1.0)


def relieff(X, y: np.ndarray) -> np.ndarray:
    """How much further apart neighbours of other classes are than those of the same class."""
    distances = sum(cdist(dense, dense, "cityblock") for _, dense in blocks(X))
    coefficients = np.zeros((len(y), len(y)))
    for row in range(len(y)):
        for same in (True, False):
            others = np.flatnonzero(((y == y[row]) == same) & (np.arange(len(y)) != row))
            near = others[np.argsort(distances[row, others], kind="stable")[:NEIGHBOURS]]
            coefficients[row, near] = (-1 if same else 1) / len(near)
    weights = np.zeros(X.shape[1])
    for columns, dense in blocks(X):
        for row in range(len(y)):
            near = np.flatnonzero(coefficients[row])
            weights[columns] += coefficients[row, near] @ np.abs(dense[near] - dense[row])
    return weights
