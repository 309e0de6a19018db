"""Exact linear programs in rational arithmetic, as a reference for certified bounds."""

from fractions import Fraction

import numpy as np


def exact_maximum(cost, matrix, limit):
    """Return the maximum of ``cost . x`` subject to ``matrix x <= limit`` and ``x >= 0``.

    This is the textbook simplex method with Bland's rule, which cannot cycle. The arguments are
    lists of fractions.
    """
    table = [[*row, value] for row, value in zip(matrix, limit, strict=True)]
    n = len(cost)
    basic, free = list(range(n, n + len(table))), list(range(n))
    worst = min(range(len(table)), key=lambda i: table[i][-1])
    if table[worst][-1] < 0:  # first phase: minimize an additional variable, here number -1
        table = [[*row[:-1], Fraction(-1), row[-1]] for row in table]
        free.append(-1)
        objective = [Fraction(0)] * n + [Fraction(1), Fraction(0)]
        _pivot(table, objective, basic, free, worst, n)
        _maximize(table, objective, basic, free)
        assert objective[-1] == 0, "the program is infeasible"
        if -1 in basic:
            place = basic.index(-1)
            column = next(j for j, value in enumerate(table[place][:-1]) if value != 0)
            _pivot(table, objective, basic, free, place, column)
        column = free.index(-1)
        del free[column]
        table = [row[:column] + row[column + 1 :] for row in table]
    objective = [-cost[j] if j < n else Fraction(0) for j in free] + [Fraction(0)]
    for i, variable in enumerate(basic):
        if variable < n:
            for j, value in enumerate(table[i]):
                objective[j] += cost[variable] * value
    _maximize(table, objective, basic, free)
    return objective[-1]


def _maximize(table, objective, basic, free):
    """Pivot until no reduced cost is negative."""
    while True:
        entering = [j for j, value in enumerate(objective[:-1]) if value < 0]
        if not entering:
            return
        column = min(entering, key=lambda j: free[j])
        rows = [i for i, row in enumerate(table) if row[column] > 0]
        assert rows, "the program is unbounded"
        ratio = {i: table[i][-1] / table[i][column] for i in rows}
        smallest = min(ratio.values())
        row = min((i for i in rows if ratio[i] == smallest), key=lambda i: basic[i])
        _pivot(table, objective, basic, free, row, column)


def _pivot(table, objective, basic, free, row, column):
    basic[row], free[column] = free[column], basic[row]
    pivot = table[row][column]
    table[row] = [value / pivot for value in table[row]]
    table[row][column] = 1 / pivot
    for other in [*[r for i, r in enumerate(table) if i != row], objective]:
        factor = other[column]
        if factor != 0:
            for j, value in enumerate(table[row]):
                other[j] = (0 if j == column else other[j]) - factor * value


def exact_ranges(models):
    """Return the exact smallest and largest weight of each feature, shape (d, 2), as fractions.

    The numbers of the set of models count as exact.
    """
    rows = models.rows
    n, d, k = rows.n_rows, rows.n_weights, rows.n_offsets
    fractions = [
        [[Fraction(float(x)) for x in row] for row in values]
        for values in (rows.table, rows.offset_table)
    ]
    matrix, limit = [], []
    for i in range(n):
        table, offset = fractions[0][i], fractions[1][i]
        slack = [Fraction(-int(i == j)) for j in range(n)]
        matrix.append([-x for x in table] + table + [-x for x in offset] + offset + slack)
        limit.append(-Fraction(float(rows.target[i])))
    for budget in models.budgets:
        norm, loss = Fraction(budget.norm_coefficient), Fraction(budget.loss_coefficient)
        weight = [loss * Fraction(float(x)) for x in rows.weight]
        matrix.append([norm] * (2 * d) + [Fraction(0)] * (2 * k) + weight)
        limit.append(Fraction(float(budget.limit)))
    ranges = np.empty((d, 2), dtype=object)
    for j in range(d):
        for side, sign in enumerate((-1, 1)):
            cost = [Fraction(0)] * len(matrix[0])
            cost[j], cost[d + j] = Fraction(sign), Fraction(-sign)
            ranges[j, side] = sign * exact_maximum(cost, matrix, limit)
    return ranges
