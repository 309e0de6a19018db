"""Large margin nearest neighbors: the LMNN classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state

from .._typing import Codes, Matrix
from .._validation import COUNT, SHARE
from ..exceptions import InputError
from ._base import InitialMapping, MetricLearner, center_rows, initial_mapping
from .costs import LmnnCost, Pairs, pair_distances, target_neighbors
from .optimization import Minimum, PartialWhitening, descend

# Mean squared distance of target neighbors at the start, in units of the margin. If it were much
# smaller, nearly all rows would be impostors of each other.
INITIAL_DISTANCE = 4.0


class LMNN(MetricLearner):
    """The metric in which the nearest neighbors of a row are of its own class, by a margin.

    Large margin nearest neighbors: each row has target neighbors, the nearest ones of its own
    class. The metric is learned so that they are near, and that rows of other classes are further
    away than they are, by a margin. A row's class is that of most of its nearest neighbors.

    Features should share one scale: standardize them first, if their weights are to be compared.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of target neighbors, and of the neighbors that ``predict`` asks. Rows of a class
        that has no more rows than that have fewer target neighbors.
    rank : int or None, default=None
        Rank of the metric, that is the number of directions that it measures. None: as many as
        there are features.
    push : float, default=0.5
        Weight, between 0 and 1, of keeping other classes away, against keeping neighbors near.
    start : {"principal", "random"}, default="principal"
        Where the metric starts: at the leading principal axes (at full rank, at the Euclidean
        metric), or at random directions.
    max_iter : int, default=300
        Largest number of iterations.
    tol : float, default=1e-5
        Stop when an iteration lowers the cost by less than this, or by less than this share of a
        cost above 1.
    random_state : int, RandomState instance or None, default=None
        Seed of random directions.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    omega_ : ndarray of shape (rank, n_features)
        The mapping that was learned; squared distances are those of ``omega_ @ x``, and the
        margin is 1.
    lambda_ : ndarray of shape (n_features, n_features)
        The metric, ``omega_.T @ omega_``.
    components_ : ndarray of shape (rank, n_features)
        The same mapping by its eigenvectors, those that weigh most first: see
        :func:`allrelevant.metric_learning.eigen_rows`.
    relevances_ : ndarray of shape (n_features,)
        The diagonal of ``lambda_``. With correlated features it is random to a large extent.
    cost_ : float
        The cost at the minimum.
    n_iter_ : int
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if ``X`` had names that are all strings.

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
        "push": [SHARE],
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

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        X, codes, rank = self._validate_training(X, y)
        if np.bincount(codes).max() < 2:
            raise InputError(
                "Every row has a class of its own: no row has a neighbor of its class. At least "
                "one class must have two rows."
            )
        rows = center_rows(X)
        minimum = self._descend(rows.X, codes, rank, check_random_state(self.random_state))
        self._set_mapping(minimum.matrices[0] / rows.unit)
        self.cost_, self.n_iter_ = minimum.cost, minimum.n_iter
        self._mean = rows.mean
        self._neighbors = KNeighborsClassifier(n_neighbors=min(self.n_neighbors, len(X)))
        self._neighbors.fit(self._mapped(X), codes)
        return self

    def _descend(self, X: Matrix, codes: Codes, rank: int, rng: np.random.RandomState) -> Minimum:
        """Matrix of least cost, in the coordinates of ``X``."""
        coordinates = PartialWhitening.fit(X)
        targets = target_neighbors(X, codes, self.n_neighbors)
        omega = initial_mapping(self.start, rank, coordinates, rng)
        omega *= _initial_scale(X @ omega.T, targets)
        minimum = descend(
            LmnnCost(coordinates.rows(X), codes, targets, self.push),
            [coordinates.mapping(omega)],
            max_iter=self.max_iter,
            tol=self.tol,
            name="LMNN",
            verbose=bool(self.verbose),
        )
        return minimum._replace(matrices=[coordinates.original_mapping(minimum.matrices[0])])

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of most of the nearest training rows of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._validate(X)
        codes = self._neighbors.predict(self._mapped(X))
        return self.classes_[codes]

    def _mapped(self, X: Matrix) -> Matrix:
        # Relative to the mean, so that offsets of the data cost no digits.
        return (X - self._mean) @ self.components_.T


def _initial_scale(mapped: Matrix, targets: Codes) -> float:
    """Factor that brings target neighbors to the initial distance."""
    row, slot = np.nonzero(targets >= 0)
    distance = float(pair_distances(mapped, Pairs(row, targets[row, slot])).mean())
    return float(np.sqrt(INITIAL_DISTANCE / distance)) if distance > 0 else 1.0
