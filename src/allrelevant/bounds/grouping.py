"""Features that belong together, by what replaces what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix

# Groups are told apart where the mean relation between their members is weaker than this.
CUT = 0.5


def group_labels(relations: Matrix, cut: float = CUT) -> NDArray[np.intp]:
    """The group of each feature, numbered in the order of their first members.

    Hierarchical clustering with average linkage. The distance of two features is 1 less the size of
    their relation, whichever direction is stronger: substitutes are close, and so are companions,
    which together replace a third. Two groups are joined while the mean of that size over the pairs
    between them is at least ``cut``.

    Parameters
    ----------
    relations : ndarray of shape (m, m)
    cut : float, default=0.5

    Examples
    --------
    >>> import numpy as np
    >>> group_labels(np.array([[0.0, -0.9, 0.1], [-0.8, 0.0, 0.0], [0.0, 0.2, 0.0]]))
    array([0, 0, 1])
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(relations) < 2:
        return np.zeros(len(relations), dtype=np.intp)
    strength = np.maximum(np.abs(relations), np.abs(relations).T)
    distance = 1.0 - strength
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    found = fcluster(tree, 1.0 - cut, criterion="distance")
    _, first, label = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label.ravel()]
