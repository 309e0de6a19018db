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

from collections.abc import Callable, Iterator
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
LEAST_ROWS_PER_VARIABLE = 2

# Largest difference between the loss after a step and its linear prediction, relative to the
# budget; and the number of attempts to shorten the step.
TRUST = 0.15
MAX_SHORTENINGS = 4

# Smallest ratio of the widths of successive windows.
MIN_NARROWING = 0.25

MAX_STEPS = 40

# Newton steps that balance the slopes, and the largest sum of balanced slopes.
MAX_BALANCE_STEPS = 8
BALANCED = 1e-14


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


@dataclass
class SmoothedResult:
    """Points at which the iterations of B programs ended.

    ``multipliers`` are those of the hard constraints. ``gap`` is the duality gap over the working
    features, for multipliers of the rows that may not be balanced (see :func:`balance`).
    """

    u: Matrix
    prices: Matrix
    multipliers: Matrix
    width: Vector
    gap: Vector
    converged: NDArray[np.bool_]

    def take(self, which: NDArray[np.intp]) -> SmoothedResult:
        return SmoothedResult(*(value[which] for value in vars(self).values()))

    def put(self, which: NDArray[np.intp], others: SmoothedResult) -> None:
        for mine, value in zip(vars(self).values(), vars(others).values(), strict=True):
            mine[which] = value


def solve_smoothed(
    costs: Costs,
    rows: LossRows,
    u: Matrix,
    prices: Matrix,
    mu: Vector,
    width: Vector,
    tol: float,
    on_step: Callable[[], None],
) -> SmoothedResult:
    """Iterate from given models, budget prices, products and widths until the gap is ``tol``.

    ``on_step`` is called before each step and may raise an error.
    """
    points = centered_points(costs, u, prices, mu, None)
    state = _State(costs, rows, points, rows.distance(u), width.copy())
    running = np.arange(len(u))
    result: SmoothedResult | None = None
    for step in range(MAX_STEPS + 1):
        on_step()
        now = _evaluate(state, tol)
        hessian, is_large = _window_hessian(state, now.price)
        is_over = now.is_done | ~is_large | ~np.isfinite(now.gap) | (step == MAX_STEPS)
        if result is None:
            result = state.result(now)
        if is_over.any():
            over, stay = np.flatnonzero(is_over), np.flatnonzero(~is_over)
            result.put(running[over], state.take(over).result(now.take(over)))
            if len(stay) == 0:
                break
            running, state, now, hessian = (
                running[stay],
                state.take(stay),
                now.take(stay),
                hessian[stay],
            )
        _step(state, now, hessian, tol)
    assert result is not None
    return result


@dataclass
class _State:
    """Programs that are not finished, with the distances t of their rows."""

    costs: Costs
    rows: LossRows
    points: Points
    t: Matrix
    width: Vector

    def take(self, which: NDArray[np.intp]) -> _State:
        return _State(
            self.costs.take(which),
            self.rows,
            self.points.take(which),
            self.t[which],
            self.width[which],
        )

    def result(self, now: _Evaluation) -> SmoothedResult:
        points = self.points
        return SmoothedResult(
            points.u.copy(),
            points.z[:, points.budget].copy(),
            points.z[:, points.hard].copy(),
            self.width.copy(),
            now.gap,
            now.is_done,
        )


@dataclass
class _Evaluation:
    """Slopes of the smoothed loss (B, n), the true loss, and what follows from them.

    ``product`` is the product of slopes and t; ``price`` is that of the loss.
    """

    slopes: Matrix
    loss: Vector
    product: Vector
    gradient: Matrix
    pull: Matrix
    price: Vector
    gap: Vector
    is_done: NDArray[np.bool_]

    def take(self, which: NDArray[np.intp]) -> _Evaluation:
        return _Evaluation(*(value[which] for value in vars(self).values()))


def _evaluate(state: _State, tol: float) -> _Evaluation:
    costs, rows, points = state.costs, state.rows, state.points
    slopes, loss, dual, product = _smooth(rows, state.t, state.width)
    gradient = rows.gradient(slopes)
    _, price = costs.prices(points.z[:, points.budget])
    pull = price[:, None] * gradient - points.z[:, points.hard] @ costs.hard_table
    gap = costs.gap(points, pull, loss, price * dual)
    # A diverging run has a price of almost zero; its residual must not appear small.
    residual = np.maximum(price, 0.1) * costs.loss_residual(points, loss)
    is_done = (
        (np.abs(gap) <= tol)
        & (residual <= 0.3 * tol)
        & (costs.imbalance(pull) <= 0.1 * tol)
        & (points.products <= tol)
    )
    return _Evaluation(slopes, loss, product, gradient, pull, price, gap, is_done)


def _smooth(rows: LossRows, t: Matrix, width: Vector) -> tuple[Matrix, Vector, Vector, Vector]:
    """Return slopes, true loss, and the products of the slopes with target and t."""
    slopes, (loss, dual, product) = np.empty_like(t), np.empty((3, len(t)))
    for part in _parts(*t.shape):
        r, h = slopes[part], width[part, None]
        np.maximum(t[part], 0.0, out=r)
        loss[part] = r @ rows.weight
        np.add(t[part], h, out=r)
        r *= 0.5 / h
        np.maximum(r, 0.0, out=r)
        np.minimum(r, 1.0, out=r)
        r *= rows.weight
        dual[part] = r @ rows.target
        product[part] = np.einsum("bi,bi->b", r, t[part])
    return slopes, loss, dual, product


def _parts(n_programs: int, n_rows: int) -> Iterator[slice]:
    """Split programs into parts whose rows fit into the cache."""
    size = max(1, NUMBERS_PER_PASS // max(1, n_rows))
    return (slice(i, i + size) for i in range(0, n_programs, size))


def _window_hessian(state: _State, price: Vector) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the Hessian of each smoothed loss times its price, and whether its window is large.

    Large windows are sampled.
    """
    rows, n_programs = state.rows, len(state.t)
    order = rows.table.shape[1]
    max_rows = max(MIN_WINDOW_ROWS, WINDOW_ROWS_PER_VARIABLE * order)
    hessian, is_large = np.zeros((n_programs, order, order)), np.zeros(n_programs, dtype=bool)
    for b, width in enumerate(state.width):
        window = np.flatnonzero(np.abs(state.t[b]) < width)
        is_large[b] = len(window) >= LEAST_ROWS_PER_VARIABLE * order
        if not is_large[b]:
            continue
        step = 1 + len(window) // max_rows
        window = window[::step]
        near = rows.table[window]
        near *= np.sqrt(rows.weight[window] * (step * price[b] * 0.5 / width))[:, None]
        hessian[b] = near.T @ near
    return hessian, is_large


def _step(state: _State, now: _Evaluation, hessian: NDArray[np.float64], tol: float) -> None:
    """Move the points by one Newton step, and narrow the windows."""
    model = LossModel(hessian, now.gradient, now.pull, now.loss)
    direction, primal, dual = predictor_corrector(state.costs, state.points, model, 0.02 * tol)
    change = direction.u @ state.rows.table.T
    _shorten(state, now, change, primal, dual)
    change *= primal[:, None]
    state.t -= change
    state.points.move(direction, primal, dual)
    due_to_smoothing = now.price * (now.loss - now.product)
    wanted = np.maximum(state.points.products, 0.5 * tol)
    ratio = wanted / np.maximum(due_to_smoothing, wanted)
    state.width *= np.maximum(MIN_NARROWING, np.sqrt(ratio))


def _shorten(state: _State, now: _Evaluation, change: Matrix, primal: Vector, dual: Vector) -> None:
    """Shorten steps, in place, after which the loss is far above its linear prediction."""
    allowed = TRUST * state.costs.loss_limit
    slope = np.einsum("bi,bi->b", now.slopes, change)
    pending = np.arange(len(change))
    for _ in range(MAX_SHORTENINGS):
        after = np.empty(len(pending))
        for part in _parts(len(pending), change.shape[1]):
            b = pending[part]
            moved = state.t[b] - primal[b, None] * change[b]
            np.maximum(moved, 0.0, out=moved)
            after[part] = moved @ state.rows.weight
        excess = after - now.loss[pending] + primal[pending] * slope[pending]
        pending, excess = pending[excess > allowed], excess[excess > allowed]
        if len(pending) == 0:
            break
        share = np.maximum(0.2, np.sqrt(allowed / excess))
        primal[pending] *= share
        dual[pending] *= np.maximum(share, 0.5)


def balance(costs: Costs, rows: LossRows, result: SmoothedResult) -> Matrix:
    """Return slopes whose sums over the offsets match the objective, shape (B, n).

    The offsets are moved for the slopes only; the models stay as they are.
    """
    m = costs.n_weights
    _, price = costs.prices(result.prices)
    wanted = (costs.objective + result.multipliers @ costs.hard_table)[:, m:] / price[:, None]
    offsets, t = rows.table[:, m:], rows.distance(result.u)
    slopes = np.empty_like(t)
    for distance, found, goal, width in zip(t, slopes, wanted, result.width, strict=True):
        for _ in range(MAX_BALANCE_STEPS):
            np.clip((distance + width) * (0.5 / width), 0.0, 1.0, out=found)
            window = np.flatnonzero((found > 0.0) & (found < 1.0))
            found *= rows.weight
            missing = goal + found @ offsets
            if np.abs(missing).max(initial=0.0) <= BALANCED:
                break
            near = offsets[window]
            hessian = near.T @ (near * (rows.weight[window] * 0.5 / width)[:, None])
            distance -= offsets @ np.linalg.lstsq(hessian, missing, rcond=None)[0]
    return slopes
