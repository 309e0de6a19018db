"""Proofs: what multipliers of the rows say about the largest value of a weight.

Take any multipliers a >= 0 of the hinge rows. For every model with slacks s,

    sum_i a_i s_i  >=  sum_i a_i (target_i - table_i . w - offset_table_i . o).

With v = table' a and g = offset_table' a it follows for the weight of feature j and a sign that

    sign w_j  <=  sum_k (sign [k = j] + v_k) w_k  +  sum_i a_i s_i  +  g . o  -  a . target
              <=  lambda |w|_1  +  nu loss  +  g . o  -  a . target,

    lambda = max_k |sign [k = j] + v_k|,    nu = max_i a_i / weight_i,

and the budgets limit |w|_1 and the loss. No solver is needed to check this, only the data, so a
bound does not rest on trust in the solver that found the multipliers: bad ones give a weak bound,
never a wrong one. (Good ones make g vanish up to rounding; the range of the offsets covers that.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ..programs.equivalent_models import Budget, EquivalentModels
from .interface import Extreme, ExtremeSolutions

# What a sum of as many terms as there are rows can be wrong by, relative to its size.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class CheckedSolutions:
    """What the data say about a solver's answers.

    Attributes
    ----------
    attained : ndarray of shape (m,)
        The weight in question of each model found.
    proven : ndarray of shape (m,)
        What no model of the set can go beyond.
    violation : ndarray of shape (m,)
        By how much each model found oversteps the set, relative to its norm if that exceeds 1.
    certificates : Certificates
        What else the answers prove.
    """

    attained: Vector
    proven: Vector
    violation: Vector
    certificates: Certificates

    @property
    def gap(self) -> Vector:
        """Distance between what is attained and what is proven, of each answer."""
        return np.abs(self.proven - self.attained)

    def replaced(self, which: NDArray[np.intp], others: CheckedSolutions) -> CheckedSolutions:
        """These findings with some of them replaced, in place."""
        parts = [
            (self.attained, others.attained),
            (self.proven, others.proven),
            (self.violation, others.violation),
        ]
        for mine, theirs in parts:
            mine[which] = theirs
        return self


class Certificates:
    """What vectors of multipliers prove about the weights of a set of models.

    Parameters
    ----------
    models : EquivalentModels
    multipliers : ndarray of shape (m, n_rows)
        Any multipliers of the rows; the better, the tighter what they prove.
    """

    def __init__(self, models: EquivalentModels, multipliers: Matrix) -> None:
        rows = models.rows
        multipliers = np.maximum(multipliers, 0.0)
        self._models = models
        self._pull = rows.pull(multipliers)
        self._price_of_loss = (multipliers / rows.weight).max(axis=1)
        imbalance = multipliers @ rows.offset_table
        low, high = models.offset_range.T
        offset_part = np.maximum(imbalance, 0.0) @ high + np.minimum(imbalance, 0.0) @ low
        self._rest = offset_part - multipliers @ rows.target

    def maxima(self, features: NDArray[np.intp], signs: NDArray[np.int_]) -> Vector:
        """Upper bounds on ``sign * weight``, one by each vector of multipliers, shape (m,)."""
        each, pull = np.arange(len(features)), self._pull
        own = pull[each, features]
        pull[each, features] = own + signs
        largest = _largest_size(pull)
        pull[each, features] = own  # a copy of it all would take longer than the rest
        return self._limit(largest) + self._rest

    def ranges(self) -> Matrix:
        """Bounds on every weight, the best of all vectors, shape (d, 2).

        With v as above, scaled so that its largest entry has size 1, it follows that

            sum_k (|w_k| - v_k w_k)  <=  spare,

        where ``spare`` is what the budgets leave beyond the multipliers' own bound. No term of the
        sum is negative, so a weight can be no larger than ``spare / (1 - v_j)``, and no smaller
        than ``- spare / (1 + v_j)``.
        """
        largest = _largest_size(self._pull)
        limit = self._limit(largest)
        with np.errstate(divide="ignore", invalid="ignore"):  # a feature in use is not bounded so
            spare = (limit + self._rest + _ROUNDING * limit) / largest
            v = self._pull / largest[:, None]
            return np.column_stack(
                [
                    np.fmax.reduce(-spare[:, None] / (1.0 + v), initial=-np.inf),
                    np.fmin.reduce(spare[:, None] / (1.0 - v), initial=np.inf),
                ]
            )

    def _limit(self, price_of_norm: Vector) -> Vector:
        return _budget_part(self._models.budgets, price_of_norm, self._price_of_loss)


def check_solutions(
    models: EquivalentModels, extremes: Sequence[Extreme], extrema: ExtremeSolutions
) -> CheckedSolutions:
    """Check a solver's answers against the data."""
    features = np.array([extreme.feature for extreme in extremes])
    signs = np.array([extreme.sign for extreme in extremes])
    size = np.maximum(1.0, np.abs(extrema.coef).sum(axis=1))
    certificates = Certificates(models, extrema.multipliers)
    return CheckedSolutions(
        attained=extrema.coef[np.arange(len(extremes)), features],
        proven=signs * certificates.maxima(features, signs),
        violation=models.violation(extrema.coef, extrema.offset) / size,
        certificates=certificates,
    )


def intersect(first: Matrix, second: Matrix) -> Matrix:
    """What two findings about every weight say together, shape (d, 2)."""
    return np.column_stack([np.fmax(first[:, 0], second[:, 0]), np.fmin(first[:, 1], second[:, 1])])


def outer_ranges(models: EquivalentModels) -> Matrix:
    """What is known of every weight before any program is solved, shape (d, 2).

    The certificate of the model to start from, if there is one; and no weight exceeds the norm.
    """
    norm = max(b.limit / b.norm_coefficient for b in models.budgets if b.norm_coefficient > 0)
    outer = np.tile([-norm, norm], (models.n_weights, 1))
    if models.start is None:
        return outer
    return intersect(outer, Certificates(models, models.start.multipliers[None]).ranges())


def _largest_size(values: Matrix) -> Vector:
    """The largest size in each row."""
    return np.maximum(values.max(axis=1), -values.min(axis=1))


def _budget_part(budgets: Sequence[Budget], price_of_norm: Vector, price_of_loss: Vector) -> Vector:
    """Most that ``price_of_norm * |w|_1 + price_of_loss * loss`` can come to."""
    if len(budgets) == 1:
        (budget,) = budgets
        norm, loss = budget.norm_coefficient, budget.loss_coefficient
        return np.maximum(_rate(price_of_norm, norm), _rate(price_of_loss, loss)) * budget.limit
    total = np.zeros_like(price_of_norm)
    for budget in budgets:
        price = price_of_norm if budget.norm_coefficient > 0 else price_of_loss
        total += price * budget.limit / max(budget.norm_coefficient, budget.loss_coefficient)
    return total


def _rate(price: Vector, coefficient: float) -> Vector:
    """How many times a budget's coefficient a price is; what is not limited can be endless."""
    if coefficient > 0:
        return price / coefficient
    return np.where(price > 0, np.inf, 0.0)
