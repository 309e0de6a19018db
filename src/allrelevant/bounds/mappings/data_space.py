"""The directions in which data vary. A mapping is determined on these, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...arrays import Matrix, Vector
from ...exceptions import InputError

# Of the variance, that the directions kept by "spectrum" have to carry.
SHARE_OF_VARIANCE = 0.99

EffectiveDimension = int | float | Literal["spectrum"] | None


@dataclass(frozen=True)
class DataSpace:
    """The eigenvectors of the covariance of data, but for those without variance.

    Attributes
    ----------
    directions : ndarray of shape (rank, d)
        Of length 1 and perpendicular, those of the largest variance first.
    variance : ndarray of shape (rank,)
    """

    directions: Matrix
    variance: Vector

    @property
    def rank(self) -> int:
        return len(self.variance)

    def first(self, dimension: EffectiveDimension) -> Matrix:
        """The directions to keep, shape (k, d).

        Parameters
        ----------
        dimension : int, float, "spectrum" or None
            How many; or the share of the variance they have to carry, which is 0.99 for
            "spectrum"; None keeps all that have any.
        """
        return self.directions[: self.count(dimension)]

    def count(self, dimension: EffectiveDimension) -> int:
        """How many directions that are."""
        if dimension is None:
            return self.rank
        if isinstance(dimension, int | np.integer):
            if dimension > self.rank:
                raise InputError(
                    f"effective_dimension={dimension} is more than these data have: their rank "
                    f"is {self.rank}."
                )
            return int(dimension)
        wanted = SHARE_OF_VARIANCE if dimension == "spectrum" else float(dimension)
        carried = np.cumsum(self.variance) / self.variance.sum()
        return min(int(np.searchsorted(carried, wanted)) + 1, self.rank)


def data_space(X: Matrix) -> DataSpace:
    """The space of a table, by a singular value decomposition.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        It is centred first.
    """
    centred = X - X.mean(axis=0)
    _, size, directions = np.linalg.svd(centred, full_matrices=False)
    rounding = max(X.shape) * np.finfo(float).eps * size.max(initial=0.0)
    varies = size > rounding
    if not varies.any():
        raise InputError("All rows of the table are the same: no mapping tells them apart.")
    return DataSpace(directions[varies], size[varies] ** 2 / len(X))
