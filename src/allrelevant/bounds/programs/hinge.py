"""Hinge constraints on a linear model, the common form of all prediction tasks.

A model consists of weights w and a few offsets o. Constraint i is

    table_i . w + offset_table_i . o + slack_i  >=  target_i,    slack_i  >=  0,

and the loss is the weighted sum of the slack variables. In binary classification there is one
constraint per sample: its table row is y x, its offset coefficient y, and its target 1. A
constraint of infinite weight is hard: it has no slack variable and does not contribute to the
loss.

Privileged features (Vapnik's SVM+, here with l1 norms) are available only at training time. With
them, the slack variable of a sample is a linear function, ``slack_i = u . z_i + c >= 0``. This
results in hinge constraints on the weights w and u together:

    table_i . w + offsets  >=  target_i - (u . z_i + c)    hard, for each constraint of sample i
    u . z_i + c            >=  0                           hard
    -sum_i weight_i (u . z_i + c)  >=  0                   one constraint, slack: the loss
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Table, Vector

# Above this number of features, products skip the features that no model uses.
SPARSE_COEF_ABOVE = 1000

# Constraints that all known models satisfy by at least this margin are rarely active.
DISTANT_SLACK = 0.25


# Largest relative error of a rounded operation, increased for products of such errors.
UNIT_ROUNDOFF = 1.01 * np.finfo(float).eps / 2


# Maximum number of table entries that are copied to bound rounding errors tightly.
MAX_COPIED = 2_000_000


@dataclass(frozen=True)
class HingeRows:
    """Hinge constraints on a linear model, one per row of ``table``.

    ``offset_table`` has shape (n_rows, n_offsets). ``weight`` is the weight of each slack variable
    in the loss. It is positive, and infinite for hard constraints.
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
        """Mask of the hard constraints, shape (n_rows,)."""
        return np.isinf(self.weight)

    @cached_property
    def weight_in_loss(self) -> Vector:
        """Weight of each slack variable in the loss, zero for hard constraints."""
        return np.where(self.is_hard, 0.0, self.weight)

    def slack(self, coef: Matrix, offset: Matrix) -> Matrix:
        """Return target minus model value for each model and constraint, shape (m, n_rows).

        Positive values are the slack variables that the models require. ``coef`` has shape (m, d),
        ``offset`` has shape (m, n_offsets).
        """
        table = self.table
        if self.n_weights > SPARSE_COEF_ABOVE:
            used = np.flatnonzero(coef.any(axis=0))
            coef, table = coef[:, used], table[:, used]
        return self.target - np.asarray(coef @ table.T) - offset @ self.offset_table.T

    def loss(self, coef: Matrix, offset: Matrix) -> Vector:
        """Return the loss of each of m models, shape (m,)."""
        return np.maximum(0.0, self.slack(coef, offset)) @ self.weight_in_loss

    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        """Return the largest violation of a hard constraint by each model; at most 0 if none."""
        if not self.is_hard.any():
            return np.full(len(coef), -np.inf)
        return self.take(np.flatnonzero(self.is_hard)).slack(coef, offset).max(axis=1)

    def rounding(self, coef: Matrix, offset: Matrix) -> tuple[Vector, Vector]:
        """Return bounds on the rounding errors of :meth:`loss` and :meth:`violation`, shape (m,).

        The bounds hold for any order of the additions. Constraints with a distinctly negative slack
        do not contribute to the loss, whatever their rounding error is.
        """
        terms = (coef != 0).sum(axis=1) + self.n_offsets + 2
        error = UNIT_ROUNDOFF * terms * self._row_size(coef, offset)
        slack = self.slack(coef, offset)
        is_active = slack > -error[:, None]
        size = self._active_size(coef, offset, is_active)
        loss = np.maximum(0.0, slack) @ self.weight_in_loss
        return UNIT_ROUNDOFF * (terms * size + self.n_rows * loss), error

    def _active_size(self, coef: Matrix, offset: Matrix, is_active: NDArray[np.bool_]) -> Vector:
        """Return the absolute terms of active constraints, summed as in the loss, shape (m,)."""
        rows = np.flatnonzero(is_active.any(axis=0) & ~self.is_hard)
        if len(rows) * self.n_weights > MAX_COPIED:
            return self._row_size(coef, offset) * (is_active @ self.weight_in_loss)
        size = (
            np.asarray(np.abs(coef) @ abs(self.table[rows]).T)
            + np.abs(offset) @ np.abs(self.offset_table[rows]).T
            + np.abs(self.target[rows])
        )
        return np.asarray((size * is_active[:, rows]) @ self.weight[rows])

    def _row_size(self, coef: Matrix, offset: Matrix) -> Vector:
        """Return a bound on the sum of the absolute terms of each constraint, shape (m,)."""
        return np.asarray(
            np.abs(coef) @ self._largest_values
            + np.abs(offset) @ np.abs(self.offset_table).max(axis=0, initial=0.0)
            + np.abs(self.target).max(initial=0.0)
        )

    @cached_property
    def _largest_values(self) -> Vector:
        """Largest absolute value of each column, shape (d,)."""
        low, high = self.table.min(axis=0), self.table.max(axis=0)
        if sp.issparse(self.table):
            low, high = low.toarray().ravel(), high.toarray().ravel()
        return np.maximum(high, -low)

    @cached_property
    def column_lengths(self) -> Vector:
        """Euclidean length of each column of the table, shape (d,)."""
        if sp.issparse(self.table):
            return np.sqrt(np.asarray(self.table.multiply(self.table).sum(axis=0)).ravel())
        return np.sqrt(np.einsum("ij,ij->j", self.table, self.table))

    def working_rows(self, coef: Matrix, offset: Matrix) -> NDArray[np.intp]:
        """Return the indices of the hard, violated or nearly active constraints of given models."""
        near = (self.slack(coef, offset) > -DISTANT_SLACK).any(axis=0)
        return np.flatnonzero(near | self.is_hard)

    def missing_rows(self, coef: Vector, offset: Vector) -> tuple[HingeRows, NDArray[np.intp]]:
        """Return ``self`` and the indices of the constraints that a model violates."""
        return self, np.flatnonzero(self.slack(coef[None], offset[None])[0] > 0)

    def row_combination(self, multipliers: Matrix) -> Matrix:
        """Return linear combinations of the table rows, ``multipliers @ table``.

        The shape is (d,) or (m, d).
        """
        return np.asarray((self._transposed_table @ multipliers.T).T)

    def absolute_combination(self, multipliers: Vector) -> Vector:
        """Return ``multipliers @ abs(table)``, shape (d,)."""
        return np.asarray(self._absolute_table @ multipliers)

    @cached_property
    def _absolute_table(self) -> Table:
        return abs(self._transposed_table)

    def feature_rows(self, weights: NDArray[np.intp]) -> Table:
        """Return the given columns of the table as the rows of a table of the same kind."""
        return self._transposed_table[weights]

    def take_columns(self, weights: NDArray[np.intp]) -> HingeRows:
        """Return a copy that contains only the given columns of the table."""
        return replace(self, table=self.feature_rows(weights).T)

    def columns(self, weights: NDArray[np.intp]) -> Matrix:
        """Return the given columns of the table as a dense matrix."""
        columns = self.feature_rows(weights)
        return np.ascontiguousarray((columns.toarray() if sp.issparse(columns) else columns).T)

    @cached_property
    def _transposed_table(self) -> Table:
        """Transposed table of constraints, stored by feature if sparse, for fast products."""
        return sp.csr_array(self.table.T) if sp.issparse(self.table) else self.table.T

    def take(self, rows: NDArray[np.intp]) -> HingeRows:
        """Return a copy that contains only the constraints with the given indices."""
        return HingeRows(
            self.table[rows], self.offset_table[rows], self.target[rows], self.weight[rows]
        )


@dataclass(frozen=True)
class Requirements:
    """Constraints of a task, each with the index of its sample (-1 if it has none)."""

    rows: HingeRows
    sample: NDArray[np.intp]


def privileged_rows(requirements: Requirements, privileged: Table, weight: Vector) -> HingeRows:
    """Return the constraints of a task whose slack variables are linear in privileged features.

    ``privileged`` has shape (n, p). ``weight`` is the weight of each of the n samples in the loss.
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
    """Assemble a matrix from rows of two blocks; None stands for a left block of zeros."""
    if any(sp.issparse(right) or sp.issparse(left) for left, right in blocks):
        return sp.csr_array(sp.block_array(blocks, format="csr"))
    return np.vstack(
        [
            np.hstack([np.zeros((len(right), n_left)) if left is None else left, right])
            for left, right in blocks
        ]
    )


def signed_table(sign: Vector, table: Table) -> Table:
    """Return a table with each row multiplied by its sign."""
    if sp.issparse(table):
        return sp.csr_array(sp.diags_array(sign) @ table)
    return sign[:, None] * table


def stack_tables(tables: list[Table]) -> Table:
    """Concatenate dense or sparse tables vertically; the result is sparse if any table is."""
    if any(sp.issparse(table) for table in tables):
        return sp.vstack(tables, format="csr")
    return np.vstack(tables)
