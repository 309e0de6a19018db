"""Large margin nearest neighbor classification: the LMNN classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state

from .._typing import Codes, Matrix, Vector
from .._validation import COUNT, FRACTION
from ..exceptions import InputError
from ._base import InitialMapping, MetricLearner, center_rows, initial_mapping
from .costs import LmnnCost, Pairs, pair_distances, target_neighbors
from .optimization import Minimum, PartialWhitening, descend

# Initial mean squared distance of target neighbors, in units of the margin. With a much smaller
# value, nearly all rows would be impostors of each other.
INITIAL_DISTANCE = 4.0


class LMNN(MetricLearner):
    """Large margin nearest neighbor classifier (LMNN).

    The target neighbors of a sample are the nearest samples of the same class. The metric is
    learned so that target neighbors are close and samples of other classes are further away by a
    margin. A sample is classified by majority vote of its nearest neighbors.

    Features should be on the same scale: standardize them first to compare their weights.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of target neighbors, and number of neighbors that ``predict`` uses. If a class has
        ``n_neighbors`` samples or fewer, its samples have fewer target neighbors.
    rank : int or None, default=None
        Rank of the metric, that is, the number of components of the mapping. None uses the number
        of features.
    push : float, default=0.5
        Weight of the margin term, between 0 and 1; the distances of target neighbors have the
        weight ``1 - push``.
    start : {"principal", "random"}, default="principal"
        Initial metric: the leading principal axes (at full rank, the Euclidean metric) or random
        directions.
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=1e-5
        Tolerance of the stopping criterion: training stops when an iteration reduces the cost by
        less than ``tol * max(1, cost)``.
    random_state : int, RandomState instance or None, default=None
        Seed of the random directions.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    omega_ : ndarray of shape (rank, n_features)
        Learned mapping; distances are Euclidean distances of ``omega_ @ x``. The margin between
        squared distances is 1.
    lambda_ : ndarray of shape (n_features, n_features)
        Metric ``omega_.T @ omega_``.
    components_ : ndarray of shape (rank, n_features)
        The same mapping as scaled eigenvectors, largest eigenvalue first; see
        :func:`allrelevant.metric_learning.eigen_rows`.
    relevances_ : ndarray of shape (n_features,)
        Diagonal of ``lambda_``. It is largely arbitrary if features are correlated.
    cost_ : float
        Cost at the minimum.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen during ``fit``; only if ``X`` has feature names that are all strings.

    References
    ----------
    K. Q. Weinberger and L. K. Saul, "Distance metric learning for large margin nearest neighbor
    classification", Journal of Machine Learning Research 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from allrelevant import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> learner = LMNN(rank=2).fit(scale(X), y)
    >>> learner.score(scale(X), y) > 0.97
    True
    >>> learner.transform(scale(X)).shape
    (178, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MetricLearner._parameter_constraints,
        "n_neighbors": [COUNT],
        "push": [FRACTION],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 3,
        rank: int | None = None,
        push: float = 0.5,
        start: InitialMapping = "principal",
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.rank = rank
        self.push = push
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the metric, and store the training samples for ``predict``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample in the cost. Samples of weight zero are ignored. The votes of
            ``predict`` are not weighted.

        Returns
        -------
        self
            Fitted estimator.
        """
        X, codes, rank, weight = self._validate_training(X, y, sample_weight)
        if np.bincount(codes).max() < 2:
            raise InputError(
                "Every class has a single row, so no row has a neighbor of its class. Provide at "
                "least two rows of some class."
            )
        rows = center_rows(X, weight)
        rng = check_random_state(self.random_state)
        minimum = self._descend(rows.X, codes, rank, rng, weight)
        self._set_mapping(minimum.matrices[0] / rows.unit)
        self.cost_, self.n_iter_ = minimum.cost, minimum.n_iter
        self._mean = rows.mean
        self._neighbors = KNeighborsClassifier(n_neighbors=min(self.n_neighbors, len(X)))
        self._neighbors.fit(self._map(X), codes)
        return self

    def _descend(
        self,
        X: Matrix,
        codes: Codes,
        rank: int,
        rng: np.random.RandomState,
        weight: Vector | None,
    ) -> Minimum:
        """Minimize the LMNN cost and return the mapping in the coordinates of ``X``."""
        coordinates = PartialWhitening.fit(X, weight)
        targets = target_neighbors(X, codes, self.n_neighbors)
        omega = initial_mapping(self.start, rank, coordinates, rng)
        omega *= _initial_scale(X @ omega.T, targets)
        minimum = descend(
            LmnnCost(coordinates.rows(X), codes, targets, self.push, weight),
            [coordinates.mapping(omega)],
            max_iter=self.max_iter,
            tol=self.tol,
            name="LMNN",
            verbose=bool(self.verbose),
        )
        return minimum._replace(matrices=[coordinates.original_mapping(minimum.matrices[0])])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample by majority vote of the nearest training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
        """
        X = self._validate(X)
        codes = self._neighbors.predict(self._map(X))
        return self.classes_[codes]

    def _map(self, X: Matrix) -> Matrix:
        # Centering avoids a loss of precision for data with a large offset.
        return (X - self._mean) @ self.components_.T


def _initial_scale(mapped: Matrix, targets: Codes) -> float:
    """Return the factor by which to scale the mapped samples before the optimization.

    After scaling, the mean squared distance to target neighbors is ``INITIAL_DISTANCE``.
    """
    row, slot = np.nonzero(targets >= 0)
    distance = float(pair_distances(mapped, Pairs(row, targets[row, slot])).mean())
    return float(np.sqrt(INITIAL_DISTANCE / distance)) if distance > 0 else 1.0
