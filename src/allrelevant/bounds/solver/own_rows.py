"""Interior-point iterations in which the rows near their breakpoint have variables of their own.

When few rows are left in the window of the smoothed loss, smoothing no longer converges. Here the
rows near their breakpoint get a slack and an excess, as in a linear program, and all other rows
stay on their side: their loss is linear. Because ``max(0, t)`` is at least 0 and at least t, this
is a relaxation for any choice of sides, and its dual variables are feasible for all rows. Rows that
change sides get variables of their own, and the iterations continue.
"""

from __future__ import annotations

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

# Steps without progress after which the iterations end.
MAX_STALLS = 3


@dataclass
class Solutions:
    """Models, budget prices and slopes of the loss at each row, with what is left of the gap."""

    u: Matrix
    prices: Matrix
    hard: Matrix
    slopes: Matrix
    error: Vector
    steps: NDArray[np.int64]


def solve_with_own_rows(
    costs: Costs, rows: LossRows, u: Matrix, prices: Matrix, width: Vector, gap: Vector, tol: float
) -> Solutions:
    """Iterate from given models and prices until the error is at most ``tol``.

    ``width`` is the width of the last window, and ``gap`` the gap of the models if it is known,
    else infinite.
    """
    B, M = u.shape
    n = len(rows.target)
    result = Solutions(
        u.copy(), prices.copy(), np.zeros((B, costs.n_hard)), np.zeros((B, n)), np.full(B, np.inf),
        np.zeros(B, dtype=np.int64),
    )
    t = rows.distance(u)
    mean_weight = rows.weight.mean()
    _, v = costs.prices(prices)
    mu = 0.25 * v * mean_weight * width
    is_own = np.abs(t) < NEAR * width[:, None]
    mu = np.minimum(mu, gap / (2.0 * np.maximum(is_own.sum(axis=1), OWN_ROWS_PER_VARIABLE * M)))
    pending = np.arange(B)
    for _ in range(MAX_ROUNDS):
        if len(pending) == 0:
            break
        counts = np.maximum(is_own[pending].sum(axis=1), min(n, OWN_ROWS_PER_VARIABLE * M))
        order = np.argsort(-counts, kind="stable")
        pending, counts = pending[order], counts[order]
        start = 0
        again = []
        while start < len(pending):
            K = counts[start]
            size = max(1, NUMBERS_PER_GROUP // (K * M))
            group = pending[start : start + size]
            start += size
            index = _nearest(t[group], is_own[group], K)
            changed = _solve_group(costs, rows, group, index, t, mu, result, tol)
            for b, far in changed:
                own = np.zeros(n, dtype=bool)
                own[index[np.flatnonzero(group == b)[0]]] = True
                new = rows.distance(result.u[b][None])[0]
                is_own[b] = own | ((new > 0) != (t[b] > 0)) | (np.abs(new) < far)
                t[b] = new
                _, v_b = costs.prices(result.prices[b][None])
                mu[b] = max(mu[b], 0.25 * v_b[0] * mean_weight * far)
                again.append(b)
        pending = np.array(again, dtype=np.intp)
    return result


def _nearest(t: Matrix, is_own: NDArray[np.bool_], K: int) -> NDArray[np.intp]:
    """Return the indices of K rows for each program: those marked, then those nearest to zero."""
    distance = np.where(is_own, -1.0, np.abs(t))
    if K >= t.shape[1]:
        return np.tile(np.arange(t.shape[1]), (len(t), 1))
    return np.sort(np.argpartition(distance, K, axis=1)[:, :K], axis=1)


def _solve_group(
    costs: Costs,
    rows: LossRows,
    group: NDArray[np.intp],
    index: NDArray[np.intp],
    t: Matrix,
    mu: Vector,
    result: Solutions,
    tol: float,
) -> list[tuple[int, float]]:
    """Solve some programs with given rows of their own; return those with rows that changed sides.

    ``mu`` of these becomes the mean product at the end.
    """
    costs = costs.take(group)
    each = np.arange(len(group))[:, None]
    own = OwnRows(rows.table[index], rows.target[index], rows.weight[index])
    slopes = np.where(t[group] > 0, rows.weight, 0.0)
    slopes[each, index] = 0.0
    folded_gradient, folded_dual = rows.gradient(slopes), slopes @ rows.target
    points = centered_points(costs, result.u[group], result.prices[group], mu[group], own)
    best, multipliers, mean_product = _iterate(costs, points, own, folded_gradient, folded_dual, tol)
    u, prices = best.u, best.z[:, best.budget]
    _, v = costs.prices(prices)
    ratio = np.clip(multipliers / v[:, None], 0.0, own.weight)
    result.u[group], result.prices[group], result.hard[group] = u, prices, best.z[:, best.hard]
    slopes[each, index] = ratio
    result.slopes[group] = slopes
    after = rows.distance(u)
    after[each, index] = 0.0
    crossed = ((after > 0) != (t[group] > 0)) & (after != 0)
    cost = np.where(crossed, np.abs(after), 0.0) @ rows.weight
    bad = np.flatnonzero(np.maximum(v, 0.1) * cost > 0.1 * tol)
    mu[group] = mean_product
    return [(int(group[b]), float(np.abs(after[b, crossed[b]]).max())) for b in bad]


def _iterate(
    costs: Costs, points: Points, own: OwnRows, folded_gradient: Matrix, folded_dual: Vector, tol: float
) -> tuple[Points, Matrix, Vector]:
    """Return the best points of each program, the multipliers of its own rows, the mean product."""
    B, n_pairs = points.x.shape
    m = costs.n_weights
    best_points = Points(points.u.copy(), points.x.copy(), points.z.copy(), *points._sizes)
    best_error = np.full(B, np.inf)
    running = np.arange(B)
    scaled = np.empty(own.table.shape[1:])
    last, stalls = np.full(B, np.inf), np.zeros(B, dtype=int)
    for step in range(MAX_STEPS + 1):
        x, z, u = points.x, points.z, points.u
        a, excess = z[:, points.slack], x[:, points.excess]
        _, v = costs.prices(z[:, points.budget])
        pull = v[:, None] * folded_gradient - np.matmul(a[:, None, :], own.table)[:, 0]
        pull -= z[:, points.hard] @ costs.hard_table
        loss = folded_dual + np.einsum("bi,bi->b", folded_gradient, u) + np.einsum("bk,bk->b", own.weight, excess)
        products = points.products
        capped = np.minimum(a, v[:, None] * own.weight)
        dual = v * folded_dual + np.einsum("bk,bk->b", capped, own.target)
        gap = np.abs(costs.gap(points, pull, loss, dual))
        norm_row, loss_row, limit = costs.budgets.T
        used = norm_row * points.norm[:, None] + loss_row * loss[:, None] + x[:, points.budget]
        residual = np.abs(used - limit).max(axis=1, initial=0.0) * np.maximum(v, 0.1)
        imbalance = np.abs(costs.objective[:, m:] - pull[:, m:]).max(axis=1, initial=0.0)
        error = np.max([gap, products, 10 * residual, 10 * imbalance], axis=0)
        better = error < best_error[running]
        which = running[better]
        best_error[which] = error[better]
        best_points.u[which], best_points.x[which], best_points.z[which] = u[better], x[better], z[better]
        stalls += (step > 3) & (products > 0.5 * last) & (products < 1e-6)
        end = (error <= tol) | (stalls >= MAX_STALLS) | ~np.isfinite(error) | (step == MAX_STEPS)
        last = products
        if end.any():
            stay = np.flatnonzero(~end)
            if len(stay) == 0:
                break
            running, points, costs = running[stay], points.take(stay), costs.take(stay)
            own = OwnRows(own.table[stay], own.target[stay], own.weight[stay])
            folded_gradient, folded_dual = folded_gradient[stay], folded_dual[stay]
            pull, loss, v, last, stalls = pull[stay], loss[stay], v[stay], last[stay], stalls[stay]
        x, z = points.x, points.z
        ks, kx = z[:, points.slack] / x[:, points.slack], z[:, points.excess] / x[:, points.excess]
        share = ks / (ks + kx)
        curvature = share * kx
        hessian = np.empty((len(x), points.u.shape[1], points.u.shape[1]))
        for b, root in enumerate(np.sqrt(curvature)):
            np.multiply(own.table[b], root[:, None], out=scaled)
            hessian[b] = scaled.T @ scaled
        gradient = folded_gradient - np.matmul((share * own.weight)[:, None, :], own.table)[:, 0]
        model = LossModel(hessian, gradient, pull, loss, own)
        direction, primal, dual_step = predictor_corrector(costs, points, model, 0.01 * tol)
        points.x += primal[:, None] * direction.x
        points.z += dual_step[:, None] * direction.z
        points.u += primal[:, None] * direction.u
        points.u[:, :m] = points.x[:, points.positive] - points.x[:, points.negative]
    return best_points, best_points.z[:, best_points.slack], best_points.products / n_pairs
