"""A simplex tableau over some rows and columns of a set of models, at a vertex of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from ...arrays import Matrix, Vector
from ..programs.equivalent_models import Budget
from ..programs.hinge_rows import HingeRows
from .extremes import Extrema, Extreme

# A row whose target is met to within this is tight at a vertex.
_TIGHT = 1e-7

# Pivots after which one extreme is given up.
_MOST_PIVOTS = 20_000


class NotAVertexError(Exception):
    """The model is not a vertex of the polytope that budgets leave slack at: no basis is there."""


@dataclass
class Tableau:
    """The dictionary ``x[basis] = rhs - T x[nonbasic]`` of a vertex, and its variables.

    Variables are numbered: positive parts of the d weights, negative parts, offsets, slacks of the
    n rows, surpluses, and what is left of each budget. One of each mirrored pair is stored (see
    ``kernel``): ``partner`` is the other one, and the columns of the two add up to ``kappa``
    times the column of the variable ``budget``.
    """

    T: Matrix
    rhs: Vector
    basis: NDArray[np.int64]
    nonbasic: NDArray[np.int64]
    where: NDArray[np.int64]
    partner: NDArray[np.int64]
    kappa: Vector
    budget: NDArray[np.int64]
    free: NDArray[np.bool_]
    shape: tuple[int, int, int]  # weights, offsets, rows

    def solve(self, extremes: Sequence[Extreme]) -> tuple[Extrema, int]:
        """Solve extremes, each from this vertex; also, by how many pivots.

        What was not solved to the end is not a number.
        """
        from . import kernel

        d, k, n = self.shape
        m = len(extremes)
        coef, offset, multipliers = np.zeros((m, d)), np.zeros((m, k)), np.zeros((m, n))
        status = np.empty(m, dtype=np.int64)
        pivots = kernel.solve_extremes(
            self.T, self.rhs, self.basis, self.nonbasic, self.where, self.partner, self.kappa,
            self.budget, self.free, _MOST_PIVOTS,
            np.array([extreme.feature for extreme in extremes]),
            np.array([float(extreme.sign) for extreme in extremes]),
            d, k, n, coef, offset, multipliers, status,
        )  # fmt: skip
        coef[status != kernel.OPTIMAL] = np.nan
        return Extrema(coef, offset, multipliers), pivots


def tableau_at(rows: HingeRows, budgets: Sequence[Budget], coef: Vector, offset: Vector) -> Tableau:
    """The tableau at a vertex of the l1-regularised problem, where the budgets leave slack.

    With S the features in use, as many rows as there are weights in S and offsets are tight
    there; they determine both. All other rows and weights follow.
    """
    used = np.flatnonzero(coef)
    unused = np.flatnonzero(coef == 0)
    tight = _determining_rows(rows, used, rows.shortfall(coef[None], offset[None])[0])
    rest = np.setdiff1d(np.arange(rows.n_rows), tight)
    table, offsets = rows.table, rows.offset_table

    # Nonbasic: the unused weights, and the surpluses of the tight rows.
    square = np.hstack([table[np.ix_(tight, used)], offsets[tight]])
    right = np.hstack([table[np.ix_(tight, unused)], -np.eye(len(tight)), rows.target[tight, None]])
    structural = np.linalg.solve(square, right)
    of_rest = np.hstack(
        [table[np.ix_(rest, unused)], np.zeros((len(rest), len(tight))), rows.target[rest, None]]
    )
    of_rest -= np.hstack([table[np.ix_(rest, used)], offsets[rest]]) @ structural

    # A weight below zero is its negative part above zero; so are slack and surplus.
    sign = np.where(structural[: len(used), -1] < 0, -1.0, 1.0)
    structural[: len(used)] *= sign[:, None]
    short = of_rest[:, -1] > 0
    of_rest[~short] *= -1.0

    spare = np.vstack(
        [
            _budget_dictionary(b, rows, structural, of_rest, short, rest, used, unused)
            for b in budgets
        ]
    )
    if spare[:, -1].min() < -1e-9 * (1.0 + max(budget.limit for budget in budgets)):
        raise NotAVertexError("The model is not within the budgets.")
    whole = np.vstack([structural, of_rest, spare])
    return _assemble(whole, rows, budgets, used, unused, sign, tight, rest, short)


def _determining_rows(
    rows: HingeRows, used: NDArray[np.intp], shortfall: Vector
) -> NDArray[np.intp]:
    """As many tight rows as there are weights in use and offsets, that determine them."""
    candidates = np.flatnonzero(np.abs(shortfall) <= _TIGHT)
    wanted = len(used) + rows.n_offsets
    if len(candidates) < wanted:
        raise NotAVertexError(f"{len(candidates)} rows are tight, {wanted} are needed.")
    block = np.hstack([rows.table[np.ix_(candidates, used)], rows.offset_table[candidates]])
    triangle, order = qr(block.T, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    if size[wanted - 1] <= 1e-9 * max(1.0, size[0]):
        raise NotAVertexError("The tight rows do not determine the model.")
    return np.sort(candidates[order[:wanted]])


def _budget_dictionary(
    budget: Budget,
    rows: HingeRows,
    structural: Matrix,
    of_rest: Matrix,
    short: NDArray[np.bool_],
    rest: NDArray[np.intp],
    used: NDArray[np.intp],
    unused: NDArray[np.intp],
) -> Vector:
    """What is left of a budget, in terms of the nonbasic variables; the limit comes last."""
    line = np.zeros(structural.shape[1])
    line[: len(unused)] = budget.norm_coefficient
    line[-1] = budget.limit
    line -= budget.norm_coefficient * structural[: len(used)].sum(axis=0)
    line -= budget.loss_coefficient * (rows.weight[rest[short]] @ of_rest[short])
    return line


def _assemble(
    whole: Matrix,
    rows: HingeRows,
    budgets: Sequence[Budget],
    used: NDArray[np.intp],
    unused: NDArray[np.intp],
    sign: Vector,
    tight: NDArray[np.intp],
    rest: NDArray[np.intp],
    short: NDArray[np.bool_],
) -> Tableau:
    d, k, n = rows.n_weights, rows.n_offsets, rows.n_rows
    slack, surplus, left = 2 * d + k, 2 * d + k + n, 2 * d + k + 2 * n
    n_variables = left + len(budgets)
    basis = np.concatenate(
        [
            np.where(sign > 0, used, d + used),
            2 * d + np.arange(k),
            np.where(short, slack, surplus) + rest,
            left + np.arange(len(budgets)),
        ]
    )
    nonbasic = np.concatenate([unused, surplus + tight])
    where = np.full(n_variables, -(2**60))
    where[basis] = np.arange(len(basis))
    where[nonbasic] = -1 - np.arange(len(nonbasic))
    weights, row_numbers = np.arange(d), np.arange(n)
    partner, budget = np.full(n_variables, -1), np.full(n_variables, -1)
    partner[:d], partner[d : 2 * d] = d + weights, weights
    partner[slack:surplus], partner[surplus:left] = surplus + row_numbers, slack + row_numbers
    of_norm = next(i for i, b in enumerate(budgets) if b.norm_coefficient > 0)
    of_loss = next(i for i, b in enumerate(budgets) if b.loss_coefficient > 0)
    budget[: 2 * d], budget[slack:left] = left + of_norm, left + of_loss
    kappa = np.zeros(n_variables)
    kappa[: 2 * d] = 2.0 * budgets[of_norm].norm_coefficient
    kappa[slack:left] = np.tile(budgets[of_loss].loss_coefficient * rows.weight, 2)
    free = np.zeros(n_variables, dtype=bool)
    free[2 * d : slack] = True
    rhs = whole[:, -1].copy()
    rhs[(rhs < 0) & ~free[basis]] = 0.0  # rounding: a vertex has none
    return Tableau(
        T=np.ascontiguousarray(whole[:, :-1]),
        rhs=rhs,
        basis=basis.astype(np.int64),
        nonbasic=nonbasic.astype(np.int64),
        where=where,
        partner=partner,
        kappa=kappa,
        budget=budget,
        free=free,
        shape=(d, k, n),
    )
