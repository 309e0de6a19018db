"""Constraints as users write them, as limits on weights; and why no model keeps some of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from .._typing import Matrix
from ..exceptions import InfeasibleConstraintsError, InputError
from .programs.equivalent_models import EquivalentModels, LinearProgram, WeightLimit, limited_models
from .solver.highs import HighsModel
from .solver.mixed_integer import WorkingSet
from .solver.ranges import WeightRanges

# Each limit on a size from below leaves two signs to try, where both are possible.
MAX_SIGN_COMBINATIONS = 256

# A total violation below this, relative to the norm, is none.
VIOLATION_TOL = 1e-8


@dataclass(frozen=True)
class Constraint:
    """``low <= size <= high`` of a feature's weight, or of the weight itself if it is signed.

    ``low`` and ``high`` are infinite where there is no limit; messages call the feature ``name``.
    """

    feature: int
    name: str
    low: float
    high: float
    signed: bool = False

    def __str__(self) -> str:
        what = f"weight of {self.name!r}" if self.signed else f"|weight| of {self.name!r}"
        if self.low == self.high:
            return f"{what} = {self.low:g}"
        parts = [f">= {self.low:g}"] if self.low > (-math.inf if self.signed else 0.0) else []
        parts += [f"<= {self.high:g}"] if math.isfinite(self.high) else []
        return f"{what} {' and '.join(parts)}" if parts else f"{what} at will"

    def sides(self) -> list[WeightLimit]:
        """The limit on the weight that this is; of a size from below, one for each sign."""
        if self.signed or self.low <= 0:
            low = self.low if self.signed else -self.high
            return [WeightLimit(self.feature, low, self.high)]
        return [
            WeightLimit(self.feature, self.low, self.high),
            WeightLimit(self.feature, -self.high, -self.low),
        ]


@dataclass(frozen=True)
class ConstraintSpec:
    """What a user asks of a feature: a :class:`Constraint` but for the cutoff.

    A feature that is to be kept (``keep``) has a size of at least the cutoff. ``subproblem`` is the
    place of the one that it is about; None: all.
    """

    low: float
    high: float
    signed: bool
    keep: bool = False
    subproblem: int | None = None

    def constraint(self, feature: int, name: str, cutoff: float) -> Constraint:
        """What it comes to in a subproblem with this cutoff."""
        return Constraint(feature, name, cutoff if self.keep else self.low, self.high, self.signed)


def parse_constraint(
    name: str, value: Any, *, signed: bool, subproblem: int | None = None
) -> ConstraintSpec:
    """What a user has written about a feature: "drop", "keep", a number, or a pair of limits."""
    if isinstance(value, str) and value == "drop":
        return ConstraintSpec(0.0, 0.0, signed=False, subproblem=subproblem)
    if isinstance(value, str) and value == "keep":
        return ConstraintSpec(0.0, math.inf, signed=False, keep=True, subproblem=subproblem)
    low, high = _ends(name, value, signed)
    if not low <= high:
        raise InputError(f"The limits of {name!r} are the wrong way round: {low:g} and {high:g}.")
    if not signed and low < 0:
        raise InputError(
            f"The size of the weight of {name!r} cannot be negative, got {low:g}. For limits on "
            "weights with their signs use signed=True."
        )
    return ConstraintSpec(low, high, signed, subproblem=subproblem)


def _ends(name: str, value: Any, signed: bool) -> tuple[float, float]:
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
            f"What is asked of {name!r} must be 'drop', 'keep', a number or a pair of numbers "
            f"(None for an open end), got {value!r}."
        )
    return low, high


def sign_combinations(
    constraints: Sequence[Constraint], signed_interval: Matrix | None = None
) -> list[list[WeightLimit]]:
    """The limits for each choice of signs: together they are what the constraints ask.

    Signs that the signed intervals of the weights, shape (d, 2), rule out are left out. A
    constraint for which they rule out both keeps both.
    """
    options = [_possible(constraint.sides(), signed_interval) for constraint in constraints]
    n_combinations = math.prod(len(sides) for sides in options)
    if n_combinations > MAX_SIGN_COMBINATIONS:
        raise InputError(
            f"There are {n_combinations} ways to choose the signs of weights that must not be "
            "zero. Say which: signed=True, with limits on weights."
        )
    return [list(limits) for limits in product(*options)]


def _possible(sides: list[WeightLimit], signed_interval: Matrix | None) -> list[WeightLimit]:
    if signed_interval is None:
        return sides
    low, high = signed_interval[sides[0].feature]
    return [side for side in sides if side.low <= high and side.high >= low] or sides


class ElasticProgram:
    """A set of models, and limits that may be violated.

    The witnesses of the ranges of the weights over the set tell which rows matter.
    """

    def __init__(self, models: EquivalentModels, ranges: WeightRanges) -> None:
        self._models, self._ranges = models, ranges
        norms = [b.limit / b.norm_coefficient for b in models.budgets if b.norm_coefficient > 0]
        self._tolerance = VIOLATION_TOL * max(1.0, *norms)

    @cached_property
    def _working(self) -> WorkingSet:
        return WorkingSet(self._models, self._ranges)

    def is_feasible(self, limits: Sequence[WeightLimit]) -> bool:
        """Whether some model keeps all limits."""
        return self.total_violation([], limits) <= self._tolerance

    def total_violation(self, hard: Sequence[WeightLimit], soft: Sequence[WeightLimit]) -> float:
        """The least total by which soft limits are violated while hard ones are kept.

        The slack of a limit's row is its violation. Some model must keep the hard ones.
        """
        while True:
            models = self._working.models
            program = _elastic_program(models, hard, soft, self._tolerance)
            solution = HighsModel(program).solve("the least change of the constraints")
            if not self._working.add_missing(*program.model(solution.point)):
                return solution.value

    def can_keep(self, constraints: Sequence[Constraint]) -> bool:
        """Whether some model keeps all constraints, with whatever signs."""
        return any(self.is_feasible(limits) for limits in sign_combinations(constraints))

    def smallest_relaxation(self, constraint: Constraint, others: Sequence[Constraint]) -> float:
        """By how much a constraint has to move for some model to keep it and the others."""
        return min(
            self.total_violation(limits, [side])
            for limits in sign_combinations(others)
            if self.is_feasible(limits)
            for side in constraint.sides()
        )


def _elastic_program(
    models: EquivalentModels,
    hard: Sequence[WeightLimit],
    soft: Sequence[WeightLimit],
    tolerance: float,
) -> LinearProgram:
    """The set with hard limits, and with limits that may be violated at a cost."""
    program = limited_models(models, [*hard, *soft]).program
    slack = np.arange(program.n_columns)[program.blocks["slack"]][models.rows.n_rows :]
    n_hard = sum(len(limit.ends) for limit in hard)
    cost, upper = program.cost.copy(), program.column_upper.copy()
    upper[slack[:n_hard]], upper[slack[n_hard:]] = tolerance, np.inf
    cost[slack[n_hard:]] = 1.0
    return replace(program, cost=cost, column_upper=upper)


def explain_infeasibility(
    elastic: ElasticProgram, constraints: Sequence[Constraint]
) -> InfeasibleConstraintsError:
    """The error that tells why no model of a set keeps some constraints.

    Constraints that are not needed for the conflict are left out one after the other; what is left
    is a minimal set: without any one of them there is a model that keeps the others.
    """
    conflict = list(constraints)
    for constraint in constraints:
        rest = [other for other in conflict if other is not constraint]
        if not elastic.can_keep(rest):
            conflict = rest
    relaxations = [
        elastic.smallest_relaxation(c, [other for other in conflict if other is not c])
        for c in conflict
    ]
    return InfeasibleConstraintsError(_message(conflict, relaxations), conflict, relaxations)


def _message(conflict: Sequence[Constraint], relaxations: Sequence[float]) -> str:
    listed = ", ".join(str(constraint) for constraint in conflict)
    if len(conflict) == 1:
        return f"No equally good model has {listed}: it would have to move by {relaxations[0]:.3g}."
    moves = ", ".join(
        f"{constraint.name!r} by {move:.3g}"
        for constraint, move in zip(conflict, relaxations, strict=True)
    )
    return (
        f"No equally good model has all of: {listed}. One of them would have to move, the others "
        f"staying as they are: {moves}."
    )
