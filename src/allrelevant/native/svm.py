"""Compiled, warm-started dual solver for binary SVMs with a precomputed kernel.

**Problem.** With ``b_i = y_i alpha_i``, the dual problem is to maximize
``sum_i y_i b_i - b' K b / 2`` subject to ``lower <= b <= upper`` and ``sum_i b_i = 0``. The bounds
are 0 and C_i for the positive class, and -C_i and 0 for the negative class. The gradient is
``f = y - K b``. The solution is optimal if no variable below its upper bound has a larger f than a
variable above its lower bound. Iterations stop when the largest violation of this condition is
below ``tol``, as in libsvm.

**Iterations.** Most iterations are those of sequential minimal optimization (SMO). They update a
pair of variables, the second chosen by second-order information (Fan, Chen and Lin 2005). SMO
quickly identifies the variables at bounds but then converges slowly. Every few iterations, a Newton
step is therefore taken over all free variables: it solves a linear system and stops at the first
bound. Both kinds of iterations increase the objective.

**Arrays** are ``float64`` or ``int64``. ``kernel`` has shape (n, n). ``side`` (the labels, +1 or
-1), ``lower``, ``upper``, ``b`` and ``f`` have shape (n,). ``b`` and ``f`` are updated in place.
"""

from __future__ import annotations

import numpy as np

from . import compiled

# Lower limit of the curvature along a pair. For two equal samples, the curvature is zero.
MIN_CURVATURE = 1e-12

# Iterations between Newton steps, and maximum number of successive steps while they end at a bound.
PAIRS_PER_SYSTEM, MAX_SYSTEMS = 20, 5

# Fraction of the mean diagonal that is added to the diagonal. Equal samples would otherwise make
# the system singular.
RIDGE = 1e-11

# Slopes of the loss below this are treated as zero.
FLAT_SLOPE = 1e-9


@compiled
def gradient(kernel, side, b):
    """Return the gradient of the dual objective, ``f = y - K b``."""
    f = side.copy()
    for j in range(len(b)):
        if b[j] != 0.0:
            for t in range(len(b)):
                f[t] -= b[j] * kernel[j, t]
    return f


@compiled
def most_violating_variable(f, b, lower, upper):
    """Return the most violating variable, its gradient f, and the smallest f of its partners.

    The variable has the largest f of those below their upper bound. Its partners are the variables
    above their lower bound.
    """
    first, top, bottom = -1, -np.inf, np.inf
    for t in range(len(f)):
        if b[t] < upper[t] and f[t] > top:
            first, top = t, f[t]
        if b[t] > lower[t] and f[t] < bottom:
            bottom = f[t]
    return first, top, bottom


@compiled
def curvature(kernel, i, j):
    """Return the curvature of the objective as variable ``i`` increases and ``j`` decreases."""
    return max(kernel[i, i] + kernel[j, j] - 2.0 * kernel[i, j], MIN_CURVATURE)


@compiled
def second_variable(kernel, f, b, lower, first):
    """Return the variable with the largest second-order gain when paired with the first."""
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
    """Increase variable ``i`` and decrease ``j``, up to the optimum or the first bound."""
    limit_i, limit_j = upper[i] - b[i], b[j] - lower[j]
    length = min((f[i] - f[j]) / curvature(kernel, i, j), limit_i, limit_j)
    # Values at a bound must equal it exactly, because free variables are recognized by value.
    b[i] = upper[i] if length == limit_i else b[i] + length
    b[j] = lower[j] if length == limit_j else b[j] - length
    for t in range(len(f)):
        f[t] -= length * (kernel[i, t] - kernel[j, t])


@compiled
def free_variables(b, lower, upper):
    """Return the indices of the variables strictly between their bounds."""
    free = np.empty(len(b), np.int64)
    n_free = 0
    for t in range(len(b)):
        if lower[t] < b[t] < upper[t]:
            free[n_free] = t
            n_free += 1
    return free[:n_free]


@compiled(reassociate=True)
def dot(left, right, number):
    """Return the inner product of the first ``number`` entries of two arrays."""
    total = 0.0
    for k in range(number):
        total += left[k] * right[k]
    return total


@compiled
def factorize(system):
    """Compute a matrix's Cholesky factor in its lower triangle; return whether it exists."""
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
    """Solve a linear system in place, given its Cholesky factor."""
    for i in range(len(x)):
        x[i] = (x[i] - dot(factor[i], x, i)) / factor[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= factor[i, i]
        for k in range(i):
            x[k] -= factor[i, k] * x[i]


@compiled
def newton_direction(kernel, f, free, direction):
    """Write the Newton step over the free variables, which preserves their sum, to ``direction``.

    A constant is added to the kernel, because the system would be singular for centered features.
    It does not change the step, since the sum of the variables is constant. Return whether the
    step exists, which is not guaranteed unless the kernel is positive definite.
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
    """Return the sum of an array."""
    result = 0.0
    for k in range(len(values)):
        result += values[k]
    return result


@compiled
def first_bound(direction, free, b, lower, upper):
    """Return the step length to the first bound (at most 1), and the variable that reaches it.

    The variable is a position in ``free``, or -1 if a step of length 1 reaches no bound.
    """
    length, blocking = 1.0, -1
    for a in range(len(free)):
        bound = upper[free[a]] if direction[a] > 0.0 else lower[free[a]]
        if direction[a] != 0.0 and (bound - b[free[a]]) / direction[a] < length:
            length, blocking = (bound - b[free[a]]) / direction[a], a
    return length, blocking


@compiled
def update_free(kernel, f, b, lower, upper):
    """Take a Newton step over the free variables. Return whether it ended at a bound."""
    free = free_variables(b, lower, upper)
    if len(free) < 2:
        return False
    direction = np.empty(len(free))
    if not newton_direction(kernel, f, free, direction):
        return False
    slope = 0.0
    for a in range(len(free)):
        slope += direction[a] * f[free[a]]
    if not slope > 0.0:  # not an ascent direction, because of rounding
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
    """Return the mean gradient of the free variables; ``(top + bottom) / 2`` if none is free."""
    n_free, sum_f = 0, 0.0
    for t in range(len(b)):
        if lower[t] < b[t] < upper[t]:
            n_free += 1
            sum_f += f[t]
    return sum_f / n_free if n_free else 0.5 * (top + bottom)


@compiled
def loss_slope(f, lower, upper, offset):
    """Return the derivative of the loss with respect to the offset, relative to its maximum."""
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
    """Return the offset of the decision function; the midpoint if an interval is optimal.

    At offset ``f[t]``, sample t lies on its margin. With few features, the loss can be constant
    between two such offsets. The start then determines at which end the free variables are.
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
    """Solve one binary SVM: optimize ``b`` in place; return offset and number of iterations.

    The number is ``max_iterations`` if the solver did not converge.
    """
    f = gradient(kernel, side, b)
    iterations = 0
    while True:
        first, top, bottom = most_violating_variable(f, b, lower, upper)
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
    """Return the kernel matrix of the given samples, shape (m, m)."""
    part = np.empty((len(members), len(members)))
    for a in range(len(members)):
        for c in range(len(members)):
            part[a, c] = kernel[members[a], members[c]]
    return part


@compiled
def solve_pairs(kernel, members, side, weight, starts, costs, b, chain_costs, tol, max_iterations):
    """Solve several binary SVMs, each at several costs; the solutions are written to ``b``.

    ``members[starts[p]:starts[p + 1]]`` are the samples of problem p; ``side`` and ``weight`` have
    the same layout. ``b``, of shape (n_costs, len(members)), holds the starting points on entry and
    the solutions on return. Costs are in ascending order. If ``chain_costs``, each cost starts from
    the solution of the previous cost.

    Return the offsets, of shape (n_costs, n_problems), and the largest number of iterations.
    """
    n_problems = len(starts) - 1
    offsets, largest = np.empty((len(costs), n_problems)), 0
    lower, upper = np.empty(len(side)), np.empty(len(side))
    for p in range(n_problems):
        first, last = starts[p], starts[p + 1]
        part = submatrix(kernel, members[first:last])
        for c in range(len(costs)):
            for t in range(first, last):
                if chain_costs and c > 0:
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
    """Return the decision values of all SVMs for the given rows.

    The shape is (n_costs, n_problems, n_rows).
    """
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
