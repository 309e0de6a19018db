"""Privileged information: slacks that are a linear function of features known only in training.

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

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Table, Vector
from .hinge_rows import HingeRows


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
