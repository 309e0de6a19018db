"""The inner loop: a dense simplex tableau, kept from one objective to the next.

Compiled by numba on first use and cached on disk. All state lives in the arrays it is given; see
:class:`allrelevant.bounds.solver.tableau.Tableau` for what they mean.

The columns of the program come in mirrored pairs: the positive and the negative part of a weight,
the slack and the surplus of a row. The two columns of a pair add up to a multiple of one budget's
column, so one of each pair is stored and the other follows from it: half the work of each pivot is
gone. At most one of a pair is basic, because raising both only spends budget.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from .tableau import NOWHERE

OPTIMAL = 0
UNBOUNDED = 1
TOO_MANY_PIVOTS = 2

# A reduced cost, a pivot and a degenerate step smaller than these count as zero.
_COST_TOLERANCE = 1e-10
_PIVOT_TOLERANCE = 1e-9
_RATIO_TOLERANCE = 1e-11

# After so many pivots without progress, take the first candidate instead of the best one: slower,
# but it cannot cycle.
_PATIENCE = 500


@nb.njit(cache=True)
def maximize(T, rhs, basis, nonbasic, where, partner, kappa, budget, free, cost, k, reduced, most):
    """Pivot until ``cost . x`` is largest. Returns the status and the number of pivots.

    ``reduced`` is filled with the reduced costs of the ``k`` stored columns.
    """
    m = len(rhs)
    _reduced_costs(T, basis, nonbasic, cost, k, reduced)
    edge = np.empty(k)
    _edges(T, k, m, edge)
    stalled = 0
    for pivots in range(most):
        q, mirrored, gain = _entering(
            nonbasic, where, partner, kappa, budget, cost, k, reduced, edge, stalled > _PATIENCE
        )
        if q < 0:
            return OPTIMAL, pivots
        if mirrored:
            _mirror(T, nonbasic, where, partner, kappa, budget, q, m)
            reduced[q] = gain
        r = _leaving(T, rhs, basis, free, q, m, stalled > _PATIENCE)
        if r < 0:
            return UNBOUNDED, pivots
        stalled = stalled + 1 if rhs[r] <= _RATIO_TOLERANCE else 0
        _pivot(T, rhs, reduced, edge, k, r, q, m)
        entering, leaving = nonbasic[q], basis[r]
        basis[r], nonbasic[q] = entering, leaving
        where[entering], where[leaving] = r, -1 - q
    return TOO_MANY_PIVOTS, most


@nb.njit(cache=True)
def _reduced_costs(T, basis, nonbasic, cost, k, reduced):
    for c in range(k):
        reduced[c] = cost[nonbasic[c]]
    for i in range(len(basis)):
        price = cost[basis[i]]
        if price != 0.0:
            for c in range(k):
                reduced[c] -= price * T[i, c]


@nb.njit(cache=True)
def _edges(T, k, m, edge):
    """Squared length of the edge along which each column moves the vertex."""
    for c in range(k):
        edge[c] = 1.0
    for i in range(m):
        row = T[i]
        for c in range(k):
            edge[c] += row[c] * row[c]


@nb.njit(cache=True)
def _entering(nonbasic, where, partner, kappa, budget, cost, k, reduced, edge, first):
    """Column of the steepest edge, stored or mirrored (or the first that goes up at all)."""
    q, mirrored, gain, steepest = -1, False, 0.0, 0.0
    for c in range(k):
        v = nonbasic[c]
        up = reduced[c]
        if up > _COST_TOLERANCE and up * up > steepest * edge[c]:
            q, mirrored, gain, steepest = c, False, up, up * up / edge[c]
        p = partner[v]
        if p >= 0:
            spare = where[budget[v]]
            price = reduced[-1 - spare] if spare < 0 else 0.0
            up = cost[v] + cost[p] + kappa[v] * price - reduced[c]
            if up > _COST_TOLERANCE and up * up > steepest * edge[c]:
                q, mirrored, gain, steepest = c, True, up, up * up / edge[c]
        if first and q >= 0:
            break
    return q, mirrored, gain


@nb.njit(cache=True)
def _mirror(T, nonbasic, where, partner, kappa, budget, q, m):
    """Store the other one of a pair in column ``q``."""
    v = nonbasic[q]
    spare = where[budget[v]]
    if spare < 0:
        for i in range(m):
            T[i, q] = kappa[v] * T[i, -1 - spare] - T[i, q]
    else:
        for i in range(m):
            T[i, q] = -T[i, q]
        T[spare, q] += kappa[v]
    nonbasic[q] = partner[v]
    where[partner[v]] = -1 - q
    where[v] = NOWHERE


@nb.njit(cache=True)
def _leaving(T, rhs, basis, free, q, m, first):
    """Row that limits the step: of those that tie, the one with the largest pivot."""
    limit = np.inf
    for i in range(m):
        a = T[i, q]
        if a > _PIVOT_TOLERANCE and not free[basis[i]]:
            limit = min(limit, (rhs[i] + _RATIO_TOLERANCE) / a)
    r, largest = -1, 0.0
    for i in range(m):
        a = T[i, q]
        if a > _PIVOT_TOLERANCE and not free[basis[i]] and rhs[i] <= limit * a:
            if first and (r < 0 or basis[i] < basis[r]):
                r = i
            elif not first and a > largest:
                r, largest = i, a
    return r


@nb.njit(cache=True)
def _pivot(T, rhs, reduced, edge, k, r, q, m):
    # Rows as arrays of their own: then the compiler knows that they do not overlap, and the inner
    # loop runs on vector instructions.
    pivot_row = T[r]
    inverse = 1.0 / pivot_row[q]
    for c in range(k):
        pivot_row[c] *= inverse
    pivot_row[q] = inverse
    rhs[r] = max(rhs[r] * inverse, 0.0)
    source = pivot_row[:k].copy()
    for c in range(k):
        edge[c] = 1.0 + source[c] * source[c]
    for i in range(m):
        if i != r:
            row = T[i]
            factor = row[q]
            row[q] = 0.0
            for c in range(k):  # one pass: the update, and the new lengths of the edges
                t = row[c] - factor * source[c]
                row[c] = t
                edge[c] += t * t
            rhs[i] -= factor * rhs[r]
            if -_RATIO_TOLERANCE < rhs[i] < 0.0:
                rhs[i] = 0.0
    factor = reduced[q]
    reduced[q] = 0.0
    for c in range(k):
        reduced[c] -= factor * source[c]


@nb.njit(cache=True)
def read_multipliers(where, kappa, budget, reduced, first_slack, first_surplus, out):
    """Multipliers of the rows at an optimum: the reduced costs of their surpluses, negated."""
    spare = where[budget[first_slack]]
    price = reduced[-1 - spare] if spare < 0 else 0.0
    for i in range(len(out)):
        slack, surplus = first_slack + i, first_surplus + i
        if where[surplus] >= 0:
            out[i] = 0.0
        elif where[surplus] > NOWHERE:
            out[i] = -reduced[-1 - where[surplus]]
        elif where[slack] >= 0:
            out[i] = -kappa[slack] * price
        else:
            out[i] = reduced[-1 - where[slack]] - kappa[slack] * price


@nb.njit(cache=True, nogil=True)
def solve_extremes(
    T0, rhs0, basis0, nonbasic0, where, partner, kappa, budget, free, most,
    features, signs, extra, extra_columns, n_weights, n_offsets, n_rows,
    coef, offset, multipliers, status,
):  # fmt: skip
    """Each extreme from the tableau given, which stays as it is. Returns the number of pivots.

    The tableau is at the baseline, which is as good a place to start from as the last extreme, and
    often a better one; no rounding builds up, and no answer depends on those before it. A feature
    that has no column in it comes with one of ``extra_columns``.
    """
    first_slack = 2 * n_weights + n_offsets
    m, k0 = T0.shape
    T, rhs, reduced = np.empty((m, k0 + 1)), np.empty(m), np.empty(k0 + 1)
    basis, nonbasic = np.empty(m, np.int64), np.empty(k0 + 1, np.int64)
    where, cost = where.copy(), np.zeros(len(where))
    total = 0
    for e in range(len(features)):
        j, k = features[e], k0
        T[:, :k0], rhs[:] = T0, rhs0
        basis[:], nonbasic[:k0] = basis0, nonbasic0
        if extra[e] >= 0:
            T[:, k0], nonbasic[k0], k = extra_columns[extra[e]], j, k0 + 1
        _locate(basis, nonbasic, where, k)
        cost[j], cost[n_weights + j] = signs[e], -signs[e]
        status[e], pivots = maximize(
            T, rhs, basis, nonbasic, where, partner, kappa, budget, free, cost, k, reduced, most
        )
        cost[j], cost[n_weights + j] = 0.0, 0.0
        total += pivots
        if status[e] == OPTIMAL:
            read_model(basis, rhs, n_weights, first_slack, coef[e], offset[e])
            read_multipliers(
                where, kappa, budget, reduced, first_slack, first_slack + n_rows, multipliers[e]
            )
        _forget(basis, nonbasic, where, k)
    return total


@nb.njit(cache=True)
def _locate(basis, nonbasic, where, k):
    for i in range(len(basis)):
        where[basis[i]] = i
    for c in range(k):
        where[nonbasic[c]] = -1 - c


@nb.njit(cache=True)
def _forget(basis, nonbasic, where, k):
    for i in range(len(basis)):
        where[basis[i]] = NOWHERE
    for c in range(k):
        where[nonbasic[c]] = NOWHERE


@nb.njit(cache=True)
def read_model(basis, rhs, n_weights, first_slack, coef, offset):
    """Weights and offsets at a vertex."""
    for i in range(len(rhs)):
        v = basis[i]
        if v < n_weights:
            coef[v] = rhs[i]
        elif v < 2 * n_weights:
            coef[v - n_weights] = -rhs[i]
        elif v < first_slack:
            offset[v - 2 * n_weights] = rhs[i]
