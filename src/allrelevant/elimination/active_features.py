"""Remaining features during an elimination, and their downdated kernel matrix."""

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

# Rounding errors accumulate as columns are subtracted. The base is recomputed when the sum of
# squared norms falls below this fraction of its last value, which happens a few times per run.
RECOMPUTE_BELOW = 1e-3


class ActiveFeatures:
    """Remaining features of an elimination, with their downdated inner products or distances.

    These sums over the features form the base matrix, from which the kernel matrix is computed.
    Downdating it takes time that does not depend on the number of features. Whenever half of the
    features have been removed, it is recomputed from the remaining columns, which are copied.
    Together, these recomputations cost at most as much as computing the first base matrix.
    ``features`` contains the feature of each of the ``columns``, in ascending order. A feature with
    several columns, such as a category, is removed as a whole.
    """

    base: Matrix

    def __init__(self, columns: FeatureMatrix, features: NDArray[np.int64], kernel: Kernel) -> None:
        self._kernel = kernel
        self._columns = columns
        self._features = features
        self._squared_norms = columns.squared_norms()
        self._active = np.ones(len(columns), dtype=bool)
        self.n_active = len(np.unique(features))
        self._has_blocks = self.n_active < len(columns)
        self._compute_base()

    @property
    def features(self) -> NDArray[np.int64]:
        """Indices of the remaining features in the table, in ascending order."""
        features = self._features[self._active]
        return np.unique(features) if self._has_blocks else features

    def kernel_matrix(self) -> Matrix:
        """Return the kernel matrix of all rows, computed from the remaining features."""
        return self._kernel.matrix(self.base, self.n_active)

    def columns(self, feature: int) -> Matrix:
        """Return the columns of the given feature; shape (n_columns, n_samples)."""
        return np.array([self._columns.column(index) for index in self._indices([feature])])

    def weight_norms(self, b: Matrix) -> Vector:
        """Return the norm of each remaining feature's weights over all pairs of classes.

        A weight is the inner product of a column of the feature and one column of ``b``. For
        nonlinear kernels, this is only an approximation in input space.
        """
        weights = self._columns.weights(b)
        norms = np.abs(weights[:, 0]) if weights.shape[1] == 1 else np.linalg.norm(weights, axis=1)
        norms = norms[self._active]
        if not self._has_blocks:
            return norms
        starts = np.unique(self._features[self._active], return_index=True)[1]
        return np.sqrt(np.add.reduceat(np.square(norms), starts))

    def cost_changes(self, b: Matrix) -> Vector:
        """Compute how much the removal of each feature decreases half the squared weight norm.

        For kernel matrix K, this norm is ``b' K b``. Coefficients ``b`` and gamma are held fixed.
        """
        used = np.flatnonzero(b.any(axis=1))
        base = np.ascontiguousarray(self.base[np.ix_(used, used)])
        columns = np.ascontiguousarray(self._columns.keep(self._active).dense()[:, used])
        changes = self._kernel.cost_changes(base, columns, b[used], self.n_active)
        if not self._has_blocks:
            return changes
        _, starts, widths = np.unique(
            self._features[self._active], return_index=True, return_counts=True
        )
        by_feature = changes[starts]
        for j in np.flatnonzero(widths > 1):
            block = columns[starts[j] : starts[j] + widths[j]]
            by_feature[j] = self._kernel.joint_cost_change(base, block, b[used], self.n_active)
        return by_feature

    def drop(self, features: Sequence[int]) -> None:
        """Remove the given features and update the base matrix."""
        if len(features) == 0:
            return
        indices = self._indices(features)
        self._active[indices] = False
        self.n_active -= len(features)
        if self._needs_recomputing():
            self._columns = self._columns.keep(self._active)
            self._features = self._features[self._active]
            self._squared_norms = self._squared_norms[self._active]
            self._active = np.ones(len(self._columns), dtype=bool)
            self._compute_base()
        else:
            self.base = self.base - self._base_terms(indices)

    def _indices(self, features: Sequence[int]) -> list[int]:
        """Return the indices of the columns of the given features."""
        first = np.searchsorted(self._features, features)
        last = np.searchsorted(self._features, features, side="right")
        return [
            index for start, stop in zip(first, last, strict=True) for index in range(start, stop)
        ]

    def _base_terms(self, indices: list[int]) -> Matrix:
        if len(indices) == 1:
            return self._kernel.base_term(self._columns.column(indices[0]))
        mask = np.zeros(len(self._columns), dtype=bool)
        mask[indices] = True
        return self._kernel.base(self._columns.keep(mask).products())

    def _needs_recomputing(self) -> bool:
        norm = float(self._squared_norms[self._active].sum())
        return self.n_active <= self._n_summed // 2 or norm < RECOMPUTE_BELOW * self._norm_summed

    def _compute_base(self) -> None:
        self.base = self._kernel.base(self._columns.products())
        self._n_summed = self.n_active
        self._norm_summed = float(self._squared_norms.sum())


def feature_matrix(X: Table, *, centered: bool) -> FeatureMatrix:
    """Convert a table of shape (n_samples, n_features) to a :class:`FeatureMatrix`.

    With ``centered``, dense columns are centered, which reduces rounding errors. This is valid for
    kernels that depend only on differences of rows. Sparse columns are not centered.
    """
    if sp.issparse(X):
        values = sp.csr_array(X.T)
        values.sum_duplicates()
        return SparseFeatures(values)
    return DenseFeatures(np.ascontiguousarray((X - X.mean(axis=0) if centered else X).T))


@dataclass(frozen=True)
class FeatureMatrix(ABC):
    """Columns of a table, stored as the rows of a dense or sparse array."""

    values: Any

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def keep(self, mask: NDArray[np.bool_]) -> Self:
        """Return a matrix of the columns selected by a Boolean mask, in their original order."""
        return type(self)(self.values[np.flatnonzero(mask)])

    def weights(self, b: Matrix) -> Matrix:
        """Return the inner product of each feature's column with each column of ``b``."""
        return self.values @ b

    @abstractmethod
    def column(self, index: int) -> Vector:
        """Return one column as a dense array of shape (n_samples,)."""

    @abstractmethod
    def dense(self) -> Matrix:
        """Return all columns as the rows of a dense array of shape (n_columns, n_samples)."""

    @abstractmethod
    def squared_norms(self) -> Vector:
        """Return the sum of squares of each column."""

    @abstractmethod
    def products(self) -> Matrix:
        """Return the inner products of all pairs of rows; shape (n_samples, n_samples)."""


class DenseFeatures(FeatureMatrix):
    """Dense columns, each contiguous in memory."""

    def column(self, index: int) -> Vector:
        return self.values[index]

    def dense(self) -> Matrix:
        return self.values

    def squared_norms(self) -> Vector:
        return np.einsum("ij,ij->i", self.values, self.values)

    def products(self) -> Matrix:
        return self.values.T @ self.values


class SparseFeatures(FeatureMatrix):
    """Sparse columns, stored in CSR format."""

    def column(self, index: int) -> Vector:
        start, stop = self.values.indptr[index : index + 2]
        full = np.zeros(self.values.shape[1])
        full[self.values.indices[start:stop]] = self.values.data[start:stop]
        return full

    def dense(self) -> Matrix:
        return self.values.toarray()

    def squared_norms(self) -> Vector:
        return np.asarray(self.values.multiply(self.values).sum(axis=1)).ravel()

    def products(self) -> Matrix:
        return np.ascontiguousarray((self.values.T @ self.values).toarray())
