"""A linear mapping as a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Matrix, Table, Vector
from ..scaling import Scaling


@dataclass(frozen=True)
class LinearMapping:
    """``x -> matrix_ @ x``, on the scale it was solved on.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_rows, d)
    scaling_ : Scaling
        What turns a table into what the mapping was solved on.
    """

    matrix_: Matrix
    scaling_: Scaling

    @property
    def coef_(self) -> Vector:
        """Size of each feature's weights, the rows added up."""
        return np.abs(self.matrix_).sum(axis=0)

    @property
    def norm_(self) -> float:
        """Sum of the sizes of all weights."""
        return float(np.abs(self.matrix_).sum())

    def transform(self, X: Table) -> Matrix:
        """Map the rows of a table that is not yet scaled, shape (n, n_rows)."""
        return np.asarray(self.scaling_.apply(X) @ self.matrix_.T)
