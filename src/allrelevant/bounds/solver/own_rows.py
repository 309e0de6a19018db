"""Interior-point iterations in which the rows near their breakpoint have variables of their own.

When few rows are left in the window of the smoothed loss, smoothing no longer converges. Here the
rows near their breakpoint get a slack and an excess, as in a linear program, and all other rows
stay on their side: their loss is linear. Because ``max(0, t)`` is at least 0 and at least t, this
is a relaxation for any choice of sides, and its dual variables are feasible for all rows. Rows that
change sides get variables of their own, and the iterations continue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from .barrier import Costs, LossModel, OwnRows, Points, centered_points, predictor_corrector
from .smoothed import LossRows

# Rows nearer than this multiple of the window's width are rows of their own, and at least this
# many per variable.
NEAR = 4.0
OWN_ROWS_PER_VARIABLE = 6

# Numbers in the tables of own rows that are processed together.
NUMBERS_PER_GROUP = 200_000

MAX_STEPS = 60
MAX_ROUNDS = 12

# Steps without progress, once the products are small, after which the iterations end.
MAX_STALLS = 3
STALLED_BELOW = 1e-6


@dataclass
class OwnRowsResult:
    """Points at which the iterations of B programs ended.

    ``multipliers`` are those of the hard constraints, ``slopes`` those of all rows (B, n) divided
    by the price of the loss.
    """

    u: Matrix
    prices: Matrix
    multipliers: Matrix
    slopes: Matrix


def solve_with_own_rows(
    costs: Costs,
    rows: LossRows,
    u: Matrix,
    prices: Matrix,
    width: Vector,
    gap: Vector,
    tol: float,
    on_step: Callable[[], None],
) -> OwnRowsResult:
    """Iterate from given models and prices until the error is at most ``tol``.

    ``width`` is the width of the last window, and ``gap`` the gap of the models if it is known,
    else infinite. ``on_step`` is called before each step and may raise an error.
    """
    n_programs, order = u.shape
    n_rows = len(rows.target)
    result = OwnRowsResult(
        u.copy(),
        prices.copy(),
        np.zeros((n_programs, costs.n_hard)),
        np.zeros((n_programs, n_rows)),
    )
    t = rows.distance(u)
    is_own = np.abs(t) < NEAR * width[:, None]
    least = min(n_rows, OWN_ROWS_PER_VARIABLE * order)
    mu = np.minimum(
        _product_at(costs, rows, prices, width), 0.5 * gap / np.maximum(is_own.sum(axis=1), least)
    )
    pending = np.arange(n_programs)
    for _ in range(MAX_ROUNDS):
        counts = np.maximum(is_own[pending].sum(axis=1), least)
        again: list[int] = []
        for group, n_own in _groups(pending, counts, order):
            index = _nearest(t[group], is_own[group], n_own)
            group_costs = costs.take(group)
            mu[group] = _solve_group(
                group_costs, rows, group, index, t[group], mu[group], result, tol, on_step
            )
            after, crossed, far = _crossed(group_costs, rows, group, index, t[group], result, tol)
            for e in np.flatnonzero(far > 0):
                b = int(group[e])
                is_own[b, index[e]] = True
                is_own[b] |= crossed[e] | (np.abs(after[e]) < far[e])
                t[b] = after[e]
                wide = _product_at(costs, rows, result.prices[[b]], far[[e]])[0]
                mu[b] = max(mu[b], wide)
                again.append(b)
        pending = np.array(again, dtype=np.intp)
        if len(pending) == 0:
            break
    return result


def _product_at(costs: Costs, rows: LossRows, prices: Matrix, width: Vector) -> Vector:
    """Return the products at which rows at the given distance count as near."""
    _, price = costs.prices(prices)
    return 0.25 * price * rows.weight.mean() * width


def _groups(
    programs: NDArray[np.intp], counts: NDArray[np.intp], order: int
) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Split programs into groups with similar numbers of rows of their own."""
    by_count = np.argsort(-counts, kind="stable")
    start = 0
    while start < len(programs):
        n_own = int(counts[by_count[start]])
        size = max(1, NUMBERS_PER_GROUP // (n_own * order))
        yield programs[by_count[start : start + size]], n_own
        start += size


def _nearest(t: Matrix, is_own: NDArray[np.bool_], n_own: int) -> NDArray[np.intp]:
    """Return the indices of rows for each program: those marked, then those nearest to zero."""
    if n_own >= t.shape[1]:
        return np.tile(np.arange(t.shape[1]), (len(t), 1))
    distance = np.where(is_own, -1.0, np.abs(t))
    return np.sort(np.argpartition(distance, n_own, axis=1)[:, :n_own], axis=1)


def _solve_group(
    costs: Costs,
    rows: LossRows,
    group: NDArray[np.intp],
    index: NDArray[np.intp],
    t: Matrix,
    mu: Vector,
    result: OwnRowsResult,
    tol: float,
    on_step: Callable[[], None],
) -> Vector:
    """Solve some programs with given rows of their own; return the mean products at the end."""
    each = np.arange(len(group))[:, None]
    own = OwnRows(rows.table[index], rows.target[index], rows.weight[index])
    slopes = np.where(t > 0, rows.weight, 0.0)
    slopes[each, index] = 0.0
    folded = Folded(own, rows.gradient(slopes), slopes @ rows.target)
    start = centered_points(costs, result.u[group], result.prices[group], mu, own)
    best = _iterate(costs, start, folded, tol, on_step)
    prices = best.z[:, best.budget]
    _, price = costs.prices(prices)
    slopes[each, index] = np.clip(best.z[:, best.slack] / price[:, None], 0.0, own.weight)
    slopes[each, index] -= _balancing_change(costs, rows, best, slopes, index)
    result.u[group], result.prices[group] = best.u, prices
    result.multipliers[group], result.slopes[group] = best.z[:, best.hard], slopes
    return best.products / best.x.shape[1]


def _balancing_change(
    costs: Costs, rows: LossRows, points: Points, slopes: Matrix, index: NDArray[np.intp]
) -> Matrix:
    """Return what to subtract from the slopes of own rows to match the objective of the offsets.

    Slopes near one of their limits change least, so that they stay within them.
    """
    m, (_, price) = costs.n_weights, costs.prices(points.z[:, points.budget])
    offsets = rows.table[:, m:]
    goal = (costs.objective + points.z[:, points.hard] @ costs.hard_table)[:, m:] / price[:, None]
    missing = goal + slopes @ offsets
    own, weight = slopes[np.arange(len(index))[:, None], index], rows.weight[index]
    freedom, near = own * (weight - own) / weight, offsets[index]
    system = np.matmul(near.transpose(0, 2, 1) * freedom[:, None], near)
    if not np.isfinite(system).all() or not np.isfinite(missing).all():
        return np.zeros_like(own)
    shift = np.matmul(np.linalg.pinv(system, hermitian=True), missing[:, :, None])
    return freedom * np.matmul(near, shift)[:, :, 0]


def _crossed(
    costs: Costs,
    rows: LossRows,
    group: NDArray[np.intp],
    index: NDArray[np.intp],
    t: Matrix,
    result: OwnRowsResult,
    tol: float,
) -> tuple[Matrix, NDArray[np.bool_], Vector]:
    """Return the distances of all rows, which folded rows have changed sides, and how far.

    The last is zero for programs where this does not matter.
    """
    after = rows.distance(result.u[group])
    crossed = (after > 0) != (t > 0)
    crossed[np.arange(len(group))[:, None], index] = False
    excess = np.where(crossed, np.abs(after), 0.0)
    _, price = costs.prices(result.prices[group])
    matters = np.maximum(price, 0.1) * (excess @ rows.weight) > 0.1 * tol
    return after, crossed, np.where(matters, excess.max(axis=1), 0.0)


@dataclass
class Folded:
    """Loss of a group of programs: rows of their own, and the linear loss of all others."""

    own: OwnRows
    gradient: Matrix
    constant: Vector

    def take(self, which: NDArray[np.intp]) -> Folded:
        own = self.own
        return Folded(
            OwnRows(own.table[which], own.target[which], own.weight[which]),
            self.gradient[which],
            self.constant[which],
        )


def _iterate(
    costs: Costs, points: Points, folded: Folded, tol: float, on_step: Callable[[], None]
) -> Points:
    """Return the best points of each program."""
    best, best_error = points.copy(), np.full(len(points.u), np.inf)
    running = np.arange(len(points.u))
    last, stalls = np.full(len(running), np.inf), np.zeros(len(running), dtype=int)
    scaled = np.empty(folded.own.table.shape[1:])
    for step in range(MAX_STEPS + 1):
        on_step()
        pull, loss, error = _evaluate(costs, points, folded)
        better = np.flatnonzero(error < best_error[running])
        best_error[running[better]] = error[better]
        best.put(running[better], points.take(better))
        products = points.products
        stalls += (step > 3) & (products > 0.5 * last) & (products < STALLED_BELOW)
        last = products
        is_over = (error <= tol) | (stalls >= MAX_STALLS) | ~np.isfinite(error)
        if is_over.any():
            stay = np.flatnonzero(~is_over)
            running, points, costs, folded, pull, loss, last, stalls = (
                running[stay],
                points.take(stay),
                costs.take(stay),
                folded.take(stay),
                pull[stay],
                loss[stay],
                last[stay],
                stalls[stay],
            )
        if len(running) == 0 or step == MAX_STEPS:
            break
        with np.errstate(all="ignore"):  # the next evaluation finds points that are not finite
            model = _loss_model(points, folded, pull, loss, scaled)
            points.move(*predictor_corrector(costs, points, model, 0.01 * tol))
        weights = points.x[:, points.positive] - points.x[:, points.negative]
        points.u[:, : costs.n_weights] = weights  # without the rounding errors of many steps
    return best


def _evaluate(costs: Costs, points: Points, folded: Folded) -> tuple[Matrix, Vector, Vector]:
    """Return the gradient of the Lagrangian's loss part, the loss, and the error of each point."""
    own, x, z = folded.own, points.x, points.z
    multipliers = z[:, points.slack]
    _, price = costs.prices(z[:, points.budget])
    pull = price[:, None] * folded.gradient - z[:, points.hard] @ costs.hard_table
    pull -= np.matmul(multipliers[:, None, :], own.table)[:, 0]
    loss = folded.constant + np.einsum("bi,bi->b", folded.gradient, points.u)
    loss += np.einsum("bk,bk->b", own.weight, x[:, points.excess])
    feasible = np.minimum(multipliers, price[:, None] * own.weight)
    dual = price * folded.constant + np.einsum("bk,bk->b", feasible, own.target)
    gap = np.abs(costs.gap(points, pull, loss, dual))
    residual = np.maximum(price, 0.1) * costs.loss_residual(points, loss)
    error = np.max([gap, points.products, 10 * residual, 10 * costs.imbalance(pull)], axis=0)
    return pull, loss, error


def _loss_model(
    points: Points, folded: Folded, pull: Matrix, loss: Vector, scaled: Matrix
) -> LossModel:
    """Return the loss model of the next step; ``scaled`` is memory for one table of own rows."""
    own, ratio = folded.own, points.z / points.x
    of_slack, of_excess = ratio[:, points.slack], ratio[:, points.excess]
    share = of_slack / (of_slack + of_excess)
    order = points.u.shape[1]
    hessian = np.empty((len(share), order, order))
    for b, root in enumerate(np.sqrt(share * of_excess)):
        np.multiply(own.table[b], root[:, None], out=scaled)
        hessian[b] = scaled.T @ scaled
    gradient = folded.gradient - np.matmul((share * own.weight)[:, None, :], own.table)[:, 0]
    return LossModel(hessian, gradient, pull, loss, own)
