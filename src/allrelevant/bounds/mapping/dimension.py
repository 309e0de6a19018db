"""Classifiers that a mapping is put into, to see how well it still tells classes apart.

How many directions of the data a metric needs: the scheme of Schulz et al., section 5.1.

For each candidate, the bounds of the learned metric are found with only so many directions kept,
and the mappings that attain them are put into the classifier. Where too few are kept, mappings that
count as the same no longer tell the classes apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from ..._optional import display, import_extra
from ..._typing import Codes, Matrix
from ...parallel import parallel_map
from ...resampling import Fold
from .linear_mapping import data_space, matrix_of
from .row_bounds import bounds_of_mapping

if TYPE_CHECKING:
    import pandas as pd

    from ...plots import DimensionDisplay


# Neighbours, for learners that do not say how many.
_N_NEIGHBORS = 3


class MappingClassifier(Protocol):
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


def judge_of(learner: Any, X: Matrix, y: Codes) -> MappingClassifier:
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


@dataclass(frozen=True)
class DimensionCurve:
    """Errors of the mappings at the bounds, by the number of directions kept.

    Attributes
    ----------
    dimensions : ndarray of shape (n_dimensions,)
        Ascending.
    train_error, test_error : ndarray of shape (n_dimensions, n_splits)
        Mean over the mappings that attain the bounds, on the rows trained on and on the others.
    averaged_error : ndarray of shape (n_dimensions, n_splits)
        Of the mean of those mappings, on the others.
    raw_train_error, raw_test_error : ndarray of shape (n_splits,)
        Of the metric as it was learned.
    """

    dimensions: Codes
    train_error: Matrix
    test_error: Matrix
    averaged_error: Matrix
    raw_train_error: Matrix
    raw_test_error: Matrix

    def best(self) -> int:
        """The smallest dimension whose error is within one standard error of the smallest one."""
        mean, spread = self.test_error.mean(axis=1), self._standard_error()
        least = int(mean.argmin())
        good = mean <= mean[least] + spread[least] + 1e-12
        return int(self.dimensions[np.flatnonzero(good)[0]])

    def _standard_error(self) -> Matrix:
        n_splits = self.test_error.shape[1]
        if n_splits < 2:
            return np.zeros(len(self.dimensions))
        return self.test_error.std(axis=1, ddof=1) / np.sqrt(n_splits)

    def to_frame(self) -> pd.DataFrame:
        """One row for each dimension, means over the splits.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``dimension``, with ``train_error``, ``test_error``, ``standard_error`` (of
            the latter) and ``averaged_error``.
        """
        pandas = import_extra("pandas", "cli")
        return pandas.DataFrame(
            {
                "train_error": self.train_error.mean(axis=1),
                "test_error": self.test_error.mean(axis=1),
                "standard_error": self._standard_error(),
                "averaged_error": self.averaged_error.mean(axis=1),
            },
            index=pandas.Index(self.dimensions, name="dimension"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Dimensions and mean errors as values that JSON can hold."""
        return {
            "dimensions": self.dimensions.tolist(),
            "test_error": self.test_error.mean(axis=1).tolist(),
            "train_error": self.train_error.mean(axis=1).tolist(),
            "raw_test_error": float(np.mean(self.raw_test_error)),
        }

    def plot(self, **kwargs: Any) -> DimensionDisplay:
        """Draw error against dimension; see :meth:`DimensionDisplay.from_result`."""
        return display("DimensionDisplay").from_result(self, **kwargs)


def dimension_curve(
    learner: Any,
    X: Matrix,
    y: Codes,
    splits: Sequence[Fold],
    dimensions: Sequence[int] | None,
    slack: float,
    *,
    most: int = 30,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> DimensionCurve:
    """The errors at each dimension.

    Parameters
    ----------
    learner : estimator
        A metric learner, not fitted.
    X : ndarray of shape (n, d)
        Scaled.
    y : ndarray of shape (n,)
        Classes, as codes.
    splits : sequence of (train, test)
    dimensions : sequence of int or None
        Candidates. None: all that the training rows of every split have, up to ``most``.
    slack : float
    most : int, default=30
    n_jobs, progress
        See :func:`allrelevant.parallel.parallel_map`.
    """
    learners = parallel_map(
        lambda split: clone(learner).fit(X[split[0]], y[split[0]]), list(splits), n_jobs=n_jobs
    )
    rank = min(data_space(X[train]).rank for train, _ in splits)
    candidates = np.unique(
        np.arange(1, min(rank, most) + 1)
        if dimensions is None
        else np.minimum(np.asarray(dimensions, dtype=np.intp), rank)
    )

    def errors(task: tuple[int, int]) -> tuple[float, float, float]:
        split, dimension = task
        train, test = splits[split]
        judge = judge_of(learners[split], X[train], y[train])
        directions = data_space(X[train]).first(int(dimension))
        mappings = bounds_of_mapping(matrix_of(learners[split]), directions, slack).at_bounds()
        averaged = mappings.mean(axis=0)

        def test_error(omega: Matrix) -> float:
            return float(np.mean(judge.predict(omega, X[test]) != y[test]))

        return (
            float(np.mean([judge.training_error(omega) for omega in mappings])),
            float(np.mean([test_error(omega) for omega in mappings])),
            test_error(averaged),
        )

    tasks = [(split, int(k)) for split in range(len(splits)) for k in candidates]
    found = parallel_map(errors, tasks, n_jobs=n_jobs, progress=progress)
    train_error, test_error, averaged = np.array(found).T.reshape(3, len(splits), -1)
    raw = np.array(list(_raw_errors(learners, X, y, splits)))
    return DimensionCurve(
        dimensions=candidates,
        train_error=train_error.T,
        test_error=test_error.T,
        averaged_error=averaged.T,
        raw_train_error=raw[:, 0],
        raw_test_error=raw[:, 1],
    )


def _raw_errors(
    learners: Sequence[Any], X: Matrix, y: Codes, splits: Sequence[Fold]
) -> Iterator[tuple[float, float]]:
    for learner, (train, test) in zip(learners, splits, strict=True):
        judge, omega = judge_of(learner, X[train], y[train]), matrix_of(learner)
        wrong = judge.predict(omega, X[test]) != y[test]
        yield judge.training_error(omega), float(np.mean(wrong))
