"""Features that hardly vary, left out before the start."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..arrays import Table, Vector


def variances(X: Table) -> Vector:
    """Variance of each column; of a constant one exactly zero.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    """
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        low, high = (np.asarray(extreme.toarray()).ravel() for extreme in (X.min(0), X.max(0)))
    else:
        variance = X.var(axis=0)
        low, high = X.min(axis=0), X.max(axis=0)
    return np.where(low == high, 0.0, np.maximum(variance, 0.0))


def pruned_features(variance: Vector, min_variance: float) -> list[int]:
    """Features whose variance is not above a limit, the least varying first.

    Examples
    --------
    >>> import numpy as np
    >>> pruned_features(np.array([1.0, 0.01, 0.0, 2.0]), 0.01)
    [2, 1]
    """
    order = np.argsort(variance, kind="stable")
    pruned: list[int] = order[variance[order] <= min_variance].tolist()
    return pruned
