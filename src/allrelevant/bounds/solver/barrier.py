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
        l, v = self.prices(points.z[:, points.budget])
        dual = dual + points.z[:, points.hard] @ self.hard_target
        needed = np.abs(self.objective[:, :m] - pull[:, :m]).max(axis=1, initial=0.0)
        if self.n_budgets:
            attained = np.einsum("bi,bi->b", self.objective, points.u)
            return self.value(needed, v) - dual - attained
        norm = np.abs(points.u[:, :m]).sum(axis=1)
        return l * norm + v * loss - dual / np.maximum(1.0, needed / l)


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

    def __init__(self, u: Matrix, x: Matrix, z: Matrix, n_weights: int, n_budgets: int, n_hard: int):
        self.u, self.x, self.z = u, x, z
        self._sizes = (n_weights, n_budgets, n_hard)
        m, n_own = n_weights, (x.shape[1] - 2 * n_weights - n_budgets - n_hard) // 2
        ends = np.cumsum([0, m, m, n_budgets, n_hard, n_own, n_own]).tolist()
        self.positive, self.negative, self.budget, self.hard, self.slack, self.excess = map(
            slice, ends[:-1], ends[1:]
        )

    def take(self, which: NDArray[np.intp]) -> Points:
        return Points(self.u[which], self.x[which], self.z[which], *self._sizes)

    def with_budgets_only(self) -> Points:
        """Return the points without rows of their own."""
        end = self.hard.stop
        return Points(self.u, self.x[:, :end], self.z[:, :end], *self._sizes)

    @property
    def products(self) -> Vector:
        """Sum of all products of primal and dual values, shape (B,)."""
        return np.einsum("bi,bi->b", self.x, self.z)

    @property
    def norm(self) -> Vector:
        return self.x[:, : self.negative.stop].sum(axis=1)


def centered_points(costs: Costs, u: Matrix, prices: Matrix, mu: Vector, own: OwnRows | None) -> Points:
    """Return points around given models and budget prices whose products are all ``mu``."""
    m, norm_price_loss = costs.n_weights, costs.prices(prices)
    norm_price, loss_price = norm_price_loss
    p, q = _split(u[:, :m], (mu / (2.0 * norm_price))[:, None])
    hard = costs.hard_table
    slack = u @ hard.T - costs.hard_target
    floor = 1e-3 * np.ones_like(slack)
    parts = [p, q, mu[:, None] / prices, np.maximum(slack, floor)]
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
    u: Matrix
    x: Matrix
    z: Matrix


class NewtonSystem:
    """Factorized Newton system at the current points, for several right-hand sides."""

    def __init__(self, costs: Costs, points: Points, loss: LossModel) -> None:
        self._costs, self._points, self._loss = costs, points, loss
        m, n_budgets = costs.n_weights, costs.n_budgets
        x, z = points.x, points.z
        ratio = x / z
        self._P, self._Q = P, Q = ratio[:, points.positive], ratio[:, points.negative]
        self._E = E = 1.0 / (P + Q)
        self._e1 = e1 = E * (P - Q)
        norm_curvature = np.einsum("bi,bi,bi->b", P, Q, 4.0 * E)
        order = loss.gradient.shape[1]
        B = len(x)
        norm_row, loss_row = costs.budgets[:, 0], costs.budgets[:, 1]
        border = np.zeros((B, order, n_budgets))
        border[:, :m] = e1[:, :, None] * norm_row
        border += loss.gradient[:, :, None] * loss_row
        matrix = np.empty((B, order + n_budgets, order + n_budgets))
        matrix[:, :order, :order] = loss.hessian
        diagonal = np.einsum("bii->bi", matrix)
        diagonal[:, :m] += E
        if costs.n_hard:
            k = z[:, points.hard] / x[:, points.hard]
            matrix[:, :order, :order] += np.matmul(costs.hard_table.T * k[:, None], costs.hard_table)
        corner = norm_curvature[:, None, None] * np.outer(norm_row, norm_row)
        if loss.own is not None:
            ks, kx = z[:, points.slack] / x[:, points.slack], z[:, points.excess] / x[:, points.excess]
            self._ks, self._kk = ks, 1.0 / (ks + kx)
            product = np.matmul(loss.own.table, points.u[:, :, None])[:, :, 0]
            self._residual = x[:, points.slack] - x[:, points.excess] + loss.own.target - product
            self._pi = ks * self._kk
            weight = loss.own.weight
            loss_curvature = np.einsum("bk,bk,bk->b", weight, weight, self._kk)
            corner = corner + loss_curvature[:, None, None] * np.outer(loss_row, loss_row)
        matrix[:, :order, order:] = border
        matrix[:, order:, :order] = border.transpose(0, 2, 1)
        matrix[:, order:, order:] = -corner
        diagonal[:, order:] -= ratio[:, points.budget]
        scale = 1.0 / np.sqrt(np.maximum(np.abs(diagonal), 1e-200))
        diagonal *= 1.0 + REGULARIZATION
        self._matrix = matrix * scale[:, :, None] * scale[:, None, :]
        self._scale = scale
        # The matrices are symmetric, so that their transposes are in the order of Fortran.
        self._factors = [dgetrf(each.T)[:2] for each in self._matrix]

    def _solve(self, right: Matrix) -> Matrix:
        """Solve the system for one right-hand side per program, with iterative refinement."""
        right = right * self._scale
        solution = self._solve_once(right)
        if self._loss.own is not None:
            product = np.matmul(self._matrix, solution[:, :, None])[:, :, 0]
            solution += self._solve_once(right - product)
        return solution * self._scale

    def _solve_once(self, right: Matrix) -> Matrix:
        pairs = zip(self._factors, right, strict=True)
        return np.array([dgetrs(lu, pivots, rhs)[0] for (lu, pivots), rhs in pairs])

    def direction(self, target: Vector, correction: Matrix | float = 0.0) -> Direction:
        """Return the step toward products of ``target``, shape (B,), less a correction each."""
        costs, points, loss = self._costs, self._points, self._loss
        m, x, z, u = costs.n_weights, points.x, points.z, points.u
        order = u.shape[1]
        wanted = np.broadcast_to(target[:, None] - correction, x.shape)
        aim = wanted / x
        l, v = costs.prices(z[:, points.budget])
        d = costs.objective - loss.pull
        P, Q, E, e1 = self._P, self._Q, self._E, self._e1
        ap = d[:, :m] - l[:, None] + aim[:, points.positive]
        aq = -d[:, :m] - l[:, None] + aim[:, points.negative]
        r1 = E * (ap * P - aq * Q)
        k0 = (ap * P + aq * Q - (P - Q) * r1).sum(axis=1)
        right = np.empty((len(x), order + costs.n_budgets))
        right[:, :m] = r1
        right[:, m:order] = d[:, m:]
        norm_row, loss_row, limit = costs.budgets.T
        norm_change, loss_change = k0, np.zeros(len(x))
        if costs.n_hard:
            hard = points.hard
            hard_residual = x[:, hard] - u @ costs.hard_table.T + costs.hard_target
            k_hard = z[:, hard] / x[:, hard]
            right[:, :order] += (aim[:, hard] - z[:, hard] + k_hard * hard_residual) @ costs.hard_table
        if loss.own is not None:
            own = loss.own
            slack, excess = points.slack, points.excess
            residual = self._residual
            dual_residual = v[:, None] * own.weight - z[:, slack] - z[:, excess]
            gain = aim[:, slack] - z[:, slack] + self._ks * residual
            qa = gain - dual_residual + aim[:, excess] - z[:, excess]
            right[:, :order] += np.matmul((gain - self._pi * qa)[:, None, :], own.table)[:, 0]
            loss_change = np.einsum("bk,bk,bk->b", own.weight, qa, self._kk)
        used = norm_row * points.norm[:, None] + loss_row * loss.value[:, None]
        budget_aim = wanted[:, points.budget] / z[:, points.budget]
        right[:, order:] = (
            limit - used - norm_row * norm_change[:, None] - loss_row * loss_change[:, None] - budget_aim
        )
        solution = self._solve(right)
        du, dprice = solution[:, :order], solution[:, order:]
        dl, dv = (dprice @ norm_row)[:, None], (dprice @ loss_row)[:, None]
        y = r1 - E * du[:, :m] - dl * e1
        dx, dz = np.empty_like(x), np.empty_like(z)
        dx[:, points.positive] = (ap - dl - y) * P
        dx[:, points.negative] = (aq - dl + y) * Q
        if costs.n_hard:
            dx[:, hard] = du @ costs.hard_table.T - hard_residual
        if loss.own is not None:
            zdu = np.matmul(own.table, du[:, :, None])[:, :, 0]
            dx[:, excess] = (qa - own.weight * dv - self._ks * zdu) * self._kk
            dx[:, slack] = dx[:, excess] + zdu - residual
        dz[:] = aim - z - dx * z / x
        dz[:, points.budget] = dprice
        budget_x = x[:, points.budget]
        dx[:, points.budget] = budget_aim - budget_x - budget_x / z[:, points.budget] * dprice
        return Direction(du, dx, dz)


def step_lengths(points: Points, direction: Direction) -> tuple[Vector, Vector]:
    """Return how far the primal and the dual values can go before one becomes zero."""
    return _ratio(points.x, direction.x), _ratio(points.z, direction.z)


def _ratio(value: Matrix, change: Matrix) -> Vector:
    return 1.0 / np.maximum((-change / value).max(axis=1, initial=0.0), 1e-300)


def predictor_corrector(
    costs: Costs, points: Points, loss: LossModel, least: Vector | float
) -> tuple[Direction, Vector, Vector]:
    """Return Mehrotra's direction and its primal and dual step lengths, each at most 1.

    ``least`` is the smallest sum of products to aim at.
    """
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
