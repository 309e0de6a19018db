"""The one set of rows that stands for a metric."""

from __future__ import annotations

import numpy as np

from ..arrays import Matrix


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
