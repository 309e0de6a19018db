"""Generalised matrix learning vector quantisation."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._sklearn import Interval
from ..arrays import Matrix
from .conditioning import HalfWhitening
from .descent import Minimum, descend
from .gmlvq_cost import GmlvqCost, lost_directions, squared_distances
from .learner import MetricLearner, centred_rows
from .prototypes import prototype_counts, start_prototypes
from .start import Start, start_mapping


class GMLVQ(MetricLearner):
    """Prototypes of each class, and the metric in which the nearest one tells the class.

    Generalised matrix learning vector quantisation: a row belongs to the class of its nearest
    prototype. Prototypes and metric are learned together, so that rows come close to a prototype
    of their own class, relative to their distance from the others.

    Features should share one scale: standardise them first, if their weights are to be compared.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes of each class; a dict has a number for each label.
    rank : int or None, default=None
        Rank of the metric, that is the number of directions that it measures. None: as many as
        there are features.
    regularization : float, default=0
        Weight of a penalty that keeps the metric from losing directions. Without it, training
        often ends near rank one. The penalty is ``l log(trace / l) - log det`` of
        ``omega omega'``, halved, with ``l`` the rank; the data's part of the cost is between 0
        and 1, so useful weights are small, 0.001 to 0.1.
    beta : float, default=2
        Steepness of the sigmoid around the decision. Large values look at rows near the border
        only; with small ones all rows count the same.
    start : {"principal", "random"}, default="principal"
        Where the metric starts: at the leading principal axes (at full rank, at the Euclidean
        metric), or at random directions.
    max_iter : int, default=1000
        Largest number of iterations. Few iterations follow the training rows less closely.
    tol : float, default=1e-8
        Stop when an iteration lowers the cost by less than this, or by less than this share of a
        cost above 1.
    random_state : int, RandomState instance or None, default=None
        Seed of random directions, and of the clusters that several prototypes of one class
        start from.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes, n_features)
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Class of each prototype.
    omega_ : ndarray of shape (rank, n_features)
        The mapping that was learned; squared distances are those of ``omega_ @ x``.
    lambda_ : ndarray of shape (n_features, n_features)
        The metric, ``omega_.T @ omega_``; its trace is 1.
    components_ : ndarray of shape (rank, n_features)
        The same mapping by its eigenvectors, those that weigh most first: see
        :func:`allrelevant.metrics.eigen_rows`.
    relevances_ : ndarray of shape (n_features,)
        The diagonal of ``lambda_``. With correlated features it is random to a large extent.
    cost_ : float
        What was minimised, at its end.
    n_iter_ : int
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if ``X`` had names that are all strings.

    References
    ----------
    P. Schneider, M. Biehl and B. Hammer, "Adaptive relevance matrices in learning vector
    quantization", Neural Computation 2009. K. Bunte et al., "Limited rank matrix learning", Neural
    Networks 2012 (``rank``). P. Schneider et al., "Regularization in matrix relevance learning",
    IEEE Transactions on Neural Networks 2010 (``regularization``).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from allrelevant import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = GMLVQ(rank=2).fit(X, y)
    >>> learner.score(X, y) > 0.95
    True
    >>> learner.transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MetricLearner._parameter_constraints,
        "prototypes_per_class": [Interval(Integral, 1, None, closed="left"), dict],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        prototypes_per_class: int | Mapping[Any, int] = 1,
        rank: int | None = None,
        regularization: float = 0.0,
        beta: float = 2.0,
        start: Start = "principal",
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.rank = rank
        self.regularization = regularization
        self.beta = beta
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the prototypes and the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        self._validate_params()
        X, codes = self._validated_training(X, y)
        rank = self._full_or_given_rank()
        sizes = np.bincount(codes).tolist()
        counts = prototype_counts(self.prototypes_per_class, self.classes_, sizes)
        rng = check_random_state(self.random_state)
        rows = centred_rows(X)
        self._prototype_codes = np.repeat(np.arange(len(counts)), counts)
        found = self._descend(
            rows.X, codes, start_prototypes(rows.X, codes, counts, rng), rank, rng
        )
        prototypes, omega = found.matrices
        self.prototypes_ = rows.mean + rows.unit * prototypes
        self.prototype_labels_ = self.classes_[self._prototype_codes]
        self._keep_mapping(omega / np.linalg.norm(omega))
        self.cost_, self.n_iter_ = found.cost, found.n_iter
        return self

    def _descend(
        self,
        X: Matrix,
        codes: NDArray[np.intp],
        prototypes: Matrix,
        rank: int,
        rng: np.random.RandomState,
    ) -> Minimum:
        """Prototypes and matrix of least cost, in the coordinates of ``X``."""
        coordinates = HalfWhitening.of(X)
        omega = start_mapping(self.start, rank, coordinates, rng)
        data_cost = GmlvqCost(coordinates.rows(X), codes, self._prototype_codes, self.beta)

        def cost(places: Matrix, mapping: Matrix) -> tuple[float, tuple[Matrix, Matrix]]:
            value, (to_places, to_mapping) = data_cost(places, mapping)
            if self.regularization:
                # The penalty is about the metric of the features, whatever the coordinates.
                penalty, gradient = lost_directions(coordinates.original_mapping(mapping))
                value += self.regularization * penalty
                to_mapping += self.regularization * coordinates.rows(gradient)
            return value, (to_places, to_mapping)

        found = descend(
            cost,
            [coordinates.rows(prototypes), coordinates.mapping(omega)],
            max_iter=self.max_iter,
            tol=self.tol,
            name="GMLVQ",
            verbose=bool(self.verbose),
        )
        places, mapping = found.matrices
        original = [coordinates.original_rows(places), coordinates.original_mapping(mapping)]
        return found._replace(matrices=original)

    def decision_function(self, X: Any) -> Matrix:
        """How much nearer the prototypes of a class are than those of the others, relatively.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Between -1 and 1: ``(d_other - d_own) / (d_other + d_own)`` of the squared distances
            from the nearest prototypes. With two classes, for ``classes_[1]``.
        """
        distances = self._class_distances(X)
        own_nearest = np.sort(distances, axis=1)[:, :2]
        is_nearest = distances == own_nearest[:, :1]
        other = np.where(is_nearest, own_nearest[:, 1:], own_nearest[:, :1])
        total = other + distances
        score = np.divide(other - distances, total, out=np.zeros_like(total), where=total > 0)
        return score[:, 1] if score.shape[1] == 2 else score

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the nearest prototype of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        nearest = self._class_distances(X).argmin(axis=1)
        return self.classes_[nearest]

    def _class_distances(self, X: Any) -> Matrix:
        """Squared distance of each row from the nearest prototype of each class."""
        X = self._validated(X)
        # Distances around a place amid the prototypes: offsets of the data cost no digits.
        middle = self.prototypes_.mean(axis=0)
        rows = (X - middle) @ self.components_.T
        places = (self.prototypes_ - middle) @ self.components_.T
        distances = squared_distances(rows, places)
        first = np.searchsorted(self._prototype_codes, np.arange(len(self.classes_)))
        return np.minimum.reduceat(distances, first, axis=1)
