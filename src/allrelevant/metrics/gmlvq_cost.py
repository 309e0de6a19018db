"""Cost and exact gradient of generalised matrix learning vector quantisation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..arrays import Matrix, Vector

Codes = NDArray[np.intp]

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
