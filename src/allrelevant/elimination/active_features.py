"""The features that are left, column by column, dense or sparse.

The features that are left, and what their kernel is a function of, kept up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Matrix, Table, Vector
from .kernels import Kernel

Mask = NDArray[np.bool_]


class FeatureMatrix(Protocol):
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


def feature_matrix(X: Table, *, centred: bool) -> FeatureMatrix:
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


# What is left after subtractions carries the rounding of all that has gone. The base is summed up
# anew when less than this share of it is left. That happens a few times in a whole run.
_LOST_DIGITS = 1e-3


class ActiveFeatures:
    """Columns that leave one by one, and the base of the kernel without them.

    The base is down-dated, in time that does not depend on how many features there are. When half
    of them are gone, it is summed up from the other half, and the columns are moved together: all
    of that costs no more than the very first sum.

    Parameters
    ----------
    columns : Columns
    features : ndarray of shape (n_columns,)
        What each column is called, ascending.
    kernel : Kernel

    Attributes
    ----------
    base : ndarray of shape (n_samples, n_samples)
    n_left : int
    """

    base: Matrix

    def __init__(self, columns: FeatureMatrix, features: NDArray[np.int64], kernel: Kernel) -> None:
        self._kernel = kernel
        self._columns = columns
        self._features = features
        self._sizes = columns.sizes()
        self._alive = np.ones(len(columns), dtype=bool)
        self.n_left = len(columns)
        self._sum_up()

    @property
    def features(self) -> NDArray[np.int64]:
        """Names of the features that are left, ascending."""
        return self._features[self._alive]

    def kernel_matrix(self) -> Matrix:
        """The kernel of all pairs of rows."""
        return self._kernel.matrix(self.base, self.n_left)

    def column(self, feature: int) -> Vector:
        """Values of one feature."""
        return self._columns.column(self._place(feature))

    def weights(self, coefficients: Matrix) -> Vector:
        """Length of each feature's weights over the columns of coefficients.

        Parameters
        ----------
        coefficients : ndarray of shape (n_samples, k)

        Returns
        -------
        ndarray of shape (n_left,)
        """
        weights = self._columns.weights(coefficients)
        lengths = (
            np.abs(weights[:, 0]) if weights.shape[1] == 1 else np.linalg.norm(weights, axis=1)
        )
        return lengths[self._alive]

    def cost_changes(self, coefficients: Matrix) -> Vector:
        """How much the cost falls as each feature leaves; see :meth:`Kernel.cost_changes`."""
        used = np.flatnonzero(coefficients.any(axis=1))
        columns = self._columns.keep(self._alive).dense()
        return self._kernel.cost_changes(
            np.ascontiguousarray(self.base[np.ix_(used, used)]),
            np.ascontiguousarray(columns[:, used]),
            coefficients[used],
            self.n_left,
        )

    def drop(self, features: Sequence[int]) -> None:
        """Let some features go."""
        if len(features) == 0:
            return
        places = [self._place(feature) for feature in features]
        self._alive[places] = False
        self.n_left -= len(places)
        if self._needs_summing():
            self._columns = self._columns.keep(self._alive)
            self._features = self._features[self._alive]
            self._sizes = self._sizes[self._alive]
            self._alive = np.ones(self.n_left, dtype=bool)
            self._sum_up()
        else:
            self.base = self.base - self._base_of(places)

    def _place(self, feature: int) -> int:
        return int(np.searchsorted(self._features, feature))

    def _base_of(self, places: list[int]) -> Matrix:
        if len(places) == 1:
            return self._kernel.base_of(self._columns.column(places[0]))
        mask = np.zeros(len(self._columns), dtype=bool)
        mask[places] = True
        return self._kernel.base(self._columns.keep(mask))

    def _needs_summing(self) -> bool:
        left = float(self._sizes[self._alive].sum())
        return self.n_left <= self._n_summed // 2 or left < _LOST_DIGITS * self._size_summed

    def _sum_up(self) -> None:
        self.base = self._kernel.base(self._columns)
        self._n_summed, self._size_summed = self.n_left, float(self._sizes.sum())
