"""Base class of the metric learners, with centering and the choice of an initial mapping.

This module validates and centers the data, chooses the initial mapping of the optimization and
computes the components of a learned metric.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._typing import Codes, Matrix, Vector
from .._validation import (
    COUNT,
    NONNEGATIVE,
    check_labels,
    check_varying,
    check_weights,
    encode_classes,
)
from ..exceptions import InputError
from ..terms.scaling import constant_columns
from ..terms.validation import validate_table
from .optimization import PartialWhitening

InitialMapping: TypeAlias = Literal["principal", "random"]


class MetricLearner(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """Base class of classifiers that learn a linear mapping.

    Subclasses learn ``omega`` in ``fit`` and pass it to :meth:`_set_mapping`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rank": [COUNT, None],
        "start": [StrOptions(set(get_args(InitialMapping)))],
        "max_iter": [COUNT],
        "tol": [NONNEGATIVE],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    rank: int | None
    omega_: Matrix
    components_: Matrix

    def transform(self, X: Any) -> Matrix:
        """Map samples to the space in which Euclidean distances equal the learned distances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data to map.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            Mapped samples, ``X @ components_.T``.
        """
        return self._validate(X) @ self.components_.T

    def _validate(self, X: Any) -> Matrix:
        check_is_fitted(self)
        return np.asarray(validate_table(self, X, dtype=np.float64, reset=False))

    def _validate_training(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Matrix, Codes, int, Vector | None]:
        """Validate training data and set ``classes_``.

        Return X, class codes, rank and sample weights (None if they are equal), without the samples
        of weight zero.
        """
        self._validate_params()
        X, y = validate_table(self, X, y, dtype=np.float64, ensure_min_samples=2)
        X, y, weight = weighted_rows(X, y, sample_weight)
        check_labels(y)
        self.classes_, codes = encode_classes(y)
        n_features = int(self.n_features_in_)
        if self.rank is not None and self.rank > n_features:
            raise InputError(
                f"rank={self.rank} exceeds the number of features ({n_features}). Use a smaller "
                "rank, or None for full rank."
            )
        return X, codes, n_features if self.rank is None else self.rank, weight

    def _set_mapping(self, omega: Matrix) -> None:
        self.omega_ = omega
        self.lambda_ = omega.T @ omega
        self.components_ = eigen_rows(omega)
        self.relevances_ = np.diagonal(self.lambda_).copy()

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def weighted_rows(
    X: Matrix, y: NDArray[Any], sample_weight: ArrayLike | None
) -> tuple[Matrix, NDArray[Any], Vector | None]:
    """Return the samples of positive weight, their targets and their weights of mean 1."""
    weight = check_weights(sample_weight, len(X))
    if weight is None:
        return X, y, None
    present = weight > 0
    return X[present], y[present], weight[present] / weight[present].mean()


class CenteredRows(NamedTuple):
    """Data with column means of zero and an overall mean square of 1.

    ``mean`` contains the original column means. ``unit`` is the root mean square of the centered
    data before scaling.
    """

    X: Matrix
    mean: Vector
    unit: float


def center_rows(X: Matrix, weight: Vector | None = None) -> CenteredRows:
    """Subtract the column means, then divide all values by their root mean square.

    ``weight`` contains sample weights of mean 1, or None.
    """
    mean = np.average(X, axis=0, weights=weight)
    centered = X - mean
    square = centered**2 if weight is None else weight[:, np.newaxis] * centered**2
    unit = float(np.sqrt(np.mean(square)))
    # Because of rounding, a table of constant columns can have a nonzero unit.
    check_varying(X.shape[1] if unit == 0 else int(constant_columns(X).sum()), X.shape[1])
    return CenteredRows(centered / unit, mean, unit)


def initial_mapping(
    start: InitialMapping, rank: int, coordinates: PartialWhitening, rng: np.random.RandomState
) -> Matrix:
    """Return an initial mapping with orthonormal components; shape (rank, n_features).

    The components are random or the leading principal axes. At full rank, the identity replaces the
    principal axes, because it gives the same metric.
    """
    n_features = coordinates.axes.shape[1]
    if start == "random":
        return _orthonormal(rng.normal(size=(rank, n_features)))
    if rank == n_features:
        return np.eye(n_features)
    axes = coordinates.axes[:rank]
    if rank == len(axes):
        return axes.copy()
    # There are fewer principal axes than the rank, so the other directions are random.
    extra = rng.normal(size=(rank - len(axes), n_features))
    return np.vstack([axes, _orthonormal(extra - (extra @ axes.T) @ axes)])


def _orthonormal(rows: Matrix) -> Matrix:
    return np.linalg.qr(rows.T)[0].T


def eigen_rows(omega: Matrix) -> Matrix:
    """Return the eigenvectors of ``omega' omega``, scaled by the square roots of their eigenvalues.

    Any rotation of ``omega`` gives the same distances. The scaled eigenvectors do not depend on the
    rotation, and their signs are chosen so that the entry with the largest absolute value is
    positive. They are not unique if eigenvalues are equal.

    Parameters
    ----------
    omega : ndarray of shape (rank, n_features)
        Mapping ``x -> omega @ x``.

    Returns
    -------
    ndarray of shape (rank, n_features)
        Mapping with the same ``omega' omega``, largest eigenvalue first.

    Examples
    --------
    >>> import numpy as np
    >>> eigen_rows(np.array([[0.0, -1.0], [-2.0, 0.0]])).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    _, size, axes = np.linalg.svd(omega, full_matrices=False)
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    # Adding 0.0 converts the negative zeros of a flipped row to positive zeros.
    return (size * np.sign(largest))[:, np.newaxis] * axes + 0.0
