"""Choice of the number of principal directions of a metric by cross-validation.

This follows Schulz et al. (2015), section 5.1. For each candidate number, the learned metric is
bounded with that many directions, and the mappings that attain the bounds are used for
classification. With too few directions, mappings that count as equivalent no longer separate the
classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from ..._optional import display, import_extra
from ..._typing import Codes, Matrix, Rows, Vector
from ...parallel import parallel_map
from ...resampling import Fold
from .linear_mapping import data_space, learned_matrix
from .row_bounds import bound_mapping

if TYPE_CHECKING:
    import pandas as pd

    from ...plots import DimensionDisplay


# Number of neighbors for learners without ``n_neighbors``.
N_NEIGHBORS = 3

# Errors that differ by less than this count as equal.
ERROR_TOL = 1e-12


@dataclass(frozen=True)
class DimensionCurve:
    """Classification errors of mappings that attain bounds, by number of principal directions.

    Attributes
    ----------
    dimensions : ndarray of shape (n_dimensions,)
        Numbers of directions, ascending.
    train_error, test_error : ndarray of shape (n_dimensions, n_splits)
        Mean error of the mappings that attain the bounds, on the training samples and on the
        held-out samples.
    averaged_error : ndarray of shape (n_dimensions, n_splits)
        Error of the mean of these mappings on the held-out samples.
    raw_train_error, raw_test_error : ndarray of shape (n_splits,)
        Errors of the learned metric itself.
    """

    dimensions: Codes
    train_error: Matrix
    test_error: Matrix
    averaged_error: Matrix
    raw_train_error: Vector
    raw_test_error: Vector

    def best(self) -> int:
        """Return the smallest dimension whose error is within one standard error of the minimum."""
        mean, standard_error = self.test_error.mean(axis=1), self._standard_error()
        smallest = int(mean.argmin())
        acceptable = mean <= mean[smallest] + standard_error[smallest] + ERROR_TOL
        return int(self.dimensions[np.flatnonzero(acceptable)[0]])

    def _standard_error(self) -> Vector:
        n_splits = self.test_error.shape[1]
        if n_splits < 2:
            return np.zeros(len(self.dimensions))
        return self.test_error.std(axis=1, ddof=1) / np.sqrt(n_splits)

    def to_frame(self) -> pd.DataFrame:
        """Return the mean errors over all splits as a data frame with one row per dimension.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``dimension``, with ``train_error``, ``test_error``, ``standard_error`` (of
            ``test_error``) and ``averaged_error``.
        """
        pandas = import_extra("pandas", "pandas")

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
        """Return the dimensions and the mean errors over all splits as JSON-compatible values."""
        return {
            "dimensions": self.dimensions.tolist(),
            "test_error": self.test_error.mean(axis=1).tolist(),
            "train_error": self.train_error.mean(axis=1).tolist(),
            "raw_test_error": float(np.mean(self.raw_test_error)),
        }

    def plot(self, **kwargs: Any) -> DimensionDisplay:
        """Plot classification errors by dimension; see :meth:`DimensionDisplay.from_result`."""
        return display("DimensionDisplay").from_result(self, **kwargs)


def dimension_curve(
    learner: Any,
    X: Matrix,
    y: Codes,
    splits: Sequence[Fold],
    slack: float,
    *,
    max_dimension: int = 30,
    weight: Vector | None = None,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> DimensionCurve:
    """Cross-validate a metric learner for each number of principal directions.

    ``X`` is scaled and ``y`` contains class codes. The learner is cloned for each split. The
    dimensions range from 1 to the smallest rank of the training samples over all splits, but at
    most to ``max_dimension``. ``weight`` contains sample weights, or None.
    """
    learners = parallel_map(
        lambda split: fit_learner(
            clone(learner), X[split[0]], y[split[0]], _take(weight, split[0])
        ),
        list(splits),
        n_jobs=n_jobs,
    )
    rank = min(data_space(X[train]).rank for train, _ in splits)
    candidates = np.arange(1, min(rank, max_dimension) + 1)

    fitted = [_FittedSplit(*pair, X, y, weight) for pair in zip(learners, splits, strict=True)]
    items = [(split, int(k)) for split in range(len(splits)) for k in candidates]
    errors = parallel_map(
        lambda item: fitted[item[0]].errors_at_bounds(item[1], slack),
        items,
        n_jobs=n_jobs,
        progress=progress,
    )
    train_error, test_error, averaged = np.array(errors).T.reshape(3, len(splits), -1)
    raw_train_error, raw_test_error = np.array([split.raw_errors() for split in fitted]).T
    return DimensionCurve(
        dimensions=candidates,
        train_error=train_error.T,
        test_error=test_error.T,
        averaged_error=averaged.T,
        raw_train_error=raw_train_error,
        raw_test_error=raw_test_error,
    )


def fit_learner(learner: Any, X: Matrix, y: Codes, weight: Vector | None) -> Any:
    """Fit a metric learner, with sample weights if there are any."""
    return learner.fit(X, y) if weight is None else learner.fit(X, y, sample_weight=weight)


def _take(weight: Vector | None, rows: Rows) -> Vector | None:
    return None if weight is None else weight[rows]


def _weighted_error(predicted: Codes, y: Codes, weight: Vector | None) -> float:
    return float(np.average(predicted != y, weights=weight))


@dataclass(frozen=True)
class _FittedSplit:
    """Metric learner fitted on the training samples of a cross-validation split."""

    learner: Any
    split: Fold
    X: Matrix
    y: Codes
    weight: Vector | None

    def errors_at_bounds(self, dimension: int, slack: float) -> tuple[float, float, float]:
        """Return training and held-out errors of the mappings that attain bounds.

        The values are the mean training error, the mean held-out error, and the held-out error of
        the mean mapping. ``dimension`` is the number of directions.
        """
        train, _ = self.split
        classifier, omega = self._classifier(), learned_matrix(self.learner)
        directions = data_space(self.X[train], _take(self.weight, train)).first(dimension)
        mappings = bound_mapping(omega, directions, slack).at_bounds()
        return (
            float(np.mean([classifier.training_error(mapping) for mapping in mappings])),
            float(np.mean([self._test_error(classifier, mapping) for mapping in mappings])),
            self._test_error(classifier, mappings.mean(axis=0)),
        )

    def raw_errors(self) -> tuple[float, float]:
        """Return the training error and the held-out error of the learned mapping."""
        classifier, omega = self._classifier(), learned_matrix(self.learner)
        return classifier.training_error(omega), self._test_error(classifier, omega)

    def _classifier(self) -> MappingClassifier:
        train, _ = self.split
        weight = _take(self.weight, train)
        return classifier_for(self.learner, self.X[train], self.y[train], weight)

    def _test_error(self, classifier: MappingClassifier, omega: Matrix) -> float:
        _, test = self.split
        predicted = classifier.predict(omega, self.X[test])
        return _weighted_error(predicted, self.y[test], _take(self.weight, test))


class MappingClassifier(Protocol):
    """Interface of classifiers that predict classes from samples mapped by ``omega``."""

    def predict(self, omega: Matrix, X: Matrix) -> Codes: ...

    def training_error(self, omega: Matrix) -> float: ...


def classifier_for(
    learner: Any, X: Matrix, y: Codes, weight: Vector | None = None
) -> MappingClassifier:
    """Return a nearest-prototype or nearest-neighbors classifier for a fitted metric learner.

    Learners with ``prototypes_`` and ``prototype_labels_`` classify by the nearest prototype, all
    others by the nearest neighbors. ``weight`` contains the weights of the samples in the training
    error, or None.
    """
    if hasattr(learner, "prototypes_"):
        labels = np.asarray(learner.prototype_labels_, dtype=np.intp)
        return NearestPrototype(learner.prototypes_, labels, X, y, weight)
    return NearestNeighbors(getattr(learner, "n_neighbors", None) or N_NEIGHBORS, X, y, weight)


class NearestPrototype:
    """Nearest-prototype classifier; ``codes`` are the classes of the prototypes."""

    def __init__(
        self, prototypes: Matrix, codes: Codes, X: Matrix, y: Codes, weight: Vector | None
    ) -> None:
        self._prototypes, self._codes, self._X, self._y = prototypes, codes, X, y
        self._weight = weight

    def predict(self, omega: Matrix, X: Matrix) -> Codes:
        rows, prototypes = X @ omega.T, self._prototypes @ omega.T
        # The squared length of the sample is the same for all prototypes and can be omitted.
        distances = (prototypes**2).sum(axis=1) - 2.0 * rows @ prototypes.T
        return self._codes[distances.argmin(axis=1)]

    def training_error(self, omega: Matrix) -> float:
        return _weighted_error(self.predict(omega, self._X), self._y, self._weight)


class NearestNeighbors:
    """k-nearest-neighbors classifier with majority vote."""

    def __init__(self, n_neighbors: int, X: Matrix, y: Codes, weight: Vector | None = None) -> None:
        self._n_neighbors, self._X, self._y = min(n_neighbors, len(X) - 1), X, y
        self._weight = weight

    def predict(self, omega: Matrix, X: Matrix) -> Codes:
        return self._fit(omega).predict(X @ omega.T)

    def training_error(self, omega: Matrix) -> float:
        """Return the leave-one-out error on the training samples."""
        neighbors = self._fit(omega).kneighbors(return_distance=False)  # excludes the sample itself
        votes = np.zeros((len(self._y), int(self._y.max()) + 1))
        for column in neighbors.T:
            votes[np.arange(len(votes)), self._y[column]] += 1.0
        return _weighted_error(votes.argmax(axis=1), self._y, self._weight)

    def _fit(self, omega: Matrix) -> KNeighborsClassifier:
        return KNeighborsClassifier(self._n_neighbors).fit(self._X @ omega.T, self._y)
