"""Interior-point methods for a pairwise loss that is smoothed over a shrinking width.

With many pairs, the hinge loss over pairs is nearly smooth. Smoothed over a width, it has second
derivatives, and an interior-point method needs few iterations for the baseline and for the extremes
of a set of models. The width shrinks together with the barrier until both cause errors below the
tolerance. The derivatives of the smoothed loss define a cut with fractional coefficients, which is
a dual certificate of the solution.

The weights are ``w = p - q`` with ``p, q > 0``, so that the norm ``sum (p + q)`` is linear. The
conditions for an optimum, with dual variables ``z_p``, ``z_q``, ``norm_price`` and ``loss_price``,
are

    norm_price - loss_price * slope - gain  =  z_p,      p z_p  =  mu,
    norm_price + loss_price * slope + gain  =  z_q,      q z_q  =  mu,

where ``gain`` is the objective (a signed unit vector, zero for the baseline) and ``-slope`` is the
gradient of the loss. For the baseline, the prices are 1 and C. For extremes, they are the dual
variables of the budgets: each price times the rest of its budget equals mu.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ..programs.pairwise import PairwiseLoss, SmoothedLoss

# Maximum number of iterations.
MAX_STEPS = 60

# Fraction of the largest step that keeps all variables positive.
STEP_FRACTION = 0.99

# Factors of the barrier after steps of almost full length and after shorter steps.
FAST, SLOW = 0.05, 0.5

# Dual residual, relative to the norm price, above which the barrier is not reduced.
MAX_RESIDUAL = 0.3

# Largest and smallest width of the smoothing, first width for a baseline, and distance of its
# first weights from zero, relative to their mean.
MAX_WIDTH, MIN_WIDTH = 0.5, 1e-6
FIRST_WIDTH = 0.1
FIRST_WEIGHT = 0.05


# Relative change of the diagonal of a Newton system, and its smallest size for scaling.
REGULARIZATION = 1e-12
SMALLEST_DIAGONAL = 1e-200

# Directional derivative after a step, relative to that before it, above which the step is too
# long, and maximum number of times to shorten it.
MAX_OVERSHOOT = 0.8
MAX_SHORTENINGS = 4


class SmoothedSolution(NamedTuple):
    """Solution of one problem: model, cut, dual variable of the loss, and certified gap."""

    coef: Vector
    slope: Vector
    height: float
    loss_price: float
    gap: float


@dataclass
class SmoothedSolutions:
    """Best solutions found of m problems, each with a cut and the dual variable of the loss.

    ``gap`` is the certified distance of the objective from its optimum; ``width`` is that of the
    smoothing.
    """

    coef: Matrix
    slope: Matrix
    height: Vector
    loss_price: Vector
    gap: Vector
    width: Vector
    n_steps: int = 0

    @classmethod
    def unsolved(cls, m: int, d: int) -> SmoothedSolutions:
        return cls(
            np.zeros((m, d)),
            np.zeros((m, d)),
            np.zeros(m),
            np.zeros(m),
            np.full(m, np.inf),
            np.full(m, MAX_WIDTH),
        )

    def __iter__(self) -> Iterator[SmoothedSolution]:
        parts = (self.coef, self.slope, self.height, self.loss_price, self.gap)
        return (SmoothedSolution(*values) for values in zip(*parts, strict=True))

    def record(self, which: NDArray[np.intp], **found: NDArray[np.float64]) -> None:
        """Store the solutions of the given problems whose gap is smaller than before."""
        better = found["gap"] < self.gap[which]
        for name, values in found.items():
            getattr(self, name)[which[better]] = values[better]


def minimize_smoothed(
    loss: PairwiseLoss,
    C: Vector,
    start: Matrix,
    tol: float,
    on_step: Callable[[], None],
) -> SmoothedSolutions:
    """Minimize ``|w|_1 + C * loss`` for each of m values of C.

    ``tol`` is the gap at which to stop, relative to the objective value. ``on_step`` is called
    before each step and may raise an error.
    """
    (m, d), best = start.shape, SmoothedSolutions.unsolved(*start.shape)
    scale = np.maximum(np.abs(start).sum(axis=1), 1.0)[:, None] / d
    p, q = (np.maximum(part, 0.0) + FIRST_WEIGHT * scale for part in (start, -start))
    width = np.full(m, FIRST_WIDTH)
    value = loss.smoothed(p - q, width, with_curvature=True)
    z_p = np.maximum(1.0 - C[:, None] * value.slope, 0.3)
    z_q = np.maximum(1.0 + C[:, None] * value.slope, 0.3)
    mu = FAST * ((p * z_p).sum(axis=1) + (q * z_q).sum(axis=1)) / (2 * d)
    pending = np.arange(m)
    for best.n_steps in range(MAX_STEPS):
        on_step()
        primal = np.abs(p - q).sum(axis=1) + C * value.loss
        factor = 1.0 / np.maximum(1.0, C * np.abs(value.slope).max(axis=1))
        gap = primal - factor * C * value.height
        found = {"slope": value.slope, "height": value.height, "loss_price": factor * C}
        best.record(pending, coef=p - q, gap=gap, width=width, **found)
        is_open = gap > tol * primal
        if not is_open.any():
            break
        pending, p, q, z_p, z_q, mu, width, C, primal = (
            values[is_open] for values in (pending, p, q, z_p, z_q, mu, width, C, primal)
        )
        value = value.take(is_open)
        system = _Parts(p, q, z_p, z_q, mu[:, None], 1.0, C[:, None] * value.slope)
        matrix = C[:, None, None] * value.curvature
        _diagonal(matrix)[...] += 1.0 / system.total
        step = _solve_systems(matrix, system.right_side)
        change = C[:, None] * np.einsum("mij,mj->mi", value.curvature, step)
        d_p, d_q, d_zp, d_zq = system.steps(change, 0.0)
        length = _longest_step([(p, d_p), (q, d_q)])
        dual_length = _longest_step([(z_p, d_zp), (z_q, d_zq)])
        mean = _mean_product(
            [
                (p, z_p, length * d_p, dual_length * d_zp),
                (q, z_q, length * d_q, dual_length * d_zq),
            ],
            2 * d,
        )
        is_full = np.minimum(length, dual_length)[:, 0] > 0.8
        error = 0.25 * tol * primal
        mu, width = _shrink(mean, width, is_full, system.residual, C, value, error, 2 * d)
        length, value = _evaluate(loss, p - q, d_p - d_q, length, width, value, C, system.total)
        p, q = p + length * d_p, q + length * d_q
        z_p, z_q = z_p + dual_length * d_zp, z_q + dual_length * d_zq
    return best


def extremes_smoothed(
    loss: PairwiseLoss,
    gain: Matrix,
    start: Vector,
    norm_limit: float,
    loss_limit: float,
    tol: float,
    on_step: Callable[[], None],
) -> SmoothedSolutions:
    """Maximize ``gain . w`` with norm and loss within limits, for each of m vectors of gains.

    The norm of ``start`` must be below its limit. ``tol`` is the gap at which to stop, relative to
    the limit on the norm. Solutions can exceed the limit on the loss slightly; the gap includes the
    excess.
    """
    (m, d), best = gain.shape, SmoothedSolutions.unsolved(*gain.shape)
    spare = norm_limit - np.abs(start).sum()
    p, q = (np.tile(np.maximum(part, 0.0) + 0.25 * spare / d, (m, 1)) for part in (start, -start))
    width = np.full(m, MAX_WIDTH)
    value = loss.smoothed(p - q, width, with_curvature=True)
    mu = np.full(m, 0.5 * spare)
    norm_price = mu / (norm_limit - (p + q).sum(axis=1))
    rest_loss = np.maximum(loss_limit - value.smoothed, 0.1 * loss_limit)
    loss_price = mu / rest_loss
    z_p, z_q = mu[:, None] / p, mu[:, None] / q
    mu = FAST * mu
    pending = np.arange(m)
    for best.n_steps in range(MAX_STEPS):
        on_step()
        coef = p - q
        price = np.abs(gain + loss_price[:, None] * value.slope).max(axis=1)
        bound = price * norm_limit + loss_price * (loss_limit - value.height)
        excess = np.maximum(value.loss - loss_limit, 0.0)
        gap = bound - (gain * coef).sum(axis=1) + loss_price * excess
        found = {"slope": value.slope, "height": value.height, "loss_price": loss_price}
        best.record(pending, coef=coef, gap=gap, width=width, **found)
        is_open = gap > tol * norm_limit
        if not is_open.any():
            break
        pending, gain, p, q, z_p, z_q, mu, width, norm_price, loss_price, rest_loss = (
            values[is_open]
            for values in (
                pending, gain, p, q, z_p, z_q, mu, width, norm_price, loss_price, rest_loss
            )
        )  # fmt: skip
        value = value.take(is_open)
        slope = loss_price[:, None] * value.slope + gain
        system = _Parts(p, q, z_p, z_q, mu[:, None], norm_price[:, None], slope)
        rest_norm = norm_limit - (p + q).sum(axis=1)
        curvature = loss_price[:, None, None] * value.curvature
        matrix = np.zeros((len(pending), d + 2, d + 2))
        right = np.empty((len(pending), d + 2))
        matrix[:, :d, :d] = curvature
        _diagonal(matrix)[:, :d] += 1.0 / system.total
        matrix[:, :d, d] = matrix[:, d, :d] = -value.slope
        matrix[:, :d, d + 1] = matrix[:, d + 1, :d] = system.skew
        matrix[:, d, d] = -rest_loss / loss_price
        matrix[:, d + 1, d + 1] = -rest_norm / norm_price - system.spread
        right[:, :d] = system.right_side
        right[:, d] = loss_limit - value.smoothed - mu / loss_price
        right[:, d + 1] = rest_norm - mu / norm_price + system.norm_part
        solution = _solve_systems(matrix, right)
        step, d_loss_price, d_norm_price = solution[:, :d], solution[:, d], solution[:, d + 1]
        change = np.einsum("mij,mj->mi", curvature, step) - value.slope * d_loss_price[:, None]
        d_p, d_q, d_zp, d_zq = system.steps(change, d_norm_price[:, None])
        d_rest_norm = -(d_p + d_q).sum(axis=1)
        d_rest_loss = mu / loss_price - rest_loss - rest_loss / loss_price * d_loss_price
        budgets = [
            (rest_norm, d_rest_norm, norm_price, d_norm_price),
            (rest_loss, d_rest_loss, loss_price, d_loss_price),
        ]
        length = _longest_step(
            [(p, d_p), (q, d_q), (z_p, d_zp), (z_q, d_zq)]
            + [(x[:, None], dx[:, None]) for x, dx, _, _ in budgets]
            + [(z[:, None], dz[:, None]) for _, _, z, dz in budgets]
        )
        products = [(p, z_p, length * d_p, length * d_zp), (q, z_q, length * d_q, length * d_zq)]
        products += [
            (x[:, None], z[:, None], length * dx[:, None], length * dz[:, None])
            for x, dx, z, dz in budgets
        ]
        mean = _mean_product(products, 2 * d + 2)
        error = np.full(len(pending), 0.25 * tol * norm_limit)
        mu, width = _shrink(
            mean, width, length[:, 0] > 0.8, system.residual, loss_price, value, error, 2 * d + 2
        )
        length, value = _evaluate(
            loss, p - q, d_p - d_q, length, width, value, loss_price, system.total
        )
        p, q = p + length * d_p, q + length * d_q
        z_p, z_q = z_p + length * d_zp, z_q + length * d_zq
        norm_price = norm_price + length[:, 0] * d_norm_price
        loss_price = loss_price + length[:, 0] * d_loss_price
        rest_loss = rest_loss + length[:, 0] * d_rest_loss
    return best


def _solve_systems(matrices: NDArray[np.float64], right: Matrix) -> Matrix:
    """Solve one system of equations per problem; if a matrix is singular, by least squares.

    The systems are scaled to a diagonal of ones and minus ones, which is enlarged slightly, so that
    duplicate columns do no harm. A singular matrix must not stop the other problems. The recorded
    gaps do not depend on the step.
    """
    diagonal = _diagonal(matrices)
    scale = 1.0 / np.sqrt(np.maximum(np.abs(diagonal), SMALLEST_DIAGONAL))
    diagonal *= 1.0 + REGULARIZATION
    scaled = matrices * scale[:, :, None] * scale[:, None, :]
    try:
        solution = np.linalg.solve(scaled, (right * scale)[..., None])[..., 0]
    except np.linalg.LinAlgError:
        systems = zip(scaled, right * scale, strict=True)
        solution = np.array([np.linalg.lstsq(matrix, side)[0] for matrix, side in systems])
    return np.asarray(solution * scale, np.float64)


class _Parts:
    """Elimination of p, q and their dual variables from the Newton equations.

    ``slope`` is that of the priced loss plus the gain. The remaining equations are
    ``(1 / total) step + change = right_side``, with ``change`` that of ``-slope``.
    """

    def __init__(
        self,
        p: Matrix,
        q: Matrix,
        z_p: Matrix,
        z_q: Matrix,
        mu: Matrix,
        norm_price: Matrix | float,
        slope: Matrix,
    ) -> None:
        self._p, self._q, self._z_p, self._z_q, self._mu = p, q, z_p, z_q, mu
        self._ratio_p, self._ratio_q = p / z_p, q / z_q
        self._rest_p, self._rest_q = norm_price - slope - mu / p, norm_price + slope - mu / q
        self.total = self._ratio_p + self._ratio_q
        difference = self._ratio_p - self._ratio_q
        self.skew = difference / self.total
        moved_p, moved_q = self._rest_p * self._ratio_p, self._rest_q * self._ratio_q
        self.right_side = (moved_q - moved_p) / self.total
        self.spread = (self.total - difference * self.skew).sum(axis=1)
        self.norm_part = (moved_p + moved_q + self.skew * (moved_q - moved_p)).sum(axis=1)
        self.residual = (
            np.maximum(np.abs(norm_price - slope - z_p), np.abs(norm_price + slope - z_q))
            / norm_price
        ).max(axis=1)

    def steps(
        self, change: Matrix, norm_price_change: Matrix | float
    ) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Return the steps of p, q and their dual variables."""
        d_p = self._ratio_p * (-self._rest_p - change - norm_price_change)
        d_q = self._ratio_q * (-self._rest_q + change - norm_price_change)
        d_zp = self._mu / self._p - self._z_p - d_p / self._ratio_p
        d_zq = self._mu / self._q - self._z_q - d_q / self._ratio_q
        return d_p, d_q, d_zp, d_zq


def _evaluate(
    loss: PairwiseLoss,
    coef: Matrix,
    step: Matrix,
    length: Matrix,
    width: Vector,
    before: SmoothedLoss,
    price: Vector,
    total: Matrix,
) -> tuple[Matrix, SmoothedLoss]:
    """Evaluate the loss after a step; shorten the step where the loss curves more than expected.

    Return the lengths of the steps and the loss. The Newton step expects the directional derivative
    to vanish. Where it is positive instead, the step is shortened by the secant method.
    """
    value = loss.smoothed(coef + length * step, width, with_curvature=True)
    curvature = np.einsum("mi,mij,mj->m", step, before.curvature, step)
    linear = (step**2 / total).sum(axis=1)
    expected = price * curvature + linear
    for _ in range(MAX_SHORTENINGS):
        increase = price * ((before.slope - value.slope) * step).sum(axis=1)
        derivative = increase + length[:, 0] * linear - expected
        long = np.flatnonzero(derivative > MAX_OVERSHOOT * expected)
        if len(long) == 0:
            break
        length = length.copy()
        shorter = np.maximum(expected / (expected + derivative), 0.1)
        length[long] *= shorter[long, None]
        part = loss.smoothed(
            coef[long] + length[long] * step[long], width[long], with_curvature=True
        )
        value = value.with_replaced(long, part)
    return length, value


def _mean_product(products: list[tuple[Matrix, Matrix, Matrix, Matrix]], n_products: int) -> Vector:
    """Return the mean product of variables and their dual variables after steps of both."""
    parts = [((x + dx) * (z + dz)).sum(axis=1) for x, z, dx, dz in products]
    return np.sum(parts, axis=0) / n_products


def _shrink(
    mean: Vector,
    width: Vector,
    is_full: NDArray[np.bool_],
    residual: Vector,
    price: Vector,
    value: SmoothedLoss,
    error: Vector,
    n_products: int,
) -> tuple[Vector, Vector]:
    """Return the next barrier and width, so that both cause errors of about the same size.

    ``mean`` is the mean product of variables and their dual variables. Errors below ``error`` need
    no further reduction. The smoothing error is that of a density of pairs near the margin.
    """
    factor = np.where(residual > MAX_RESIDUAL, 1.0, np.where(is_full, FAST, SLOW))
    mu = np.maximum(factor * mean, 0.5 * error / n_products)
    density = np.maximum(value.near / width, 1e-3)
    fitting = 2.0 * np.sqrt(n_products * mu / (price * density))
    low = np.where(residual > MAX_RESIDUAL, width, 0.2 * width)
    return mu, np.clip(fitting, np.maximum(low, MIN_WIDTH), MAX_WIDTH)


def _diagonal(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a writable view of the diagonals of a stack of square matrices."""
    return np.einsum("mii->mi", matrices)


def _longest_step(pairs: list[tuple[Matrix, Matrix]]) -> Matrix:
    """Return the largest steps, at most 1, that keep all variables positive, shape (m, 1)."""
    shrink = np.maximum.reduce([(-step / value).max(axis=1) for value, step in pairs])
    return np.minimum(1.0, STEP_FRACTION / np.maximum(shrink, 1e-300))[:, None]
