"""The costs that GMLVQ and LMNN minimize, with exact gradients; the impostors of LMNN."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.neighbors import NearestNeighbors

from .._typing import Codes, Matrix, Vector

# Smallest sum of two squared distances. A row that lies on prototypes of two classes at once gets
# the relative distance zero, and the square of the sum can still be divided by.
MIN_TOTAL_DISTANCE = 1e-150

# Smaller singular values, as a share of the largest, are treated as this share: no log of zero.
MIN_SINGULAR_SHARE = 1e-150

# Target neighbor that a row does not have.
NO_NEIGHBOR = -1

# How much further than needed a search for impostors looks, as a share of the radius. A wider
# search finds more pairs, but stays valid for longer.
SEARCH_MARGIN = 0.1

# Distances computed at a time in a search: 32 MB.
DISTANCES_PER_BLOCK = 4_000_000

# Differences of pairs computed at a time: they stay in the cache.
DIFFERENCES_PER_BLOCK = 100_000


class GmlvqCost:
    """Mean over the rows of ``1 / (1 + exp(-beta mu))``.

    ``mu = (d_own - d_other) / (d_own + d_other)`` compares the squared distances, in the metric of
    ``omega``, from the nearest prototype of the row's class and the nearest of another class. It
    does not depend on the scale of ``omega``. ``codes`` and ``labels`` are the classes of the rows
    and of the prototypes.
    """

    def __init__(self, X: Matrix, codes: Codes, labels: Codes, beta: float) -> None:
        self._X = X
        self._beta = beta
        self._rows = np.arange(len(X))
        # Added to distances, these exclude the prototypes of other classes, or of the own class.
        is_own = codes[:, np.newaxis] == labels
        self._own_only = np.where(is_own, 0.0, np.inf)
        self._others_only = np.where(is_own, np.inf, 0.0)

    def __call__(self, prototypes: Matrix, omega: Matrix) -> tuple[float, tuple[Matrix, Matrix]]:
        """Compute the cost, and its gradients with respect to the prototypes and to ``omega``."""
        rows, places = self._X @ omega.T, prototypes @ omega.T
        distances = squared_distances(rows, places)
        own, d_own = self._nearest(distances, self._own_only)
        other, d_other = self._nearest(distances, self._others_only)
        total = np.maximum(d_own + d_other, MIN_TOTAL_DISTANCE)
        score = expit(self._beta * (d_own - d_other) / total)
        slope = (4.0 * self._beta / len(score)) * score * (1.0 - score) / (total * total)
        # Twice the derivative with respect to each distance, which is a square.
        pull = np.zeros((len(score), len(places)))
        pull[self._rows, own] = slope * d_other
        pull[self._rows, other] = -slope * d_own
        row_gradient = (pull @ np.ones(len(places)))[:, np.newaxis] * rows - pull @ places
        place_gradient = (np.ones(len(rows)) @ pull)[:, np.newaxis] * places - pull.T @ rows
        omega_gradient = row_gradient.T @ self._X + place_gradient.T @ prototypes
        return float(score.mean()), (place_gradient @ omega, omega_gradient)

    def _nearest(self, distances: Matrix, among: Matrix) -> tuple[Codes, Vector]:
        """The nearest prototype of each row, and its squared distance."""
        prototype = (distances + among).argmin(axis=1)
        return prototype, distances[self._rows, prototype]


def squared_distances(rows: Matrix, places: Matrix) -> Matrix:
    """Squared distance of each row from each place; rounding cannot make one negative."""
    square = np.einsum("ij,ij->i", rows, rows)[:, np.newaxis] - 2.0 * (rows @ places.T)
    square += np.einsum("ij,ij->i", places, places)
    return np.maximum(square, 0.0, out=square)


def rank_penalty(omega: Matrix) -> tuple[float, Matrix]:
    """Penalty on a mapping that loses directions, and its gradient.

    Half of ``l log(trace / l) - log det`` of the ``l x l`` matrix ``omega omega'``: zero where its
    eigenvalues are equal, infinite where one is zero, at any scale of ``omega``. At a fixed trace
    it is the penalty of Schneider et al. (2010), up to a constant.
    """
    left, size, right = np.linalg.svd(omega, full_matrices=False)
    size = np.maximum(size, MIN_SINGULAR_SHARE * size[0])
    rank, trace = len(size), float(size @ size)
    value = 0.5 * rank * np.log(trace / rank) - np.log(size).sum()
    return float(value), (left * (rank * size / trace - 1.0 / size)) @ right


class Pairs(NamedTuple):
    """Pairs of rows, by their indices."""

    row: Codes
    other: Codes


class LmnnCost:
    """Distances of target neighbors, and by how much rows of other classes are too near.

    ``(1 - push)`` times the squared distances of all rows from their target neighbors, plus
    ``push`` times, for every row, target neighbor and row of another class, the amount by which
    the squared distance of the latter is less than that of the former plus 1. Both are divided by
    the number of pairs of target neighbors.

    ``X`` is centered, ``codes`` are the classes of its rows, and ``targets`` come from
    :func:`target_neighbors`.
    """

    def __init__(self, X: Matrix, codes: Codes, targets: Codes, push: float) -> None:
        self._X = X
        self._push = push
        self._has_target = targets != NO_NEIGHBOR
        self._row, self._slot = np.nonzero(self._has_target)
        self._target = targets[self._row, self._slot]
        self.impostors = Impostors(codes)

    def __call__(self, omega: Matrix) -> tuple[float, tuple[Matrix]]:
        """Compute the cost and its gradient with respect to ``omega``, shape (rank, n_features)."""
        mapped = self._X @ omega.T
        distance = pair_distances(mapped, Pairs(self._row, self._target))
        reach = np.full(self._has_target.shape, -np.inf)
        reach[self._row, self._slot] = 1.0 + distance
        impostors, overlap = self._overlaps(mapped, reach)
        violated = overlap > 0
        # How often each pair's distance counts in the cost, with its sign.
        pulls = np.full(len(self._row), 1.0 - self._push)
        per_target = np.column_stack(
            [np.bincount(impostors.row, weights=v, minlength=len(mapped)) for v in violated.T]
        )
        pulls += self._push * per_target[self._row, self._slot]
        pushes = -self._push * violated.sum(axis=1)
        value = (1.0 - self._push) * distance.sum() + self._push * overlap[violated].sum()
        mapped_gradient = self._mapped_gradient(mapped, pulls, impostors, pushes)
        n_pairs = len(self._row)
        return float(value) / n_pairs, (mapped_gradient.T @ self._X / n_pairs,)

    def _overlaps(self, mapped: Matrix, reach: Matrix) -> tuple[Pairs, Matrix]:
        """Pairs of impostors, and how far each is inside the reach of each target neighbor."""
        furthest = reach.max(axis=1)
        pairs = self.impostors.near(mapped, np.sqrt(np.maximum(furthest, 0.0)))
        distance = pair_distances(mapped, pairs)
        inside = distance < furthest[pairs.row]
        row, other = pairs.row[inside], pairs.other[inside]
        return Pairs(row, other), reach[row] - distance[inside, np.newaxis]

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


def target_neighbors(X: Matrix, codes: Codes, n_neighbors: int) -> Codes:
    """The nearest rows of the same class, shape (n_samples, n_neighbors).

    Rows of small classes have fewer; -1 marks those that are missing.
    """
    targets = np.full((len(X), n_neighbors), NO_NEIGHBOR)
    for code in range(codes.max() + 1):
        (rows,) = np.nonzero(codes == code)
        count = min(n_neighbors, len(rows) - 1)
        if count:
            search = NearestNeighbors(n_neighbors=count).fit(X[rows])
            targets[rows, :count] = rows[search.kneighbors(return_distance=False)]
    return targets


def pair_distances(mapped: Matrix, pairs: Pairs) -> Vector:
    """Squared distance of the two rows of each pair."""
    distances = np.empty(len(pairs.row))
    step = max(1, DIFFERENCES_PER_BLOCK // mapped.shape[1])
    for first in range(0, len(distances), step):
        block = slice(first, first + step)
        difference = mapped[pairs.row[block]] - mapped[pairs.other[block]]
        np.einsum("ij,ij->i", difference, difference, out=distances[block])
    return distances


class Impostors:
    """The pairs of rows of different classes that are near enough to matter, at any mapping.

    A search computes all distances, block by block, and keeps the pairs within a radius that is a
    little larger than needed. While rows have moved little since, the triangle inequality proves
    that no other pair can have come near; otherwise all pairs are searched again. The result is
    exact either way, and memory grows with the number of pairs that are near, not with the square
    of the number of rows. ``n_searches`` counts the searches.
    """

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._mapped: Matrix | None = None
        self.n_searches = 0

    def near(self, mapped: Matrix, radius: Vector) -> Pairs:
        """Pairs of different classes, among them all that are nearer than the first row's radius.

        ``mapped`` are the rows in the space of the metric.
        """
        if not self._is_valid(mapped, radius):
            self._search(mapped, radius * (1.0 + SEARCH_MARGIN))
        return self._pairs

    def _is_valid(self, mapped: Matrix, radius: Vector) -> bool:
        """Whether the last search has found all pairs within these radii."""
        if self._mapped is None:
            return False
        # A pair that was not kept was further apart than the searched radius. Scaled, and then
        # moved by no more than both its rows have moved, it is still further apart than this:
        scale = max(0.0, float(np.vdot(mapped, self._mapped) / np.vdot(self._mapped, self._mapped)))
        moved = np.linalg.norm(mapped - scale * self._mapped, axis=1)
        return bool(np.all(scale * self._radius - moved - moved.max() >= radius))

    def _search(self, mapped: Matrix, radius: Vector) -> None:
        # A pair is nearer than r where a.b - b.b / 2 > (a.a - r r) / 2: one product and one
        # comparison for each pair, the rest for each row.
        square = np.einsum("ij,ij->i", mapped, mapped)
        rows = np.column_stack([mapped, np.full(len(mapped), -0.5)])
        others = np.column_stack([mapped, square]).T
        threshold = 0.5 * (square - radius**2)
        step = max(1, DISTANCES_PER_BLOCK // len(mapped))
        blocks = [
            self._search_block(rows, others, threshold, slice(first, first + step))
            for first in range(0, len(mapped), step)
        ]
        self._pairs = Pairs(*(np.concatenate(part) for part in zip(*blocks, strict=True)))
        self._mapped, self._radius = mapped.copy(), radius
        self.n_searches += 1

    def _search_block(self, rows: Matrix, others: Matrix, threshold: Vector, block: slice) -> Pairs:
        near = rows[block] @ others > threshold[block, np.newaxis]
        near &= self._codes[block, np.newaxis] != self._codes
        row, other = np.divmod(np.flatnonzero(near), near.shape[1])
        return Pairs(row + block.start, other)
