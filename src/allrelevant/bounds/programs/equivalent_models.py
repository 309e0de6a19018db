"""All linear models that are as good as a baseline: one polytope, described by budgets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Vector
from .hinge_rows import HingeRows
from .linear_program import LinearProgram, name_blocks


@dataclass(frozen=True)
class Budget:
    """A limit on ``norm_coefficient * |w|_1 + loss_coefficient * loss``."""

    norm_coefficient: float
    loss_coefficient: float
    limit: float

    def overdraft(self, norm: Vector, loss: Vector) -> Vector:
        return self.norm_coefficient * norm + self.loss_coefficient * loss - self.limit


@dataclass(frozen=True)
class Start:
    """A solution of the l1-regularised problem, and the multipliers of the rows there."""

    coef: Vector
    offset: Vector
    multipliers: Vector


@dataclass(frozen=True)
class EquivalentModels:
    """The models whose norm and loss stay within the budgets.

    A task (classification, regression, ...) is a way to write its data as hinge rows; solver and
    proofs need nothing else.

    Attributes
    ----------
    rows : HingeRows
    budgets : tuple of Budget
        One that limits the norm and one that limits the loss, or one that limits both.
    offset_range : ndarray of shape (n_offsets, 2)
        Bounds that the offsets of every model of the set satisfy. They follow from the rows
        and the budgets, and give certificates something to hold on to (see ``proofs``).
    start : Start or None
        A vertex of the set for a solver to start from.
    """

    rows: HingeRows
    budgets: tuple[Budget, ...]
    offset_range: Matrix
    start: Start | None = None

    @property
    def n_weights(self) -> int:
        """Number of weights whose range is asked for, one a feature."""
        return self.rows.n_weights

    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        """By how much each model oversteps the set; zero or less inside it.

        Parameters
        ----------
        coef : ndarray of shape (n_models, d)
        offset : ndarray of shape (n_models, n_offsets)
        """
        norm = np.abs(coef).sum(axis=1)
        loss = self.rows.loss(coef, offset)
        return np.max([budget.overdraft(norm, loss) for budget in self.budgets], axis=0)

    @cached_property
    def program(self) -> LinearProgram:
        """The polytope as a linear program without objective; see ``constraint_rows``."""
        matrix, blocks = constraint_rows(self.rows)
        budget_rows = sp.csc_array(np.vstack([budget_row(self.rows, b) for b in self.budgets]))
        limits = np.array([budget.limit for budget in self.budgets])
        lower, upper = column_lower(self.rows), np.full(matrix.shape[1], np.inf)
        lower[blocks["offset"]], upper[blocks["offset"]] = self.offset_range.T
        return LinearProgram(
            matrix=sp.vstack([matrix, budget_rows], format="csc"),
            cost=np.zeros(matrix.shape[1]),
            row_lower=np.r_[self.rows.target, np.full(len(limits), -np.inf)],
            row_upper=np.r_[np.full(self.rows.n_rows, np.inf), limits],
            column_lower=lower,
            column_upper=upper,
            blocks=blocks,
        )


def baseline_program(rows: HingeRows, C: float) -> LinearProgram:
    """Minimise ``|w|_1 + C * loss`` over all models."""
    matrix, blocks = constraint_rows(rows)
    return LinearProgram(
        matrix=matrix,
        cost=budget_row(rows, Budget(1.0, C, np.inf)),
        row_lower=rows.target,
        row_upper=np.full(rows.n_rows, np.inf),
        column_lower=column_lower(rows),
        column_upper=np.full(matrix.shape[1], np.inf),
        blocks=blocks,
    )


def constraint_rows(rows: HingeRows) -> tuple[sp.csc_array, dict[str, slice]]:
    """Matrix and blocks of ``table w + offset_table o + slack >= target``.

    The variables, in the order of the columns::

        positive (d)  >= 0    positive part of the weights, w = positive - negative
        negative (d)  >= 0    negative part
        offset   (k)  free
        slack    (n)  >= 0    what each row misses
    """
    n, d, k = rows.n_rows, rows.n_weights, rows.n_offsets
    table = sp.csc_array(rows.table)
    matrix = sp.hstack(
        [table, -table, sp.csc_array(rows.offset_table), sp.eye_array(n)], format="csc"
    )
    return matrix, name_blocks((("positive", d), ("negative", d), ("offset", k), ("slack", n)))


def budget_row(rows: HingeRows, budget: Budget) -> Vector:
    """Coefficients of a budget, by column."""
    return np.r_[
        np.full(2 * rows.n_weights, budget.norm_coefficient),
        np.zeros(rows.n_offsets),
        budget.loss_coefficient * rows.weight,
    ]


def column_lower(rows: HingeRows) -> Vector:
    """Lower bounds of the columns: zero, but for the offsets, which are free."""
    return np.r_[
        np.zeros(2 * rows.n_weights), np.full(rows.n_offsets, -np.inf), np.zeros(rows.n_rows)
    ]
