"""Polytope of equivalent models, defined by hinge constraints and budgets for norm and loss.

:class:`LinearProgram` describes a linear program (LP), which is solved elsewhere.
:class:`EquivalentModels` is the set of models whose norm and loss are within budgets.
:class:`WeightLimit` restricts such a set by limits on a single weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from .hinge import UNIT_ROUNDOFF, HingeRows, stack_tables

# Tolerance for violating a limit on a weight.
LIMIT_TOL = 1e-12


@dataclass(frozen=True)
class LinearProgram:
    """Linear program: minimize ``cost . x`` over a polytope.

    The polytope is ``row_lower <= matrix x <= row_upper``, ``column_lower <= x <= column_upper``.
    If the LP only describes a set of models, ``cost`` is zero. ``blocks`` maps the name of each
    block of variables to its columns.
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
        """Return the weights and offsets of LP solutions; ``point`` has shape (..., n_columns)."""
        weights = point[..., self.blocks["positive"]] - point[..., self.blocks["negative"]]
        return weights, point[..., self.blocks["offset"]]

    def weight_columns(self, features: int | NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the LP columns of the positive and negative parts of weights, shape (2, ...)."""
        starts = [self.blocks[block].start for block in ("positive", "negative")]
        return np.array([start + features for start in starts])


def hinge_program(rows: HingeRows) -> LinearProgram:
    """Return the constraints ``table w + offset_table o + slack >= target`` as an LP.

    The variables are, in the order of the columns::

        positive (d)  >= 0    positive part of the weights, w = positive - negative
        negative (d)  >= 0    negative part
        offset   (k)  free
        slack    (n)  >= 0    slack variables, fixed at zero in hard constraints
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
    """Upper limit on ``norm_coefficient * |w|_1 + loss_coefficient * loss``."""

    norm_coefficient: float
    loss_coefficient: float
    limit: float

    def excess(self, norm: Vector, loss: Vector) -> Vector:
        return self.norm_coefficient * norm + self.loss_coefficient * loss - self.limit


def budget_row(rows: HingeRows, budget: Budget) -> Vector:
    """Return the coefficients of a budget constraint, one per column of the LP."""
    return np.r_[
        np.full(2 * rows.n_weights, budget.norm_coefficient),
        np.zeros(rows.n_offsets),
        budget.loss_coefficient * rows.weight_in_loss,
    ]


def baseline_program(rows: HingeRows, C: float) -> LinearProgram:
    """Return the LP that minimizes ``|w|_1 + C * loss`` over all models."""
    return replace(hinge_program(rows), cost=budget_row(rows, Budget(1.0, C, np.inf)))


@dataclass(frozen=True)
class StartingVertex:
    """Starting point for solvers: a model, the constraints on it and their dual variables.

    Usually, the model is the solution of the l1-regularized problem, which is a vertex.
    """

    coef: Vector
    offset: Vector
    multipliers: Vector
    rows: HingeRows


@dataclass(frozen=True)
class EquivalentModels:
    """Set of models whose norm and loss are within budgets, with a starting point for solvers.

    There is one budget for the norm and one for the loss, or a joint budget for both.
    ``offset_range``, of shape (n_offsets, 2), holds bounds on the offsets of every model in the
    set. They follow from the constraints and budgets, and certificates require them (see
    :mod:`allrelevant.bounds.solver.proofs`).
    """

    rows: HingeRows
    budgets: tuple[Budget, ...]
    offset_range: Matrix
    start: StartingVertex | None = None

    @property
    def n_weights(self) -> int:
        return self.rows.n_weights

    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        """Return each model's largest violation of a constraint or budget, shape (m,).

        The violation is at most zero for models in the set.
        """
        return self.violations(coef, offset).max(axis=1)

    def violations(self, coef: Matrix, offset: Matrix) -> Matrix:
        """Return each model's excess over each budget, and its largest violation of a constraint.

        The shape is (m, n_budgets + 1). Only hard constraints can be violated.
        """
        norm = np.abs(coef).sum(axis=1)
        loss = self.rows.loss(coef, offset)
        excess = [budget.excess(norm, loss) for budget in self.budgets]
        return np.column_stack([*excess, self.rows.violation(coef, offset)])

    def rounding(self, coef: Matrix, offset: Matrix) -> Matrix:
        """Return bounds on the rounding errors of :meth:`violations`."""
        norm = UNIT_ROUNDOFF * (coef != 0).sum(axis=1) * np.abs(coef).sum(axis=1)
        loss, hard = self.rows.rounding(coef, offset)
        excess = [
            budget.norm_coefficient * norm
            + budget.loss_coefficient * loss
            + 4.0 * UNIT_ROUNDOFF * budget.limit
            for budget in self.budgets
        ]
        return np.column_stack([*excess, hard])

    @cached_property
    def program(self) -> LinearProgram:
        """LP that describes the set of models by hinge constraints, followed by budgets."""
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
    """Return the set of models with norm at most ``norm`` and loss at most ``loss``."""
    budgets = (Budget(1.0, 0.0, norm), Budget(0.0, 1.0, loss))
    return EquivalentModels(rows, budgets, offset_range(rows, norm, loss), start)


def joint_budget(
    rows: HingeRows, C: float, limit: float, start: StartingVertex | None = None
) -> EquivalentModels:
    """Return the set of models with ``|w|_1 + C * loss <= limit``."""
    offsets = offset_range(rows, limit, limit / C)
    return EquivalentModels(rows, (Budget(1.0, C, limit),), offsets, start)


def offset_range(rows: HingeRows, norm: float, loss: float) -> Matrix:
    """Return bounds on the offsets of all models within the budgets, shape (n_offsets, 2).

    ``norm`` and ``loss`` are the budgets.

    Average all constraints that have the same offset coefficients p, weighted as in the loss. (Hard
    constraints are averaged without weights and have no loss term.) With total weight W and mean
    table row t, the averaged constraint is

        p . offset  >=  target - t . w - loss / W,    |t . w|  <=  norm max_k |t_k|.

    It bounds one offset, given bounds on the others.
    """
    keys, group = np.unique(
        np.column_stack([rows.offset_table, rows.is_hard]), axis=0, return_inverse=True
    )
    means = [
        (key[:-1], _min_offset_part(rows, group.ravel() == i, norm, loss))
        for i, key in enumerate(keys)
    ]
    bounds = np.tile([-np.inf, np.inf], (rows.n_offsets, 1))
    for _ in range(rows.n_offsets + 1):
        for coefficients, lower_bound in means:
            for k in np.flatnonzero(coefficients):
                others = np.setdiff1d(np.flatnonzero(coefficients), k)
                extreme = np.where(coefficients[others] > 0, bounds[others, 1], bounds[others, 0])
                limit = (lower_bound - float(coefficients[others] @ extreme)) / coefficients[k]
                if coefficients[k] > 0:
                    bounds[k, 0] = max(bounds[k, 0], limit)
                else:
                    bounds[k, 1] = min(bounds[k, 1], limit)
    return bounds


def _min_offset_part(
    rows: HingeRows, members: NDArray[np.bool_], norm: float, loss: float
) -> float:
    """Return a lower bound on the offset term of a model, from the mean of some constraints."""
    weight = np.where(members, np.where(rows.is_hard, 1.0, rows.weight), 0.0)
    total = weight.sum()
    slack = 0.0 if rows.is_hard[members].all() else loss / total
    max_product = norm * np.abs(rows.row_combination(weight)).max(initial=0.0) / total
    return float(weight @ rows.target / total - slack - max_product)


@dataclass(frozen=True)
class WeightLimit:
    """Limits on one weight: ``low <= w_feature <= high``. Infinite values mean no limit.

    If there are ``others``, pairs of a weight and its coefficient, the limits are on the weight
    plus this linear function of other weights.
    """

    feature: int
    low: float
    high: float
    others: tuple[tuple[int, float], ...] = ()

    @classmethod
    def on_direction(
        cls, direction: Vector, weights: NDArray[np.intp], low: float, high: float
    ) -> WeightLimit:
        """Return limits on ``direction . w[weights]``."""
        first, *rest = np.flatnonzero(direction).tolist()
        scale = float(direction[first])
        others = tuple((int(weights[k]), float(direction[k]) / scale) for k in rest)
        low, high = (low / scale, high / scale) if scale > 0 else (high / scale, low / scale)
        return cls(int(weights[first]), low, high, others)

    @property
    def coefficients(self) -> dict[int, float]:
        """Coefficient of each weight in the limited function."""
        return {self.feature: 1.0, **dict(self.others)}

    def values(self, coef: Any) -> Vector:
        """Return the limited function of each model (row of a dense or sparse matrix)."""
        weights = list(self.coefficients)
        return np.asarray(coef[:, weights] @ np.array(list(self.coefficients.values()))).ravel()

    @property
    def ends(self) -> list[tuple[float, float]]:
        """Constraints ``sign * w >= target`` that express the limits, as (sign, target) pairs."""
        ends = [(1.0, self.low), (-1.0, -self.high)]
        return [(sign, target) for sign, target in ends if np.isfinite(target)]


def restrict_models(models: EquivalentModels, limits: Sequence[WeightLimit]) -> EquivalentModels:
    """Restrict a set of models to those within limits on weights; drop the starting point.

    The limits are appended as hard constraints. The bounds on the offsets remain valid.
    """
    rows = models.rows
    ends = [(limit.coefficients, *end) for limit in limits for end in limit.ends]
    entries = [
        (i, weight, sign * coefficient)
        for i, (coefficients, sign, _) in enumerate(ends)
        for weight, coefficient in coefficients.items()
    ]
    places, weights, values = np.array(entries).reshape(-1, 3).T
    n = len(ends)
    table = sp.csr_array(
        (values, (places.astype(np.intp), weights.astype(np.intp))), shape=(n, rows.n_weights)
    )
    limited = replace(
        rows,
        table=stack_tables([rows.table, table if sp.issparse(rows.table) else table.toarray()]),
        offset_table=np.vstack([rows.offset_table, np.zeros((n, rows.n_offsets))]),
        target=np.r_[rows.target, [target for _, _, target in ends]],
        weight=np.r_[rows.weight, np.full(n, np.inf)],
    )
    return replace(models, rows=limited, start=None)


def satisfies_limits(
    coef: Matrix | sp.csr_array, limits: Sequence[WeightLimit]
) -> NDArray[np.bool_]:
    """Return a mask of the models (rows of ``coef``) that satisfy all limits on weights."""
    is_feasible = np.ones(coef.shape[0], dtype=bool)
    for limit in limits:
        value = limit.values(coef)
        is_feasible &= (value >= limit.low - LIMIT_TOL) & (value <= limit.high + LIMIT_TOL)
    return is_feasible


def within(coef: Matrix, limits: Sequence[WeightLimit]) -> Matrix:
    """Clip weights to their limits, in place, and return them.

    The models satisfy the limits up to rounding. After clipping, a weight whose limits are both
    zero is exactly zero on every platform. Limits on several weights are ignored.
    """
    for limit in limits:
        if limit.others:
            continue
        weight = coef[..., limit.feature]
        coef[..., limit.feature] = np.clip(weight, limit.low, limit.high) + 0.0  # not -0.0
    return coef
