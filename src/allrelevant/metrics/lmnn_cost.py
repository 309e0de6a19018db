"""Cost and exact gradient of large margin nearest neighbours."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from ..arrays import Matrix, Vector
from .impostors import Impostors, Pairs

Codes = NDArray[np.intp]

# Stands for a neighbour that a row does not have: its own place is at distance zero, but it
# must not count.
_NONE = -1

# Numbers in one block of differences: they stay in the cache.
_BLOCK = 100_000


def target_neighbors(X: Matrix, codes: Codes, n_neighbors: int) -> Codes:
    """Of each row, its nearest rows of the same class, shape (n_samples, n_neighbors).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,)
        Class of each row, from 0.
    n_neighbors : int
        Rows of small classes have fewer; -1 stands for those that are missing.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.5], [9.0]])
    >>> target_neighbors(X, np.array([0, 0, 0, 1]), 2).tolist()
    [[1, 2], [2, 0], [1, 0], [-1, -1]]
    """
    targets = np.full((len(X), n_neighbors), _NONE)
    for code in range(codes.max() + 1):
        (rows,) = np.nonzero(codes == code)
        count = min(n_neighbors, len(rows) - 1)
        if count:
            search = NearestNeighbors(n_neighbors=count).fit(X[rows])
            targets[rows, :count] = rows[search.kneighbors(return_distance=False)]
    return targets


class LmnnCost:
    """Pull neighbours of the own class near, push rows of other classes a margin further away.

    ``(1 - push)`` times the squared distances of all rows from their target neighbours, plus
    ``push`` times, for every row, target neighbour and row of another class, by how much the
    squared distance of the latter is less than that of the former plus 1. Both are divided by the
    number of pairs of target neighbours.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred.
    codes : ndarray of shape (n_samples,)
        Class of each row.
    targets : ndarray of shape (n_samples, n_neighbors)
        See :func:`target_neighbors`.
    push : float
        Between 0 and 1.
    """

    def __init__(self, X: Matrix, codes: Codes, targets: Codes, push: float) -> None:
        self._X = X
        self._push = push
        self._has_target = targets != _NONE
        self._row, self._slot = np.nonzero(self._has_target)
        self._target = targets[self._row, self._slot]
        self.impostors = Impostors(codes)

    def __call__(self, omega: Matrix) -> tuple[float, tuple[Matrix]]:
        """Cost and its gradient with respect to ``omega``, of shape (rank, n_features)."""
        mapped = self._X @ omega.T
        distance = pair_distances(mapped, Pairs(self._row, self._target))
        reach = np.full(self._has_target.shape, -np.inf)
        reach[self._row, self._slot] = 1.0 + distance
        furthest = reach.max(axis=1)
        pushed, other, overlap = self._overlaps(mapped, reach, furthest)
        violated = overlap > 0
        # How often each pair's distance counts in the cost, with its sign.
        pulls = np.full(len(self._row), 1.0 - self._push)
        per_target = _sum_by_row(violated, pushed, len(mapped))
        pulls += self._push * per_target[self._row, self._slot]
        pushes = -self._push * violated.sum(axis=1)
        value = (1.0 - self._push) * distance.sum() + self._push * overlap[violated].sum()
        mapped_gradient = self._mapped_gradient(mapped, pulls, Pairs(pushed, other), pushes)
        n_pairs = len(self._row)
        return float(value) / n_pairs, (mapped_gradient.T @ self._X / n_pairs,)

    def _overlaps(
        self, mapped: Matrix, reach: Matrix, furthest: Vector
    ) -> tuple[Codes, Codes, Matrix]:
        """Pairs of impostors, and how far each is inside the reach of each target neighbour."""
        pairs = self.impostors.near(mapped, np.sqrt(np.maximum(furthest, 0.0)))
        distance = pair_distances(mapped, pairs)
        inside = distance < furthest[pairs.row]
        row, other = pairs.row[inside], pairs.other[inside]
        return row, other, reach[row] - distance[inside, np.newaxis]

    def _mapped_gradient(
        self, mapped: Matrix, pulls: Vector, impostors: Pairs, pushes: Vector
    ) -> Matrix:
        """Gradient with respect to the mapped rows: twice a weighted graph Laplacian times them."""
        row = np.concatenate([self._row, impostors.row])
        other = np.concatenate([self._target, impostors.other])
        weight = np.concatenate([pulls, pushes])
        n_samples = len(mapped)
        graph = sp.csr_array((weight, (row, other)), shape=(n_samples, n_samples))
        graph = graph + graph.T
        return 2.0 * (graph.sum(axis=1)[:, np.newaxis] * mapped - graph @ mapped)


def pair_distances(mapped: Matrix, pairs: Pairs) -> Vector:
    """Squared distance of the two rows of each pair.

    Parameters
    ----------
    mapped : ndarray of shape (n_samples, rank)
    pairs : Pairs
    """
    found = np.empty(len(pairs.row))
    step = max(1, _BLOCK // mapped.shape[1])
    for first in range(0, len(found), step):
        block = slice(first, first + step)
        difference = mapped[pairs.row[block]] - mapped[pairs.other[block]]
        np.einsum("ij,ij->i", difference, difference, out=found[block])
    return found


def _sum_by_row(counts: NDArray[np.bool_], row: Codes, n_rows: int) -> Matrix:
    return np.column_stack([np.bincount(row, weights=c, minlength=n_rows) for c in counts.T])
