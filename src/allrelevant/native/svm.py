"""Dual solver of two-class SVMs with a precomputed kernel, warm-started, compiled.

**The program.** With ``b_i = y_i alpha_i`` the dual is: maximize ``sum_i y_i b_i - b' K b / 2``
subject to ``lower <= b <= upper`` and ``sum_i b_i = 0``, where the bounds are 0 and C_i for the
positive class, and -C_i and 0 for the negative one. Its gradient is ``f = y - K b``. The solution
is optimal if no f of a variable below its upper bound exceeds the f of a variable above its lower
bound; iterations stop when the largest violation is below ``tol``, as in libsvm.

**Two kinds of iterations.** Most are those of sequential minimal optimization: they update a pair
of variables, the second one chosen by second-order information (Fan, Chen and Lin 2005). They soon
find which variables are at bounds, and are slow from then on. So every few iterations the program
over all free variables is solved as a linear system, up to the first bound. Both kinds increase the
objective.

**Arrays** are ``float64`` and ``int64``: ``kernel`` (n, n), ``side`` (n,) of labels +1 and -1,
``lower``, ``upper``, ``b`` and ``f`` (n,). ``b`` and ``f`` are updated in place.
"""

from __future__ import annotations

import numpy as np

from . import compiled

# The curvature along a pair is at least this: for two equal rows it is zero.
MIN_CURVATURE = 1e-12

# Iterations from one linear system to the next, and systems in a row while they end at bounds.
PAIRS_PER_SYSTEM, MAX_SYSTEMS = 20, 5

# Share of the mean diagonal that is added to the diagonal: equal rows make the system singular.
RIDGE = 1e-11

# A slope of the loss below this is zero.
FLAT_SLOPE = 1e-9


@compiled
def gradient(kernel, side, b):
    """``f = y - K b``."""
    f = side.copy()
    for j in range(len(b)):
        if b[j] != 0.0:
            for t in range(len(b)):
                f[t] -= b[j] * kernel[j, t]
    return f


@compiled
def most_violating(f, b, lower, upper):
    """The variable of largest f below its upper bound; that f, and the smallest f above lower."""
    first, top, bottom = -1, -np.inf, np.inf
    for t in range(len(f)):
        if b[t] < upper[t] and f[t] > top:
            first, top = t, f[t]
        if b[t] > lower[t] and f[t] < bottom:
            bottom = f[t]
    return first, top, bottom


@compiled
def curvature(kernel, i, j):
    """Second derivative of the objective as ``i`` grows and ``j`` falls."""
    return max(kernel[i, i] + kernel[j, j] - 2.0 * kernel[i, j], MIN_CURVATURE)


@compiled
def second_variable(kernel, f, b, lower, first):
    """The variable that gains most, to second order, if it falls as the first one grows."""
    second, best = -1, 0.0
    for t in range(len(f)):
        drop = f[first] - f[t]
        if b[t] > lower[t] and drop > 0.0:
            gain = drop * drop / curvature(kernel, first, t)
            if gain > best:
                second, best = t, gain
    return second


@compiled
def update_pair(kernel, f, b, lower, upper, i, j):
    """Let ``i`` grow and ``j`` fall, to the optimum or to the first bound."""
    limit_i, limit_j = upper[i] - b[i], b[j] - lower[j]
    length = min((f[i] - f[j]) / curvature(kernel, i, j), limit_i, limit_j)
    # Exactly at its bound, not up to rounding: the value tells whether a variable is free.
    b[i] = upper[i] if length == limit_i else b[i] + length
    b[j] = lower[j] if length == limit_j else b[j] - length
    for t in range(len(f)):
        f[t] -= length * (kernel[i, t] - kernel[j, t])


@compiled
def free_variables(b, lower, upper):
    """Variables that are at neither bound."""
    free = np.empty(len(b), np.int64)
    n_free = 0
    for t in range(len(b)):
        if lower[t] < b[t] < upper[t]:
            free[n_free] = t
            n_free += 1
    return free[:n_free]


@compiled(reassociate=True)
def dot(left, right, number):
    """Inner product of the first entries."""
    total = 0.0
    for k in range(number):
        total += left[k] * right[k]
    return total


@compiled
def factorize(system):
    """Cholesky factor in the lower triangle, in place; whether it exists."""
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


@compiled
def solve_factorized(factor, x):
    """Solve a system by its Cholesky factor, in place."""
    for i in range(len(x)):
        x[i] = (x[i] - dot(factor[i], x, i)) / factor[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= factor[i, i]
        for k in range(i):
            x[k] -= factor[i, k] * x[i]


@compiled
def newton_direction(kernel, f, free, direction):
    """Write the step to the optimum over the free variables, whose sum stays, to ``direction``.

    A constant added to the kernel changes nothing as long as the sum stays. It is added here
    because the system of a kernel of centered features would be singular without. Returns whether
    the step exists: a kernel that is not positive definite may have none.
    """
    n_free = len(free)
    mean = 0.0
    for a in range(n_free):
        mean += kernel[free[a], free[a]] / n_free
    system, ones = np.empty((n_free, n_free)), np.ones(n_free)
    for a in range(n_free):
        for c in range(a + 1):
            system[a, c] = kernel[free[a], free[c]] + mean
        system[a, a] += RIDGE * mean
        direction[a] = f[free[a]]
    if not mean > 0.0 or not factorize(system):
        return False
    solve_factorized(system, direction)
    solve_factorized(system, ones)
    offset = total(direction) / total(ones)
    for a in range(n_free):
        direction[a] -= offset * ones[a]
    rounding = total(direction) / n_free
    for a in range(n_free):
        direction[a] -= rounding
    return True


@compiled
def total(values):
    """The sum."""
    result = 0.0
    for k in range(len(values)):
        result += values[k]
    return result


@compiled
def first_bound(direction, free, b, lower, upper):
    """Length of the step up to the first bound, at most 1, and the variable there, or -1."""
    length, blocking = 1.0, -1
    for a in range(len(free)):
        bound = upper[free[a]] if direction[a] > 0.0 else lower[free[a]]
        if direction[a] != 0.0 and (bound - b[free[a]]) / direction[a] < length:
            length, blocking = (bound - b[free[a]]) / direction[a], a
    return length, blocking


@compiled
def update_free(kernel, f, b, lower, upper):
    """Step to the optimum over the free variables; whether a bound ended it."""
    free = free_variables(b, lower, upper)
    if len(free) < 2:
        return False
    direction = np.empty(len(free))
    if not newton_direction(kernel, f, free, direction):
        return False
    slope = 0.0
    for a in range(len(free)):
        slope += direction[a] * f[free[a]]
    if not slope > 0.0:  # rounding: only pairs make progress
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


@compiled
def free_offset(f, b, lower, upper, top, bottom):
    """Mean f of the free variables; without any, the middle of what the others allow."""
    n_free, sum_f = 0, 0.0
    for t in range(len(b)):
        if lower[t] < b[t] < upper[t]:
            n_free += 1
            sum_f += f[t]
    return sum_f / n_free if n_free else 0.5 * (top + bottom)


@compiled
def loss_slope(f, lower, upper, offset):
    """Slope of the loss in the offset, as a share of the largest possible one."""
    slope, whole = 0.0, 0.0
    for t in range(len(f)):
        whole += upper[t] - lower[t]
        if upper[t] > 0.0 and f[t] > offset:
            slope -= upper[t]
        elif lower[t] < 0.0 and f[t] < offset:
            slope -= lower[t]
    return slope / whole


@compiled
def decision_offset(f, b, lower, upper, top, bottom, tol):
    """The offset of the decision function; the middle one where several are optimal.

    ``f`` is the offset at which each row is on its margin. With few features the loss can be flat
    between two of them, and the start decides which end the free variables are at.
    """
    offset = free_offset(f, b, lower, upper, top, bottom)
    near = 2.0 * tol
    low, high = offset, offset
    if abs(loss_slope(f, lower, upper, offset + near)) < FLAT_SLOPE:
        high = np.inf
        for t in range(len(f)):
            if offset + near < f[t] < high:
                high = f[t]
    if abs(loss_slope(f, lower, upper, offset - near)) < FLAT_SLOPE:
        low = -np.inf
        for t in range(len(f)):
            if low < f[t] < offset - near:
                low = f[t]
    return 0.5 * (low + high)


@compiled
def solve(kernel, side, lower, upper, b, tol, max_iterations):
    """Improve ``b``, in place, until it is optimal.

    Returns the offset and the number of iterations, ``max_iterations`` if they did not suffice.
    """
    f = gradient(kernel, side, b)
    iterations = 0
    while True:
        first, top, bottom = most_violating(f, b, lower, upper)
        if top - bottom < tol or iterations >= max_iterations:
            return decision_offset(f, b, lower, upper, top, bottom, tol), iterations
        iterations += 1
        if iterations % PAIRS_PER_SYSTEM:
            second = second_variable(kernel, f, b, lower, first)
            update_pair(kernel, f, b, lower, upper, first, second)
        else:
            for _ in range(MAX_SYSTEMS):
                if not update_free(kernel, f, b, lower, upper):
                    break


@compiled
def submatrix(kernel, members):
    """The kernel among some rows, shape (m, m)."""
    part = np.empty((len(members), len(members)))
    for a in range(len(members)):
        for c in range(len(members)):
            part[a, c] = kernel[members[a], members[c]]
    return part


@compiled
def solve_pairs(kernel, members, side, weight, starts, costs, b, chained, tol, max_iterations):
    """Solve every two-class problem at every cost.

    ``members[starts[p]:starts[p + 1]]`` are the rows of problem p; ``side`` and ``weight`` have the
    same layout. ``b``, of shape (n_costs, len(members)), holds where to start, and the solutions in
    the end. If ``chained``, each cost starts from the solution of the one before; costs ascend.

    Returns the offsets, of shape (n_costs, n_problems), and the largest number of iterations.
    """
    n_problems = len(starts) - 1
    offsets, largest = np.empty((len(costs), n_problems)), 0
    lower, upper = np.empty(len(side)), np.empty(len(side))
    for p in range(n_problems):
        first, last = starts[p], starts[p + 1]
        part = submatrix(kernel, members[first:last])
        for c in range(len(costs)):
            for t in range(first, last):
                if chained and c > 0:
                    b[c, t] = b[c - 1, t]
                bound = costs[c] * weight[t]
                lower[t] = 0.0 if side[t] > 0.0 else -bound
                upper[t] = bound if side[t] > 0.0 else 0.0
            offsets[c, p], iterations = solve(
                part,
                side[first:last],
                lower[first:last],
                upper[first:last],
                b[c, first:last],
                tol,
                max_iterations,
            )
            largest = max(largest, iterations)
    return offsets, largest


@compiled
def decide_pairs(kernel, members, starts, b, offsets, rows):
    """Decision values at some rows, of shape (n_costs, n_problems, n_rows)."""
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
