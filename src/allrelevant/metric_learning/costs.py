"""Cost and exact gradient of generalised matrix learning vector quantisation.

Impostors: rows of another class inside the neighbourhood of a row, found and kept sparsely.

Cost and exact gradient of large margin nearest neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.neighbors import NearestNeighbors

from .._typing import Codes, Matrix, Vector

# Least sum of two squared distances. Of a row on prototypes of two classes at once it makes a
# relative distance of zero; its square can still be divided by.
_NO_DISTANCE = 1e-150


# Directions whose share of the matrix is smaller than this count as lost.
_LOST = 1e-150


class Nearest(NamedTuple):
    """Of each row, the nearest prototype among some, and its squared distance."""

    prototype: Codes
    distance: Vector


class GmlvqCost:
    """Mean over the rows of ``1 / (1 + exp(-beta mu))``, and a penalty on lost directions.

    ``mu = (d_own - d_other) / (d_own + d_other)`` compares the squared distances, in the metric of
    ``omega``, from the nearest prototype of the row's own class and the nearest of another one. It
    does not depend on the scale of ``omega``, and neither does the penalty.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,)
        Class of each row.
    labels : ndarray of shape (n_prototypes,)
        Class of each prototype; at least two classes.
    beta : float
        Steepness of the sigmoid.
    """

    def __init__(self, X: Matrix, codes: Codes, labels: Codes, beta: float) -> None:
        self._X = X
        self._beta = beta
        self._rows = np.arange(len(X))
        # Added to distances, these leave the prototypes of the own class only, or of the others.
        is_own = codes[:, np.newaxis] == labels
        self._own_only = np.where(is_own, 0.0, np.inf)
        self._others_only = np.where(is_own, np.inf, 0.0)

    def __call__(self, prototypes: Matrix, omega: Matrix) -> tuple[float, tuple[Matrix, Matrix]]:
        """Cost, and its gradients with respect to the prototypes and to the matrix.

        Parameters
        ----------
        prototypes : ndarray of shape (n_prototypes, n_features)
        omega : ndarray of shape (rank, n_features)
        """
        rows, places = self._X @ omega.T, prototypes @ omega.T
        distances = squared_distances(rows, places)
        own = self._nearest(distances, self._own_only)
        other = self._nearest(distances, self._others_only)
        value, pull = self._value_and_pull(own, other, len(places))
        # To first order the cost is a sum of half the pull times a distance, which is a square.
        row_gradient = (pull @ np.ones(len(places)))[:, np.newaxis] * rows - pull @ places
        place_gradient = (np.ones(len(rows)) @ pull)[:, np.newaxis] * places - pull.T @ rows
        to_omega = row_gradient.T @ self._X + place_gradient.T @ prototypes
        return value, (place_gradient @ omega, to_omega)

    def _nearest(self, distances: Matrix, among: Matrix) -> Nearest:
        prototype = (distances + among).argmin(axis=1)
        return Nearest(prototype, distances[self._rows, prototype])

    def _value_and_pull(
        self, own: Nearest, other: Nearest, n_prototypes: int
    ) -> tuple[float, Matrix]:
        """Cost, and twice its derivative by each distance, shape (n_samples, n_prototypes)."""
        total = np.maximum(own.distance + other.distance, _NO_DISTANCE)
        score = expit(self._beta * (own.distance - other.distance) / total)
        slope = (4.0 * self._beta / len(score)) * score * (1.0 - score) / (total * total)
        pull = np.zeros((len(score), n_prototypes))
        pull[self._rows, own.prototype] = slope * other.distance
        pull[self._rows, other.prototype] = -slope * own.distance
        return float(score.mean()), pull


def squared_distances(rows: Matrix, places: Matrix) -> Matrix:
    """Squared distance of each row from each place; rounding cannot make one negative."""
    square = np.einsum("ij,ij->i", rows, rows)[:, np.newaxis] - 2.0 * (rows @ places.T)
    square += np.einsum("ij,ij->i", places, places)
    return np.maximum(square, 0.0, out=square)


def lost_directions(omega: Matrix) -> tuple[float, Matrix]:
    """How far a matrix is from weighing all its directions the same, and the gradient of that.

    Half of ``l log(trace / l) - log det`` of the ``l x l`` matrix ``omega omega'``: zero where its
    eigenvalues are equal, infinite where one is zero, whatever the scale of ``omega``. At a fixed
    trace it is the penalty of Schneider et al. (2010), up to a constant.

    Parameters
    ----------
    omega : ndarray of shape (rank, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> value, gradient = lost_directions(3.0 * np.eye(2, 5))
    >>> float(value), float(np.abs(gradient).max())
    (0.0, 0.0)
    """
    left, size, right = np.linalg.svd(omega, full_matrices=False)
    size = np.maximum(size, _LOST * size[0])
    rank, trace = len(size), float(size @ size)
    value = 0.5 * rank * np.log(trace / rank) - np.log(size).sum()
    return float(value), (left * (rank * size / trace - 1.0 / size)) @ right


# Numbers in one block of distances: 32 MB of them.
_CELLS_PER_BLOCK = 4_000_000


# How much further than needed a search looks, as a share of the radius. A wider one finds more
# pairs to watch, but holds for longer.
_FURTHER = 0.1


class Pairs(NamedTuple):
    """Pairs of rows: of each, the place of the one and of the other."""

    row: Codes
    other: Codes


class Impostors:
    """The pairs of rows of different classes that are near enough to matter, at any mapping.

    A search looks at all pairs, block by block, and keeps those within a radius that is a little
    larger than needed. While rows have not moved too far since, no other pair can have come near:
    the triangle inequality says so, and :meth:`near` checks it. Then the pairs that were kept are
    all there are. Otherwise it searches again. What it gives is exact either way, and memory
    grows with the number of pairs that are near, not with the square of the number of rows.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class of each row.

    Attributes
    ----------
    n_searches : int
        How often all pairs were looked at.
    """

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._mapped: Matrix | None = None
        self.n_searches = 0

    def near(self, mapped: Matrix, radius: Vector) -> Pairs:
        """Pairs of different classes, among them all that are nearer than the first row's radius.

        Parameters
        ----------
        mapped : ndarray of shape (n_samples, rank)
            Rows where Euclidean distances are those of the metric.
        radius : ndarray of shape (n_samples,)
        """
        if not self._still_holds(mapped, radius):
            self._search(mapped, radius * (1.0 + _FURTHER))
        return self._pairs

    def _still_holds(self, mapped: Matrix, radius: Vector) -> bool:
        if self._mapped is None:
            return False
        # A pair that was not kept was further apart than the searched radius. Scaled, and then
        # moved by no more than both its rows have moved, it is still further apart than this:
        scale = max(0.0, float(np.vdot(mapped, self._mapped) / np.vdot(self._mapped, self._mapped)))
        moved = np.linalg.norm(mapped - scale * self._mapped, axis=1)
        return bool(np.all(scale * self._searched - moved - moved.max() >= radius))

    def _search(self, mapped: Matrix, radius: Vector) -> None:
        # A pair is nearer than r where a.b - b.b / 2 > (a.a - r r) / 2: one product and one
        # comparison for each pair, the rest for each row.
        square = np.einsum("ij,ij->i", mapped, mapped)
        rows = np.column_stack([mapped, np.full(len(mapped), -0.5)])
        others = np.column_stack([mapped, square]).T
        threshold = 0.5 * (square - radius**2)
        step = max(1, _CELLS_PER_BLOCK // len(mapped))
        found = [
            self._search_block(rows, others, threshold, slice(first, first + step))
            for first in range(0, len(mapped), step)
        ]
        self._pairs = Pairs(*(np.concatenate(part) for part in zip(*found, strict=True)))
        self._mapped, self._searched = mapped.copy(), radius
        self.n_searches += 1

    def _search_block(self, rows: Matrix, others: Matrix, threshold: Vector, block: slice) -> Pairs:
        near = rows[block] @ others > threshold[block, np.newaxis]
        near &= self._codes[block, np.newaxis] != self._codes
        row, other = np.divmod(np.flatnonzero(near), near.shape[1])
        return Pairs(row + block.start, other)


# Stands for a neighbour that a row does not have: its own place is at distance zero, but it
# must not count.
_NONE = -1


# Numbers in one block of differences: they stay in the cache.
_TRIPLETS_PER_BLOCK = 100_000


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
    step = max(1, _TRIPLETS_PER_BLOCK // mapped.shape[1])
    for first in range(0, len(found), step):
        block = slice(first, first + step)
        difference = mapped[pairs.row[block]] - mapped[pairs.other[block]]
        np.einsum("ij,ij->i", difference, difference, out=found[block])
    return found


def _sum_by_row(counts: NDArray[np.bool_], row: Codes, n_rows: int) -> Matrix:
    return np.column_stack([np.bincount(row, weights=c, minlength=n_rows) for c in counts.T])
