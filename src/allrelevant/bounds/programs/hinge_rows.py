"""The data of a task, in the one form that all tasks of linear models with a hinge loss share.

A model is a vector of weights w and a few offsets o. Row i asks for

    table_i . w + offset_table_i . o  >=  target_i

and what is missing is its slack. The loss is the weighted sum of the slacks. For two classes a row
is a sample: its table row is y x, its offset row y, its target 1. A row of infinite weight must be
met: such rows are no part of the loss, and a model that falls short of one is no model of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Table, Vector

# Features.
_MANY = 1000


@dataclass(frozen=True)
class HingeRows:
    """What a model has to live up to, row by row.

    Attributes
    ----------
    table : ndarray or sparse array of shape (n_rows, d)
    offset_table : ndarray of shape (n_rows, n_offsets)
    target : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
        Weight of each row's slack in the loss, all positive; infinite for rows that must be met.
    """

    table: Table
    offset_table: Matrix
    target: Vector
    weight: Vector

    # Whether these rows are all there is to know of the loss.
    complete: ClassVar[bool] = True

    @property
    def n_rows(self) -> int:
        return int(self.table.shape[0])

    @property
    def n_weights(self) -> int:
        return int(self.table.shape[1])

    @property
    def n_offsets(self) -> int:
        return int(self.offset_table.shape[1])

    @cached_property
    def must_be_met(self) -> NDArray[np.bool_]:
        """Which rows allow no slack."""
        return np.isinf(self.weight)

    @cached_property
    def weight_in_loss(self) -> Vector:
        """Weight of each row's slack in the loss, zero where no slack is allowed."""
        return np.where(self.must_be_met, 0.0, self.weight)

    def shortfall(self, coef: Matrix, offset: Matrix) -> Matrix:
        """By how much each model misses each target; negative where it exceeds it.

        Parameters
        ----------
        coef : ndarray of shape (n_models, d)
        offset : ndarray of shape (n_models, n_offsets)

        Returns
        -------
        ndarray of shape (n_models, n_rows)
        """
        table = self.table
        if self.n_weights > _MANY:  # of so many features models use few
            used = np.flatnonzero(coef.any(axis=0))
            coef, table = coef[:, used], table[:, used]
        return self.target - np.asarray(coef @ table.T) - offset @ self.offset_table.T

    def loss(self, coef: Matrix, offset: Matrix) -> Vector:
        """Loss of each of several models, straight from the data."""
        return np.maximum(0.0, self.shortfall(coef, offset)) @ self.weight_in_loss

    def breach(self, coef: Matrix, offset: Matrix) -> Vector:
        """By how much each model falls short of the rows that must be met, at worst."""
        if not self.must_be_met.any():
            return np.full(len(coef), -np.inf)
        return self.take(np.flatnonzero(self.must_be_met)).shortfall(coef, offset).max(axis=1)

    def pull(self, multipliers: Matrix) -> Matrix:
        """What multipliers of the rows add up to, by feature: ``multipliers @ table``.

        Parameters
        ----------
        multipliers : ndarray of shape (n_rows,) or (m, n_rows)

        Returns
        -------
        ndarray of shape (d,) or (m, d)
        """
        return np.asarray((self._table_by_feature @ multipliers.T).T)

    @cached_property
    def _table_by_feature(self) -> Table:
        """The table turned over; a sparse one is sorted by feature: many products need it so."""
        return sp.csr_array(self.table.T) if sp.issparse(self.table) else self.table.T

    def take(self, rows: NDArray[np.intp]) -> HingeRows:
        return HingeRows(
            self.table[rows], self.offset_table[rows], self.target[rows], self.weight[rows]
        )
