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

from ...arrays import Matrix, Vector
from ..programs.equivalent_models import Budget, EquivalentModels
from .extremes import Extrema, Extreme


@dataclass(frozen=True)
class Examination:
    """What the data say about a solver's answers.

    Attributes
    ----------
    attained : ndarray of shape (m,)
        The weight in question of each model found.
    proven : ndarray of shape (m,)
        What no model of the set can go beyond.
    violation : ndarray of shape (m,)
        By how much each model found oversteps the set, relative to its norm if that exceeds 1.
    """

    attained: Vector
    proven: Vector
    violation: Vector

    @property
    def gap(self) -> Vector:
        """Distance between what is attained and what is proven, of each answer."""
        return np.abs(self.proven - self.attained)

    def replaced(self, which: NDArray[np.intp], others: Examination) -> Examination:
        """These findings with some of them replaced, in place."""
        self.attained[which] = others.attained
        self.proven[which] = others.proven
        self.violation[which] = others.violation
        return self


def examine(models: EquivalentModels, extremes: Sequence[Extreme], extrema: Extrema) -> Examination:
    """Check a solver's answers against the data."""
    features = np.array([extreme.feature for extreme in extremes])
    signs = np.array([extreme.sign for extreme in extremes])
    size = np.maximum(1.0, np.abs(extrema.coef).sum(axis=1))
    return Examination(
        attained=extrema.coef[np.arange(len(extremes)), features],
        proven=signs * certified_maxima(models, features, signs, extrema.multipliers),
        violation=models.violation(extrema.coef, extrema.offset) / size,
    )


def certified_maxima(
    models: EquivalentModels,
    features: NDArray[np.intp],
    signs: NDArray[np.int_],
    multipliers: Matrix,
) -> Vector:
    """Proven upper bounds on signed weights over a set of models.

    Parameters
    ----------
    models : EquivalentModels
    features : ndarray of shape (m,)
    signs : ndarray of shape (m,)
        The bound is on ``sign * weight``.
    multipliers : ndarray of shape (m, n_rows)
        Any multipliers of the rows, one vector for each bound; the better, the tighter.

    Returns
    -------
    ndarray of shape (m,)
    """
    rows = models.rows
    multipliers = np.maximum(multipliers, 0.0)
    pull = rows.pull(multipliers)
    pull[np.arange(len(features)), features] += signs
    price_of_norm = np.abs(pull).max(axis=1)
    price_of_loss = (multipliers / rows.weight).max(axis=1)
    imbalance = multipliers @ rows.offset_table
    low, high = models.offset_range.T
    offset_part = np.maximum(imbalance, 0.0) @ high + np.minimum(imbalance, 0.0) @ low
    budget_part = _budget_part(models.budgets, price_of_norm, price_of_loss)
    return budget_part + offset_part - multipliers @ rows.target


def certified_ranges(models: EquivalentModels, multipliers: Vector) -> Matrix:
    """What one vector of multipliers proves about every weight at once, shape (d, 2).

    With v as above, scaled so that its largest entry has size 1, it follows that

        sum_k (|w_k| - v_k w_k)  <=  spare,

    where ``spare`` is what the budgets leave beyond the multipliers' own bound. No term of the
    sum is negative, so a weight can be no larger than ``spare / (1 - v_j)``, and no smaller than
    ``- spare / (1 + v_j)``: a bound on all weights from the baseline alone, no program solved.
    """
    rows = models.rows
    multipliers = np.maximum(multipliers, 0.0)
    pull = rows.pull(multipliers)
    largest = np.abs(pull).max()
    if largest == 0:
        return np.tile([-np.inf, np.inf], (models.n_weights, 1))
    imbalance = multipliers @ rows.offset_table
    low, high = models.offset_range.T
    price_of_loss = (multipliers / rows.weight).max()
    spare = _budget_part(models.budgets, np.array([largest]), np.array([price_of_loss]))[0]
    spare += np.maximum(imbalance, 0.0) @ high + np.minimum(imbalance, 0.0) @ low
    spare = (spare - multipliers @ rows.target) / largest
    with np.errstate(divide="ignore"):  # a feature in use is not bounded this way
        return np.column_stack([-spare / (1.0 + pull / largest), spare / (1.0 - pull / largest)])


def outer_ranges(models: EquivalentModels) -> Matrix:
    """What is known of every weight before any program is solved, shape (d, 2).

    The certificate of the model to start from, if there is one; and no weight exceeds the norm.
    """
    norm = max(b.limit / b.norm_coefficient for b in models.budgets if b.norm_coefficient > 0)
    outer = np.tile([-norm, norm], (models.n_weights, 1))
    if models.start is None:
        return outer
    proven = certified_ranges(models, models.start.multipliers)
    return np.clip(proven, outer[:, :1], outer[:, 1:])


def _budget_part(budgets: Sequence[Budget], price_of_norm: Vector, price_of_loss: Vector) -> Vector:
    """Most that ``price_of_norm * |w|_1 + price_of_loss * loss`` can come to."""
    if len(budgets) == 1:
        (budget,) = budgets
        rate = np.maximum(
            price_of_norm / budget.norm_coefficient, price_of_loss / budget.loss_coefficient
        )
        return rate * budget.limit
    total = np.zeros_like(price_of_norm)
    for budget in budgets:
        price = price_of_norm if budget.norm_coefficient > 0 else price_of_loss
        total += price * budget.limit / max(budget.norm_coefficient, budget.loss_coefficient)
    return total
