"""Classifiers that a mapping is put into, to see how well it still tells classes apart."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from ...arrays import Matrix

Codes = NDArray[np.intp]

# Neighbours, for learners that do not say how many.
_N_NEIGHBORS = 3


class Judge(Protocol):
    """Tells the class of rows from where a mapping puts them."""

    def predict(self, omega: Matrix, X: Matrix) -> Codes: ...

    def training_error(self, omega: Matrix) -> float: ...


class NearestPrototype:
    """The class of the nearest of some prototypes.

    Parameters
    ----------
    prototypes : ndarray of shape (p, d)
    codes : ndarray of shape (p,)
        Their classes.
    X : ndarray of shape (n, d)
        Training rows.
    y : ndarray of shape (n,)
        Their classes.
    """

    def __init__(self, prototypes: Matrix, codes: Codes, X: Matrix, y: Codes) -> None:
        self._prototypes, self._codes, self._X, self._y = prototypes, codes, X, y

    def predict(self, omega: Matrix, X: Matrix) -> Codes:
        rows, places = X @ omega.T, self._prototypes @ omega.T
        # What all prototypes have in common, the row's own length, decides nothing.
        distances = (places**2).sum(axis=1) - 2.0 * rows @ places.T
        return self._codes[distances.argmin(axis=1)]

    def training_error(self, omega: Matrix) -> float:
        return float(np.mean(self.predict(omega, self._X) != self._y))


class NearestNeighbours:
    """The class that most of the nearest training rows have."""

    def __init__(self, n_neighbors: int, X: Matrix, y: Codes) -> None:
        self._n_neighbors, self._X, self._y = min(n_neighbors, len(X) - 1), X, y

    def predict(self, omega: Matrix, X: Matrix) -> Codes:
        return self._fitted(omega).predict(X @ omega.T)

    def training_error(self, omega: Matrix) -> float:
        """Of each row by the others: its own neighbour it is not."""
        index = self._fitted(omega)
        neighbours = index.kneighbors(return_distance=False)  # of the training rows, but themselves
        votes = np.zeros((len(self._y), int(self._y.max()) + 1))
        for column in neighbours.T:
            votes[np.arange(len(votes)), self._y[column]] += 1.0
        return float(np.mean(votes.argmax(axis=1) != self._y))

    def _fitted(self, omega: Matrix) -> KNeighborsClassifier:
        return KNeighborsClassifier(self._n_neighbors).fit(self._X @ omega.T, self._y)


def judge_of(learner: Any, X: Matrix, y: Codes) -> Judge:
    """The classifier that a fitted metric learner stands for.

    Parameters
    ----------
    learner : estimator
        Fitted on these rows. One with ``prototypes_`` and ``prototype_labels_`` has prototypes;
        of any other, neighbours are asked.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Classes, as codes.
    """
    if hasattr(learner, "prototypes_"):
        labels = np.asarray(learner.prototype_labels_, dtype=np.intp)
        return NearestPrototype(learner.prototypes_, labels, X, y)
    return NearestNeighbours(getattr(learner, "n_neighbors", None) or _N_NEIGHBORS, X, y)
