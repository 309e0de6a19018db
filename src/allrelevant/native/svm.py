"""The compiled solver of two-class SVMs over a precomputed kernel, warm-started.

Compiled by numba on first use and cached on disk. (One file, because the cache looks at the file of
a function, not at those of the functions that it calls.)

**The program.** With ``b_i = y_i alpha_i`` the dual of the SVM is: maximise
``sum y_i b_i - b' K b / 2`` over ``lower <= b <= upper`` with ``sum b = 0``, where the bounds are
``0`` and ``C_i``, or ``-C_i`` and ``0`` on the other side. Its gradient is ``f = y - K b``, and
``b`` is optimal when no ``f`` of a variable that can grow exceeds any of one that can fall. That
the largest excess is below ``tol`` is where libsvm stops, too.

**Two kinds of steps.** Pairs of variables are moved as in sequential minimal optimisation, the
second one chosen by its gain to second order (Fan, Chen and Lin 2005). That finds out quickly which
variables stay at their bounds, and then creeps. So every now and then the program over all free
variables is solved as the linear system that it is, up to the first bound that is met. Both only
go up, so they mix at will.
"""

from __future__ import annotations

import numba as nb
import numpy as np

# A curvature smaller than this counts as this: of two equal rows it is zero.
_LEAST_CURVATURE = 1e-12


# Moves of pairs between systems, and systems in a row while they end at bounds.
_PAIRS, _SYSTEMS = 20, 5


# Share of the mean diagonal that is added to it: the system of equal rows is singular without.
_RIDGE = 1e-11


# A slope of the loss smaller than this is none.
_FLAT = 1e-9


_REASSOCIATE = {"reassoc", "contract"}  # so that sums are vectorised


@nb.njit(cache=True)
def gradient(kernel, side, b):
    """``f = y - K b``."""
    f = side.copy()
    for j in range(len(b)):
        if b[j] != 0.0:
            for t in range(len(b)):
                f[t] -= b[j] * kernel[j, t]
    return f


@nb.njit(cache=True)
def extremes(f, b, lower, upper):
    """Where the largest gradient of those that can grow is; it, and the least that can fall."""
    first, top, bottom = -1, -np.inf, np.inf
    for t in range(len(f)):
        if b[t] < upper[t] and f[t] > top:
            first, top = t, f[t]
        if b[t] > lower[t] and f[t] < bottom:
            bottom = f[t]
    return first, top, bottom


@nb.njit(cache=True)
def curvature(kernel, i, j):
    """Of the program along a move from ``j`` to ``i``."""
    return max(kernel[i, i] + kernel[j, j] - 2.0 * kernel[i, j], _LEAST_CURVATURE)


@nb.njit(cache=True)
def partner(kernel, f, b, lower, first):
    """The variable whose fall, as the first one grows, gains most."""
    second, best = -1, 0.0
    for t in range(len(f)):
        drop = f[first] - f[t]
        if b[t] > lower[t] and drop > 0.0:
            gain = drop * drop / curvature(kernel, first, t)
            if gain > best:
                second, best = t, gain
    return second


@nb.njit(cache=True)
def move_pair(kernel, f, b, lower, upper, i, j):
    """Let ``i`` grow and ``j`` fall, as far as it pays and the bounds allow."""
    room_i, room_j = upper[i] - b[i], b[j] - lower[j]
    length = min((f[i] - f[j]) / curvature(kernel, i, j), room_i, room_j)
    # At its bound exactly, not up to rounding: whether a variable is free is read off its value.
    b[i] = upper[i] if length == room_i else b[i] + length
    b[j] = lower[j] if length == room_j else b[j] - length
    for t in range(len(f)):
        f[t] -= length * (kernel[i, t] - kernel[j, t])


@nb.njit(cache=True)
def free_variables(b, lower, upper):
    """Those that are at neither bound."""
    free = np.empty(len(b), np.int64)
    n_free = 0
    for t in range(len(b)):
        if lower[t] < b[t] < upper[t]:
            free[n_free] = t
            n_free += 1
    return free[:n_free]


@nb.njit(cache=True, fastmath=_REASSOCIATE)
def dot(left, right, number):
    """Inner product of the first entries."""
    total = 0.0
    for k in range(number):
        total += left[k] * right[k]
    return total


@nb.njit(cache=True)
def factorise(system):
    """Cholesky's factor in the lower half, in place; whether there is one."""
    for i in range(len(system)):
        for j in range(i + 1):
            rest = system[i, j] - dot(system[i], system[j], j)
            if j < i:
                system[i, j] = rest / system[j, j]
            elif rest > 0.0:
                system[i, i] = np.sqrt(rest)
            else:
                return False
    return True


@nb.njit(cache=True)
def solve_factorised(factor, x):
    """Solve a system by its factor, in place."""
    for i in range(len(x)):
        x[i] = (x[i] - dot(factor[i], x, i)) / factor[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= factor[i, i]
        for k in range(i):
            x[k] -= factor[i, k] * x[i]


@nb.njit(cache=True)
def best_direction(kernel, f, free, direction):
    """From here to where the program over the free variables is solved; their sum stays.

    A constant added to the kernel changes nothing as long as the sum stays. It is added here, for
    a kernel of centred features has no part in that direction, and its system would be singular.
    Returns whether there is such a direction: a kernel that is not positive has none.
    """
    n_free = len(free)
    mean = 0.0
    for a in range(n_free):
        mean += kernel[free[a], free[a]] / n_free
    system, ones = np.empty((n_free, n_free)), np.ones(n_free)
    for a in range(n_free):
        for c in range(a + 1):
            system[a, c] = kernel[free[a], free[c]] + mean
        system[a, a] += _RIDGE * mean
        direction[a] = f[free[a]]
    if not mean > 0.0 or not factorise(system):
        return False
    solve_factorised(system, direction)
    solve_factorised(system, ones)
    offset = total(direction) / total(ones)
    for a in range(n_free):
        direction[a] -= offset * ones[a]
    rounding = total(direction) / n_free
    for a in range(n_free):
        direction[a] -= rounding
    return True


@nb.njit(cache=True)
def total(values):
    """The sum."""
    result = 0.0
    for k in range(len(values)):
        result += values[k]
    return result


@nb.njit(cache=True)
def first_bound(direction, free, b, lower, upper):
    """How far the direction leads, at most 1, and which variable ends it; -1 if none does."""
    length, blocking = 1.0, -1
    for a in range(len(free)):
        bound = upper[free[a]] if direction[a] > 0.0 else lower[free[a]]
        if direction[a] != 0.0 and (bound - b[free[a]]) / direction[a] < length:
            length, blocking = (bound - b[free[a]]) / direction[a], a
    return length, blocking


@nb.njit(cache=True)
def move_free(kernel, f, b, lower, upper):
    """Solve for the free variables, up to the first bound; whether there was one."""
    free = free_variables(b, lower, upper)
    if len(free) < 2:
        return False
    direction = np.empty(len(free))
    if not best_direction(kernel, f, free, direction):
        return False
    slope = 0.0
    for a in range(len(free)):
        slope += direction[a] * f[free[a]]
    if not slope > 0.0:  # rounding: pairs go on alone
        return False
    length, blocking = first_bound(direction, free, b, lower, upper)
    for a in range(len(free)):
        i = free[a]
        value = min(max(b[i] + length * direction[a], lower[i]), upper[i])
        if a == blocking:
            value = upper[i] if direction[a] > 0.0 else lower[i]
        change = value - b[i]
        b[i] = value
        for t in range(len(f)):
            f[t] -= change * kernel[i, t]
    return blocking >= 0


@nb.njit(cache=True)
def agreed_offset(f, b, lower, upper, top, bottom):
    """What free variables agree on; without any, the middle of what the others allow."""
    n_free, agreed = 0, 0.0
    for t in range(len(b)):
        if lower[t] < b[t] < upper[t]:
            n_free += 1
            agreed += f[t]
    return agreed / n_free if n_free else 0.5 * (top + bottom)


@nb.njit(cache=True)
def loss_slope(f, lower, upper, offset):
    """How the loss changes as the offset grows from here, as a share of all there is to lose."""
    slope, whole = 0.0, 0.0
    for t in range(len(f)):
        whole += upper[t] - lower[t]
        if upper[t] > 0.0 and f[t] > offset:
            slope -= upper[t]
        elif lower[t] < 0.0 and f[t] < offset:
            slope -= lower[t]
    return slope / whole


@nb.njit(cache=True)
def offset_of(f, b, lower, upper, top, bottom, tol):
    """The offset of the decision function; where many are as good, the one in their middle.

    ``f`` is the offset at which each row is on its margin. With few features the loss can be flat
    between two of them, and which end the free variables mark depends on where the solver began.
    """
    offset = agreed_offset(f, b, lower, upper, top, bottom)
    near = 2.0 * tol
    low, high = offset, offset
    if abs(loss_slope(f, lower, upper, offset + near)) < _FLAT:
        high = np.inf
        for t in range(len(f)):
            if offset + near < f[t] < high:
                high = f[t]
    if abs(loss_slope(f, lower, upper, offset - near)) < _FLAT:
        low = -np.inf
        for t in range(len(f)):
            if low < f[t] < offset - near:
                low = f[t]
    return 0.5 * (low + high)


@nb.njit(cache=True)
def solve(kernel, side, lower, upper, b, tol, max_moves):
    """Improve ``b``, in place, until it is optimal.

    Returns the offset, and the number of moves: ``max_moves`` if they did not suffice.
    """
    f = gradient(kernel, side, b)
    moves = 0
    while True:
        first, top, bottom = extremes(f, b, lower, upper)
        if top - bottom < tol or moves >= max_moves:
            return offset_of(f, b, lower, upper, top, bottom, tol), moves
        moves += 1
        if moves % _PAIRS:
            second = partner(kernel, f, b, lower, first)
            move_pair(kernel, f, b, lower, upper, first, second)
        else:
            for _ in range(_SYSTEMS):
                if not move_free(kernel, f, b, lower, upper):
                    break


@nb.njit(cache=True)
def within(kernel, members):
    """The kernel among some rows."""
    part = np.empty((len(members), len(members)))
    for a in range(len(members)):
        for c in range(len(members)):
            part[a, c] = kernel[members[a], members[c]]
    return part


@nb.njit(cache=True)
def solve_pairs(kernel, members, side, weight, starts, costs, b, chained, tol, max_moves):
    """Solve every two-class problem at every cost.

    The problems lie end to end: ``members[starts[p]:starts[p + 1]]`` are the rows of the p-th.
    ``b`` holds where to start, a row for each cost, and the solutions in the end. If ``chained``,
    each cost starts where the one before it ended; costs ascend.

    Returns the offsets, of shape (n_costs, n_problems), and the most moves that one problem took.
    """
    n_problems = len(starts) - 1
    offsets, most = np.empty((len(costs), n_problems)), 0
    lower, upper = np.empty(len(side)), np.empty(len(side))
    for p in range(n_problems):
        first, last = starts[p], starts[p + 1]
        part = within(kernel, members[first:last])
        for c in range(len(costs)):
            for t in range(first, last):
                if chained and c > 0:
                    b[c, t] = b[c - 1, t]
                room = costs[c] * weight[t]
                lower[t] = 0.0 if side[t] > 0.0 else -room
                upper[t] = room if side[t] > 0.0 else 0.0
            offsets[c, p], moves = solve(
                part,
                side[first:last],
                lower[first:last],
                upper[first:last],
                b[c, first:last],
                tol,
                max_moves,
            )
            most = max(most, moves)
    return offsets, most


@nb.njit(cache=True)
def decide_pairs(kernel, members, starts, b, offsets, rows):
    """Values of every decision function at some rows; shape (n_costs, n_problems, n_rows)."""
    n_costs, n_problems = offsets.shape
    values = np.empty((n_costs, n_problems, len(rows)))
    for c in range(n_costs):
        for p in range(n_problems):
            for r in range(len(rows)):
                total = offsets[c, p]
                for m in range(starts[p], starts[p + 1]):
                    if b[c, m] != 0.0:
                        total += b[c, m] * kernel[rows[r], members[m]]
                values[c, p, r] = total
    return values
