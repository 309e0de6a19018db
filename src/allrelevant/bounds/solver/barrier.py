"""Newton steps of a primal-dual interior-point method, for several linear programs at once.

All programs share the working features and the constraints; their objectives differ. A model is a
vector u of m weights and k offsets. Weights are split into positive and negative parts, w = p - q.
Program b maximizes ``objective_b . u`` within budgets

    norm_coefficient |w|_1 + loss_coefficient loss + slack = limit,    slack >= 0.

Each budget has a price. The prices of norm and loss, l and v, are sums over the budgets of price
times coefficient, plus fixed prices; without budgets, the method minimizes ``l |w|_1 + v loss``.

The variables are stored in pairs of a primal value x >= 0 and its dual value z >= 0:

    p with l - d,   q with l + d,   slack of a budget with its price,   slack of a hard constraint
    with its multiplier,   and for rows of their own (see below) slack and excess with multipliers,

where d is the objective minus the gradient of the Lagrangian's loss part. All products x z tend to
zero together. Arrays have one row per program.

The loss enters through :class:`LossModel`: its gradient, its Hessian, and the variables of rows
that the caller treats as rows of their own. Everything but u and the prices is eliminated, so that
a step solves a system of order m + k + (number of budgets).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetrs

from ..._typing import Matrix, Vector

Tensor = NDArray[np.float64]

# Relative change of the diagonal of a Newton system, so that duplicate columns do no harm.
REGULARIZATION = 1e-12

# Smallest slack of a hard constraint at the start.
MIN_HARD_SLACK = 1e-3

# Fraction of the way to the boundary that a step may go.
STEP_FRACTION = 0.99


@dataclass(frozen=True)
class Costs:
    """Objectives of B programs and what limits their models.

    ``objective`` has shape (B, m + k). ``fixed`` are the fixed prices of norm and loss, ``budgets``
    has one row (coefficient of the norm, of the loss, limit) per budget, and the hard constraints
    are ``hard_table u >= hard_target``.
    """

    objective: Matrix
    n_weights: int
    fixed: Vector
    budgets: Matrix
    hard_table: Matrix
    hard_target: Vector

    @property
    def n_budgets(self) -> int:
        return len(self.budgets)

    @property
    def n_hard(self) -> int:
        return len(self.hard_table)

    def take(self, which: NDArray[np.intp]) -> Costs:
        return replace(self, objective=self.objective[which])

    def prices(self, budget_prices: Matrix) -> tuple[Vector, Vector]:
        """Return the prices of norm and loss, given those of the budgets, two arrays (B,)."""
        prices = self.fixed + budget_prices @ self.budgets[:, :2]
        return prices[:, 0], prices[:, 1]

    def value(self, norm_price: Vector, loss_price: Vector) -> Vector:
        """Return the largest ``norm_price * norm + loss_price * loss`` within the budgets."""
        norm, loss, limit = self.budgets.T
        if self.n_budgets == 1:
            return np.maximum(norm_price / norm[0], loss_price / loss[0]) * limit[0]
        return norm_price * (limit @ (norm > 0)) + loss_price * (limit @ (loss > 0))

    def gap(self, points: Points, pull: Matrix, loss: Vector, dual: Vector) -> Vector:
        """Return the duality gap over the working features, shape (B,).

        ``pull`` and ``dual`` are the products of the rows' multipliers with table and target.
        """
        m = self.n_weights
        norm_price, loss_price = self.prices(points.z[:, points.budget])
        dual = dual + points.z[:, points.hard] @ self.hard_target
        needed = np.abs(self.objective[:, :m] - pull[:, :m]).max(axis=1, initial=0.0)
        if self.n_budgets:
            attained = np.einsum("bi,bi->b", self.objective, points.u)
            return self.value(needed, loss_price) - dual - attained
        norm = np.abs(points.u[:, :m]).sum(axis=1)
        cost = norm_price * norm + loss_price * loss
        return cost - dual / np.maximum(1.0, needed / norm_price)

    @property
    def loss_limit(self) -> float:
        """Largest loss within the budgets, at least 0.1; without budgets, 1."""
        limits = [limit / loss for _, loss, limit in self.budgets if loss > 0]
        return max(0.1, *limits) if limits else 1.0

    def loss_residual(self, points: Points, loss: Vector) -> Vector:
        """Return the largest residual of the budgets that limit the loss, shape (B,)."""
        norm_row, loss_row, limit = self.budgets[self.budgets[:, 1] > 0].T
        slack = points.x[:, points.budget][:, self.budgets[:, 1] > 0]
        used = norm_row * points.norm[:, None] + loss_row * loss[:, None]
        return np.abs(used + slack - limit).max(axis=1, initial=0.0)

    def imbalance(self, pull: Matrix) -> Vector:
        """Return the largest residual of stationarity in an offset, shape (B,)."""
        m = self.n_weights
        return np.abs(self.objective[:, m:] - pull[:, m:]).max(axis=1, initial=0.0)


@dataclass
class LossModel:
    """Model of the loss around the current points, for the next Newton step.

    ``hessian`` (B, m + k, m + k) includes the price of the loss. ``gradient`` (B, m + k) is the
    gradient of the loss, ``pull`` the gradient of the Lagrangian's loss part at the current
    multipliers, ``value`` the loss. Rows of their own (see :mod:`.interior`) add the last fields.
    """

    hessian: Tensor
    gradient: Matrix
    pull: Matrix
    value: Vector
    own: OwnRows | None = None


@dataclass
class OwnRows:
    """Rows with variables of their own: slack_i - excess_i = target_i - table_i . u, for K rows.

    The excess, x, costs ``weight`` in the loss, so that its multiplier is v weight minus that of
    the row. All arrays have shape (B, K), ``table`` has shape (B, K, m + k).
    """

    table: Tensor
    target: Matrix
    weight: Matrix


class Points:
    """Current points of B programs: u, and the pairs of primal and dual values."""

    def __init__(
        self, u: Matrix, x: Matrix, z: Matrix, n_weights: int, n_budgets: int, n_hard: int
    ):
        self.u, self.x, self.z = u, x, z
        self._sizes = (n_weights, n_budgets, n_hard)
        m, n_own = n_weights, (x.shape[1] - 2 * n_weights - n_budgets - n_hard) // 2
        ends = np.cumsum([0, m, m, n_budgets, n_hard, n_own, n_own]).tolist()
        self.positive, self.negative, self.budget, self.hard, self.slack, self.excess = map(
            slice, ends[:-1], ends[1:]
        )

    def take(self, which: NDArray[np.intp]) -> Points:
        return Points(self.u[which], self.x[which], self.z[which], *self._sizes)

    def copy(self) -> Points:
        return Points(self.u.copy(), self.x.copy(), self.z.copy(), *self._sizes)

    def put(self, which: NDArray[np.intp], others: Points) -> None:
        """Replace the points of some programs."""
        self.u[which], self.x[which], self.z[which] = others.u, others.x, others.z

    def move(self, direction: Direction, primal: Vector, dual: Vector) -> None:
        """Move along a direction by the given step lengths."""
        self.u += primal[:, None] * direction.u
        self.x += primal[:, None] * direction.x
        self.z += dual[:, None] * direction.z

    @property
    def products(self) -> Vector:
        """Sum of all products of primal and dual values, shape (B,)."""
        return np.einsum("bi,bi->b", self.x, self.z)

    @property
    def norm(self) -> Vector:
        return self.x[:, : self.negative.stop].sum(axis=1)


def centered_points(
    costs: Costs, u: Matrix, prices: Matrix, mu: Vector, own: OwnRows | None
) -> Points:
    """Return points around given models and budget prices whose products are all ``mu``."""
    m, (norm_price, loss_price) = costs.n_weights, costs.prices(prices)
    p, q = _split(u[:, :m], (mu / (2.0 * norm_price))[:, None])
    hard_slack = np.maximum(u @ costs.hard_table.T - costs.hard_target, MIN_HARD_SLACK)
    parts = [p, q, mu[:, None] / prices, hard_slack]
    if own is not None:
        t = own.target - np.einsum("bki,bi->bk", own.table, u)
        excess, own_slack = _split(t, (mu / loss_price)[:, None] / own.weight)
        parts += [own_slack, excess]
    x = np.concatenate(parts, axis=1)
    z = mu[:, None] / x
    return Points(u.copy(), x, z, m, costs.n_budgets, costs.n_hard)


def _split(value: Matrix, k: Matrix) -> tuple[Matrix, Matrix]:
    """Return positive a, b with a - b = value and 1/a + 1/b = 1/k, without cancellation."""
    size = np.abs(value)
    large = 0.5 * (size + 2.0 * k + np.sqrt(size * size + 4.0 * k * k))
    small = large * k / (large - k)
    return np.where(value >= 0, large, small), np.where(value >= 0, small, large)


@dataclass
class Direction:
    """Changes of u and of the primal and dual values."""

    u: Matrix
    x: Matrix
    z: Matrix


class NewtonSystem:
    """Factorized Newton system at the current points, for several right-hand sides.

    Eliminating p and q leaves E = 1 / (P + Q) on the diagonal, with P = p / z_p and Q = q / z_q,
    and a column of the norm in the border. Eliminating the variables of rows of their own leaves
    the Hessian and the gradient of the loss model, and a curvature in the corner.
    """

    def __init__(self, costs: Costs, points: Points, loss: LossModel) -> None:
        self._costs, self._points, self._loss = costs, points, loss
        ratio = points.x / points.z
        self._P, self._Q = ratio[:, points.positive], ratio[:, points.negative]
        self._E = 1.0 / (self._P + self._Q)
        self._skew = self._E * (self._P - self._Q)
        self._own = None if loss.own is None else _OwnPart(costs, points, loss.own)
        matrix = self._assemble(ratio[:, points.budget])
        # The system is scaled to a diagonal of ones and minus ones.
        self._scale = 1.0 / np.sqrt(np.maximum(np.abs(np.einsum("bii->bi", matrix)), 1e-200))
        np.einsum("bii->bi", matrix)[:] *= 1.0 + REGULARIZATION
        matrix *= self._scale[:, :, None]
        matrix *= self._scale[:, None, :]
        self._matrix = matrix
        # The matrices are symmetric, so that their transposes are in the order of Fortran.
        self._factors = [dgetrf(each.T)[:2] for each in matrix]

    def _assemble(self, budget_ratio: Matrix) -> Tensor:
        costs, points, loss = self._costs, self._points, self._loss
        m, order = costs.n_weights, loss.gradient.shape[1]
        norm_row, loss_row = costs.budgets[:, 0], costs.budgets[:, 1]
        size = order + costs.n_budgets
        matrix = np.empty((len(points.x), size, size))
        matrix[:, :order, :order] = loss.hessian
        if costs.n_hard:
            k = points.z[:, points.hard] / points.x[:, points.hard]
            product = np.matmul(costs.hard_table.T * k[:, None], costs.hard_table)
            matrix[:, :order, :order] += product
        border = loss.gradient[:, :, None] * loss_row
        border[:, :m] += self._skew[:, :, None] * norm_row
        matrix[:, :order, order:] = border
        matrix[:, order:, :order] = border.transpose(0, 2, 1)
        norm_curvature = 4.0 * np.einsum("bi,bi,bi->b", self._P, self._Q, self._E)
        corner = norm_curvature[:, None, None] * np.outer(norm_row, norm_row)
        if self._own is not None:
            corner += self._own.curvature[:, None, None] * np.outer(loss_row, loss_row)
        matrix[:, order:, order:] = -corner
        diagonal = np.einsum("bii->bi", matrix)
        diagonal[:, :m] += self._E
        diagonal[:, order:] -= budget_ratio
        return matrix

    def _solve(self, right: Matrix) -> Matrix:
        """Solve the system for one right-hand side per program, with iterative refinement."""
        right = right * self._scale
        solution = self._solve_once(right)
        if self._own is not None:
            product = np.matmul(self._matrix, solution[:, :, None])[:, :, 0]
            solution += self._solve_once(right - product)
        return solution * self._scale

    def _solve_once(self, right: Matrix) -> Matrix:
        pairs = zip(self._factors, right, strict=True)
        return np.array([dgetrs(lu, pivots, rhs)[0] for (lu, pivots), rhs in pairs])

    def direction(self, target: Vector, correction: Matrix | float = 0.0) -> Direction:
        """Return the step toward products of ``target``, shape (B,), less a correction each."""
        costs, points, loss, own = self._costs, self._points, self._loss, self._own
        x, z, u = points.x, points.z, points.u
        m, order, hard, budget = costs.n_weights, u.shape[1], points.hard, points.budget
        P, Q, E = self._P, self._Q, self._E
        norm_row, loss_row, limit = costs.budgets.T
        wanted = np.broadcast_to(target[:, None] - correction, x.shape)
        aim = wanted / x
        norm_price, loss_price = costs.prices(z[:, budget])

        # Right-hand side: stationarity in u, then the budgets.
        slope = costs.objective - loss.pull
        toward_p = slope[:, :m] - norm_price[:, None] + aim[:, points.positive]
        toward_q = -slope[:, :m] - norm_price[:, None] + aim[:, points.negative]
        weight_part = E * (toward_p * P - toward_q * Q)
        norm_change = (toward_p * P + toward_q * Q - (P - Q) * weight_part).sum(axis=1)
        right = np.empty((len(x), order + costs.n_budgets))
        right[:, :m], right[:, m:order] = weight_part, slope[:, m:]
        if costs.n_hard:
            residual = x[:, hard] - u @ costs.hard_table.T + costs.hard_target
            change = aim[:, hard] - z[:, hard] + z[:, hard] / x[:, hard] * residual
            right[:, :order] += change @ costs.hard_table
        used = norm_row * (points.norm + norm_change)[:, None] + loss_row * loss.value[:, None]
        if own is not None:
            pull_change, loss_change = own.prepare(aim, loss_price)
            right[:, :order] += pull_change
            used += loss_row * loss_change[:, None]
        budget_aim = wanted[:, budget] / z[:, budget]
        right[:, order:] = limit - used - budget_aim

        # The eliminated variables follow from u and the prices.
        solution = self._solve(right)
        du, dprice = solution[:, :order], solution[:, order:]
        d_norm, d_loss = (dprice @ norm_row)[:, None], (dprice @ loss_row)[:, None]
        y = weight_part - E * du[:, :m] - d_norm * self._skew
        dx = np.empty_like(x)
        dx[:, points.positive] = (toward_p - d_norm - y) * P
        dx[:, points.negative] = (toward_q - d_norm + y) * Q
        dx[:, budget] = budget_aim - x[:, budget] - x[:, budget] / z[:, budget] * dprice
        if costs.n_hard:
            dx[:, hard] = du @ costs.hard_table.T - residual
        if own is not None:
            dx[:, points.slack], dx[:, points.excess] = own.finish(du, d_loss)
        dz = aim - z - dx * z / x
        dz[:, budget] = dprice
        return Direction(du, dx, dz)


class _OwnPart:
    """Elimination of the variables of rows of their own from a Newton system."""

    def __init__(self, costs: Costs, points: Points, own: OwnRows) -> None:
        x, z, slack, excess = points.x, points.z, points.slack, points.excess
        self._points, self._own = points, own
        self._k = z[:, slack] / x[:, slack]
        self._inverse = 1.0 / (self._k + z[:, excess] / x[:, excess])
        product = np.matmul(own.table, points.u[:, :, None])[:, :, 0]
        self._residual = x[:, slack] - x[:, excess] + own.target - product
        self.curvature = np.einsum("bk,bk,bk->b", own.weight, own.weight, self._inverse)

    def prepare(self, aim: Matrix, loss_price: Vector) -> tuple[Matrix, Vector]:
        """Return the contributions to stationarity and to the loss."""
        z, slack, excess, own = self._points.z, self._points.slack, self._points.excess, self._own
        dual_residual = loss_price[:, None] * own.weight - z[:, slack] - z[:, excess]
        change = aim[:, slack] - z[:, slack] + self._k * self._residual
        self._pressure = change - dual_residual + aim[:, excess] - z[:, excess]
        multipliers = change - self._k * self._inverse * self._pressure
        return (
            np.matmul(multipliers[:, None, :], own.table)[:, 0],
            np.einsum("bk,bk,bk->b", own.weight, self._pressure, self._inverse),
        )

    def finish(self, du: Matrix, d_loss: Matrix) -> tuple[Matrix, Matrix]:
        """Return the changes of slack and excess."""
        own = self._own
        product = np.matmul(own.table, du[:, :, None])[:, :, 0]
        excess = (self._pressure - own.weight * d_loss - self._k * product) * self._inverse
        return excess + product - self._residual, excess


def step_lengths(points: Points, direction: Direction) -> tuple[Vector, Vector]:
    """Return how far the primal and the dual values can go before one becomes zero."""
    return _ratio(points.x, direction.x), _ratio(points.z, direction.z)


def _ratio(value: Matrix, change: Matrix) -> Vector:
    return 1.0 / np.maximum((-change / value).max(axis=1, initial=0.0), 1e-300)


def predictor_corrector(
    costs: Costs, points: Points, loss: LossModel, least: float
) -> tuple[Direction, Vector, Vector]:
    """Return Mehrotra's direction and its primal and dual step lengths, each at most 1.

    ``least`` is the smallest sum of products to aim at.
    """
    # Points that become infinite or NaN end the iterations of their program.
    with np.errstate(all="ignore"):
        return _predictor_corrector(costs, points, loss, least)


def _predictor_corrector(
    costs: Costs, points: Points, loss: LossModel, least: float
) -> tuple[Direction, Vector, Vector]:
    system = NewtonSystem(costs, points, loss)
    B, n_pairs = points.x.shape
    affine = system.direction(np.zeros(B))
    primal, dual = (np.minimum(1.0, step)[:, None] for step in step_lengths(points, affine))
    after = np.einsum("bi,bi->b", points.x + primal * affine.x, points.z + dual * affine.z)
    products = points.products
    share = np.maximum(after, 0.0) / np.maximum(products, 1e-300)
    target = np.maximum(share**3 * products, least) / max(1, n_pairs)
    direction = system.direction(target, affine.x * affine.z)
    primal, dual = (np.minimum(1.0, STEP_FRACTION * s) for s in step_lengths(points, direction))
    return direction, primal, dual
