"""User constraints: parsing, conversion to limits on weights, and detection of conflicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix
from ..exceptions import InfeasibleConstraintsError, InputError
from ..terms.blocks import Block
from ..terms.layout import WeightLayout
from .programs.equivalent_models import (
    EquivalentModels,
    LinearProgram,
    WeightLimit,
    restrict_models,
)
from .solver.blocks import KnownModels
from .solver.highs import HighsModel
from .solver.mixed_integer import WorkingSet

# Each lower limit on an absolute weight allows both signs, which doubles the combinations.
MAX_SIGN_COMBINATIONS = 256

# Total violations below this, relative to the norm, count as zero.
VIOLATION_TOL = 1e-8

# Relative accuracy of the relaxation of limits on the size of a feature with several weights.
RELAXATION_TOL = 1e-4


@dataclass(frozen=True)
class Constraint:
    """Limits on the absolute weight of a feature, or on the weight itself if ``signed``.

    ``low`` and ``high`` are infinite where there is no limit. ``name`` is used in messages.
    ``weights`` are the weights of the feature. If there are several, in a ``block``, the limits are
    on their size.
    """

    feature: int
    name: str
    weights: NDArray[np.intp]
    low: float
    high: float
    signed: bool = False
    block: Block | None = None

    def __str__(self) -> str:
        target = f"weight of {self.name!r}" if self.signed else f"|weight| of {self.name!r}"
        target = target if self.block is None else f"size of {self.name!r}"
        if self.low == self.high:
            return f"{target} = {self.low:g}"
        parts = [f">= {self.low:g}"] if self.low > (-math.inf if self.signed else 0.0) else []
        parts += [f"<= {self.high:g}"] if math.isfinite(self.high) else []
        return f"{target} {' and '.join(parts)}" if parts else f"{target} unrestricted"

    def sides(self) -> list[list[WeightLimit]]:
        """Return limits on weights that satisfy the constraint, one list per alternative.

        There are two alternatives if |weight| has a lower limit, one for each sign, and one per
        direction if the size of a block has a lower limit.
        """
        if self.block is not None:
            return self._block_sides(self.block)
        weight = int(self.weights[0])
        if self.signed or self.low <= 0:
            low = self.low if self.signed else -self.high
            return [[WeightLimit(weight, low, self.high)]]
        return [
            [WeightLimit(weight, self.low, self.high)],
            [WeightLimit(weight, -self.high, -self.low)],
        ]

    def _block_sides(self, block: Block) -> list[list[WeightLimit]]:
        if self.high == 0:
            return [[WeightLimit(int(weight), 0.0, 0.0) for weight in self.weights]]
        within = [] if math.isinf(self.high) else self._size_limits(block)
        if self.low <= 0:
            return [within]
        return [
            [WeightLimit.on_direction(direction, self.weights, self.low, math.inf), *within]
            for direction in block.directions
        ]

    def _size_limits(self, block: Block) -> list[WeightLimit]:
        """Return an upper limit on each direction; opposite directions share one."""
        return [
            WeightLimit.on_direction(direction, self.weights, -self.high, self.high)
            for direction in block.directions
            if direction[np.flatnonzero(direction)[0]] > 0
        ]


@dataclass(frozen=True)
class ConstraintSpec:
    """Parsed user constraint on one feature, before the cutoff is known.

    With ``keep``, the absolute weight must be at least the cutoff. ``subproblem`` is the index of
    the subproblem that the constraint applies to; None applies it to all.
    """

    low: float
    high: float
    signed: bool
    keep: bool = False
    subproblem: int | None = None

    def constraint(self, feature: int, layout: WeightLayout, cutoff: float) -> Constraint:
        """Return the constraint for a subproblem that has the given cutoff."""
        return Constraint(
            feature,
            layout.names[feature],
            layout.weights_of(feature),
            cutoff if self.keep else self.low,
            self.high,
            self.signed,
            layout.blocks.get(feature),
        )


def parse_constraint(
    name: str, value: Any, *, signed: bool, subproblem: int | None = None
) -> ConstraintSpec:
    """Parse the value of a user constraint: "drop", "keep", a number or a pair of limits."""
    if isinstance(value, str) and value == "drop":
        return ConstraintSpec(0.0, 0.0, signed=False, subproblem=subproblem)
    if isinstance(value, str) and value == "keep":
        return ConstraintSpec(0.0, math.inf, signed=False, keep=True, subproblem=subproblem)
    low, high = _parse_limits(name, value, signed)
    if not low <= high:
        raise InputError(
            f"The lower limit of {name!r} exceeds the upper limit (got {low:g} and {high:g}). Swap "
            "the limits."
        )
    if not signed and low < 0:
        raise InputError(
            f"The absolute weight of {name!r} cannot be negative (got {low:g}). Use signed=True "
            "to constrain the signed weight."
        )
    return ConstraintSpec(low, high, signed, subproblem=subproblem)


def _parse_limits(name: str, value: Any, signed: bool) -> tuple[float, float]:
    ends = (value, value) if isinstance(value, Real) else value
    open_ends = (-math.inf if signed else 0.0, math.inf)
    try:
        low, high = (
            open_end if end is None else float(end)
            for end, open_end in zip(ends, open_ends, strict=True)
        )
    except (TypeError, ValueError):
        low = high = math.nan
    if math.isnan(low) or math.isnan(high) or low == math.inf or high == -math.inf:
        raise InputError(
            f"The constraint on {name!r} must be 'drop', 'keep', a number or a pair of numbers "
            f"with None for no limit (got {value!r})."
        )
    return low, high


def sign_combinations(
    constraints: Sequence[Constraint], weight_bounds: Matrix | None = None
) -> list[list[WeightLimit]]:
    """Return limits on the signed weights, one list for each combination of signs.

    The feasible set is the union over all combinations. ``weight_bounds``, shape (n_weights, 2),
    excludes impossible signs. If it excludes both signs of a weight, both are tried.
    """
    options = [_possible_sides(constraint.sides(), weight_bounds) for constraint in constraints]
    n_combinations = math.prod(len(sides) for sides in options)
    if n_combinations > MAX_SIGN_COMBINATIONS:
        raise InputError(
            f"The constraints allow {n_combinations} combinations of signs, but at most "
            f"{MAX_SIGN_COMBINATIONS} are supported. Use signed=True to fix the signs."
        )
    return [[limit for limits in parts for limit in limits] for parts in product(*options)]


def _possible_sides(
    sides: list[list[WeightLimit]], weight_bounds: Matrix | None
) -> list[list[WeightLimit]]:
    if weight_bounds is None:
        return sides
    return [
        side for side in sides if all(_is_possible(limit, weight_bounds) for limit in side)
    ] or sides


def _is_possible(limit: WeightLimit, weight_bounds: Matrix) -> bool:
    """Return False if the bounds on the weights exclude all values within the limits."""
    low = high = 0.0
    for weight, coefficient in limit.coefficients.items():
        ends = coefficient * weight_bounds[weight]
        low, high = low + float(ends.min()), high + float(ends.max())
    return limit.low <= high and limit.high >= low


class ElasticProgram:
    """LP over equivalent models that measures violations of limits on weights.

    The ``known`` models determine the initial working set.
    """

    def __init__(self, models: EquivalentModels, known: KnownModels) -> None:
        self._models, self._known = models, known
        norms = [b.limit / b.norm_coefficient for b in models.budgets if b.norm_coefficient > 0]
        self._largest_norm = max(norms)
        self._tolerance = VIOLATION_TOL * max(1.0, self._largest_norm)

    @cached_property
    def _working(self) -> WorkingSet:
        return WorkingSet(self._models, self._known)

    def is_feasible(self, limits: Sequence[WeightLimit]) -> bool:
        """Return whether some equivalent model satisfies all limits on weights."""
        return self.total_violation([], limits) <= self._tolerance

    def total_violation(self, hard: Sequence[WeightLimit], soft: Sequence[WeightLimit]) -> float:
        """Return the smallest total violation of the soft limits, subject to the hard limits.

        The slack variable of a limit's constraint is its violation. The hard limits must be
        feasible.
        """
        while True:
            models = self._working.models
            program = _elastic_program(models, hard, soft, self._tolerance)
            solution = HighsModel(program).solve("the smallest relaxation of the constraints")
            if not self._working.add_missing(*program.model(solution.point)):
                return solution.value

    def can_satisfy(self, constraints: Sequence[Constraint]) -> bool:
        """Return whether an equivalent model satisfies all constraints for some choice of signs."""
        return any(self.is_feasible(limits) for limits in sign_combinations(constraints))

    def smallest_relaxation(self, constraint: Constraint, others: Sequence[Constraint]) -> float:
        """Return the smallest relaxation of a constraint that makes it feasible with the others."""
        if constraint.block is not None:
            return self._smallest_size_relaxation(constraint, others)
        return min(
            self.total_violation(limits, side)
            for limits in sign_combinations(others)
            if self.is_feasible(limits)
            for side in constraint.sides()
        )

    def _smallest_size_relaxation(
        self, constraint: Constraint, others: Sequence[Constraint]
    ) -> float:
        """Find the smallest relaxation of limits on the size of a block by bisection.

        The size is the largest of several functions, whose violations do not add up.
        """
        feasible, infeasible = max(self._largest_norm, constraint.low), 0.0
        while feasible - infeasible > RELAXATION_TOL * feasible:
            middle = (feasible + infeasible) / 2.0
            relaxed = replace(
                constraint, low=max(0.0, constraint.low - middle), high=constraint.high + middle
            )
            if self.can_satisfy([relaxed, *others]):
                feasible = middle
            else:
                infeasible = middle
        return feasible


def _elastic_program(
    models: EquivalentModels,
    hard: Sequence[WeightLimit],
    soft: Sequence[WeightLimit],
    tolerance: float,
) -> LinearProgram:
    """Return the LP that minimizes the total violation of the soft limits."""
    program = restrict_models(models, [*hard, *soft]).program
    slack = np.arange(program.n_columns)[program.blocks["slack"]][models.rows.n_rows :]
    n_hard = sum(len(limit.ends) for limit in hard)
    cost, upper = program.cost.copy(), program.column_upper.copy()
    upper[slack[:n_hard]], upper[slack[n_hard:]] = tolerance, np.inf
    cost[slack[n_hard:]] = 1.0
    return replace(program, cost=cost, column_upper=upper)


def explain_infeasibility(
    elastic: ElasticProgram, constraints: Sequence[Constraint]
) -> InfeasibleConstraintsError:
    """Return an error that names an irreducible infeasible subset (IIS) of the constraints.

    Constraints are removed one at a time as long as the rest stays infeasible. The remaining subset
    is minimal: if any one constraint is removed, some model satisfies the others.
    """
    conflict = list(constraints)
    for constraint in constraints:
        rest = [other for other in conflict if other is not constraint]
        if not elastic.can_satisfy(rest):
            conflict = rest
    relaxations = [
        elastic.smallest_relaxation(c, [other for other in conflict if other is not c])
        for c in conflict
    ]
    return InfeasibleConstraintsError(
        _conflict_message(conflict, relaxations), conflict, relaxations
    )


def _conflict_message(conflict: Sequence[Constraint], relaxations: Sequence[float]) -> str:
    listed = ", ".join(str(constraint) for constraint in conflict)
    if len(conflict) == 1:
        return f"No equivalent model satisfies {listed}. Relax it by at least {relaxations[0]:.3g}."
    remedies = " or ".join(
        f"{constraint.name!r} by {relaxation:.3g}"
        for constraint, relaxation in zip(conflict, relaxations, strict=True)
    )
    return f"No equivalent model satisfies all of: {listed}. Relax one of them: {remedies}."
