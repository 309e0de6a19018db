"""The compiled inner loop: the cheapest model, and the largest weight within budgets.

Compiled by numba on first use and cached on disk. All state lives in the arrays it is given; see
:class:`allrelevant.bounds.solver.tableau.Dictionary` for how they are filled. (It is one long file
because the cache looks at the file of a function, not at those of the functions that it calls.)

**The walk.** Norm and loss are sums of terms with one kink each: ``|w_k|`` bends where a weight is
zero, ``max(0, r_i)`` where a row is met exactly. A *corner* is a model at which as many variables
sit at their kinks as it takes to determine it. Given a price of norm and a price of loss, one step
goes from a corner along the steepest edge, past all the kinks that still leave it going down, to
the one where the total turns up: many rows change sides in one pivot. (Barrodale and Roberts did
this for least absolute deviations.) When no edge goes down, the corner is the cheapest model.

**The mixture.** The largest weight within the budgets is found by changing the prices on the way.
Every corner met is a model; the best mixture of them within the budgets is a program with as many
rows as there are budgets and one more, and its multipliers are the prices for the next step, as
Dantzig and Wolfe do it. When no edge goes down at the prices of the mixture, it is the answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from .._typing import Matrix, Vector

OPTIMAL, MOVED, ENDLESS, GAVE_UP = 0, 1, 2, 3


# A slope and a pivot smaller than these count as zero.
_SLOPE_TOLERANCE = 1e-11


_PIVOT_TOLERANCE = 1e-9


# The least slope of an offset.
_FREE = 1e-10


# An edge that has lost all but this share of its slope goes down no more.
_FLAT = 1e-9


# Steps whose lengths differ by less than this tie.
_TIE = 1e-12


# Kinks are moved apart by about this much, so that no two coincide: a walk over corners that do
# can go round in circles.
_APART = 1e-9


# A value this close to a kink is on it.
_ROUNDING = 1e-13


# Gains and shares in a mixture smaller than these count as none.
_GAIN_TOLERANCE = 1e-12


_SHARE_TOLERANCE = 1e-14


# Changes of members after which a mixture counts as the best one: of two corners that are all but
# the same, each can seem better than the other.
_MOST_CHANGES = 50


# Corners that a mixture can be made of at any time.
_POOL = 64


# What overdrawing a budget costs, in units of the weight in question: a walk may start outside the
# budgets, but should not stay there. (Where this is too little, the answer is given up.)
_PENALTY = 1e5


# An overdraft smaller than this share of a limit is none.
_OVERDRAFT = 1e-10


# The mixture's first prices say little. Those of the baseline are added to them at first, in this
# share, which fades from step to step and ends when it is small.
_SHARE_OF_START, _FADING, _FADED = 0.5, 0.9, 1e-3


# ---- The walk ----


class SimplexData(NamedTuple):
    """What stays the same on a walk.

    Variables are numbered: weights, offsets, then the shortfalls of the rows. A row of infinite
    weight must be met: no walk goes past its kink.
    """

    n_weights: int
    n_offsets: int
    row_weight: Vector
    budgets: Matrix  # a row each: coefficient of norm, coefficient of loss, limit
    start_prices: Vector  # prices of norm and loss at which the first corner costs least


class DictionaryState(NamedTuple):
    """The dictionary ``x[basis] = value - T x[nonbasic]`` of a corner.

    ``nudged`` is ``value`` with the kinks moved apart. ``side`` is the side of its kink that each
    basic variable is on; ``norm`` and ``loss`` say how the norm and the loss of the basic
    variables fall as each nonbasic one grows; ``edge`` is the squared length of each edge.
    """

    T: Matrix
    value: Vector
    nudged: Vector
    side: Vector
    basis: np.ndarray
    nonbasic: np.ndarray
    norm: Vector
    loss: Vector
    edge: Vector


class Objective(NamedTuple):
    """Which weight is to be large, in which direction, and where it is: its row, or -1."""

    weight: int
    sign: float
    row: np.ndarray


class Step(NamedTuple):
    """Where a step goes: the edge and the direction, and scratch space for its kinks."""

    column: np.ndarray
    direction: Vector
    distance: Vector
    heap: np.ndarray


@nb.njit(cache=True)
def prepare(corner, problem):
    """Fill in all that follows from the dictionary and the sides."""
    n_weights, first_row = problem.n_weights, problem.n_weights + problem.n_offsets
    corner.norm[:], corner.loss[:], corner.edge[:] = 0.0, 0.0, 1.0
    for i in range(len(corner.basis)):
        v, row = corner.basis[i], corner.T[i]
        corner.nudged[i] = corner.value[i]
        if v < n_weights or v >= first_row:
            corner.nudged[i] += corner.side[i] * _APART * (0.5 + (v * 0.6180339887498949) % 1.0)
        _account(corner, problem, i, 1.0)
        for c in range(len(row)):
            corner.edge[c] += row[c] * row[c]


@nb.njit(cache=True)
def _account(corner, problem, i, times):
    """Add a basic variable to the slopes of norm and loss, or take it out."""
    v, side, first_row = corner.basis[i], corner.side[i], problem.n_weights + problem.n_offsets
    if v < problem.n_weights:
        _add_to_slopes(corner, i, times * side, 0.0)
    elif v >= first_row and side > 0 and problem.row_weight[v - first_row] < np.inf:
        _add_to_slopes(corner, i, 0.0, times * problem.row_weight[v - first_row])


@nb.njit(cache=True)
def _change_side(corner, problem, i):
    """Let a basic variable be on the other side of its kink."""
    v, side, first_row = corner.basis[i], corner.side[i], problem.n_weights + problem.n_offsets
    corner.side[i] = -side
    if v < problem.n_weights:
        _add_to_slopes(corner, i, -2.0 * side, 0.0)
    elif v >= first_row and problem.row_weight[v - first_row] < np.inf:
        _add_to_slopes(corner, i, 0.0, -side * problem.row_weight[v - first_row])


@nb.njit(cache=True)
def _add_to_slopes(corner, i, of_norm, of_loss):
    """Add multiples of a row of the dictionary to the slopes of norm and loss."""
    row, norm, loss = corner.T[i], corner.norm, corner.loss
    for c in range(len(row)):
        norm[c] += of_norm * row[c]
        loss[c] += of_loss * row[c]


@nb.njit(cache=True)
def _price(weight, price_of_loss):
    """Price of the shortfall of a row of this weight."""
    return price_of_loss * weight if weight < np.inf else np.inf


@nb.njit(cache=True)
def _step(corner, problem, goal, price_of_norm, price_of_loss, way):
    """Go from a corner to a better one at these prices: one pivot."""
    slope = _choose_edge(corner, problem, goal, price_of_norm, price_of_loss, way)
    if slope == 0.0:
        return OPTIMAL
    r, passed, n_kinks = _choose_end(corner, problem, price_of_norm, price_of_loss, slope, way)
    if r < 0:
        return ENDLESS
    for p in range(n_kinks - passed, n_kinks):
        _change_side(corner, problem, way.heap[p])
    _account(corner, problem, r, -1.0)
    q = way.column[0]
    _pivot(corner, r, q, way.direction[0] * way.distance[r])
    entering, leaving = corner.nonbasic[q], corner.basis[r]
    corner.basis[r], corner.nonbasic[q] = entering, leaving
    corner.side[r] = way.direction[0]
    _account(corner, problem, r, 1.0)
    if entering == goal.weight:
        goal.row[0] = r
    elif leaving == goal.weight:
        goal.row[0] = -1
    return MOVED


@nb.njit(cache=True)
def _choose_edge(corner, problem, goal, price_of_norm, price_of_loss, way):
    """Find the steepest edge that goes down; its slope, zero if there is none."""
    n_weights, first_row = problem.n_weights, problem.n_weights + problem.n_offsets
    nonbasic, norm, loss, edge = corner.nonbasic, corner.norm, corner.loss, corner.edge
    row_weight, weight, sign = problem.row_weight, goal.weight, goal.sign
    of_goal, times = corner.T[max(goal.row[0], 0)], sign if goal.row[0] >= 0 else 0.0
    steepest, slope, column, direction = 0.0, 0.0, 0, 0.0
    for c in range(len(nonbasic)):
        v = nonbasic[c]
        base = times * of_goal[c] - price_of_norm * norm[c] - price_of_loss * loss[c]
        if v < n_weights:
            own = sign if v == weight else 0.0
            up, down = base + price_of_norm - own, -base + price_of_norm + own
        elif v >= first_row:
            up, down = base + _price(row_weight[v - first_row], price_of_loss), -base
        else:  # an offset costs nothing: it comes in even if it gains nothing
            up, down = min(base, -_FREE), -base
        falls = min(up, down)
        if falls < -_SLOPE_TOLERANCE and falls * falls > steepest * edge[c]:
            column, direction = c, 1.0 if up <= down else -1.0
            steepest, slope = falls * falls / edge[c], falls
    way.column[0], way.direction[0] = column, direction
    return slope


@nb.njit(cache=True)
def _choose_end(corner, problem, price_of_norm, price_of_loss, slope, way):
    """Find the kink where an edge stops going down.

    Returns its row (-1 if there is none), the number of kinks before it, which are at the end of
    the list ``way.heap``, and the length of that list.
    """
    n_kinks = _list_kinks(corner, problem, way)
    T, basis, row_weight = corner.T, corner.basis, problem.row_weight
    n_weights, first_row = problem.n_weights, problem.n_weights + problem.n_offsets
    heap, distance, q = way.heap, way.distance, way.column[0]
    left, r, flat = n_kinks, -1, _SLOPE_TOLERANCE - _FLAT * slope
    while left > 0 and r < 0:
        nearest = heap[0]
        # The slope grows where a weight changes sign, and where a row is no longer met.
        price = 2.0 * price_of_norm
        if basis[nearest] >= n_weights:
            price = _price(row_weight[basis[nearest] - first_row], price_of_loss)
        slope += price * abs(T[nearest, q])
        if slope >= -flat:
            r = nearest
        else:
            left -= 1
            heap[0], heap[left] = heap[left], nearest
            _sift(distance, heap, 0, left)
    if r >= 0:
        farthest = distance[r] + _TIE * (1.0 + distance[r])
        for p in range(left):  # of those that tie, the one with the largest pivot
            i = heap[p]
            if distance[i] <= farthest and abs(T[i, q]) > abs(T[r, q]):
                r = i
    return r, n_kinks - left, n_kinks


@nb.njit(cache=True)
def _list_kinks(corner, problem, way):
    """Distances to the kinks ahead, as a heap with the nearest on top."""
    n_weights, first_row = problem.n_weights, problem.n_weights + problem.n_offsets
    T, nudged, side, basis = corner.T, corner.nudged, corner.side, corner.basis
    q, direction, distance, heap = way.column[0], way.direction[0], way.distance, way.heap
    n_kinks = 0
    for i in range(len(basis)):
        approach = direction * T[i, q] * side[i]
        if approach > _PIVOT_TOLERANCE and (basis[i] < n_weights or basis[i] >= first_row):
            distance[i] = max(nudged[i] * side[i], 0.0) / approach
            heap[n_kinks] = i
            n_kinks += 1
    for p in range(n_kinks // 2 - 1, -1, -1):
        _sift(distance, heap, p, n_kinks)
    return n_kinks


@nb.njit(cache=True)
def _sift(distance, heap, top, size):
    """Let an element of a heap sink to its place."""
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


@nb.njit(cache=True)
def _pivot(corner, r, q, nudged_step):
    T, value, nudged = corner.T, corner.value, corner.nudged
    edge, norm, loss = corner.edge, corner.norm, corner.loss
    source, column = T[r].copy(), T[:, q].copy()
    inverse = 1.0 / source[q]
    step = value[r] * inverse
    for c in range(len(source)):
        source[c] *= inverse
        edge[c] = 1.0
    source[q] = inverse
    # With these the row and the column of the pivot are rows and columns like all others.
    T[r], T[:, q], column[r] = 0.0, 0.0, -1.0
    for i in range(len(column)):
        # Rows as arrays of their own: then the compiler knows that they do not overlap, and the
        # inner loop runs on vector instructions.
        row, factor = T[i], column[i]
        for c in range(len(source)):  # one pass: the update, and the new lengths of the edges
            t = row[c] - factor * source[c]
            row[c] = t
            edge[c] += t * t
    for i in range(len(column)):
        value[i] -= column[i] * step
        nudged[i] -= column[i] * nudged_step
    value[r], nudged[r] = step, nudged_step
    of_norm, of_loss = norm[q], loss[q]
    norm[q], loss[q] = 0.0, 0.0
    for c in range(len(source)):
        norm[c] -= of_norm * source[c]
        loss[c] -= of_loss * source[c]


@nb.njit(cache=True)
def _settle(corner, problem):
    """Move the kinks back to where they are; what is then beyond one changes sides.

    A row that must be met is beyond its kink by no more than the nudge, and keeps its side: the
    walk goes on from there as if it were on the kink.
    """
    n_weights, first_row = problem.n_weights, problem.n_weights + problem.n_offsets
    for i in range(len(corner.basis)):
        v = corner.basis[i]
        corner.nudged[i] = corner.value[i]
        can_change = v < n_weights or (
            v >= first_row and problem.row_weight[v - first_row] < np.inf
        )
        if can_change and corner.value[i] * corner.side[i] < -_ROUNDING:
            _change_side(corner, problem, i)


@nb.njit(cache=True)
def _read(corner, problem, coef, offset):
    """Weights and offsets of a corner, and its norm and loss."""
    return _spread(problem, corner.basis, corner.value, coef, offset)


@nb.njit(cache=True)
def _read_edge(corner, problem, way, coef, offset):
    """How weights and offsets change along an endless edge, and at which rates norm and loss."""
    q, direction = way.column[0], way.direction[0]
    norm, loss = _spread(problem, corner.basis, -direction * corner.T[:, q], coef, offset)
    v, first_row = corner.nonbasic[q], problem.n_weights + problem.n_offsets
    if v < problem.n_weights:
        coef[v] = direction
        norm += 1.0
    elif v < first_row:
        offset[v - problem.n_weights] = direction
    elif problem.row_weight[v - first_row] < np.inf:
        loss += problem.row_weight[v - first_row] * max(direction, 0.0)
    return norm, loss


@nb.njit(cache=True)
def _spread(problem, variables, values, coef, offset):
    """Put the values of some variables in their places; the norm and the loss they come to."""
    n_weights, first_row = problem.n_weights, problem.n_weights + problem.n_offsets
    row_weight = problem.row_weight
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


@nb.njit(cache=True)
def _read_multipliers(corner, problem, goal, price_of_norm, price_of_loss, out):
    """Multipliers of the rows at these prices."""
    first_row, row_weight = problem.n_weights + problem.n_offsets, problem.row_weight
    for i in range(len(corner.basis)):
        v = corner.basis[i]
        if v >= first_row:
            short = corner.side[i] > 0 and row_weight[v - first_row] < np.inf
            out[v - first_row] = _price(row_weight[v - first_row], price_of_loss) if short else 0.0
    for c in range(len(corner.nonbasic)):
        v = corner.nonbasic[c]
        if v >= first_row:
            price = price_of_norm * corner.norm[c] + price_of_loss * corner.loss[c]
            if goal.row[0] >= 0:
                price -= goal.sign * corner.T[goal.row[0], c]
            most = _price(row_weight[v - first_row], price_of_loss)
            out[v - first_row] = min(max(price, 0.0), most)  # rounding would cost more than this


@nb.njit(cache=True)
def _new_way(n_rows):
    return Step(np.zeros(1, np.int64), np.zeros(1), np.empty(n_rows), np.empty(n_rows, np.int64))


# ---- The mixture ----


class BudgetMix(NamedTuple):
    """Corners (and edges without end) in a pool, and the best mixture of them.

    Column c of the mixture's program is what corner c spends of each budget, then 1; or what an
    edge spends along its way, then 0. ``members`` are the columns of its basis: with n budgets,
    -1 - b for what is left of budget b, and -1 - n - b for what it is overdrawn by; ``share`` is
    how much of each is taken, ``prices`` the multipliers.
    ``inverse`` is the inverse of the basis, ``basis`` scratch space for finding it.
    """

    columns: Matrix
    gain: Vector
    coef: Matrix
    offset: Matrix
    members: np.ndarray
    basis: Matrix
    inverse: Matrix
    share: Vector
    prices: Vector
    size: np.ndarray  # how many places of the pool are in use, and which one was filled last


@nb.njit(cache=True)
def _new_mixture(n_budgets, n_weights, n_offsets):
    """An empty pool."""
    n = n_budgets + 1
    return BudgetMix(
        np.zeros((_POOL, n)), np.zeros(_POOL),
        np.zeros((_POOL, n_weights)), np.zeros((_POOL, n_offsets)),
        np.empty(n, np.int64), np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n),
        np.zeros(2, np.int64),
    )  # fmt: skip


@nb.njit(cache=True)
def _is_member(mixture, place):
    for member in mixture.members:  # noqa: SIM110, numba knows no generators
        if member == place:
            return True
    return False


@nb.njit(cache=True)
def _free_place(mixture):
    """A place of the pool for another corner: a new one, else the oldest that is not in the mix."""
    if mixture.size[0] < _POOL:
        mixture.size[0] += 1
        mixture.size[1] = mixture.size[0] - 1
        return mixture.size[1]
    place = (mixture.size[1] + 1) % _POOL
    while _is_member(mixture, place):
        place = (place + 1) % _POOL
    mixture.size[1] = place
    return place


@nb.njit(cache=True)
def _add(mixture, budgets, place, norm, loss, whole, gain):
    """Put in the pool what has this norm, loss and gain: a whole corner (1), or an edge (0)."""
    for b in range(len(budgets)):
        mixture.columns[place, b] = budgets[b, 0] * norm + budgets[b, 1] * loss
    mixture.columns[place, -1] = whole
    mixture.gain[place] = gain


@nb.njit(cache=True)
def _start_with(mixture, budgets, place):
    """Make a mixture of one corner, whatever it leaves of each budget or overdraws it by."""
    for b in range(len(budgets)):
        overdrawn = mixture.columns[place, b] > budgets[b, 2] * (1.0 + _OVERDRAFT)
        mixture.members[b] = -1 - b - (len(budgets) if overdrawn else 0)
    mixture.members[-1] = place


@nb.njit(cache=True)
def _is_within(mixture, budgets):
    """Whether a mixture overdraws no budget."""
    n_budgets = len(budgets)
    for i in range(len(mixture.members)):
        b = -1 - n_budgets - mixture.members[i]
        if b >= 0 and mixture.share[i] > _OVERDRAFT * (1.0 + budgets[b, 2]):
            return False
    return True


@nb.njit(cache=True)
def _mix(mixture, budgets):
    """Find the best mixture, and the prices of the budgets there. False if there is none."""
    for _ in range(_MOST_CHANGES):
        if not _refresh(mixture, budgets):
            return False
        enters = _pays_most(mixture)
        if enters == _POOL:
            return True
        leaves = _gives_way(mixture, enters)
        if leaves < 0:
            return False
        mixture.members[leaves] = enters
    return _refresh(mixture, budgets)


@nb.njit(cache=True)
def _entry(mixture, v, b):
    """What a column of the program spends of a budget."""
    if v >= 0:
        return mixture.columns[v, b]
    n_budgets = len(mixture.members) - 1
    if v >= -n_budgets:
        return 1.0 if b == -1 - v else 0.0
    return -1.0 if b == -1 - n_budgets - v else 0.0


@nb.njit(cache=True)
def _gain(mixture, v):
    """What a column of the program brings."""
    if v >= 0:
        return mixture.gain[v]
    return 0.0 if v >= 1 - len(mixture.members) else -_PENALTY


@nb.njit(cache=True)
def _gives_way(mixture, enters):
    """The member that is used up first as another one comes in, or -1."""
    n = len(mixture.members)
    leaves, limit, most = -1, np.inf, 0.0
    for i in range(n):
        rate = 0.0
        for b in range(n):
            rate += mixture.inverse[i, b] * _entry(mixture, enters, b)
        if rate > _SHARE_TOLERANCE:
            ratio = max(mixture.share[i], 0.0) / rate
            if ratio < limit or (ratio == limit and rate > most):
                leaves, limit, most = i, ratio, rate
    return leaves


@nb.njit(cache=True)
def _refresh(mixture, budgets):
    """Inverse, shares and prices of the members, afresh: there are no more than three."""
    n, inverse = len(mixture.members), mixture.inverse
    for i in range(n):
        for b in range(n):
            inverse[b, i] = 1.0 if b == i else 0.0
            mixture.basis[b, i] = _entry(mixture, mixture.members[i], b)
    if not _invert(mixture.basis, inverse):
        return False
    for b in range(n):
        mixture.prices[b] = 0.0
    for i in range(n):
        v = mixture.members[i]
        gain = _gain(mixture, v)
        mixture.share[i] = 0.0
        for b in range(n):
            limit = budgets[b, 2] if b < n - 1 else 1.0
            mixture.share[i] += inverse[i, b] * limit
            mixture.prices[b] += gain * inverse[i, b]
    return True


@nb.njit(cache=True)
def _invert(matrix, inverse):
    """Turn the identity into the inverse of a small matrix, which is destroyed."""
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
        _clear_column(matrix, inverse, c)
    return True


@nb.njit(cache=True)
def _clear_column(matrix, inverse, c):
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


@nb.njit(cache=True)
def _pays_most(mixture):
    """The column that would raise the gain most, or _POOL if none would."""
    best, enters = _GAIN_TOLERANCE, _POOL
    for b in range(len(mixture.members) - 1):
        if -mixture.prices[b] > best:
            best, enters = -mixture.prices[b], -1 - b
    for v in range(mixture.size[0]):
        gain = mixture.gain[v]
        for b in range(len(mixture.prices)):
            gain -= mixture.prices[b] * mixture.columns[v, b]
        if gain > best and not _is_member(mixture, v):
            best, enters = gain, v
    return enters


# ---- What is asked of them ----


@nb.njit(cache=True)
def _maximize(corner, problem, goal, mixture, way, most):
    """Make a weight as large as the budgets allow. Returns the status and the number of pivots."""
    mixture.size[:] = 0
    first = _remember(mixture, corner, problem, goal, MOVED, way)
    _start_with(mixture, problem.budgets, first)
    share_of_start, settled = _SHARE_OF_START, False
    for pivots in range(most):
        if not _mix(mixture, problem.budgets):
            return GAVE_UP, pivots
        norm_price, loss_price = _prices(mixture, problem)
        norm_price += share_of_start * problem.start_prices[0]
        loss_price += share_of_start * problem.start_prices[1]
        status = _step(corner, problem, goal, norm_price, loss_price, way)
        if status == OPTIMAL:
            if share_of_start > 0.0:
                share_of_start = 0.0
            elif not settled:
                _settle(corner, problem)
                settled = True
            else:
                within = _is_within(mixture, problem.budgets)
                return (OPTIMAL if within else GAVE_UP), pivots
            continue
        share_of_start = share_of_start * _FADING if share_of_start > _FADED else 0.0
        _remember(mixture, corner, problem, goal, status, way)
    return GAVE_UP, most


@nb.njit(cache=True)
def _remember(mixture, corner, problem, goal, status, way):
    """Put in the pool where a step has led: a corner, or along an edge without end."""
    place = _free_place(mixture)
    coef, offset = mixture.coef[place], mixture.offset[place]
    if status == MOVED:
        norm, loss = _read(corner, problem, coef, offset)
    else:
        norm, loss = _read_edge(corner, problem, way, coef, offset)
    whole = 1.0 if status == MOVED else 0.0
    _add(mixture, problem.budgets, place, norm, loss, whole, goal.sign * coef[goal.weight])
    return place


@nb.njit(cache=True)
def _prices(mixture, problem):
    """Price of norm and price of loss."""
    norm_price, loss_price = 0.0, 0.0
    for b in range(len(problem.budgets)):
        price = max(mixture.prices[b], 0.0)
        norm_price += price * problem.budgets[b, 0]
        loss_price += price * problem.budgets[b, 1]
    return norm_price, loss_price


@nb.njit(cache=True, nogil=True)
def solve_extremes(
    start, problem, weights, signs, most, columns, coef, offset, multipliers, status
):
    """Each extreme from the corner given, which stays as it is. Returns the number of pivots.

    The corner is at the baseline, which is as good a place to start from as the last extreme, and
    often a better one; no rounding builds up, and no answer depends on those before it. The last
    column of the corner is a spare one: it becomes the one given for each extreme.
    """
    T = np.empty_like(start.T)
    corner = DictionaryState(
        T, start.value.copy(), start.nudged.copy(), start.side.copy(), start.basis.copy(),
        start.nonbasic.copy(), start.norm.copy(), start.loss.copy(), start.edge.copy(),
    )  # fmt: skip
    way = _new_way(len(start.value))
    mixture = _new_mixture(len(problem.budgets), problem.n_weights, problem.n_offsets)
    total = 0
    for e in range(len(weights)):
        T[:] = start.T
        corner.value[:], corner.side[:] = start.value, start.side
        corner.basis[:], corner.nonbasic[:] = start.basis, start.nonbasic
        corner.nudged[:], corner.edge[:] = start.nudged, start.edge
        corner.norm[:], corner.loss[:] = start.norm, start.loss
        if weights[e] == problem.n_weights - 1:
            T[:, -1] = columns[e]
            prepare(corner, problem)
        goal = Objective(weights[e], signs[e], np.full(1, -1))
        for i in range(len(corner.basis)):
            if corner.basis[i] == goal.weight:
                goal.row[0] = i
        status[e], pivots = _maximize(corner, problem, goal, mixture, way, most)
        total += pivots
        if status[e] == OPTIMAL:
            for i in range(len(mixture.members)):
                v = mixture.members[i]
                if v >= 0:
                    coef[e] += mixture.share[i] * mixture.coef[v]
                    offset[e] += mixture.share[i] * mixture.offset[v]
            norm_price, loss_price = _prices(mixture, problem)
            _read_multipliers(corner, problem, goal, norm_price, loss_price, multipliers[e])
    return total


@nb.njit(cache=True, nogil=True)
def minimize(corner, problem, price_of_norm, price_of_loss, some, coef, offset, multipliers):
    """Walk some steps to where norm and loss together cost least. Returns status and pivots."""
    way, goal = _new_way(len(corner.value)), Objective(-1, 0.0, np.full(1, -1))
    status, pivots = MOVED, 0
    while status == MOVED and pivots < some:
        status = _step(corner, problem, goal, price_of_norm, price_of_loss, way)
        pivots += 1
    _read(corner, problem, coef, offset)
    _read_multipliers(corner, problem, goal, price_of_norm, price_of_loss, multipliers)
    return status, pivots
