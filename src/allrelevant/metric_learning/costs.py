"""Cost functions of GMLVQ and LMNN with exact gradients, and the search for LMNN impostors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.neighbors import NearestNeighbors

from .._typing import Codes, Matrix, Vector

# Minimum for the sum of two squared distances, which makes division by its square safe. A row that
# coincides with prototypes of two classes gets the relative distance zero.
MIN_TOTAL_DISTANCE = 1e-150

# Minimum for singular values relative to the largest, which avoids the logarithm of zero.
MIN_SINGULAR_RATIO = 1e-150

# Marks a missing target neighbor.
NO_NEIGHBOR = -1

# Extra search radius for impostors, as a fraction of the radius. A wider search returns more pairs
# but stays valid for longer.
SEARCH_MARGIN = 0.1

# Number of distances per block of a search (32 MB).
DISTANCES_PER_BLOCK = 4_000_000

# Number of differences per block, small enough for the cache.
DIFFERENCES_PER_BLOCK = 100_000


class GmlvqCost:
    """Cost function of GMLVQ: the mean of a sigmoid of relative distance differences.

    The mean of ``1 / (1 + exp(-beta mu))`` is taken over all samples. In
    ``mu = (d_own - d_other) / (d_own + d_other)``, ``d_own`` and ``d_other`` are the squared
    distances to the nearest prototypes of the sample's class and of the other classes, in the
    metric of ``omega``. The cost does not depend on the scale of ``omega``. ``codes`` and
    ``labels`` are the classes of the samples and of the prototypes. ``weight`` contains sample
    weights of mean 1, or None.
    """

    def __init__(
        self, X: Matrix, codes: Codes, labels: Codes, beta: float, weight: Vector | None = None
    ) -> None:
        self._X = X
        self._beta = beta
        self._weight = np.ones(len(X)) if weight is None else weight
        self._rows = np.arange(len(X))
        # These masks, added to distances, exclude prototypes of other classes or of the same class.
        is_own = codes[:, np.newaxis] == labels
        self._own_only = np.where(is_own, 0.0, np.inf)
        self._others_only = np.where(is_own, np.inf, 0.0)

    def __call__(self, prototypes: Matrix, omega: Matrix) -> tuple[float, tuple[Matrix, Matrix]]:
        """Compute the cost and its gradients with respect to the prototypes and ``omega``."""
        rows, mapped_prototypes = self._X @ omega.T, prototypes @ omega.T
        distances = squared_distances(rows, mapped_prototypes)
        own, d_own = self._nearest(distances, self._own_only)
        other, d_other = self._nearest(distances, self._others_only)
        total = np.maximum(d_own + d_other, MIN_TOTAL_DISTANCE)
        score = expit(self._beta * (d_own - d_other) / total)
        slope = (4.0 * self._beta / len(score)) * score * (1.0 - score) / (total * total)
        slope *= self._weight
        # Twice the derivative with respect to each squared distance.
        slopes = np.zeros((len(score), len(mapped_prototypes)))
        slopes[self._rows, own] = slope * d_other
        slopes[self._rows, other] = -slope * d_own
        row_sums, prototype_sums = slopes @ np.ones(slopes.shape[1]), np.ones(len(rows)) @ slopes
        row_gradient = row_sums[:, np.newaxis] * rows - slopes @ mapped_prototypes
        prototype_gradient = prototype_sums[:, np.newaxis] * mapped_prototypes - slopes.T @ rows
        omega_gradient = row_gradient.T @ self._X + prototype_gradient.T @ prototypes
        return float((self._weight * score).mean()), (prototype_gradient @ omega, omega_gradient)

    def _nearest(self, distances: Matrix, among: Matrix) -> tuple[Codes, Vector]:
        """Return, for each sample, the nearest allowed prototype and the squared distance to it.

        ``among`` is zero for allowed prototypes and infinite for others.
        """
        prototype = (distances + among).argmin(axis=1)
        return prototype, distances[self._rows, prototype]


def squared_distances(rows: Matrix, points: Matrix) -> Matrix:
    """Return the squared distance of each row to each point; shape (n_rows, n_points).

    Results that are negative due to rounding are set to zero.
    """
    square = np.einsum("ij,ij->i", rows, rows)[:, np.newaxis] - 2.0 * (rows @ points.T)
    square += np.einsum("ij,ij->i", points, points)
    return np.maximum(square, 0.0, out=square)


def rank_penalty(omega: Matrix) -> tuple[float, Matrix]:
    """Compute a penalty that prevents the mapping ``omega`` from losing rank, and its gradient.

    The penalty is half of ``l log(trace / l) - log det`` of the ``l x l`` matrix ``omega omega'``.
    It is zero if all eigenvalues are equal, infinite if one is zero, and does not depend on the
    scale of ``omega``. For a fixed trace, it equals the penalty of Schneider et al. (2010) up to a
    constant.
    """
    left, size, right = np.linalg.svd(omega, full_matrices=False)
    size = np.maximum(size, MIN_SINGULAR_RATIO * size[0])
    rank, trace = len(size), float(size @ size)
    value = 0.5 * rank * np.log(trace / rank) - np.log(size).sum()
    return float(value), (left * (rank * size / trace - 1.0 / size)) @ right


class Pairs(NamedTuple):
    """Pairs of samples, given by their indices."""

    row: Codes
    other: Codes


class LmnnCost:
    """Cost function of LMNN: distances to target neighbors plus margin violations by impostors.

    The first term is ``(1 - push)`` times the squared distances of all samples to their target
    neighbors. The second term is ``push`` times the hinge loss ``max(0, 1 + d_target - d_other)``
    of the squared distances, over all samples, target neighbors and samples of other classes. Both
    terms are weighted by the weight of the sample, and divided by the total weight of the
    target-neighbor pairs.

    ``X`` is centered, ``codes`` are the classes of its samples, and ``targets`` come from
    :func:`target_neighbors`. ``weight`` contains sample weights; None means equal weights.
    """

    def __init__(
        self, X: Matrix, codes: Codes, targets: Codes, push: float, weight: Vector | None = None
    ) -> None:
        self._X = X
        self._weight = np.ones(len(X)) if weight is None else weight
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
        # Coefficient of each pair's squared distance in the cost.
        pulls = np.full(len(self._row), 1.0 - self._push)
        per_target = np.column_stack(
            [np.bincount(impostors.row, weights=v, minlength=len(mapped)) for v in violated.T]
        )
        pulls += self._push * per_target[self._row, self._slot]
        pushes = -self._push * violated.sum(axis=1)
        pair_weight, impostor_weight = self._weight[self._row], self._weight[impostors.row]
        excess = (impostor_weight[:, np.newaxis] * overlap)[violated].sum()
        value = (1.0 - self._push) * (pair_weight * distance).sum() + self._push * excess
        mapped_gradient = self._mapped_gradient(
            mapped, pair_weight * pulls, impostors, impostor_weight * pushes
        )
        total = pair_weight.sum()
        return float(value / total), (mapped_gradient.T @ self._X / total,)

    def _overlaps(self, mapped: Matrix, reach: Matrix) -> tuple[Pairs, Matrix]:
        """Return the impostor pairs, and their margin violation for each target neighbor."""
        furthest = reach.max(axis=1)
        pairs = self.impostors.near(mapped, np.sqrt(np.maximum(furthest, 0.0)))
        distance = pair_distances(mapped, pairs)
        inside = distance < furthest[pairs.row]
        row, other = pairs.row[inside], pairs.other[inside]
        return Pairs(row, other), reach[row] - distance[inside, np.newaxis]

    def _mapped_gradient(
        self, mapped: Matrix, pulls: Vector, impostors: Pairs, pushes: Vector
    ) -> Matrix:
        """Compute the gradient of the cost with respect to the mapped samples.

        It is twice a weighted graph Laplacian times the mapped samples.
        """
        row = np.concatenate([self._row, impostors.row])
        other = np.concatenate([self._target, impostors.other])
        weight = np.concatenate([pulls, pushes])
        n_samples = len(mapped)
        graph = sp.csr_array((weight, (row, other)), shape=(n_samples, n_samples))
        graph = graph + graph.T
        return 2.0 * (graph.sum(axis=1)[:, np.newaxis] * mapped - graph @ mapped)


def target_neighbors(X: Matrix, codes: Codes, n_neighbors: int) -> Codes:
    """Return, for each sample, the nearest samples of its class; shape (n_samples, n_neighbors).

    Rows of small classes have fewer neighbors; -1 marks the missing ones.
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
    """Compute the squared distance between the two samples of each pair."""
    distances = np.empty(len(pairs.row))
    step = max(1, DIFFERENCES_PER_BLOCK // mapped.shape[1])
    for first in range(0, len(distances), step):
        block = slice(first, first + step)
        difference = mapped[pairs.row[block]] - mapped[pairs.other[block]]
        np.einsum("ij,ij->i", difference, difference, out=distances[block])
    return distances


class Impostors:
    """Repeated search for nearby pairs of samples from different classes as the mapping changes.

    A search computes all distances in blocks and stores the pairs within a slightly larger radius
    than required. As long as the mapped samples have moved little, the triangle inequality
    guarantees that no other pair is within the radius; otherwise all pairs are searched again. The
    result is exact in both cases. Memory grows with the number of stored pairs, not with the square
    of the number of samples. ``n_searches`` counts the searches.
    """

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._mapped: Matrix | None = None
        self.n_searches = 0

    def near(self, mapped: Matrix, radius: Vector) -> Pairs:
        """Return a superset of the pairs of samples from different classes within the given radii.

        ``mapped`` contains the samples in the space of the metric. ``radius`` contains the radius
        of the first sample of a pair. The result may contain pairs outside the radius.
        """
        if not self._is_valid(mapped, radius):
            self._search(mapped, radius * (1.0 + SEARCH_MARGIN))
        return self._pairs

    def _is_valid(self, mapped: Matrix, radius: Vector) -> bool:
        """Return whether the stored pairs include all pairs within the given radii."""
        if self._mapped is None:
            return False
        # The rows of a pair that was not stored were further apart than the searched radius.
        # After scaling, and after both rows have moved, their distance still exceeds this bound:
        scale = max(0.0, float(np.vdot(mapped, self._mapped) / np.vdot(self._mapped, self._mapped)))
        moved = np.linalg.norm(mapped - scale * self._mapped, axis=1)
        return bool(np.all(scale * self._radius - moved - moved.max() >= radius))

    def _search(self, mapped: Matrix, radius: Vector) -> None:
        # The distance is below r if a.b - b.b / 2 > (a.a - r r) / 2. This needs one product and
        # one comparison per pair; all other terms are computed per row.
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
