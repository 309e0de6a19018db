"""Certificates: what multipliers of the rows prove about the weights of a set of models.

Take any multipliers a >= 0 of the hinge rows. For every model with slacks s,

    sum_i a_i s_i  >=  sum_i a_i (target_i - table_i . w - offset_table_i . o).

With v = table' a and g = offset_table' a it follows for the weight of feature j and a sign that

    sign w_j  <=  sum_k (sign [k = j] + v_k) w_k  +  sum_i a_i s_i  +  g . o  -  a . target
              <=  lambda |w|_1  +  nu loss  +  g . o  -  a . target,

    lambda = max_k |sign [k = j] + v_k|,    nu = max_i a_i / weight_i,

and the budgets limit |w|_1 and the loss. This needs no solver, only the data, so a bound does not
depend on the solver that found the multipliers: bad ones give a weak bound, never a wrong one.
(Good ones make g vanish up to rounding; the range of the offsets covers that.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ..programs.equivalent_models import Budget, EquivalentModels
from .interface import Extreme, ExtremeSolutions, features_and_signs

# Relative error of a sum over all rows.
ROUNDING = 1e-13


@dataclass(frozen=True)
class CheckedSolutions:
    """What the data say about a solver's solutions of m extremes, shape (m,) each.

    The weight that each model attains, what no model of the set can go beyond, how far each is
    outside the set (relative to its norm if that exceeds 1), and what else the solutions prove.
    """

    attained: Vector
    proven: Vector
    violation: Vector
    certificates: Certificates

    @property
    def gap(self) -> Vector:
        """Distance between what is attained and what is proven."""
        return np.abs(self.proven - self.attained)

    def with_replaced(self, which: NDArray[np.intp], others: CheckedSolutions) -> CheckedSolutions:
        """These findings with some of them replaced, in place; the certificates stay."""
        self.attained[which] = others.attained
        self.proven[which] = others.proven
        self.violation[which] = others.violation
        return self


class Certificates:
    """What m vectors of multipliers, shape (m, n_rows), prove about the weights of a set.

    Any multipliers of the rows will do; the better they are, the tighter the bounds.
    """

    def __init__(self, models: EquivalentModels, multipliers: Matrix) -> None:
        rows = models.rows
        multipliers = np.maximum(multipliers, 0.0)
        self._models = models
        self._combination = rows.row_combination(multipliers)
        self._loss_price = (multipliers / rows.weight).max(axis=1)
        imbalance = multipliers @ rows.offset_table
        low, high = models.offset_range.T
        offset_part = np.maximum(imbalance, 0.0) @ high + np.minimum(imbalance, 0.0) @ low
        self._rest = offset_part - multipliers @ rows.target

    def maxima(self, features: NDArray[np.intp], signs: NDArray[np.int_]) -> Vector:
        """Upper bounds on ``sign * weight``, one by each vector of multipliers, shape (m,)."""
        each, combination = np.arange(len(features)), self._combination
        kept = combination[each, features]
        combination[each, features] = kept + signs
        largest = _largest_size(combination)
        combination[each, features] = kept  # to copy the matrix would take longer than the rest
        return self._limit(largest) + self._rest

    def ranges(self) -> Matrix:
        """Bounds on every weight, the best of all vectors, shape (d, 2).

        With v as above, scaled so that its largest entry has size 1, it follows that

            sum_k (|w_k| - v_k w_k)  <=  spare,

        where ``spare`` is what the budgets leave beyond the multipliers' own bound. No term of the
        sum is negative, so a weight can be no larger than ``spare / (1 - v_j)``, and no smaller
        than ``- spare / (1 + v_j)``.
        """
        largest = _largest_size(self._combination)
        limit = self._limit(largest)
        with np.errstate(divide="ignore", invalid="ignore"):  # features in use get no bound
            spare = (limit + self._rest + ROUNDING * limit) / largest
            v = self._combination / largest[:, None]
            return np.column_stack(
                [
                    np.fmax.reduce(-spare[:, None] / (1.0 + v), initial=-np.inf),
                    np.fmin.reduce(spare[:, None] / (1.0 - v), initial=np.inf),
                ]
            )

    def _limit(self, norm_price: Vector) -> Vector:
        return _budget_part(self._models.budgets, norm_price, self._loss_price)


def check_solutions(
    models: EquivalentModels, extremes: Sequence[Extreme], solutions: ExtremeSolutions
) -> CheckedSolutions:
    """Check a solver's solutions against the data."""
    features, signs = features_and_signs(extremes)
    size = np.maximum(1.0, np.abs(solutions.coef).sum(axis=1))
    certificates = Certificates(models, solutions.multipliers)
    return CheckedSolutions(
        attained=solutions.coef[np.arange(len(extremes)), features],
        proven=signs * certificates.maxima(features, signs),
        violation=models.violation(solutions.coef, solutions.offset) / size,
        certificates=certificates,
    )


def intersect(first: Matrix, second: Matrix) -> Matrix:
    """Intersections of two ranges of every weight, shape (d, 2)."""
    return np.column_stack([np.fmax(first[:, 0], second[:, 0]), np.fmin(first[:, 1], second[:, 1])])


def outer_ranges(models: EquivalentModels) -> Matrix:
    """What is known of every weight before any program is solved, shape (d, 2).

    No weight exceeds the norm, and the start of the set, if it has one, has a certificate.
    """
    norm = max(b.limit / b.norm_coefficient for b in models.budgets if b.norm_coefficient > 0)
    outer = np.tile([-norm, norm], (models.n_weights, 1))
    if models.start is None:
        return outer
    return intersect(outer, Certificates(models, models.start.multipliers[None]).ranges())


def _largest_size(values: Matrix) -> Vector:
    """The largest size in each row."""
    return np.maximum(values.max(axis=1), -values.min(axis=1))


def _budget_part(budgets: Sequence[Budget], norm_price: Vector, loss_price: Vector) -> Vector:
    """The most that ``norm_price * |w|_1 + loss_price * loss`` can come to."""
    if len(budgets) == 1:
        (budget,) = budgets
        norm, loss = budget.norm_coefficient, budget.loss_coefficient
        return np.maximum(_rate(norm_price, norm), _rate(loss_price, loss)) * budget.limit
    total = np.zeros_like(norm_price)
    for budget in budgets:
        price = norm_price if budget.norm_coefficient > 0 else loss_price
        total += price * budget.limit / max(budget.norm_coefficient, budget.loss_coefficient)
    return total


def _rate(price: Vector, coefficient: float) -> Vector:
    """A price in units of a budget's coefficient; infinite if the budget sets no limit."""
    if coefficient > 0:
        return price / coefficient
    return np.where(price > 0, np.inf, 0.0)
