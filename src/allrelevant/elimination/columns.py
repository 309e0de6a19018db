"""The features that are left, column by column, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Table, Vector

Mask = NDArray[np.bool_]


class Columns(Protocol):
    """Columns of a table, of which some can be picked."""

    def __len__(self) -> int: ...

    def column(self, place: int) -> Vector:
        """One column, dense; shape (n_samples,)."""
        ...

    def dense(self) -> Matrix:
        """All columns as the rows of one array; shape (n_columns, n_samples)."""
        ...

    def sizes(self) -> Vector:
        """Sum of the squares of each column."""
        ...

    def weights(self, coefficients: Matrix) -> Matrix:
        """Sums of the rows by coefficients, of shape (n_samples, k); shape (n_columns, k)."""
        ...

    def products(self) -> Matrix:
        """Inner products of all pairs of rows; shape (n_samples, n_samples)."""
        ...

    def keep(self, mask: Mask) -> Self:
        """The columns of a mask, in their order."""
        ...


@dataclass(frozen=True)
class DenseColumns:
    """Columns as the rows of an array, each in one piece of memory."""

    values: Matrix

    def __len__(self) -> int:
        return len(self.values)

    def column(self, place: int) -> Vector:
        """One column."""
        return self.values[place]

    def dense(self) -> Matrix:
        """All columns."""
        return self.values

    def sizes(self) -> Vector:
        """Sum of the squares of each column."""
        return np.einsum("ij,ij->i", self.values, self.values)

    def weights(self, coefficients: Matrix) -> Matrix:
        """Sums of the rows."""
        return self.values @ coefficients

    def products(self) -> Matrix:
        """Inner products of all pairs of rows."""
        return self.values.T @ self.values

    def keep(self, mask: Mask) -> Self:
        """The columns of a mask."""
        return type(self)(self.values[mask])


@dataclass(frozen=True)
class SparseColumns:
    """Columns as the rows of a sparse array."""

    values: Table

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def column(self, place: int) -> Vector:
        """One column."""
        start, stop = self.values.indptr[place : place + 2]
        full = np.zeros(self.values.shape[1])
        full[self.values.indices[start:stop]] = self.values.data[start:stop]
        return full

    def dense(self) -> Matrix:
        """All columns."""
        return self.values.toarray()

    def sizes(self) -> Vector:
        """Sum of the squares of each column."""
        return np.asarray(self.values.multiply(self.values).sum(axis=1)).ravel()

    def weights(self, coefficients: Matrix) -> Matrix:
        """Sums of the rows."""
        return self.values @ coefficients

    def products(self) -> Matrix:
        """Inner products of all pairs of rows."""
        return np.ascontiguousarray((self.values.T @ self.values).toarray())

    def keep(self, mask: Mask) -> Self:
        """The columns of a mask."""
        return type(self)(self.values[np.flatnonzero(mask)])


def columns_of(X: Table, *, centred: bool) -> Columns:
    """The columns of a table.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    centred : bool
        Whether the mean of each column may be taken away: where only differences of rows count,
        that costs nothing and saves digits. Sparse columns stay as they are.
    """
    if sp.issparse(X):
        values = sp.csr_array(X.T)
        values.sum_duplicates()
        return SparseColumns(values)
    return DenseColumns(np.ascontiguousarray((X - X.mean(axis=0) if centred else X).T))
