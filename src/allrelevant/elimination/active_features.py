"""The features that are left in an elimination, dense or sparse, and their down-dated kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Matrix, Table, Vector
from .kernels import Kernel

# What is left after subtractions carries the rounding of all that has gone. The base is summed up
# anew when less than this share of it is left. That happens a few times in a whole run.
RECOMPUTE_BELOW = 1e-3


class ActiveFeatures:
    """The features that are left, and the base of the kernel over them.

    The base is down-dated, in time that does not depend on how many features there are. When half
    of the features are gone, it is summed up from the other half, and the columns are moved
    together: all of that costs no more than the very first sum. ``features`` are the indices in the
    table of the ``columns``, ascending.
    """

    base: Matrix

    def __init__(self, columns: FeatureMatrix, features: NDArray[np.int64], kernel: Kernel) -> None:
        self._kernel = kernel
        self._columns = columns
        self._features = features
        self._sizes = columns.squared_norms()
        self._active = np.ones(len(columns), dtype=bool)
        self.n_left = len(columns)
        self._sum_up()

    @property
    def features(self) -> NDArray[np.int64]:
        """Indices in the table of the features that are left, ascending."""
        return self._features[self._active]

    def kernel_matrix(self) -> Matrix:
        """The kernel of all pairs of rows."""
        return self._kernel.matrix(self.base, self.n_left)

    def column(self, feature: int) -> Vector:
        """Values of one feature."""
        return self._columns.column(self._place(feature))

    def weight_norms(self, b: Matrix) -> Vector:
        """The norm of each feature's weights over the pairs of classes.

        With a kernel that is not linear there are no such weights. Then they are the sum of the
        support vectors by their coefficients ``b``, as if these had been mapped back.
        """
        weights = self._columns.weights(b)
        norms = np.abs(weights[:, 0]) if weights.shape[1] == 1 else np.linalg.norm(weights, axis=1)
        return norms[self._active]

    def cost_changes(self, b: Matrix) -> Vector:
        """How much the cost function falls without each feature, with the same coefficients."""
        used = np.flatnonzero(b.any(axis=1))
        columns = self._columns.keep(self._active).dense()
        return self._kernel.cost_changes(
            np.ascontiguousarray(self.base[np.ix_(used, used)]),
            np.ascontiguousarray(columns[:, used]),
            b[used],
            self.n_left,
        )

    def drop(self, features: Sequence[int]) -> None:
        """Remove some features."""
        if len(features) == 0:
            return
        places = [self._place(feature) for feature in features]
        self._active[places] = False
        self.n_left -= len(places)
        if self._needs_summing():
            self._columns = self._columns.keep(self._active)
            self._features = self._features[self._active]
            self._sizes = self._sizes[self._active]
            self._active = np.ones(self.n_left, dtype=bool)
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
        return self._kernel.base(self._columns.keep(mask).products())

    def _needs_summing(self) -> bool:
        size = float(self._sizes[self._active].sum())
        return self.n_left <= self._n_summed // 2 or size < RECOMPUTE_BELOW * self._size_summed

    def _sum_up(self) -> None:
        self.base = self._kernel.base(self._columns.products())
        self._n_summed, self._size_summed = self.n_left, float(self._sizes.sum())


def feature_matrix(X: Table, *, centered: bool) -> FeatureMatrix:
    """The columns of a table of shape (n_samples, n_features).

    With ``centered``, for kernels that depend on differences of rows alone, the mean of each dense
    column is subtracted, which saves digits. Sparse columns stay as they are.
    """
    if sp.issparse(X):
        values = sp.csr_array(X.T)
        values.sum_duplicates()
        return SparseFeatures(values)
    return DenseFeatures(np.ascontiguousarray((X - X.mean(axis=0) if centered else X).T))


@dataclass(frozen=True)
class FeatureMatrix(ABC):
    """Columns of a table as the rows of an array, dense or sparse."""

    values: Any

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def keep(self, mask: NDArray[np.bool_]) -> Self:
        """The columns of a mask, in their order."""
        return type(self)(self.values[np.flatnonzero(mask)])

    def weights(self, b: Matrix) -> Matrix:
        """Sums of the rows by coefficients of shape (n_samples, k); shape (n_columns, k)."""
        return self.values @ b

    @abstractmethod
    def column(self, place: int) -> Vector:
        """One column, dense; shape (n_samples,)."""

    @abstractmethod
    def dense(self) -> Matrix:
        """All columns as the rows of one array; shape (n_columns, n_samples)."""

    @abstractmethod
    def squared_norms(self) -> Vector:
        """Sum of the squares of each column."""

    @abstractmethod
    def products(self) -> Matrix:
        """Inner products of all pairs of rows; shape (n_samples, n_samples)."""


class DenseFeatures(FeatureMatrix):
    """Columns in one piece of memory each."""

    def column(self, place: int) -> Vector:
        return self.values[place]

    def dense(self) -> Matrix:
        return self.values

    def squared_norms(self) -> Vector:
        return np.einsum("ij,ij->i", self.values, self.values)

    def products(self) -> Matrix:
        return self.values.T @ self.values


class SparseFeatures(FeatureMatrix):
    """Columns in compressed format."""

    def column(self, place: int) -> Vector:
        start, stop = self.values.indptr[place : place + 2]
        full = np.zeros(self.values.shape[1])
        full[self.values.indices[start:stop]] = self.values.data[start:stop]
        return full

    def dense(self) -> Matrix:
        return self.values.toarray()

    def squared_norms(self) -> Vector:
        return np.asarray(self.values.multiply(self.values).sum(axis=1)).ravel()

    def products(self) -> Matrix:
        return np.ascontiguousarray((self.values.T @ self.values).toarray())
