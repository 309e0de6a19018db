"""Generalized matrix learning vector quantization, and its prototypes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._typing import Codes, Matrix
from .._validation import COUNT
from ..exceptions import InputError
from ._base import InitialMapping, MetricLearner, center_rows, initial_mapping
from .costs import GmlvqCost, rank_penalty, squared_distances
from .optimization import Minimum, PartialWhitening, descend

# Random starts of the k-means of each class; the best result is used.
N_KMEANS_STARTS = 5


class GMLVQ(MetricLearner):
    """Prototypes of each class, and the metric in which the nearest one tells the class.

    Generalized matrix learning vector quantization: a row belongs to the class of its nearest
    prototype. Prototypes and metric are learned together, so that rows come close to a prototype
    of their own class, relative to their distance from the others.

    Features should share one scale: standardize them first, if their weights are to be compared.

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
        "prototypes_per_class": [COUNT, dict],
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
        start: InitialMapping = "principal",
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
        X, codes, rank = self._validate_training(X, y)
        sizes = np.bincount(codes).tolist()
        counts = prototype_counts(self.prototypes_per_class, self.classes_, sizes)
        rng = check_random_state(self.random_state)
        rows = center_rows(X)
        self._prototype_codes = np.repeat(np.arange(len(counts)), counts)
        start = initial_prototypes(rows.X, codes, counts, rng)
        minimum = self._descend(rows.X, codes, start, rank, rng)
        prototypes, omega = minimum.matrices
        self.prototypes_ = rows.mean + rows.unit * prototypes
        self.prototype_labels_ = self.classes_[self._prototype_codes]
        self._set_mapping(omega / np.linalg.norm(omega))
        self.cost_, self.n_iter_ = minimum.cost, minimum.n_iter
        return self

    def _descend(
        self,
        X: Matrix,
        codes: Codes,
        prototypes: Matrix,
        rank: int,
        rng: np.random.RandomState,
    ) -> Minimum:
        """Prototypes and matrix of least cost, in the coordinates of ``X``."""
        coordinates = PartialWhitening.fit(X)
        omega = initial_mapping(self.start, rank, coordinates, rng)
        data_cost = GmlvqCost(coordinates.rows(X), codes, self._prototype_codes, self.beta)

        def cost(places: Matrix, mapping: Matrix) -> tuple[float, tuple[Matrix, Matrix]]:
            value, (place_gradient, mapping_gradient) = data_cost(places, mapping)
            if self.regularization:
                # The penalty concerns the metric of the original features.
                penalty, gradient = rank_penalty(coordinates.original_mapping(mapping))
                value += self.regularization * penalty
                mapping_gradient += self.regularization * coordinates.rows(gradient)
            return value, (place_gradient, mapping_gradient)

        minimum = descend(
            cost,
            [coordinates.rows(prototypes), coordinates.mapping(omega)],
            max_iter=self.max_iter,
            tol=self.tol,
            name="GMLVQ",
            verbose=bool(self.verbose),
        )
        places, mapping = minimum.matrices
        original = [coordinates.original_rows(places), coordinates.original_mapping(mapping)]
        return minimum._replace(matrices=original)

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
        X = self._validate(X)
        # Relative to the center of the prototypes, so that offsets of the data cost no digits.
        center = self.prototypes_.mean(axis=0)
        rows = (X - center) @ self.components_.T
        places = (self.prototypes_ - center) @ self.components_.T
        distances = squared_distances(rows, places)
        first = np.searchsorted(self._prototype_codes, np.arange(len(self.classes_)))
        return np.minimum.reduceat(distances, first, axis=1)


def prototype_counts(
    per_class: int | Mapping[Any, int], classes: NDArray[Any], sizes: Sequence[int]
) -> list[int]:
    """Number of prototypes of each class, from one number for all or a number for each label.

    ``sizes`` are the numbers of rows of the classes.
    """
    labels = classes.tolist()
    if isinstance(per_class, Mapping):
        _require_same_labels(per_class, labels)
        counts = [per_class[label] for label in labels]
    else:
        counts = [per_class] * len(labels)
    for label, count, size in zip(labels, counts, sizes, strict=True):
        if not isinstance(count, int | np.integer) or count < 1:
            raise InputError(
                f"prototypes_per_class must be whole numbers of at least 1, got {count!r} for "
                f"class {str(label)!r}."
            )
        if count > size:
            raise InputError(
                f"Class {str(label)!r} has {size} rows, too few for {count} prototypes: lower "
                "prototypes_per_class."
            )
    return [int(count) for count in counts]


def _require_same_labels(per_class: Mapping[Any, int], labels: list[Any]) -> None:
    missing = [label for label in labels if label not in per_class]
    if missing:
        raise InputError(f"prototypes_per_class has no number for class {str(missing[0])!r}.")
    unknown = [label for label in per_class if label not in labels]
    if unknown:
        raise InputError(
            f"prototypes_per_class has a number for {str(unknown[0])!r}, which is no class; the "
            f"classes are {labels}."
        )


def initial_prototypes(
    X: Matrix, codes: Codes, counts: Sequence[int], rng: np.random.RandomState
) -> Matrix:
    """The mean of each class, or the centers of as many clusters as it has prototypes.

    The result has the shape (sum of counts, n_features), class by class.
    """
    return np.vstack([_centers(X[codes == code], n, rng) for code, n in enumerate(counts)])


def _centers(rows: Matrix, count: int, rng: np.random.RandomState) -> Matrix:
    if count == 1:
        return rows.mean(axis=0, keepdims=True)
    # k-means cannot separate equal rows; with too few distinct ones, centers coincide.
    n_distinct = len(np.unique(rows, axis=0))
    kmeans = KMeans(min(count, n_distinct), n_init=N_KMEANS_STARTS, random_state=rng).fit(rows)
    return kmeans.cluster_centers_[np.arange(count) % n_distinct]
