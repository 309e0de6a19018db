"""Dual certificates: bounds on the weights of all models in a set, by weak duality.

Let a >= 0 be dual variables (Lagrange multipliers) of the hinge constraints. For every model with
slack variables s,

    sum_i a_i s_i  >=  sum_i a_i (target_i - table_i . w - offset_table_i . o).

With v = table' a and g = offset_table' a, a linear function of the weights (such as a single
weight times a sign) satisfies

    c . w  <=  (c + v) . w  +  sum_i a_i s_i  +  g . o  -  a . target
           <=  lambda |w|_1  +  nu loss  +  g . o  -  a . target,

    lambda = max_k |c_k + v_k|,    nu = max_i a_i / weight_i,

and the budgets limit |w|_1 and the loss. This bound is computed from the data and holds for any
a >= 0, so its validity does not depend on the solver that found a. Suboptimal dual variables give a
loose bound, never a wrong one. (At optimal dual variables, g is zero up to rounding; the range of
the offsets accounts for the rest.) Bounds on the rounding errors of all sums are added, so that
certified bounds hold in exact arithmetic.

The value that a solution attains is not certified by itself, because a solution may violate the
budgets slightly. The set is convex, and the baseline does not use up the budgets, so a short step
from the solution toward the baseline gives a model that is certainly within the budgets. The value
of this model is the *inner* value: the true extreme lies between the inner value and the certified
bound. If the budgets leave no room (zero slack), and for hard constraints, the change in value is
estimated by the dual prices of the violations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
from ..programs.equivalent_models import Budget, EquivalentModels
from ..programs.hinge import UNIT_ROUNDOFF
from .interface import Extreme, ExtremeSolutions, Objectives

# Relative rounding error of a sum over all constraints.
ROUNDING = 1e-13

# Room within a budget, relative to the budget, from which a model counts as an interior model.
MIN_ROOM = 1e-6

# Safety factor of effects that are estimated by dual prices.
ESTIMATE_FACTOR = 2.0


@dataclass(frozen=True)
class CheckedSolutions:
    """Results of verifying m solutions against the data: weights, bounds and violations.

    Arrays of shape (m,): the value that each model attains, the certified bound on this value, the
    inner value, and the constraint violation of each model (relative to its norm if that exceeds
    1). ``distance`` is the l1 distance to the model that attains the inner value.
    ``certificates`` holds the certificates of all solutions.
    """

    attained: Vector
    proven: Vector
    inner: Vector
    distance: Vector
    violation: Vector
    certificates: Certificates

    @property
    def gap(self) -> Vector:
        """Distance between the attained weights and the certified bounds."""
        return np.abs(self.proven - self.attained)

    def with_replaced(self, which: NDArray[np.intp], others: CheckedSolutions) -> CheckedSolutions:
        """Replace the results at the given indices in place and return ``self``.

        The certificates are not replaced.
        """
        self.attained[which] = others.attained
        self.proven[which] = others.proven
        self.inner[which] = others.inner
        self.distance[which] = others.distance
        self.violation[which] = others.violation
        return self


class Certificates:
    """Dual certificates from m vectors of dual variables, shape (m, n_rows).

    The bounds are valid for any dual variables, and tight for optimal ones. The norm price is at
    least ``least_price``, which allows for columns that ``models`` leaves out.
    """

    def __init__(
        self, models: EquivalentModels, multipliers: Matrix, least_price: float = 0.0
    ) -> None:
        rows = models.rows
        multipliers = np.maximum(multipliers, 0.0)
        self._models, self._least_price = models, least_price
        self._combination = rows.row_combination(multipliers)
        self._loss_price = (multipliers / rows.weight).max(axis=1, initial=0.0)
        self._hard_price = multipliers[:, rows.is_hard].sum(axis=1)
        imbalance = multipliers @ rows.offset_table
        low, high = models.offset_range.T
        offset_part = np.maximum(imbalance, 0.0) @ high + np.minimum(imbalance, 0.0) @ low
        self._rest = offset_part - multipliers @ rows.target
        # Rounding errors, for any order of the additions.
        rounding = UNIT_ROUNDOFF * ((multipliers > 0).sum(axis=1) + rows.n_offsets + 4)
        length = np.sqrt(np.einsum("ij,ij->i", multipliers, multipliers))
        self._combination_error = rounding * length * rows.column_lengths.max(initial=0.0)
        size = multipliers @ (np.abs(rows.offset_table) @ np.maximum(np.abs(low), np.abs(high)))
        self._rest_error = rounding * (size + multipliers @ np.abs(rows.target))

    def maxima(self, objectives: Objectives) -> Vector:
        """Return one certified upper bound per certificate and objective, shape (m,).

        The bound of certificate i is for the function that objective i maximizes.
        """
        places, combination = (objectives.rows, objectives.weights), self._combination
        original = combination[places]
        combination[places] = original + objectives.gains
        largest = _max_absolute(combination)
        combination[places] = original  # restored, because a copy would be too slow
        return self._certified(largest) + self._rest

    def prices(self, objectives: Objectives) -> Matrix:
        """Return the change of each bound per unit of each budget, and of all hard constraints.

        The shape is (m, n_budgets + 1).
        """
        places, combination = (objectives.rows, objectives.weights), self._combination
        changed = np.zeros_like(combination)
        changed[places] = objectives.gains
        largest = _max_absolute(combination + changed)
        prices = [
            np.maximum(
                _rate(largest, budget.norm_coefficient) if budget.norm_coefficient > 0 else 0.0,
                _rate(self._loss_price, budget.loss_coefficient)
                if budget.loss_coefficient > 0
                else 0.0,
            )
            for budget in self._models.budgets
        ]
        return np.column_stack([*prices, self._hard_price])

    def ranges(self) -> Matrix:
        """Return the tightest bounds on each weight that the certificates imply, shape (d, 2).

        Let v be as above, scaled so that its largest absolute entry is 1. Every model satisfies

            sum_k (|w_k| - v_k w_k)  <=  gap,

        where ``gap`` is the difference between the budgets and the dual objective. No term of the
        sum is negative, so ``-gap / (1 + v_j) <= w_j <= gap / (1 - v_j)``.
        """
        gap, v = self._gap_and_combination()
        with np.errstate(divide="ignore", invalid="ignore"):  # no bound where |v_j| = 1
            return np.column_stack(
                [
                    np.fmax.reduce(-gap[:, None] / (1.0 + v), initial=-np.inf),
                    np.fmin.reduce(gap[:, None] / (1.0 - v), initial=np.inf),
                ]
            )

    def own_ranges(self, weights: NDArray[np.intp]) -> Matrix:
        """Return the bounds on one weight per certificate that it implies, shape (m, 2)."""
        gap, v = self._gap_and_combination(weights)
        with np.errstate(divide="ignore", invalid="ignore"):  # no bound where |v_j| = 1
            ends = np.column_stack([-gap / (1.0 + v), gap / (1.0 - v)])
        return np.where(np.isnan(ends), [-np.inf, np.inf], ends)

    def direction_maxima(self, directions: Matrix, weights: NDArray[np.intp]) -> Vector:
        """Return the tightest bound on ``c . w[weights]`` for each direction c (row).

        By the inequality in :meth:`ranges`, the sum of ``|w_k| - v_k w_k`` is at most the gap, so
        ``c . w`` is at most the gap times the largest ``|c_k| / (1 - v_k sign(c_k))``.
        """
        gap, v = self._gap_and_combination()
        with np.errstate(divide="ignore", invalid="ignore"):  # no bound where |v_k| = 1
            ratio = np.abs(directions) / (1.0 - v[:, None, weights] * np.sign(directions))
            ratio = np.where(directions == 0, 0.0, ratio)
            return np.fmin.reduce(gap[:, None] * ratio.max(axis=2), initial=np.inf)

    def _gap_and_combination(
        self, weights: NDArray[np.intp] | None = None
    ) -> tuple[Vector, Matrix]:
        """Return the gap of each certificate, and v scaled to a largest absolute entry of 1.

        With ``weights``, one per certificate, only these entries of v are returned.
        """
        largest = np.maximum(_max_absolute(self._combination), self._least_price)
        limit = self._budget_value(largest)
        v = self._combination
        v = v.T if weights is None else v[np.arange(len(weights)), weights]
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = (self._certified(largest) + self._rest + ROUNDING * limit) / largest
            return gap, (v / largest).T

    def _certified(self, norm_price: Vector) -> Vector:
        """Return the value of the budgets at given prices, increased by all rounding errors."""
        value = self._budget_value(norm_price + self._combination_error)
        return value * (1.0 + 8.0 * UNIT_ROUNDOFF) + self._rest_error

    def _budget_value(self, norm_price: Vector) -> Vector:
        return _max_within_budgets(self._models.budgets, norm_price, self._loss_price)


def check_solutions(
    models: EquivalentModels, extremes: Sequence[Extreme], solutions: ExtremeSolutions
) -> CheckedSolutions:
    """Compute attained weights, certified bounds and constraint violations of solutions."""
    objectives = Objectives.from_extremes(extremes)
    size = np.maximum(1.0, np.abs(solutions.coef).sum(axis=1))
    certificates = Certificates(models, solutions.multipliers)
    attained = objectives.values(solutions.coef)
    violations = models.violations(solutions.coef, solutions.offset)
    excess = np.maximum(violations + models.rounding(solutions.coef, solutions.offset), 0.0)
    shift, distance = _shift_into(models, objectives, solutions, excess)
    # Hard constraints are often equations, which no model satisfies with room to spare. Their
    # effect, and all effects without an interior model, are estimated by dual prices.
    estimates = ESTIMATE_FACTOR * certificates.prices(objectives) * excess
    shift = np.where(np.isnan(shift), estimates.sum(axis=1), shift + estimates[:, -1])
    distance = np.where(np.isnan(distance), shift, distance + estimates[:, -1])
    return CheckedSolutions(
        attained=attained,
        proven=objectives.signs * certificates.maxima(objectives),
        inner=attained - objectives.signs * shift,
        distance=distance,
        violation=violations.max(axis=1) / size,
        certificates=certificates,
    )


def _shift_into(
    models: EquivalentModels,
    objectives: Objectives,
    solutions: ExtremeSolutions,
    excess: Matrix,
) -> tuple[Vector, Vector]:
    """Return how much the values of solutions change in a step into the budgets, shape (m,).

    The step leads toward the start or the mean of the solutions, whichever changes the value less.
    The second array is the l1 length of the step. Both are NaN if neither is an interior model.
    """
    is_solved = np.isfinite(solutions.coef).all(axis=1)
    if not is_solved.any():
        nothing = np.full(len(excess), np.nan)
        return nothing, nothing
    centers = [(solutions.coef[is_solved].mean(axis=0), solutions.offset[is_solved].mean(axis=0))]
    if models.start is not None:
        centers.append((models.start.coef, models.start.offset))
    limits = np.array([budget.limit for budget in models.budgets])
    shifts, lengths = [], []
    for coef, offset in centers:
        pair = coef[None], offset[None]
        room = -(models.violations(*pair) + models.rounding(*pair))[0, :-1]
        over = excess[:, :-1]
        is_inside = (room > 0) & (room >= MIN_ROOM * limits)
        step = np.where(is_inside, over / (over + np.where(is_inside, room, 1.0)), np.nan)
        step = np.where(over > 0, step, 0.0).max(axis=1)
        gain = objectives.signs * (
            objectives.values(solutions.coef)
            - objectives.values(np.broadcast_to(coef, solutions.coef.shape))
        )
        shifts.append(step * np.maximum(gain, 0.0))
        lengths.append(step * np.abs(solutions.coef - coef).sum(axis=1))
    return np.fmin.reduce(shifts), np.fmin.reduce(lengths)


def intersect(first: Matrix, second: Matrix) -> Matrix:
    """Intersect two arrays of weight ranges, feature by feature; shape (d, 2)."""
    return np.column_stack([np.fmax(first[:, 0], second[:, 0]), np.fmin(first[:, 1], second[:, 1])])


def largest_norm(models: EquivalentModels) -> float:
    """Return the limit on the norm of the models."""
    return max(b.limit / b.norm_coefficient for b in models.budgets if b.norm_coefficient > 0)


def outer_ranges(models: EquivalentModels) -> Matrix:
    """Return outer bounds on all weights, computed without solving an LP, shape (d, 2).

    The bounds are the limit on the norm and, if the set has a start, the certificate from its dual
    variables.
    """
    norm = largest_norm(models)
    outer = np.tile([-norm, norm], (models.n_weights, 1))
    if models.start is None:
        return outer
    return intersect(outer, Certificates(models, models.start.multipliers[None]).ranges())


def _max_absolute(values: Matrix) -> Vector:
    """Return the largest absolute value in each row of a matrix."""
    return np.maximum(values.max(axis=1), -values.min(axis=1))


def _max_within_budgets(
    budgets: Sequence[Budget], norm_price: Vector, loss_price: Vector
) -> Vector:
    """Return the maximum of ``norm_price * |w|_1 + loss_price * loss`` within the budgets."""
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
    """Return a price divided by a budget coefficient; infinite if the coefficient is zero."""
    if coefficient > 0:
        return price / coefficient
    return np.where(price > 0, np.inf, 0.0)
