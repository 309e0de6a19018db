"""Generalized matrix learning vector quantization: the GMLVQ classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from .._typing import Codes, Matrix, Vector
from .._validation import COUNT, NONNEGATIVE, POSITIVE
from ..exceptions import InputError
from ._base import InitialMapping, MetricLearner, center_rows, initial_mapping
from .costs import GmlvqCost, rank_penalty, squared_distances
from .optimization import Minimum, PartialWhitening, descend

# Number of k-means initializations per class; the best result is used.
N_KMEANS_STARTS = 5


class GMLVQ(MetricLearner):
    """Generalized matrix learning vector quantization (GMLVQ) classifier.

    A sample is assigned to the class of its nearest prototype. Prototypes and metric are learned
    together, so that samples are close to a prototype of their class relative to their distance
    from the prototypes of other classes.

    Features should be on the same scale: standardize them first to compare their weights.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class; a dict maps each label to a number.
    rank : int or None, default=None
        Rank of the metric, that is, the number of components of the mapping. None uses the number
        of features.
    regularization : float, default=0
        Weight of a penalty that prevents the metric from losing rank. Without it, training often
        ends near rank one. The penalty is half of ``l log(trace / l) - log det`` of
        ``omega omega'``, where ``l`` is the rank. The data term of the cost is between 0 and 1, so
        useful weights are small (0.001 to 0.1).
    beta : float, default=2
        Steepness of the sigmoid at the decision boundary. With large values, only samples near the
        boundary contribute; with small values, all samples contribute equally.
    start : {"principal", "random"}, default="principal"
        Initial metric: the leading principal axes (at full rank, the Euclidean metric) or random
        directions.
    max_iter : int, default=1000
        Maximum number of iterations. Fewer iterations fit the training data less closely.
    tol : float, default=1e-8
        Tolerance of the stopping criterion: training stops when an iteration reduces the cost by
        less than ``tol * max(1, cost)``.
    random_state : int, RandomState instance or None, default=None
        Seed of the random directions, and of the k-means clustering that initializes several
        prototypes per class.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        Learned prototypes.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Class of each prototype.
    omega_ : ndarray of shape (rank, n_features)
        Learned mapping; distances are Euclidean distances of ``omega_ @ x``.
    lambda_ : ndarray of shape (n_features, n_features)
        Metric ``omega_.T @ omega_``; its trace is 1.
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
        "regularization": [NONNEGATIVE],
        "beta": [POSITIVE],
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

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the prototypes and the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample in the cost and in the means of the initial prototypes. Samples of
            weight zero are ignored.

        Returns
        -------
        self
            Fitted estimator.
        """
        X, codes, rank, weight = self._validate_training(X, y, sample_weight)
        sizes = np.bincount(codes).tolist()
        counts = prototype_counts(self.prototypes_per_class, self.classes_, sizes)
        rng = check_random_state(self.random_state)
        rows = center_rows(X, weight)
        self._prototype_codes = np.repeat(np.arange(len(counts)), counts)
        start = initial_prototypes(rows.X, codes, counts, rng, weight)
        minimum = self._descend(rows.X, codes, start, rank, rng, weight)
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
        weight: Vector | None,
    ) -> Minimum:
        """Minimize the GMLVQ cost; return prototypes and mapping in the coordinates of ``X``."""
        coordinates = PartialWhitening.fit(X, weight)
        omega = initial_mapping(self.start, rank, coordinates, rng)
        data_cost = GmlvqCost(coordinates.rows(X), codes, self._prototype_codes, self.beta, weight)

        def cost(positions: Matrix, mapping: Matrix) -> tuple[float, tuple[Matrix, Matrix]]:
            value, (position_gradient, mapping_gradient) = data_cost(positions, mapping)
            if self.regularization:
                # The penalty applies to the metric of the original features.
                penalty, gradient = rank_penalty(coordinates.original_mapping(mapping))
                value += self.regularization * penalty
                mapping_gradient += self.regularization * coordinates.rows(gradient)
            return value, (position_gradient, mapping_gradient)

        minimum = descend(
            cost,
            [coordinates.rows(prototypes), coordinates.mapping(omega)],
            max_iter=self.max_iter,
            tol=self.tol,
            name="GMLVQ",
            verbose=bool(self.verbose),
        )
        positions, mapping = minimum.matrices
        original = [coordinates.original_rows(positions), coordinates.original_mapping(mapping)]
        return minimum._replace(matrices=original)

    def decision_function(self, X: Any) -> Matrix:
        """Compute the decision value of each class from relative distances to the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data to classify.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Values between -1 and 1: ``(d_other - d_own) / (d_other + d_own)``, where ``d_own`` and
            ``d_other`` are the squared distances to the nearest prototypes of the class and of the
            other classes. With two classes, the values are for ``classes_[1]``.
        """
        distances = self._class_distances(X)
        two_nearest = np.sort(distances, axis=1)[:, :2]
        is_nearest = distances == two_nearest[:, :1]
        other = np.where(is_nearest, two_nearest[:, 1:], two_nearest[:, :1])
        total = other + distances
        score = np.divide(other - distances, total, out=np.zeros_like(total), where=total > 0)
        return score[:, 1] if score.shape[1] == 2 else score

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample, that is, the class of its nearest prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
        """
        nearest = self._class_distances(X).argmin(axis=1)
        return self.classes_[nearest]

    def _class_distances(self, X: Any) -> Matrix:
        """Compute the squared distance of each sample to the nearest prototype of each class."""
        X = self._validate(X)
        # Centering on the prototypes avoids a loss of precision for data with a large offset.
        center = self.prototypes_.mean(axis=0)
        rows = (X - center) @ self.components_.T
        prototypes = (self.prototypes_ - center) @ self.components_.T
        distances = squared_distances(rows, prototypes)
        first = np.searchsorted(self._prototype_codes, np.arange(len(self.classes_)))
        return np.minimum.reduceat(distances, first, axis=1)


def prototype_counts(
    per_class: int | Mapping[Any, int], classes: NDArray[Any], sizes: Sequence[int]
) -> list[int]:
    """Return the number of prototypes of each class; raise if a number is invalid.

    ``per_class`` is one number for all classes or a mapping from labels to numbers. ``sizes``
    contains the number of samples per class.
    """
    labels = classes.tolist()
    if isinstance(per_class, Mapping):
        _check_labels(per_class, labels)
        counts = [per_class[label] for label in labels]
    else:
        counts = [per_class] * len(labels)
    for label, count, size in zip(labels, counts, sizes, strict=True):
        if not isinstance(count, int | np.integer) or count < 1:
            raise InputError(
                f"prototypes_per_class must be an integer of at least 1 (got {count!r} for class "
                f"{str(label)!r})."
            )
        if count > size:
            raise InputError(
                f"Class {str(label)!r} has too few rows ({size}) for {count} prototypes. Reduce "
                "prototypes_per_class."
            )
    return [int(count) for count in counts]


def _check_labels(per_class: Mapping[Any, int], labels: list[Any]) -> None:
    missing = [label for label in labels if label not in per_class]
    if missing:
        raise InputError(
            f"prototypes_per_class has no entry for class {str(missing[0])!r}. Add an entry "
            "for every class."
        )
    unknown = [label for label in per_class if label not in labels]
    if unknown:
        raise InputError(
            f"prototypes_per_class has an entry for {str(unknown[0])!r}, which is not a class. Use "
            f"only the classes {labels}."
        )


def initial_prototypes(
    X: Matrix,
    codes: Codes,
    counts: Sequence[int],
    rng: np.random.RandomState,
    weight: Vector | None = None,
) -> Matrix:
    """Return initial prototypes: the mean of each class, or the centers of its k-means clusters.

    The result has the shape (sum of counts, n_features) and is ordered by class.
    """
    return np.vstack(
        [
            _initial_centers(
                X[codes == code], count, rng, None if weight is None else weight[codes == code]
            )
            for code, count in enumerate(counts)
        ]
    )


def _initial_centers(
    rows: Matrix, count: int, rng: np.random.RandomState, weight: Vector | None
) -> Matrix:
    if count == 1:
        return np.average(rows, axis=0, weights=weight)[np.newaxis]
    # k-means cannot separate equal rows. With too few distinct rows, some centers coincide.
    n_distinct = len(np.unique(rows, axis=0))
    kmeans = KMeans(min(count, n_distinct), n_init=N_KMEANS_STARTS, random_state=rng)
    kmeans.fit(rows, sample_weight=weight)
    return kmeans.cluster_centers_[np.arange(count) % n_distinct]
