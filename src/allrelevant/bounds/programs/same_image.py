"""Linear functions that agree on given directions: no loss, only rows that must be met."""

from __future__ import annotations

import numpy as np

from ...arrays import Matrix, Vector
from .equivalent_models import Budget, EquivalentModels, Start
from .hinge_rows import HingeRows


def same_image(directions: Matrix, weights: Vector) -> HingeRows:
    """Rows that ask for ``directions @ w == directions @ weights``.

    Equations as inequalities, one more than there are equations: every one of them from below, and
    their sum from above.

    Parameters
    ----------
    directions : ndarray of shape (k, d)
    weights : ndarray of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> rows = same_image(np.eye(2), np.array([3.0, 5.0]))
    >>> rows.breach(np.array([[3.0, 5.0], [3.0, 5.5], [2.5, 5.0]]), np.empty((3, 0)))
    array([0. , 0.5, 0.5])
    """
    image = directions @ weights
    n_rows = len(image) + 1
    return HingeRows(
        table=np.vstack([directions, -directions.sum(axis=0)]),
        offset_table=np.empty((n_rows, 0)),
        target=np.r_[image, -image.sum()],
        weight=np.full(n_rows, np.inf),
    )


def within_norm(rows: HingeRows, norm: float, start: Start) -> EquivalentModels:
    """All weights that meet the rows with ``|w|_1 <= norm``."""
    return EquivalentModels(rows, (Budget(1.0, 0.0, norm),), np.empty((0, 2)), start)
