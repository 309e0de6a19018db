"""Compiled primal simplex method for piecewise-linear objectives, on a dense dictionary.

The models are linear, with weights w, offsets o and one slack variable per constraint,
``r_i = target_i - table_i . w - offset_table_i . o``. Their norm is ``sum_k |w_k|`` and their loss
is ``sum_i row_weight_i max(0, r_i)``. There are two entry points:

- :func:`minimize` minimizes ``norm_price * norm + loss_price * loss``.
- :func:`solve_extremes` maximizes ``sign * w_k`` subject to budgets on norm and loss.

**Variables** are numbered: weights, then offsets, then slack variables. The costs ``|w_k|`` and
``max(0, r_i)`` are piecewise linear, with one breakpoint at zero. A constraint of infinite weight
is hard: its slack variable never passes its breakpoint. Offsets are free variables without cost.

**Simplex method.** At a vertex, the nonbasic variables are at their breakpoints, and the dictionary
``x[basis] = value - T x[nonbasic]`` gives the basic variables. Each iteration chooses the entering
variable by steepest edge. The ratio test passes breakpoints until the objective stops decreasing
(Barrodale and Roberts 1973; also known as a bound-flipping or long-step ratio test). Many basic
variables can therefore change sides in one pivot. Breakpoints are perturbed to prevent cycling. If
no reduced cost is negative, the vertex is optimal. If no breakpoint stops the decrease, the edge is
an unbounded ray.

**Budgets.** Dantzig-Wolfe decomposition finds the largest weight within the budgets. The restricted
master program optimizes over convex combinations of the vertices visited so far, plus rays. It has
one constraint per budget and one convexity constraint. Its dual variables are the prices of norm
and loss for the next simplex iteration, which is the pricing step. If no reduced cost is negative
at these prices, the solution of the master program is optimal.

The caller allocates all arrays, C-contiguous, as ``float64`` or ``int64``. With m basic and n
nonbasic variables, ``T`` has shape (m, n); :mod:`allrelevant.bounds.solver.simplex` fills it. All
code is in one file, because numba's cache detects changes only in a function's own file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import Matrix, Vector
from . import compiled

# Status of an iteration or of a solve.
OPTIMAL, PIVOTED, UNBOUNDED, FAILED = 0, 1, 2, 3

# Reduced costs and pivots of smaller absolute value are treated as zero.
REDUCED_COST_TOL = 1e-11
PIVOT_TOL = 1e-9

# Offsets have no cost and enter the basis even if nothing is gained: their reduced cost is at most
# minus this.
OFFSET_REDUCED_COST = 1e-10

# The ratio test stops when the reduced cost has shrunk to this fraction of its initial value.
FLAT_FRACTION = 1e-9

# Ratios that differ by less than this are ties.
TIE_TOL = 1e-12

# Approximate perturbation of the breakpoints, which makes them distinct.
PERTURBATION = 1e-9

# A value within this distance of its breakpoint is at the breakpoint.
BREAKPOINT_TOL = 1e-13

# The same for the master program: tolerances for reduced costs and for pivots.
MASTER_REDUCED_COST_TOL = 1e-12
MASTER_PIVOT_TOL = 1e-14

# Maximum number of basis changes per solve of the master program; its basis is then accepted. Two
# nearly equal columns could otherwise replace each other forever.
MAX_BASIS_CHANGES = 50

# Maximum number of columns (vertices and rays) of the master program.
POOL_SIZE = 64

# Big-M penalty per unit of budget excess, in units of the objective weight. The start may exceed
# budgets; the solution must not. (If the penalty is too small, the solve fails.)
EXCESS_PENALTY = 1e5

# An excess below this fraction of a budget limit is ignored.
EXCESS_TOL = 1e-10

# The first prices of the master program are poor. This fraction of the prices at which the start is
# optimal is added to them. It decays in each iteration, and is set to zero once it is small.
START_FRACTION, START_FRACTION_DECAY, MIN_START_FRACTION = 0.5, 0.9, 1e-3


# ---- Simplex iterations ----


class SimplexData(NamedTuple):
    """Sizes, constraint weights, budgets and start prices, constant over all iterations."""

    n_weights: int
    n_offsets: int
    row_weight: Vector  # (n_rows,): weight of each slack in the loss; infinite: hard constraint
    budgets: Matrix  # (n_budgets, 3): coefficient of the norm, coefficient of the loss, limit
    start_prices: Vector  # (2,): prices of norm and loss at which the start is optimal


class DictionaryState(NamedTuple):
    """Dictionary ``x[basis] = value - T x[nonbasic]``, with reduced costs and edge norms."""

    T: Matrix  # (m, n)
    value: Vector  # (m,): values of the basic variables
    perturbed: Vector  # (m,): values with perturbed breakpoints
    side: Vector  # (m,): +1 or -1, the side of its breakpoint on which a basic variable lies
    basis: np.ndarray  # (m,): numbers of the basic variables
    nonbasic: np.ndarray  # (n,): numbers of the nonbasic variables
    norm: Vector  # (n,): decrease of the basic variables' norm per unit of a nonbasic variable
    loss: Vector  # (n,): decrease of the basic variables' loss per unit of a nonbasic variable
    edge_norm2: Vector  # (n,): squared norm of each edge direction


class Objective(NamedTuple):
    """Objective ``sign * weight``, to be maximized.

    ``row[0]`` is the dictionary row of the weight, or -1 if the weight is nonbasic.
    """

    weight: int
    sign: float
    row: np.ndarray  # (1,)


class Step(NamedTuple):
    """Edge along which an iteration moves, and work arrays of its ratio test."""

    column: np.ndarray  # (1,): column of the entering variable
    direction: Vector  # (1,): +1 if the entering variable increases, else -1
    distance: Vector  # (m,): ratio of each basic variable
    heap: np.ndarray  # (m,): dictionary rows of the breakpoints along the edge


@compiled
def initialize(state, data):
    """Compute the perturbed values, reduced costs and edge norms of a dictionary."""
    n_weights, first_row = data.n_weights, data.n_weights + data.n_offsets
    state.norm[:], state.loss[:], state.edge_norm2[:] = 0.0, 0.0, 1.0
    for i in range(len(state.basis)):
        v, row = state.basis[i], state.T[i]
        state.perturbed[i] = state.value[i]
        if v < n_weights or v >= first_row:
            shift = 0.5 + (v * 0.6180339887498949) % 1.0
            state.perturbed[i] += state.side[i] * PERTURBATION * shift
        _add_basic_cost(state, data, i, 1.0)
        for c in range(len(row)):
            state.edge_norm2[c] += row[c] * row[c]


@compiled
def _add_basic_cost(state, data, i, times):
    """Add a basic variable's cost to the reduced costs (times = 1) or remove it (times = -1)."""
    v, side, first_row = state.basis[i], state.side[i], data.n_weights + data.n_offsets
    if v < data.n_weights:
        _add_to_reduced_costs(state, i, times * side, 0.0)
    elif v >= first_row and side > 0 and data.row_weight[v - first_row] < np.inf:
        _add_to_reduced_costs(state, i, 0.0, times * data.row_weight[v - first_row])


@compiled
def _change_side(state, data, i):
    """Move a basic variable to the other side of its breakpoint and update the reduced costs."""
    v, side, first_row = state.basis[i], state.side[i], data.n_weights + data.n_offsets
    state.side[i] = -side
    if v < data.n_weights:
        _add_to_reduced_costs(state, i, -2.0 * side, 0.0)
    elif v >= first_row and data.row_weight[v - first_row] < np.inf:
        _add_to_reduced_costs(state, i, 0.0, -side * data.row_weight[v - first_row])


@compiled
def _add_to_reduced_costs(state, i, norm_factor, loss_factor):
    """Add multiples of a dictionary row to the reduced costs of norm and loss."""
    row, norm, loss = state.T[i], state.norm, state.loss
    for c in range(len(row)):
        norm[c] += norm_factor * row[c]
        loss[c] += loss_factor * row[c]


@compiled
def _row_price(weight, loss_price):
    """Return the price of a slack variable, given its weight; infinite for a hard constraint."""
    return loss_price * weight if weight < np.inf else np.inf


@compiled
def _iterate(state, data, objective, norm_price, loss_price, step):
    """Perform one simplex iteration at the given prices and return its status."""
    reduced_cost = _choose_entering(state, data, objective, norm_price, loss_price, step)
    if reduced_cost == 0.0:
        return OPTIMAL
    r, n_passed, n_breakpoints = _ratio_test(
        state, data, norm_price, loss_price, reduced_cost, step
    )
    if r < 0:
        return UNBOUNDED
    for p in range(n_breakpoints - n_passed, n_breakpoints):
        _change_side(state, data, step.heap[p])
    _add_basic_cost(state, data, r, -1.0)
    q = step.column[0]
    _pivot(state, r, q, step.direction[0] * step.distance[r])
    entering, leaving = state.nonbasic[q], state.basis[r]
    state.basis[r], state.nonbasic[q] = entering, leaving
    state.side[r] = step.direction[0]
    _add_basic_cost(state, data, r, 1.0)
    if entering == objective.weight:
        objective.row[0] = r
    elif leaving == objective.weight:
        objective.row[0] = -1
    return PIVOTED


@compiled
def _choose_entering(state, data, objective, norm_price, loss_price, step):
    """Choose the entering variable by steepest edge. Return its reduced cost, 0 if optimal."""
    n_weights, first_row = data.n_weights, data.n_weights + data.n_offsets
    nonbasic, norm, loss, edge_norm2 = state.nonbasic, state.norm, state.loss, state.edge_norm2
    row_weight, weight, sign = data.row_weight, objective.weight, objective.sign
    objective_row = state.T[max(objective.row[0], 0)]
    times = sign if objective.row[0] >= 0 else 0.0
    steepest, reduced_cost, column, direction = 0.0, 0.0, 0, 0.0
    for c in range(len(nonbasic)):
        v = nonbasic[c]
        base = times * objective_row[c] - norm_price * norm[c] - loss_price * loss[c]
        if v < n_weights:
            gain = sign if v == weight else 0.0
            up, down = base + norm_price - gain, -base + norm_price + gain
        elif v >= first_row:
            up, down = base + _row_price(row_weight[v - first_row], loss_price), -base
        else:  # an offset enters even if its reduced cost is zero
            up, down = min(base, -OFFSET_REDUCED_COST), -base
        cost = min(up, down)
        if cost < -REDUCED_COST_TOL and cost * cost > steepest * edge_norm2[c]:
            column, direction = c, 1.0 if up <= down else -1.0
            steepest, reduced_cost = cost * cost / edge_norm2[c], cost
    step.column[0], step.direction[0] = column, direction
    return reduced_cost


@compiled
def _ratio_test(state, data, norm_price, loss_price, reduced_cost, step):
    """Find the breakpoint at which the objective stops decreasing.

    Return the row of the leaving variable (-1 if the edge is unbounded), the number of breakpoints
    passed and the number of breakpoints in ``step.heap``. The breakpoints passed are at its end.
    """
    n_breakpoints = _collect_breakpoints(state, data, step)
    T, basis, row_weight = state.T, state.basis, data.row_weight
    n_weights, first_row = data.n_weights, data.n_weights + data.n_offsets
    heap, distance, q = step.heap, step.distance, step.column[0]
    n_ahead, r, flat = n_breakpoints, -1, REDUCED_COST_TOL - FLAT_FRACTION * reduced_cost
    while n_ahead > 0 and r < 0:
        nearest = heap[0]
        # The reduced cost increases where a weight changes sign or a constraint becomes violated.
        price = 2.0 * norm_price
        if basis[nearest] >= n_weights:
            price = _row_price(row_weight[basis[nearest] - first_row], loss_price)
        reduced_cost += price * abs(T[nearest, q])
        if reduced_cost >= -flat:
            r = nearest
        else:
            n_ahead -= 1
            heap[0], heap[n_ahead] = heap[n_ahead], nearest
            _sift_down(distance, heap, 0, n_ahead)
    if r >= 0:
        farthest = distance[r] + TIE_TOL * (1.0 + distance[r])
        for p in range(n_ahead):  # among ties, choose the largest pivot
            i = heap[p]
            if distance[i] <= farthest and abs(T[i, q]) > abs(T[r, q]):
                r = i
    return r, n_breakpoints - n_ahead, n_breakpoints


@compiled
def _collect_breakpoints(state, data, step):
    """Arrange the breakpoints along the edge as a min-heap of their ratios; return their number."""
    n_weights, first_row = data.n_weights, data.n_weights + data.n_offsets
    T, perturbed, side, basis = state.T, state.perturbed, state.side, state.basis
    q, direction, distance, heap = step.column[0], step.direction[0], step.distance, step.heap
    n_breakpoints = 0
    for i in range(len(basis)):
        approach = direction * T[i, q] * side[i]
        if approach > PIVOT_TOL and (basis[i] < n_weights or basis[i] >= first_row):
            distance[i] = max(perturbed[i] * side[i], 0.0) / approach
            heap[n_breakpoints] = i
            n_breakpoints += 1
    for p in range(n_breakpoints // 2 - 1, -1, -1):
        _sift_down(distance, heap, p, n_breakpoints)
    return n_breakpoints


@compiled
def _sift_down(distance, heap, top, size):
    """Restore the heap property below ``top``."""
    while True:
        child = 2 * top + 1
        if child >= size:
            return
        if child + 1 < size and distance[heap[child + 1]] < distance[heap[child]]:
            child += 1
        if distance[heap[child]] >= distance[heap[top]]:
            return
        heap[top], heap[child] = heap[child], heap[top]
        top = child


@compiled
def _pivot(state, r, q, perturbed_step):
    """Exchange the basic variable of row r with the nonbasic variable of column q."""
    T, value, perturbed = state.T, state.value, state.perturbed
    edge_norm2, norm, loss = state.edge_norm2, state.norm, state.loss
    source, column = T[r].copy(), T[:, q].copy()
    inverse = 1.0 / source[q]
    step_length = value[r] * inverse
    for c in range(len(source)):
        source[c] *= inverse
        edge_norm2[c] = 1.0
    source[q] = inverse
    # With these values, the loop below also updates the pivot row and column correctly.
    T[r], T[:, q], column[r] = 0.0, 0.0, -1.0
    for i in range(len(column)):
        # Rows are separate arrays, so that the compiler can rule out aliasing and vectorize the
        # inner loop.
        row, factor = T[i], column[i]
        for c in range(len(source)):  # update the row and the edge norms in one pass
            t = row[c] - factor * source[c]
            row[c] = t
            edge_norm2[c] += t * t
    for i in range(len(column)):
        value[i] -= column[i] * step_length
        perturbed[i] -= column[i] * perturbed_step
    value[r], perturbed[r] = step_length, perturbed_step
    norm_factor, loss_factor = norm[q], loss[q]
    norm[q], loss[q] = 0.0, 0.0
    for c in range(len(source)):
        norm[c] -= norm_factor * source[c]
        loss[c] -= loss_factor * source[c]


@compiled
def _remove_perturbation(state, data):
    """Remove the perturbation, and flip the side of variables that are beyond their breakpoint.

    The slack variable of a hard constraint exceeds its breakpoint by at most the perturbation. It
    keeps its side and is treated as being at the breakpoint.
    """
    n_weights, first_row = data.n_weights, data.n_weights + data.n_offsets
    for i in range(len(state.basis)):
        v = state.basis[i]
        state.perturbed[i] = state.value[i]
        can_change = v < n_weights or (v >= first_row and data.row_weight[v - first_row] < np.inf)
        if can_change and state.value[i] * state.side[i] < -BREAKPOINT_TOL:
            _change_side(state, data, i)


@compiled
def _write_ray(state, data, step, coef, offset):
    """Write the ray of a step to ``coef`` and ``offset``; return norm and loss per unit length."""
    q, direction = step.column[0], step.direction[0]
    norm, loss = _write_point(data, state.basis, -direction * state.T[:, q], coef, offset)
    v, first_row = state.nonbasic[q], data.n_weights + data.n_offsets
    if v < data.n_weights:
        coef[v] = direction
        norm += 1.0
    elif v < first_row:
        offset[v - data.n_weights] = direction
    elif data.row_weight[v - first_row] < np.inf:
        loss += data.row_weight[v - first_row] * max(direction, 0.0)
    return norm, loss


@compiled
def _write_point(data, variables, values, coef, offset):
    """Write values of variables to ``coef`` and ``offset``; return their norm and loss."""
    n_weights, first_row = data.n_weights, data.n_weights + data.n_offsets
    row_weight = data.row_weight
    norm, loss = 0.0, 0.0
    for k in range(len(coef)):
        coef[k] = 0.0
    for k in range(len(offset)):
        offset[k] = 0.0
    for i in range(len(variables)):
        v, value = variables[i], values[i]
        if v < n_weights:
            coef[v] = value
            norm += abs(value)
        elif v < first_row:
            offset[v - n_weights] = value
        elif value > 0.0 and row_weight[v - first_row] < np.inf:
            loss += row_weight[v - first_row] * value
    return norm, loss


@compiled
def _write_multipliers(state, data, objective, norm_price, loss_price, out):
    """Write the dual variables of the constraints at the given prices to ``out``."""
    first_row, row_weight = data.n_weights + data.n_offsets, data.row_weight
    for i in range(len(state.basis)):
        v = state.basis[i]
        if v >= first_row:
            weight = row_weight[v - first_row]
            is_violated = state.side[i] > 0 and weight < np.inf
            out[v - first_row] = _row_price(weight, loss_price) if is_violated else 0.0
    for c in range(len(state.nonbasic)):
        v = state.nonbasic[c]
        if v >= first_row:
            price = norm_price * state.norm[c] + loss_price * state.loss[c]
            if objective.row[0] >= 0:
                price -= objective.sign * state.T[objective.row[0], c]
            largest = _row_price(row_weight[v - first_row], loss_price)
            out[v - first_row] = min(
                max(price, 0.0), largest
            )  # clip rounding errors, which would loosen the certified bound


@compiled
def _new_step(n_rows):
    return Step(np.zeros(1, np.int64), np.zeros(1), np.empty(n_rows), np.empty(n_rows, np.int64))


# ---- Master program ----


class MasterProgram(NamedTuple):
    """Restricted master program over convex combinations of vertices, plus rays.

    The pool holds one column per vertex or ray: its use of each budget (for a ray, per unit
    length), then its coefficient in the convexity constraint (vertex: 1, ray: 0). Columns are
    numbered: c >= 0 is slot c of the pool. With n budgets, -1 - b is the slack variable of budget b
    and -1 - n - b is the artificial variable of its excess.
    """

    columns: Matrix  # (POOL_SIZE, n + 1)
    gain: Vector  # (POOL_SIZE,): objective coefficient of each column, sign * weight
    coef: Matrix  # (POOL_SIZE, n_weights)
    offset: Matrix  # (POOL_SIZE, n_offsets)
    basis: np.ndarray  # (n + 1,): numbers of the basic columns
    basis_matrix: Matrix  # (n + 1, n + 1): work array
    inverse: Matrix  # (n + 1, n + 1): inverse of the basis matrix
    basic_values: Vector  # (n + 1,): values of the basic variables
    prices: Vector  # (n + 1,): dual variables of the budgets and of the convexity constraint
    size: np.ndarray  # (2,): number of pool slots in use, and the slot filled last


@compiled
def _new_master(n_budgets, n_weights, n_offsets):
    n = n_budgets + 1
    return MasterProgram(
        np.zeros((POOL_SIZE, n)), np.zeros(POOL_SIZE),
        np.zeros((POOL_SIZE, n_weights)), np.zeros((POOL_SIZE, n_offsets)),
        np.empty(n, np.int64), np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n),
        np.zeros(2, np.int64),
    )  # fmt: skip


@compiled
def _is_basic(master, slot):
    for column in master.basis:  # noqa: SIM110, generators are not compiled
        if column == slot:
            return True
    return False


@compiled
def _next_slot(master):
    """Reserve and return an unused slot of the pool, or else its oldest nonbasic slot."""
    if master.size[0] < POOL_SIZE:
        master.size[0] += 1
        master.size[1] = master.size[0] - 1
        return master.size[1]
    slot = (master.size[1] + 1) % POOL_SIZE
    while _is_basic(master, slot):
        slot = (slot + 1) % POOL_SIZE
    master.size[1] = slot
    return slot


@compiled
def _set_column(master, budgets, slot, norm, loss, convexity, gain):
    """Set the column of a vertex (convexity = 1) or ray (convexity = 0)."""
    for b in range(len(budgets)):
        master.columns[slot, b] = budgets[b, 0] * norm + budgets[b, 1] * loss
    master.columns[slot, -1] = convexity
    master.gain[slot] = gain


@compiled
def _set_initial_basis(master, budgets, slot):
    """Set the initial basis: one vertex, and the slack or excess variable of each budget."""
    for b in range(len(budgets)):
        is_exceeded = master.columns[slot, b] > budgets[b, 2] * (1.0 + EXCESS_TOL)
        master.basis[b] = -1 - b - (len(budgets) if is_exceeded else 0)
    master.basis[-1] = slot


@compiled
def _is_feasible(master, budgets):
    """Return whether all excess variables are zero, so that the solution is within all budgets."""
    n_budgets = len(budgets)
    for i in range(len(master.basis)):
        b = -1 - n_budgets - master.basis[i]
        if b >= 0 and master.basic_values[i] > EXCESS_TOL * (1.0 + budgets[b, 2]):
            return False
    return True


@compiled
def _solve_master(master, budgets):
    """Solve the master program by the revised simplex method; return whether it succeeded."""
    for _ in range(MAX_BASIS_CHANGES):
        if not _factorize(master, budgets):
            return False
        entering = _choose_entering_column(master)
        if entering == POOL_SIZE:
            return True
        leaving = _choose_leaving_column(master, entering)
        if leaving < 0:
            return False
        master.basis[leaving] = entering
    return _factorize(master, budgets)


@compiled
def _column_entry(master, v, b):
    """Return the entry of the master program in column v and row b."""
    if v >= 0:
        return master.columns[v, b]
    n_budgets = len(master.basis) - 1
    if v >= -n_budgets:
        return 1.0 if b == -1 - v else 0.0
    return -1.0 if b == -1 - n_budgets - v else 0.0


@compiled
def _column_gain(master, v):
    """Return the objective coefficient of the master program in column v."""
    if v >= 0:
        return master.gain[v]
    return 0.0 if v >= 1 - len(master.basis) else -EXCESS_PENALTY


@compiled
def _choose_leaving_column(master, entering):
    """Return the leaving column's position in the basis (ratio test), or -1 if unbounded."""
    n = len(master.basis)
    leaving, limit, largest_rate = -1, np.inf, 0.0
    for i in range(n):
        rate = 0.0
        for b in range(n):
            rate += master.inverse[i, b] * _column_entry(master, entering, b)
        if rate > MASTER_PIVOT_TOL:
            ratio = max(master.basic_values[i], 0.0) / rate
            if ratio < limit or (ratio == limit and rate > largest_rate):
                leaving, limit, largest_rate = i, ratio, rate
    return leaving


@compiled
def _factorize(master, budgets):
    """Recompute basis inverse, basic values and prices; return whether the basis is nonsingular."""
    n, inverse = len(master.basis), master.inverse
    for i in range(n):
        for b in range(n):
            inverse[b, i] = 1.0 if b == i else 0.0
            master.basis_matrix[b, i] = _column_entry(master, master.basis[i], b)
    if not _invert(master.basis_matrix, inverse):
        return False
    for b in range(n):
        master.prices[b] = 0.0
    for i in range(n):
        v = master.basis[i]
        gain = _column_gain(master, v)
        master.basic_values[i] = 0.0
        for b in range(n):
            limit = budgets[b, 2] if b < n - 1 else 1.0
            master.basic_values[i] += inverse[i, b] * limit
            master.prices[b] += gain * inverse[i, b]
    return True


@compiled
def _invert(matrix, inverse):
    """Invert a small matrix by Gauss-Jordan elimination. Return whether it is nonsingular.

    ``inverse`` is the identity on entry. ``matrix`` is destroyed.
    """
    n = len(matrix)
    for c in range(n):
        r = c
        for i in range(c + 1, n):
            if abs(matrix[i, c]) > abs(matrix[r, c]):
                r = i
        if matrix[r, c] == 0.0:
            return False
        for k in range(n):
            matrix[c, k], matrix[r, k] = matrix[r, k], matrix[c, k]
            inverse[c, k], inverse[r, k] = inverse[r, k], inverse[c, k]
        _eliminate(matrix, inverse, c)
    return True


@compiled
def _eliminate(matrix, inverse, c):
    n, scale = len(matrix), 1.0 / matrix[c, c]
    for k in range(n):
        matrix[c, k] *= scale
        inverse[c, k] *= scale
    for i in range(n):
        if i != c:
            factor = matrix[i, c]
            for k in range(n):
                matrix[i, k] -= factor * matrix[c, k]
                inverse[i, k] -= factor * inverse[c, k]


@compiled
def _choose_entering_column(master):
    """Return the column with the largest reduced gain, or POOL_SIZE if none is positive."""
    best, entering = MASTER_REDUCED_COST_TOL, POOL_SIZE
    for b in range(len(master.basis) - 1):
        if -master.prices[b] > best:
            best, entering = -master.prices[b], -1 - b
    for v in range(master.size[0]):
        gain = master.gain[v]
        for b in range(len(master.prices)):
            gain -= master.prices[b] * master.columns[v, b]
        if gain > best and not _is_basic(master, v):
            best, entering = gain, v
    return entering


# ---- Entry points ----


@compiled
def _maximize_weight(state, data, objective, master, step, max_pivots):
    """Maximize a weight within the budgets. Return the status and the number of pivots."""
    master.size[:] = 0
    first = _add_column(master, state, data, objective, PIVOTED, step)
    _set_initial_basis(master, data.budgets, first)
    start_fraction, is_unperturbed = START_FRACTION, False
    for pivots in range(max_pivots):
        if not _solve_master(master, data.budgets):
            return FAILED, pivots
        norm_price, loss_price = _norm_and_loss_prices(master, data)
        norm_price += start_fraction * data.start_prices[0]
        loss_price += start_fraction * data.start_prices[1]
        status = _iterate(state, data, objective, norm_price, loss_price, step)
        if status == OPTIMAL:
            if start_fraction > 0.0:
                start_fraction = 0.0
            elif not is_unperturbed:
                _remove_perturbation(state, data)
                is_unperturbed = True
            else:
                return (OPTIMAL if _is_feasible(master, data.budgets) else FAILED), pivots
            continue
        start_fraction = (
            start_fraction * START_FRACTION_DECAY if start_fraction > MIN_START_FRACTION else 0.0
        )
        _add_column(master, state, data, objective, status, step)
    return FAILED, max_pivots


@compiled
def _add_column(master, state, data, objective, status, step):
    """Add the vertex or ray of the last iteration to the pool and return its slot."""
    slot = _next_slot(master)
    coef, offset = master.coef[slot], master.offset[slot]
    if status == PIVOTED:
        norm, loss = _write_point(data, state.basis, state.value, coef, offset)
    else:
        norm, loss = _write_ray(state, data, step, coef, offset)
    convexity = 1.0 if status == PIVOTED else 0.0
    gain = objective.sign * coef[objective.weight]
    _set_column(master, data.budgets, slot, norm, loss, convexity, gain)
    return slot


@compiled
def _norm_and_loss_prices(master, data):
    """Return the prices of norm and loss implied by the dual variables of the budgets."""
    norm_price, loss_price = 0.0, 0.0
    for b in range(len(data.budgets)):
        price = max(master.prices[b], 0.0)
        norm_price += price * data.budgets[b, 0]
        loss_price += price * data.budgets[b, 1]
    return norm_price, loss_price


@compiled(nogil=True)
def solve_extremes(
    start, data, weights, signs, max_pivots, columns, coef, offset, multipliers, status
):
    """Maximize ``signs[e] * w[weights[e]]`` within the budgets, for each e from the same start.

    The start is the dictionary of the baseline and is not modified. Rounding errors therefore do
    not accumulate, and no solution depends on earlier ones. The last weight of the dictionary is a
    placeholder: if ``weights[e]`` refers to it, ``columns[e]`` becomes the last column of ``T``.

    The results are written to the last four arguments: weights of shape (n_extremes, n_weights),
    offsets, dual variables of shape (n_extremes, n_rows) and status. The first three must be zero
    on entry. Return the number of pivots.
    """
    T = np.empty_like(start.T)
    state = DictionaryState(
        T, start.value.copy(), start.perturbed.copy(), start.side.copy(), start.basis.copy(),
        start.nonbasic.copy(), start.norm.copy(), start.loss.copy(), start.edge_norm2.copy(),
    )  # fmt: skip
    step = _new_step(len(start.value))
    master = _new_master(len(data.budgets), data.n_weights, data.n_offsets)
    total = 0
    for e in range(len(weights)):
        T[:] = start.T
        state.value[:], state.side[:] = start.value, start.side
        state.basis[:], state.nonbasic[:] = start.basis, start.nonbasic
        state.perturbed[:], state.edge_norm2[:] = start.perturbed, start.edge_norm2
        state.norm[:], state.loss[:] = start.norm, start.loss
        if weights[e] == data.n_weights - 1:
            T[:, -1] = columns[e]
            initialize(state, data)
        objective = Objective(weights[e], signs[e], np.full(1, -1))
        for i in range(len(state.basis)):
            if state.basis[i] == objective.weight:
                objective.row[0] = i
        status[e], pivots = _maximize_weight(state, data, objective, master, step, max_pivots)
        total += pivots
        if status[e] == OPTIMAL:
            for i in range(len(master.basis)):
                v = master.basis[i]
                if v >= 0:
                    coef[e] += master.basic_values[i] * master.coef[v]
                    offset[e] += master.basic_values[i] * master.offset[v]
            norm_price, loss_price = _norm_and_loss_prices(master, data)
            _write_multipliers(state, data, objective, norm_price, loss_price, multipliers[e])
    return total


@compiled(nogil=True)
def minimize(state, data, norm_price, loss_price, max_pivots, coef, offset, multipliers):
    """Minimize ``norm_price * norm + loss_price * loss``, starting from a dictionary.

    The dictionary is modified. Return the status and the number of pivots. Status PIVOTED means
    that ``max_pivots`` was reached: call again to continue.
    """
    step, objective = _new_step(len(state.value)), Objective(-1, 0.0, np.full(1, -1))
    status, pivots = PIVOTED, 0
    while status == PIVOTED and pivots < max_pivots:
        status = _iterate(state, data, objective, norm_price, loss_price, step)
        pivots += 1
    _write_point(data, state.basis, state.value, coef, offset)
    _write_multipliers(state, data, objective, norm_price, loss_price, multipliers)
    return status, pivots
