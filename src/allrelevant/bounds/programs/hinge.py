"""The data of a task, in the one form that all tasks of linear models with a hinge loss share.

A model is a vector of weights w and a few offsets o. Row i asks for

    table_i . w + offset_table_i . o  >=  target_i

and what is missing is its slack. The loss is the weighted sum of the slacks. For two classes a row
is a sample: its table row is y x, its offset row y, its target 1. A row of infinite weight must be
met: such rows are no part of the loss, and a model that falls short of one is no model of the set.

Privileged information: slacks that are a linear function of features known only in training.

Vapnik's learning with privileged information (SVM+), with l1 norms. Each sample has one slack, and
it is not free but ``slack_i = u . z_i + c >= 0``, where z are the privileged features of the
sample, u their weights and c a constant. So what is asked of sample i becomes

    row . w + offsets  >=  target - (u . z_i + c)      for each row of the sample: must be met,
    u . z_i + c        >=  0                           must be met,
    loss               =   sum_i weight_i (u . z_i + c),

and the norm is that of w and u together. All of this is hinge rows: the loss is the slack of a
single row, ``- sum_i weight_i (u . z_i + c) >= 0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Table, Vector

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


@dataclass(frozen=True)
class Requirements:
    """Rows, and the sample that each belongs to.

    Attributes
    ----------
    rows : HingeRows
    sample : ndarray of shape (n_rows,)
        -1 for a row that belongs to no sample.
    """

    rows: HingeRows
    sample: NDArray[np.intp]


def explained_rows(asked: Requirements, privileged: Table, weight: Vector) -> HingeRows:
    """The rows of a task whose slacks are a linear function of privileged features.

    Parameters
    ----------
    asked : Requirements
    privileged : ndarray or sparse array of shape (n, p)
    weight : ndarray of shape (n,)
        Of each sample's slack in the loss.
    """
    rows, (n, p) = asked.rows, privileged.shape
    belongs = (asked.sample >= 0).astype(float)
    z = privileged[np.maximum(asked.sample, 0)]
    z = sp.csr_array(sp.diags_array(belongs) @ z) if sp.issparse(z) else belongs[:, None] * z
    total = np.asarray(weight @ privileged).reshape(1, p)
    nothing = np.zeros((n, rows.n_offsets))
    return HingeRows(
        table=_blocks([(rows.table, z), (None, privileged), (None, -total)], rows.n_weights),
        offset_table=np.vstack(
            [
                np.column_stack([rows.offset_table, belongs]),
                np.column_stack([nothing, np.ones(n)]),
                np.r_[np.zeros(rows.n_offsets), -weight.sum()][None],
            ]
        ),
        target=np.r_[rows.target, np.zeros(n + 1)],
        weight=np.r_[np.full(rows.n_rows + n, np.inf), 1.0],
    )


def _blocks(blocks: list[tuple[Table | None, Table]], n_left: int) -> Table:
    """A table of blocks; those on the left that are None are zero."""
    if any(sp.issparse(right) or sp.issparse(left) for left, right in blocks):
        return sp.csr_array(sp.block_array(blocks, format="csr"))
    return np.vstack(
        [
            np.hstack([np.zeros((len(right), n_left)) if left is None else left, right])
            for left, right in blocks
        ]
    )


def signed_table(sign: Vector, table: Table) -> Table:
    """Each row of a table times its sign."""
    if sp.issparse(table):
        return sp.csr_array(sp.diags_array(sign) @ table)
    return sign[:, None] * table


def stacked(tables: list[Table]) -> Table:
    """Tables on top of each other."""
    if any(sp.issparse(table) for table in tables):
        return sp.vstack(tables, format="csr")
    return np.vstack(tables)
