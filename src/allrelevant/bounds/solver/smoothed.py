"""Interior-point iterations with a smoothed hinge loss, for tables with many rows.

With many rows, few of them are at the breakpoint of the hinge, and their number is small compared
with the rows near it: the loss is almost smooth. The hinge max(0, t) is replaced by a function with
slope

    clip((t + h) / 2h, 0, 1),

whose second derivative is nonzero only for rows in the window |t| < h. The width h decreases with
the products of the barrier method, because the gap due to smoothing decreases as h^2.

The slopes times the price of the loss are feasible dual variables, at every step. The residual of
the loss budget uses the true loss, and only its slope is smoothed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from .barrier import Costs, LossModel, Points, centered_points, predictor_corrector

# Numbers that are processed together, so that they stay in the cache of the processor.
NUMBERS_PER_PASS = 40_000

# Rows of the window that are used for the Hessian, at least and per variable.
MIN_WINDOW_ROWS = 1_000
WINDOW_ROWS_PER_VARIABLE = 6

# Smoothing is abandoned if the window has fewer rows than this, per variable.
LEAST_ROWS_PER_VARIABLE = 3

# Largest difference between the loss after a step and its linear prediction, relative to the
# budget; and the number of attempts to shorten the step.
TRUST = 0.15
MAX_HALVINGS = 4

MAX_STEPS = 40


@dataclass(frozen=True)
class LossRows:
    """Rows of the hinge loss over the working features: ``sum_i weight_i max(0, t_i)``.

    Here ``t = target - table @ u``; the table has shape (n, m + k).
    """

    table: Matrix
    target: Vector
    weight: Vector

    def distance(self, u: Matrix) -> Matrix:
        """Return t for each program, shape (B, n)."""
        return self.target - u @ self.table.T

    def gradient(self, slopes: Matrix) -> Matrix:
        """Return the gradient of the loss, given its slopes at each row; shape (B, m + k)."""
        return -(slopes @ self.table)


@dataclass(frozen=True)
class Smoothing:
    """Slopes of the smoothed loss (B, n), true loss, and the slopes' products with target and t."""

    slopes: Matrix
    loss: Vector
    dual: Vector
    product: Vector


def parts(n_programs: int, n_rows: int) -> Iterator[slice]:
    size = max(1, NUMBERS_PER_PASS // max(1, n_rows))
    return (slice(i, i + size) for i in range(0, n_programs, size))


def smooth(rows: LossRows, t: Matrix, h: Vector) -> Smoothing:
    B, n = t.shape
    slopes, loss, dual, product = np.empty_like(t), np.empty(B), np.empty(B), np.empty(B)
    for part in parts(B, n):
        r, d = slopes[part], t[part]
        width = h[part, None]
        np.maximum(d, 0.0, out=r)
        loss[part] = r @ rows.weight
        np.add(d, width, out=r)
        r *= 0.5 / width
        np.maximum(r, 0.0, out=r)
        np.minimum(r, 1.0, out=r)
        r *= rows.weight
        dual[part] = r @ rows.target
        product[part] = np.einsum("bi,bi->b", r, d)
    return Smoothing(slopes, loss, dual, product)


def window_hessian(
    rows: LossRows, t: Matrix, h: Vector, price: Vector, least: int, max_rows: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the Hessian of each program's smoothed loss times its price.

    Large windows are sampled. The second result tells which windows have at least ``least`` rows.
    """
    M = rows.table.shape[1]
    hessian, is_large = np.zeros((len(t), M, M)), np.zeros(len(t), dtype=bool)
    for b in range(len(t)):
        window = np.flatnonzero(np.abs(t[b]) < h[b])
        is_large[b] = len(window) >= least
        if not is_large[b]:
            continue
        step = 1 + len(window) // max_rows
        window = window[::step]
        near = rows.table[window]
        near *= np.sqrt(rows.weight[window] * (step * price[b] * 0.5 / h[b]))[:, None]
        hessian[b] = near.T @ near
    return hessian, is_large


@dataclass
class SmoothedResult:
    """Points at which the iterations ended: models, budget prices, window widths, and success."""

    u: Matrix
    prices: Matrix
    hard: Matrix
    width: Vector
    gap: Vector
    converged: NDArray[np.bool_]
    steps: NDArray[np.int64]

    def take(self, which: NDArray[np.intp]) -> SmoothedResult:
        return SmoothedResult(*(value[which] for value in vars(self).values()))


def solve_smoothed(
    costs: Costs,
    rows: LossRows,
    u: Matrix,
    prices: Matrix,
    mu: Vector,
    width: Vector,
    tol: float,
    max_steps: int = MAX_STEPS,
) -> SmoothedResult:
    """Iterate from given models and prices until the gap is at most ``tol``."""
    B, M = u.shape
    m = costs.n_weights
    limits = costs.budgets[costs.budgets[:, 1] > 0, 2]
    limit = max(limits[0], 0.1) if len(limits) else 1.0
    least = LEAST_ROWS_PER_VARIABLE * M
    max_rows = max(MIN_WINDOW_ROWS, WINDOW_ROWS_PER_VARIABLE * M)
    result = SmoothedResult(
        u.copy(), prices.copy(), np.zeros((B, costs.n_hard)), width.copy(), np.full(B, np.inf),
        np.zeros(B, dtype=bool), np.zeros(B, dtype=np.int64),
    )
    running = np.arange(B)
    points = centered_points(costs, u, prices, mu, None)
    t, h = rows.distance(u), width.copy()
    for step in range(max_steps + 1):
        now = smooth(rows, t, h)
        gradient = rows.gradient(now.slopes)
        _, v = costs.prices(points.z[:, points.budget])
        pull = v[:, None] * gradient - points.z[:, points.hard] @ costs.hard_table
        products = points.products
        gap = costs.gap(points, pull, now.loss, v * now.dual)
        residual = _budget_residual(costs, points, now.loss)
        imbalance = np.abs(costs.objective[:, m:] - pull[:, m:]).max(axis=1, initial=0.0)
        done = (
            (np.abs(gap) <= tol)
            & (np.maximum(v, 0.1) * residual <= 0.3 * tol)
            & (imbalance <= 0.1 * tol)
            & (products <= tol)
        )
        hessian, is_large = window_hessian(rows, t, h, v, least, max_rows)
        end = done | ~is_large | ~np.isfinite(gap) | (step == max_steps)
        if end.any():
            which = running[end]
            result.u[which], result.prices[which] = points.u[end], points.z[end, points.budget]
            result.hard[which] = points.z[end, points.hard]
            result.width[which], result.converged[which] = h[end], done[end]
            result.gap[which], result.steps[which] = gap[end], step
            stay = np.flatnonzero(~end)
            if len(stay) == 0:
                break
            running, points, costs, t, h = running[stay], points.take(stay), costs.take(stay), t[stay], h[stay]
            hessian, gradient, pull, v, products = hessian[stay], gradient[stay], pull[stay], v[stay], products[stay]
            now = Smoothing(now.slopes[stay], now.loss[stay], now.dual[stay], now.product[stay])
        model = LossModel(hessian, gradient, pull, now.loss)
        direction, primal, dual = predictor_corrector(costs, points, model, 0.02 * tol)
        dt = direction.u @ rows.table.T
        primal, dual = _shorten(rows, t, dt, now, primal, dual, limit)
        t -= primal[:, None] * dt
        points.u += primal[:, None] * direction.u
        points.x += primal[:, None] * direction.x
        points.z += dual[:, None] * direction.z
        smoothing_gap = v * (now.loss - now.product)
        wanted = np.maximum(points.products, 0.5 * tol)
        with np.errstate(divide="ignore", invalid="ignore"):
            h = np.where(smoothing_gap > wanted, np.maximum(0.25, np.sqrt(wanted / smoothing_gap)) * h, h)
    return result


def _budget_residual(costs: Costs, points: Points, loss: Vector) -> Vector:
    """Return the largest residual of a budget that limits the loss."""
    norm_row, loss_row, limit = costs.budgets.T
    used = norm_row * points.norm[:, None] + loss_row * loss[:, None] + points.x[:, points.budget]
    return np.abs((used - limit) * (loss_row > 0)).max(axis=1, initial=0.0)


def _shorten(
    rows: LossRows, t: Matrix, dt: Matrix, now: Smoothing, primal: Vector, dual: Vector, limit: float
) -> tuple[Vector, Vector]:
    """Shorten steps after which the loss is far above its linear prediction."""
    slope = np.einsum("bi,bi->b", now.slopes, dt)
    allowed = TRUST * limit
    pending = np.arange(len(t))
    for _ in range(MAX_HALVINGS):
        after = np.empty(len(pending))
        for part in parts(len(pending), t.shape[1]):
            b = pending[part]
            moved = t[b] - primal[b, None] * dt[b]
            np.maximum(moved, 0.0, out=moved)
            after[part] = moved @ rows.weight
        excess = after - now.loss[pending] + primal[pending] * slope[pending]
        is_long = excess > allowed
        pending, excess = pending[is_long], excess[is_long]
        if len(pending) == 0:
            break
        share = np.maximum(0.2, np.sqrt(allowed / excess))
        primal[pending] *= share
        dual[pending] *= np.maximum(share, 0.5)
    return primal, dual


def balance(costs: Costs, rows: LossRows, result: SmoothedResult) -> Matrix:
    """Return slopes whose sums over the offsets match the objective, shape (B, n).

    The offsets are moved for the slopes only; the models stay as they are.
    """
    m = costs.n_weights
    _, v = costs.prices(result.prices)
    h = result.width
    wanted = (costs.objective - result.hard @ -costs.hard_table)[:, m:] / v[:, None]
    offsets = rows.table[:, m:]
    t = rows.distance(result.u)
    slopes = np.empty_like(t)
    for b in range(len(t)):
        distance = t[b]
        for _ in range(8):
            phi = np.clip((distance + h[b]) * (0.5 / h[b]), 0.0, 1.0)
            slopes[b] = phi * rows.weight
            missing = wanted[b] + slopes[b] @ offsets
            if np.abs(missing).max(initial=0.0) <= 1e-14:
                break
            window = np.flatnonzero((phi > 0) & (phi < 1))
            near = offsets[window]
            hessian = (near * (rows.weight[window] * 0.5 / h[b])[:, None]).T @ near
            if not len(window) or np.linalg.cond(hessian) > 1e12:
                break
            distance = distance - offsets @ np.linalg.solve(hessian, missing)
    return slopes
