"""Hinge rows: the common form of all tasks of linear models with a hinge loss.

A model is a vector of weights w and a few offsets o. Row i requires

    table_i . w + offset_table_i . o  >=  target_i

up to a slack, and the loss is the weighted sum of the positive slacks. For two classes a row is a
sample: its table row is y x, its offset row y, its target 1. A row of infinite weight is hard: it
is no part of the loss, and a model that violates it does not belong to the set.

With privileged features (Vapnik's SVM+, here with l1 norms) the slack of a sample is no free
variable but a linear function of features that are known in training only,
``slack_i = u . z_i + c >= 0``. That gives hinge rows as well, with weights w and u together:

    row . w + offsets  >=  target - (u . z_i + c)      for each row of sample i, hard
    u . z_i + c        >=  0                           hard
    -sum_i weight_i (u . z_i + c)  >=  0               one row, whose slack is the loss
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Table, Vector

# With more features than this, products leave out the features that no model uses.
SPARSE_COEF_ABOVE = 1000

# A row that no known model comes closer to violating than this rarely binds.
DISTANT_SLACK = 0.25


@dataclass(frozen=True)
class HingeRows:
    """What is required of a model, row by row.

    ``offset_table`` has shape (n_rows, n_offsets). ``weight`` is that of each row's slack in the
    loss, positive, and infinite for hard rows.
    """

    table: Table
    offset_table: Matrix
    target: Vector
    weight: Vector

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
    def is_hard(self) -> NDArray[np.bool_]:
        """Which rows allow no slack."""
        return np.isinf(self.weight)

    @cached_property
    def weight_in_loss(self) -> Vector:
        """Weight of each row's slack in the loss, zero for hard rows."""
        return np.where(self.is_hard, 0.0, self.weight)

    def slack(self, coef: Matrix, offset: Matrix) -> Matrix:
        """Slack that each of m models needs in each row, shape (m, n_rows).

        Negative where the model exceeds the target. ``coef`` has shape (m, d), ``offset`` (m,
        n_offsets).
        """
        table = self.table
        if self.n_weights > SPARSE_COEF_ABOVE:
            used = np.flatnonzero(coef.any(axis=0))
            coef, table = coef[:, used], table[:, used]
        return self.target - np.asarray(coef @ table.T) - offset @ self.offset_table.T

    def loss(self, coef: Matrix, offset: Matrix) -> Vector:
        """Loss of each model, from the data."""
        return np.maximum(0.0, self.slack(coef, offset)) @ self.weight_in_loss

    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        """Largest slack that each model needs in a hard row; zero or less if it meets them all."""
        if not self.is_hard.any():
            return np.full(len(coef), -np.inf)
        return self.take(np.flatnonzero(self.is_hard)).slack(coef, offset).max(axis=1)

    def working_rows(self, coef: Matrix, offset: Matrix) -> NDArray[np.intp]:
        """Rows that describe the set around some of its models: the hard and the near ones."""
        near = (self.slack(coef, offset) > -DISTANT_SLACK).any(axis=0)
        return np.flatnonzero(near | self.is_hard)

    def missing_rows(self, coef: Vector, offset: Vector) -> tuple[HingeRows, NDArray[np.intp]]:
        """Rows that tell a model from those of the set: all rows, and which of them do."""
        return self, np.flatnonzero(self.slack(coef[None], offset[None])[0] > 0)

    def row_combination(self, multipliers: Matrix) -> Matrix:
        """``multipliers @ table``, shape (d,) or (m, d)."""
        return np.asarray((self._transposed_table @ multipliers.T).T)

    @cached_property
    def _transposed_table(self) -> Table:
        """Sparse tables are sorted by feature here: many products need that."""
        return sp.csr_array(self.table.T) if sp.issparse(self.table) else self.table.T

    def take(self, rows: NDArray[np.intp]) -> HingeRows:
        """Some of the rows."""
        return HingeRows(
            self.table[rows], self.offset_table[rows], self.target[rows], self.weight[rows]
        )


@dataclass(frozen=True)
class Requirements:
    """Rows, and the sample that each belongs to: -1 for a row that belongs to no sample."""

    rows: HingeRows
    sample: NDArray[np.intp]


def explained_rows(requirements: Requirements, privileged: Table, weight: Vector) -> HingeRows:
    """The rows of a task whose slacks are a linear function of privileged features.

    ``privileged`` has shape (n, p), ``weight`` is that of each of the n samples in the loss.
    """
    rows, (n, p) = requirements.rows, privileged.shape
    has_sample = (requirements.sample >= 0).astype(float)
    z = privileged[np.maximum(requirements.sample, 0)]
    z = sp.csr_array(sp.diags_array(has_sample) @ z) if sp.issparse(z) else has_sample[:, None] * z
    total = np.asarray(weight @ privileged).reshape(1, p)
    zeros = np.zeros((n, rows.n_offsets))
    return HingeRows(
        table=_blocks([(rows.table, z), (None, privileged), (None, -total)], rows.n_weights),
        offset_table=np.vstack(
            [
                np.column_stack([rows.offset_table, has_sample]),
                np.column_stack([zeros, np.ones(n)]),
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
