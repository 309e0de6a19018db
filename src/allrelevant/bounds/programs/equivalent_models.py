"""All linear models that are as good as a baseline: a polytope, described by rows and budgets.

:class:`LinearProgram` is a program as a value: it is built here and solved elsewhere.
:class:`EquivalentModels` are the models whose norm and loss stay within budgets;
:class:`WeightLimit` makes such a set smaller by limits on single weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from .hinge import HingeRows, stacked

# A model this close to a limit on a weight is within it.
LIMIT_TOL = 1e-12


@dataclass(frozen=True)
class LinearProgram:
    """Minimize ``cost . x`` over a polytope.

    The polytope is ``row_lower <= matrix x <= row_upper``, ``column_lower <= x <= column_upper``.
    Where the program only describes a set, ``cost`` is zero. ``blocks`` names the columns.
    """

    matrix: sp.csc_array
    cost: Vector
    row_lower: Vector
    row_upper: Vector
    column_lower: Vector
    column_upper: Vector
    blocks: Mapping[str, slice]

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.matrix.shape[1])

    def model(self, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights and offsets of a point, or of several, shape (..., n_columns)."""
        weights = point[..., self.blocks["positive"]] - point[..., self.blocks["negative"]]
        return weights, point[..., self.blocks["offset"]]

    def weight_columns(self, features: int | NDArray[np.intp]) -> NDArray[np.intp]:
        """Columns of the positive and of the negative parts of weights, shape (2, ...)."""
        starts = [self.blocks[block].start for block in ("positive", "negative")]
        return np.array([start + features for start in starts])


def hinge_program(rows: HingeRows) -> LinearProgram:
    """The constraints ``table w + offset_table o + slack >= target``, without objective.

    The variables, in the order of the columns::

        positive (d)  >= 0    positive part of the weights, w = positive - negative
        negative (d)  >= 0    negative part
        offset   (k)  free
        slack    (n)  >= 0    zero in hard rows
    """
    n, d, k = rows.n_rows, rows.n_weights, rows.n_offsets
    table = sp.csc_array(rows.table)
    matrix = sp.hstack(
        [table, -table, sp.csc_array(rows.offset_table), sp.eye_array(n)], format="csc"
    )
    ends = np.cumsum([0, d, d, k, n]).tolist()
    names = ("positive", "negative", "offset", "slack")
    return LinearProgram(
        matrix=matrix,
        cost=np.zeros(matrix.shape[1]),
        row_lower=rows.target,
        row_upper=np.full(n, np.inf),
        column_lower=np.r_[np.zeros(2 * d), np.full(k, -np.inf), np.zeros(n)],
        column_upper=np.r_[np.full(2 * d + k, np.inf), np.where(rows.is_hard, 0.0, np.inf)],
        blocks=dict(zip(names, map(slice, ends[:-1], ends[1:]), strict=True)),
    )


@dataclass(frozen=True)
class Budget:
    """A limit on ``norm_coefficient * |w|_1 + loss_coefficient * loss``."""

    norm_coefficient: float
    loss_coefficient: float
    limit: float

    def excess(self, norm: Vector, loss: Vector) -> Vector:
        return self.norm_coefficient * norm + self.loss_coefficient * loss - self.limit


def budget_row(rows: HingeRows, budget: Budget) -> Vector:
    """Coefficients of a budget, by column."""
    return np.r_[
        np.full(2 * rows.n_weights, budget.norm_coefficient),
        np.zeros(rows.n_offsets),
        budget.loss_coefficient * rows.weight_in_loss,
    ]


def baseline_program(rows: HingeRows, C: float) -> LinearProgram:
    """Minimize ``|w|_1 + C * loss`` over all models."""
    return replace(hinge_program(rows), cost=budget_row(rows, Budget(1.0, C, np.inf)))


@dataclass(frozen=True)
class StartingVertex:
    """A solution of the l1-regularized problem, and the multipliers of its rows."""

    coef: Vector
    offset: Vector
    multipliers: Vector
    rows: HingeRows


@dataclass(frozen=True)
class EquivalentModels:
    """The models whose norm and loss stay within the budgets, and where a solver starts.

    One budget limits the norm and one the loss, or one limits both. ``offset_range``, of shape
    (n_offsets, 2), holds bounds that the offsets of every model satisfy. They follow from rows and
    budgets; certificates need them (see :mod:`allrelevant.bounds.solver.proofs`).
    """

    rows: HingeRows
    budgets: tuple[Budget, ...]
    offset_range: Matrix
    start: StartingVertex | None = None

    @property
    def n_weights(self) -> int:
        return self.rows.n_weights

    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        """How far each of m models is outside the set, shape (m,); zero or less inside it."""
        norm = np.abs(coef).sum(axis=1)
        loss = self.rows.loss(coef, offset)
        excess = [budget.excess(norm, loss) for budget in self.budgets]
        return np.max([*excess, self.rows.violation(coef, offset)], axis=0)

    @cached_property
    def program(self) -> LinearProgram:
        """The polytope: the rows, then the budgets."""
        hinge = hinge_program(self.rows)
        budget_rows = sp.csc_array(np.vstack([budget_row(self.rows, b) for b in self.budgets]))
        limits = np.array([budget.limit for budget in self.budgets])
        lower, upper = hinge.column_lower.copy(), hinge.column_upper.copy()
        lower[hinge.blocks["offset"]], upper[hinge.blocks["offset"]] = self.offset_range.T
        return replace(
            hinge,
            matrix=sp.vstack([hinge.matrix, budget_rows], format="csc"),
            row_lower=np.r_[hinge.row_lower, np.full(len(limits), -np.inf)],
            row_upper=np.r_[hinge.row_upper, limits],
            column_lower=lower,
            column_upper=upper,
        )


def separate_budgets(
    rows: HingeRows, norm: float, loss: float, start: StartingVertex | None = None
) -> EquivalentModels:
    """Models with ``|w|_1 <= norm`` and ``loss <= loss``."""
    budgets = (Budget(1.0, 0.0, norm), Budget(0.0, 1.0, loss))
    return EquivalentModels(rows, budgets, offset_range(rows, norm, loss), start)


def joint_budget(
    rows: HingeRows, C: float, limit: float, start: StartingVertex | None = None
) -> EquivalentModels:
    """Models with ``|w|_1 + C * loss <= limit``."""
    offsets = offset_range(rows, limit, limit / C)
    return EquivalentModels(rows, (Budget(1.0, C, limit),), offsets, start)


def offset_range(rows: HingeRows, norm: float, loss: float) -> Matrix:
    """Bounds on the offsets of every model within these limits, shape (n_offsets, 2).

    Take the weighted mean of the rows that have the same offset part p (of hard rows, the plain
    mean). With their total weight W and the mean t of their table it says

        p . offset  >=  target - t . w - loss / W,    |t . w|  <=  norm max_k |t_k|,

    which bounds one offset once the others are bounded.
    """
    keys, group = np.unique(
        np.column_stack([rows.offset_table, rows.is_hard]), axis=0, return_inverse=True
    )
    means = [
        (key[:-1], _least_mean(rows, group.ravel() == i, norm, loss)) for i, key in enumerate(keys)
    ]
    bounds = np.tile([-np.inf, np.inf], (rows.n_offsets, 1))
    for _ in range(rows.n_offsets + 1):
        for offset_part, least in means:
            for k in np.flatnonzero(offset_part):
                used = np.setdiff1d(np.flatnonzero(offset_part), k)
                most = np.where(offset_part[used] > 0, bounds[used, 1], bounds[used, 0])
                limit = (least - float(offset_part[used] @ most)) / offset_part[k]
                if offset_part[k] > 0:
                    bounds[k, 0] = max(bounds[k, 0], limit)
                else:
                    bounds[k, 1] = min(bounds[k, 1], limit)
    return bounds


def _least_mean(rows: HingeRows, members: NDArray[np.bool_], norm: float, loss: float) -> float:
    """What the offset part of a mean of rows comes to at least."""
    weight = np.where(members, np.where(rows.is_hard, 1.0, rows.weight), 0.0)
    total = weight.sum()
    slack = 0.0 if rows.is_hard[members].all() else loss / total
    reach = norm * np.abs(rows.row_combination(weight)).max(initial=0.0) / total
    return float(weight @ rows.target / total - slack - reach)


@dataclass(frozen=True)
class WeightLimit:
    """``low <= w_feature <= high``; infinite where there is none."""

    feature: int
    low: float
    high: float

    @property
    def ends(self) -> list[tuple[float, float]]:
        """Sign and target of each row that it takes: ``sign * w >= target``."""
        ends = [(1.0, self.low), (-1.0, -self.high)]
        return [(sign, target) for sign, target in ends if np.isfinite(target)]


def limited_models(models: EquivalentModels, limits: Sequence[WeightLimit]) -> EquivalentModels:
    """The models of a set that keep limits, without a start.

    The limits are hard rows behind those of the set. The bounds of the offsets remain valid.
    """
    rows = models.rows
    ends = [(limit.feature, *end) for limit in limits for end in limit.ends]
    features = np.array([feature for feature, _, _ in ends], dtype=np.intp)
    signs = np.array([sign for _, sign, _ in ends])
    n = len(ends)
    table = sp.csr_array((signs, (np.arange(n), features)), shape=(n, rows.n_weights))
    limited = replace(
        rows,
        table=stacked([rows.table, table if sp.issparse(rows.table) else table.toarray()]),
        offset_table=np.vstack([rows.offset_table, np.zeros((n, rows.n_offsets))]),
        target=np.r_[rows.target, [target for _, _, target in ends]],
        weight=np.r_[rows.weight, np.full(n, np.inf)],
    )
    return replace(models, rows=limited, start=None)


def kept_by(coef: Matrix, limits: Sequence[WeightLimit]) -> NDArray[np.bool_]:
    """Which of m models keep all limits, shape (m,)."""
    kept = np.ones(len(coef), dtype=bool)
    for limit in limits:
        weight = coef[:, limit.feature]
        kept &= (weight >= limit.low - LIMIT_TOL) & (weight <= limit.high + LIMIT_TOL)
    return kept


def within(coef: Matrix, limits: Sequence[WeightLimit]) -> Matrix:
    """Models that keep limits but for rounding, put exactly within them, in place.

    A weight whose limits are both zero is then zero on every machine.
    """
    for limit in limits:
        weight = coef[..., limit.feature]
        coef[..., limit.feature] = np.clip(weight, limit.low, limit.high) + 0.0  # not -0.0
    return coef
