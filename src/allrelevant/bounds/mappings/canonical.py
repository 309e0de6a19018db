"""One representative of all mappings that do the same to given data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Matrix
from ...exceptions import InputError
from ...metrics.rows import eigen_rows
from .data_space import EffectiveDimension, data_space

# Rows of a metric that are shorter than this share of the longest count as none.
_SHORT = 1e-3


def canonical_mapping(
    omega: ArrayLike, X: ArrayLike, effective_dimension: EffectiveDimension = None
) -> Matrix:
    """The shortest mapping, row by row in the l2 norm, that does the same to the data.

    What a mapping does in directions in which the data do not vary is arbitrary; here it is zero.
    It is unique, but correlated features share their weight, so that each of many good ones looks
    weak: :class:`allrelevant.MappingBounds` says how much each could have.

    Strickert, Hammer, Villmann and Biehl, "Regularization and improved interpretation of linear
    data mappings and adaptive distance measures", CIDM 2013.

    Parameters
    ----------
    omega : array-like of shape (n_rows, n_features)
        The mapping ``x -> omega @ x``.
    X : array-like of shape (n_samples, n_features)
        The data. Differences count, so it need not be centred.
    effective_dimension : int, float, "spectrum" or None, default=None
        How many directions of the largest variance count, or the share of the variance that they
        carry ("spectrum": 0.99). None: all that have any.

    Returns
    -------
    ndarray of shape (n_rows, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import canonical_mapping
    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> canonical_mapping([[3.0, 1.0]], np.column_stack([x, x])).round(6)
    array([[2., 2.]])
    """
    omega, X = np.atleast_2d(np.asarray(omega, dtype=float)), np.asarray(X, dtype=float)
    if X.ndim != 2 or omega.ndim != 2 or omega.shape[1] != X.shape[1]:
        raise InputError(
            f"A mapping of shape {omega.shape} does not fit a table of shape {X.shape}: both must "
            "have as many columns."
        )
    for name, values in (("omega", omega), ("X", X)):
        if not np.isfinite(values).all():
            raise InputError(f"{name} holds values that are missing or infinite.")
    return projected(omega, data_space(X).first(effective_dimension))


def projected(omega: Matrix, directions: Matrix) -> Matrix:
    """Each row without its part outside some directions."""
    return omega @ directions.T @ directions


def metric_rows(omega: Matrix) -> Matrix:
    """Rows of the one mapping with perpendicular rows that gives the same distances.

    See :func:`allrelevant.metrics.eigen_rows`; rows that are next to nothing are left out. (Where
    two are equally long, any rotation of them would do as well.)

    Parameters
    ----------
    omega : ndarray of shape (n_rows, d)

    Examples
    --------
    >>> import numpy as np
    >>> metric_rows(np.array([[3.0, 0.0], [4.0, 0.0]]))
    array([[5., 0.]])
    """
    rows = eigen_rows(omega)
    length = np.linalg.norm(rows, axis=1)
    longest = float(length.max())
    if longest == 0.0:
        raise InputError("The mapping maps all of these data to a single point.")
    return rows[length > _SHORT * longest]
