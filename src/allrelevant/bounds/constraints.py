"""What an expert asks of a model, feature by feature.

Constraints that no model keeps together: which of them clash, and how far they would move.
"""

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


@dataclass(frozen=True)
class Constraint:
    """``low <= size <= high`` of a feature's weight, or of the weight itself if it is signed.

    Attributes
    ----------
    feature : int
    name : str
        What messages call the feature.
    low, high : float
        Infinite where there is no limit.
    signed : bool
        Whether it is about the weight with its sign; else about its size.
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
    """What a user asks of a feature.

    Attributes
    ----------
    low, high : float
        Infinite where there is no limit.
    signed : bool
        Whether they are about the weight with its sign; else about its size.
    keep : bool
        Whether the feature is to be kept: ``low`` is then the cutoff, whatever that is.
    problem : int or None
        The problem that it is about, by its place; None if it is about all.
    """

    low: float
    high: float
    signed: bool
    keep: bool = False
    problem: int | None = None

    def constraint(self, feature: int, name: str, cutoff: float) -> Constraint:
        """What it comes to in a problem with this cutoff."""
        return Constraint(feature, name, cutoff if self.keep else self.low, self.high, self.signed)


def parse_constraint(
    name: str, value: Any, *, signed: bool, problem: int | None = None
) -> ConstraintSpec:
    """What a user has written about a feature.

    Parameters
    ----------
    name : str
        Of the feature, for messages.
    value : "drop", "keep", float or (float or None, float or None)
    signed : bool
        Whether numbers are about weights with their signs.
    problem : int, default=None
        See :class:`ConstraintSpec`.

    Examples
    --------
    >>> parse_constraint("age", (0.5, None), signed=False)
    ConstraintSpec(low=0.5, high=inf, signed=False, keep=False, problem=None)
    """
    if isinstance(value, str) and value == "drop":
        return ConstraintSpec(0.0, 0.0, signed=False, problem=problem)
    if isinstance(value, str) and value == "keep":
        return ConstraintSpec(0.0, math.inf, signed=False, keep=True, problem=problem)
    low, high = _ends(name, value, signed)
    if not low <= high:
        raise InputError(f"The limits of {name!r} are the wrong way round: {low:g} and {high:g}.")
    if not signed and low < 0:
        raise InputError(
            f"The size of the weight of {name!r} cannot be negative, got {low:g}. For limits on "
            "weights with their signs use signed=True."
        )
    return ConstraintSpec(low, high, signed, problem=problem)


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

    Parameters
    ----------
    constraints : sequence of Constraint
    signed_interval : ndarray of shape (d, 2), default=None
        What the weights cannot go beyond: signs that it rules out are left out. A constraint for
        which it rules out both keeps both.
    """
    options = [_possible(constraint.sides(), signed_interval) for constraint in constraints]
    n_patterns = math.prod(len(sides) for sides in options)
    if n_patterns > MAX_SIGN_COMBINATIONS:
        raise InputError(
            f"There are {n_patterns} ways to choose the signs of weights that must not be zero. "
            "Say which: signed=True, with limits on weights."
        )
    return [list(pattern) for pattern in product(*options)]


def _possible(sides: list[WeightLimit], signed_interval: Matrix | None) -> list[WeightLimit]:
    if signed_interval is None:
        return sides
    low, high = signed_interval[sides[0].feature]
    return [side for side in sides if side.low <= high and side.high >= low] or sides


# A total violation below this, relative to the norm, is none.
VIOLATION_TOL = 1e-8


class ElasticProgram:
    """A set of models, and limits that may be violated.

    Parameters
    ----------
    models : EquivalentModels
        Without the limits.
    known : WeightRanges
        Of that set; their witnesses tell which rows matter.
    """

    def __init__(self, models: EquivalentModels, known: WeightRanges) -> None:
        self._models, self._known = models, known
        norms = [b.limit / b.norm_coefficient for b in models.budgets if b.norm_coefficient > 0]
        self._tolerance = VIOLATION_TOL * max(1.0, *norms)

    @cached_property
    def _working(self) -> WorkingSet:
        return WorkingSet(self._models, self._known)

    def is_feasible(self, limits: Sequence[WeightLimit]) -> bool:
        """Whether some model keeps all limits."""
        return self.total_violation([], limits) <= self._tolerance

    def total_violation(self, firm: Sequence[WeightLimit], soft: Sequence[WeightLimit]) -> float:
        """Smallest total violation of the soft limits by models that keep the firm ones.

        The slack of a limit's row is its violation. Some model must keep the firm limits.
        """
        while True:
            models = self._working.models
            program = _elastic(models, firm, soft, self._tolerance)
            solution = HighsModel(program).solve("the least change of the constraints")
            if not self._working.add_missing(*program.model(solution.point)):
                return solution.value

    def can_keep(self, constraints: Sequence[Constraint]) -> bool:
        """Whether some model keeps all constraints, with whatever signs."""
        return any(self.is_feasible(pattern) for pattern in sign_combinations(constraints))

    def smallest_relaxation(self, constraint: Constraint, others: Sequence[Constraint]) -> float:
        """How far a constraint has to move for some model to keep it and the others."""
        return min(
            self.total_violation(pattern, [side])
            for pattern in sign_combinations(others)
            if self.is_feasible(pattern)
            for side in constraint.sides()
        )


def _elastic(
    models: EquivalentModels,
    firm: Sequence[WeightLimit],
    soft: Sequence[WeightLimit],
    tolerance: float,
) -> LinearProgram:
    """The set with firm limits, and with soft ones that may be violated at a cost."""
    program = limited_models(models, [*firm, *soft]).program
    slack = np.arange(program.n_columns)[program.blocks["slack"]][models.rows.n_rows :]
    n_firm = sum(len(limit.ends) for limit in firm)
    cost, upper = program.cost.copy(), program.column_upper.copy()
    upper[slack[:n_firm]], upper[slack[n_firm:]] = tolerance, np.inf
    cost[slack[n_firm:]] = 1.0
    return replace(program, cost=cost, column_upper=upper)


def explain_infeasibility(
    elastic: ElasticProgram, constraints: Sequence[Constraint]
) -> InfeasibleConstraintsError:
    """The error that tells why no model of a set keeps some constraints.

    Constraints that are not needed for the clash are left out one after the other; what is left is
    a minimal set: without any one of them there is a model that keeps the others.

    Parameters
    ----------
    elastic : ElasticProgram
    constraints : sequence of Constraint
        That no model of the set keeps.
    """
    clash = list(constraints)
    for constraint in constraints:
        rest = [other for other in clash if other is not constraint]
        if not elastic.can_keep(rest):
            clash = rest
    moves = [
        elastic.smallest_relaxation(
            constraint, [other for other in clash if other is not constraint]
        )
        for constraint in clash
    ]
    return InfeasibleConstraintsError(_message(clash, moves), clash, moves)


def _message(clash: Sequence[Constraint], moves: Sequence[float]) -> str:
    asked = ", ".join(str(constraint) for constraint in clash)
    if len(clash) == 1:
        return f"No equally good model has {asked}: it would have to move by {moves[0]:.3g}."
    by = ", ".join(
        f"{constraint.name!r} by {move:.3g}" for constraint, move in zip(clash, moves, strict=True)
    )
    return (
        f"No equally good model has all of: {asked}. One of them would have to move, the others "
        f"staying as they are: {by}."
    )
