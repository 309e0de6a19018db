"""The common part of classifiers that learn a metric.

It validates and centers the rows, chooses the mapping that the optimization starts from, and gives
a learned metric its components.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Codes, Matrix, Vector
from .._validation import COUNT, check_varying, encode_classes, feature_names
from ..exceptions import InputError
from ..terms.scaling import constant_columns
from .optimization import PartialWhitening

InitialMapping: TypeAlias = Literal["principal", "random"]


class MetricLearner(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """A classifier that learns a linear mapping.

    A subclass learns ``omega_`` in ``fit`` and passes it to :meth:`_set_mapping`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rank": [COUNT, None],
        "start": [StrOptions(set(get_args(InitialMapping)))],
        "max_iter": [COUNT],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    rank: int | None
    omega_: Matrix
    components_: Matrix

    def transform(self, X: Any) -> Matrix:
        """Map rows so that Euclidean distances are the learned ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, rank)
            ``X @ components_.T``.
        """
        return self._validate(X) @ self.components_.T

    def _validate(self, X: Any) -> Matrix:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite=False)
        self._require_finite(X)
        return X

    def _validate_training(self, X: Any, y: Any) -> tuple[Matrix, Codes, int]:
        """Rows, their classes as codes, and the rank of the metric; sets ``classes_``."""
        self._validate_params()
        X, y = validate_data(
            self, X, y, dtype=np.float64, ensure_min_samples=2, ensure_all_finite=False
        )
        self._require_finite(X)
        check_classification_targets(y)
        self.classes_, codes = encode_classes(y)
        n_features = int(self.n_features_in_)
        if self.rank is not None and self.rank > n_features:
            raise InputError(
                f"rank is {self.rank}, but a mapping of {n_features} features has a rank of "
                f"{n_features} at most: lower it, or leave it to None."
            )
        return X, codes, n_features if self.rank is None else self.rank

    def _require_finite(self, X: Matrix) -> None:
        bad = ~np.isfinite(X)
        if bad.any():
            n_rows, column = bad.any(axis=1).sum(), int(bad.any(axis=0).argmax())
            raise InputError(
                f"{n_rows} row{'s have' if n_rows > 1 else ' has'} NaN or infinity, the first in "
                f"column {feature_names(self)[column]!r}: fill in values, or leave these rows out."
            )

    def _set_mapping(self, omega: Matrix) -> None:
        self.omega_ = omega
        self.lambda_ = omega.T @ omega
        self.components_ = eigen_rows(omega)
        self.relevances_ = np.diagonal(self.lambda_).copy()

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


class CenteredRows(NamedTuple):
    """Rows with mean zero and mean square one, so that neither offset nor unit matters."""

    X: Matrix
    mean: Vector
    unit: float


def center_rows(X: Matrix) -> CenteredRows:
    """Rows around their mean, in units of their root mean square."""
    mean = X.mean(axis=0)
    centered = X - mean
    unit = float(np.sqrt(np.mean(centered**2)))
    # Rounding may give a table of constant columns a unit above zero.
    check_varying(X.shape[1] if unit == 0 else int(constant_columns(X).sum()), X.shape[1])
    return CenteredRows(centered / unit, mean, unit)


def initial_mapping(
    start: InitialMapping, rank: int, coordinates: PartialWhitening, rng: np.random.RandomState
) -> Matrix:
    """Orthonormal rows to start from, shape (rank, n_features).

    They are random, or the leading principal axes. At full rank these are the identity, which
    gives the same metric.
    """
    n_features = coordinates.axes.shape[1]
    if start == "random":
        return _orthonormal(rng.normal(size=(rank, n_features)))
    if rank == n_features:
        return np.eye(n_features)
    axes = coordinates.axes[:rank]
    if rank == len(axes):
        return axes.copy()
    # The table has fewer rows than the mapping: directions that it leaves open are drawn.
    more = rng.normal(size=(rank - len(axes), n_features))
    return np.vstack([axes, _orthonormal(more - (more @ axes.T) @ axes)])


def _orthonormal(rows: Matrix) -> Matrix:
    return np.linalg.qr(rows.T)[0].T


def eigen_rows(omega: Matrix) -> Matrix:
    """Eigenvectors of ``omega' omega``, each times the root of its eigenvalue, largest first.

    Any rotation of ``omega`` gives the same distances. These rows do not depend on the rotation,
    up to a sign, which is chosen so that the largest entry of each is positive. Where eigenvalues
    are equal they are not unique.

    Parameters
    ----------
    omega : ndarray of shape (rank, n_features)

    Returns
    -------
    ndarray of shape (rank, n_features)
        With the same ``omega' omega``.

    Examples
    --------
    >>> import numpy as np
    >>> eigen_rows(np.array([[0.0, -1.0], [-2.0, 0.0]])).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    _, size, axes = np.linalg.svd(omega, full_matrices=False)
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    # Adding zero turns the minus zeros of a flipped row into plain ones.
    return (size * np.sign(largest))[:, np.newaxis] * axes + 0.0
