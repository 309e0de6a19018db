"""The one set of rows that stands for a metric.

Where the descent of a metric starts.

What learners of a metric have in common.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Matrix, Vector
from ..exceptions import InputError
from .optimization import PartialWhitening


def eigen_rows(omega: Matrix) -> Matrix:
    """Eigenvectors of ``omega' omega``, each times the root of its eigenvalue, largest first.

    Any rotation of ``omega`` gives the same distances. These rows are the ones that do not depend
    on it, up to a sign, which is chosen so that the largest entry of each is positive. Where
    eigenvalues are equal they are not unique.

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


InitialMapping: TypeAlias = Literal["principal", "random"]


STARTS: tuple[InitialMapping, ...] = ("principal", "random")


def start_mapping(
    start: InitialMapping, rank: int, coordinates: PartialWhitening, rng: np.random.RandomState
) -> Matrix:
    """Orthonormal rows to start from, shape (rank, n_features).

    Parameters
    ----------
    start : {"principal", "random"}
        The leading principal axes (at full rank the identity, which is the same metric), or
        random directions.
    rank : int
    coordinates : PartialWhitening
        It knows the principal axes.
    rng : RandomState
    """
    n_features = coordinates.axes.shape[1]
    if start == "random":
        return _orthonormal(rng.normal(size=(rank, n_features)))
    if rank == n_features:
        return np.eye(n_features)
    axes = coordinates.axes[:rank]
    if rank == len(axes):
        return axes.copy()
    # Fewer rows than directions wanted: what the rows leave open is drawn.
    more = rng.normal(size=(rank - len(axes), n_features))
    return np.vstack([axes, _orthonormal(more - (more @ axes.T) @ axes)])


def _orthonormal(rows: Matrix) -> Matrix:
    return np.linalg.qr(rows.T)[0].T


class CentredRows(NamedTuple):
    """Rows with mean zero and mean square one, so that neither offset nor unit matters."""

    X: Matrix
    mean: Vector
    unit: float


class MetricLearner(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """Common part of classifiers that learn a linear mapping: checks, and what the mapping gives.

    A subclass learns ``omega_`` in ``fit`` and hands it to :meth:`_keep_mapping`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "start": [StrOptions(set(STARTS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    rank: int | None
    omega_: Matrix
    components_: Matrix

    def transform(self, X: Any) -> Matrix:
        """Map rows to where plain Euclidean distances are the learned ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, rank)
            ``X @ components_.T``.
        """
        return self._validated(X) @ self.components_.T

    def _validated(self, X: Any) -> Matrix:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite=False)
        self._require_finite(X)
        return X

    def _validated_training(self, X: Any, y: Any) -> tuple[Matrix, NDArray[np.intp]]:
        """Rows and their classes, as codes; sets ``classes_``."""
        X, y = validate_data(
            self, X, y, dtype=np.float64, ensure_min_samples=2, ensure_all_finite=False
        )
        self._require_finite(X)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"The target has a single class, {str(self.classes_[0])!r}: there is nothing to "
                "tell apart. At least two classes are needed."
            )
        return X, codes

    def _require_finite(self, X: Matrix) -> None:
        bad = ~np.isfinite(X)
        if bad.any():
            n_rows, column = bad.any(axis=1).sum(), int(bad.any(axis=0).argmax())
            names = getattr(self, "feature_names_in_", None)
            name = f"x{column}" if names is None else str(names[column])
            raise InputError(
                f"{n_rows} row{'s have' if n_rows > 1 else ' has'} NaN or infinity, the first in "
                f"column {name!r}: fill in values, or leave these rows out."
            )

    def _full_or_given_rank(self) -> int:
        n_features = int(self.n_features_in_)
        if self.rank is None:
            return n_features
        if self.rank > n_features:
            raise InputError(
                f"rank is {self.rank}, but a mapping of {n_features} features has a rank of "
                f"{n_features} at most: lower it, or leave it to None."
            )
        return self.rank

    def _keep_mapping(self, omega: Matrix) -> None:
        self.omega_ = omega
        self.lambda_ = omega.T @ omega
        self.components_ = eigen_rows(omega)
        self.relevances_ = np.diagonal(self.lambda_).copy()

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def centred_rows(X: Matrix) -> CentredRows:
    """Rows around their mean, in units of their root mean square.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> rows = centred_rows(np.array([[1.0, 5.0], [5.0, 5.0]]))
    >>> rows.X.round(6).tolist(), rows.mean.tolist()
    ([[-1.414214, 0.0], [1.414214, 0.0]], [3.0, 5.0])
    """
    mean = X.mean(axis=0)
    centred = X - mean
    unit = float(np.sqrt(np.mean(centred**2)))
    # Rounding gives even constant columns a little of a unit: their ends are exact.
    if unit == 0 or np.array_equal(X.min(axis=0), X.max(axis=0)):
        raise InputError("Every column is constant: there is no feature to tell rows apart.")
    return CentredRows(centred / unit, mean, unit)
