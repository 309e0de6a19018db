"""A linear program as a value: it is built in one place and solved in another.

All linear models that are as good as a baseline: one polytope, described by budgets.

Limits on single weights, as rows that must be met: a set of models made smaller by an expert.
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


@dataclass(frozen=True)
class LinearProgram:
    """Minimise ``cost . x`` over a polytope.

    The polytope is ``row_lower <= matrix x <= row_upper``, ``column_lower <= x <= column_upper``.

    Attributes
    ----------
    matrix : sparse array of shape (n_rows, n_columns)
        In compressed column format.
    cost : ndarray of shape (n_columns,)
        The objective. All zero where the program only describes a set.
    row_lower, row_upper : ndarray of shape (n_rows,)
    column_lower, column_upper : ndarray of shape (n_columns,)
    blocks : mapping of str to slice
        Which columns hold which variables, by name.
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


def name_blocks(sizes: Sequence[tuple[str, int]]) -> dict[str, slice]:
    """Slices of the columns from the names and sizes of their blocks, in order.

    Examples
    --------
    >>> name_blocks([("weights", 2), ("slack", 3)])
    {'weights': slice(0, 2, None), 'slack': slice(2, 5, None)}
    """
    stops = np.cumsum([size for _, size in sizes])
    return {
        name: slice(int(stop) - size, int(stop))
        for (name, size), stop in zip(sizes, stops, strict=True)
    }


@dataclass(frozen=True)
class Budget:
    """A limit on ``norm_coefficient * |w|_1 + loss_coefficient * loss``."""

    norm_coefficient: float
    loss_coefficient: float
    limit: float

    def overdraft(self, norm: Vector, loss: Vector) -> Vector:
        return self.norm_coefficient * norm + self.loss_coefficient * loss - self.limit


@dataclass(frozen=True)
class StartingVertex:
    """A solution of the l1-regularised problem, and the multipliers of its rows there."""

    coef: Vector
    offset: Vector
    multipliers: Vector
    rows: HingeRows


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
    start: StartingVertex | None = None

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
        overdraft = [budget.overdraft(norm, loss) for budget in self.budgets]
        return np.max([*overdraft, self.rows.breach(coef, offset)], axis=0)

    @cached_property
    def program(self) -> LinearProgram:
        """The polytope as a linear program without objective; see ``constraint_rows``."""
        matrix, blocks = constraint_rows(self.rows)
        budget_rows = sp.csc_array(np.vstack([budget_row(self.rows, b) for b in self.budgets]))
        limits = np.array([budget.limit for budget in self.budgets])
        lower, upper = column_lower(self.rows), column_upper(self.rows)
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


def baseline_program(rows: HingeRows, C: float) -> LinearProgram:
    """Minimise ``|w|_1 + C * loss`` over all models."""
    matrix, blocks = constraint_rows(rows)
    return LinearProgram(
        matrix=matrix,
        cost=budget_row(rows, Budget(1.0, C, np.inf)),
        row_lower=rows.target,
        row_upper=np.full(rows.n_rows, np.inf),
        column_lower=column_lower(rows),
        column_upper=column_upper(rows),
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
        budget.loss_coefficient * rows.weight_in_loss,
    ]


def column_lower(rows: HingeRows) -> Vector:
    """Lower bounds of the columns: zero, but for the offsets, which are free."""
    return np.r_[
        np.zeros(2 * rows.n_weights), np.full(rows.n_offsets, -np.inf), np.zeros(rows.n_rows)
    ]


def column_upper(rows: HingeRows) -> Vector:
    """Upper bounds of the columns: none, but for the slacks of rows that must be met."""
    unlimited = np.full(2 * rows.n_weights + rows.n_offsets, np.inf)
    return np.r_[unlimited, np.where(rows.must_be_met, 0.0, np.inf)]


def offset_range(rows: HingeRows, norm: float, loss: float) -> Matrix:
    """Bounds that the offsets satisfy in every model within these limits, shape (n_offsets, 2).

    Take the weighted mean of rows that have the same offset part p (of rows that must be met, the
    plain mean). With their total weight W and the mean t of their table it says

        p . offset  >=  target - t . w - loss / W,    |t . w|  <=  norm max_k |t_k|,

    which bounds one offset once the others are bounded.
    """
    patterns = [_mean_row(rows, pattern, norm, loss) for pattern in _patterns(rows)]
    bounds = np.tile([-np.inf, np.inf], (rows.n_offsets, 1))
    for _ in range(rows.n_offsets + 1):
        for pattern, least in patterns:
            for k in np.flatnonzero(pattern):
                others = np.delete(np.arange(rows.n_offsets), k)
                most = np.where(pattern[others] > 0, bounds[others, 1], bounds[others, 0])
                limit = (least - _product(pattern[others], most)) / pattern[k]
                if pattern[k] > 0:
                    bounds[k, 0] = max(bounds[k, 0], limit)
                else:
                    bounds[k, 1] = min(bounds[k, 1], limit)
    return bounds


def _patterns(rows: HingeRows) -> list[tuple[Vector, NDArray[np.bool_]]]:
    """The different offset parts there are, and the rows of each, met or not."""
    keys = np.column_stack([rows.offset_table, rows.must_be_met])
    different, which = np.unique(keys, axis=0, return_inverse=True)
    return [(key[:-1], which.ravel() == i) for i, key in enumerate(different)]


def _mean_row(
    rows: HingeRows, pattern: tuple[Vector, NDArray[np.bool_]], norm: float, loss: float
) -> tuple[Vector, float]:
    """The offset part of a mean of rows, and what it comes to at least."""
    offset_part, members = pattern
    weight = np.where(members, np.where(rows.must_be_met, 1.0, rows.weight), 0.0)
    total = weight.sum()
    slack = 0.0 if rows.must_be_met[members].all() else loss / total
    reach = norm * np.abs(rows.pull(weight)).max(initial=0.0) / total
    return offset_part, float(weight @ rows.target / total - slack - reach)


def _product(factors: Vector, limits: Vector) -> float:
    """Sum of products, where zero times anything is zero."""
    used = factors != 0
    return float(factors[used] @ limits[used])


# A model this close to a limit keeps it.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class WeightLimit:
    """``low <= w_feature <= high``; infinite where there is none."""

    feature: int
    low: float
    high: float

    def keeps(self, coef: Matrix) -> NDArray[np.bool_]:
        """Which of several models keep within it, shape (n_models,)."""
        weight = coef[:, self.feature]
        return (weight >= self.low - _ROUNDING) & (weight <= self.high + _ROUNDING)

    @property
    def ends(self) -> list[tuple[float, float]]:
        """Sign and target of each row that it takes: ``sign * w >= target``."""
        ends = [(1.0, self.low), (-1.0, -self.high)]
        return [(sign, target) for sign, target in ends if np.isfinite(target)]


def limited_models(models: EquivalentModels, limits: Sequence[WeightLimit]) -> EquivalentModels:
    """The models of a set that keep within limits; without a model to start from.

    Bounds of the offsets stay true for a part of the set.
    """
    return replace(models, rows=limited_rows(models.rows, limits), start=None)


def limited_rows(rows: HingeRows, limits: Sequence[WeightLimit]) -> HingeRows:
    """The same rows, and behind them those of the limits, which must be met."""
    ends = [(limit.feature, *end) for limit in limits for end in limit.ends]
    features = np.array([feature for feature, _, _ in ends], dtype=np.intp)
    signs = np.array([sign for _, sign, _ in ends])
    n = len(ends)
    table = sp.csr_array((signs, (np.arange(n), features)), shape=(n, rows.n_weights))
    return replace(
        rows,
        table=stacked([rows.table, table if sp.issparse(rows.table) else table.toarray()]),
        offset_table=np.vstack([rows.offset_table, np.zeros((n, rows.n_offsets))]),
        target=np.r_[rows.target, [target for _, _, target in ends]],
        weight=np.r_[rows.weight, np.full(n, np.inf)],
    )


def within(coef: Matrix, limits: Sequence[WeightLimit]) -> Matrix:
    """Models that keep limits but for rounding, put exactly within them, in place.

    A weight whose limits are both zero is then zero on every machine.

    Parameters
    ----------
    coef : ndarray of shape (..., d)
    limits : sequence of Limit
    """
    for limit in limits:
        weight = coef[..., limit.feature]
        coef[..., limit.feature] = np.clip(weight, limit.low, limit.high) + 0.0  # not -0.0
    return coef


def limited_ranges(ranges: Matrix, limits: Sequence[WeightLimit]) -> Matrix:
    """What is left of ranges of all weights, shape (d, 2), where limits are kept."""
    return within(ranges.T.copy(), limits).T


def kept_by(coef: Matrix, limits: Sequence[WeightLimit]) -> NDArray[np.bool_]:
    """Which of several models keep within all limits, shape (n_models,)."""
    kept = np.ones(len(coef), dtype=bool)
    for limit in limits:
        kept &= limit.keeps(coef)
    return kept
