"""Which features matter least to a trained machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .survivors import Survivors

Criterion = Callable[[Survivors, Matrix], Vector]

# Values that differ by less than this share of the largest one differ by rounding alone.
_TIE = 1e-12


def weight_sizes(survivors: Survivors, coefficients: Matrix) -> Vector:
    """Size of each weight, in the order of ``w_j^2`` summed over the pairs of classes.

    With a kernel that is not linear there is no such weight. What is taken for it is the sum of the
    support vectors by their coefficients, as if they had been mapped back.
    """
    return survivors.weights(coefficients)


def cost_changes(survivors: Survivors, coefficients: Matrix) -> Vector:
    """How much the cost function falls without each feature, the coefficients as they are."""
    return survivors.cost_changes(coefficients)


CRITERIA: dict[str, Criterion] = {"weights": weight_sizes, "margin": cost_changes}


def worst(values: Vector, number: int) -> NDArray[np.int64]:
    """Places of the smallest values, the smallest first; of equal ones the first comes first.

    Parameters
    ----------
    values : ndarray of shape (n,)
    number : int
        How many, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> worst(np.array([0.3, 0.1, 0.1 + 1e-15, 0.2]), 3).tolist()
    [1, 2, 3]
    """
    tie = _TIE * float(np.abs(values).max())
    if number == 1:
        return np.flatnonzero(values <= values.min() + tie)[:1]
    number = min(number, len(values))
    limit = np.partition(values, number - 1)[number - 1]
    places = np.flatnonzero(values <= limit + tie)
    places = places[np.argsort(values[places], kind="stable")]
    tied = np.r_[0, np.cumsum(np.diff(values[places]) > tie)]
    return places[np.lexsort((places, tied))][:number]
