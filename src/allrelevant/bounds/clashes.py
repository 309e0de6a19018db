"""Constraints that no model keeps together: which of them clash, and how far they would move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..exceptions import ClashError
from .constraints import Constraint, sign_patterns
from .programs.equivalent_models import EquivalentModels
from .programs.limits import Limit, limited_models
from .programs.linear_program import LinearProgram
from .solver.highs import HighsModel
from .solver.intervals import WeightRanges
from .solver.working_rows import WorkingRows

# Limits that are missed by less than this in all, relative to the norm, are kept.
_TOLERANCE = 1e-8


class ElasticSet:
    """A set of models, and limits that may be missed.

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
        self._tolerance = _TOLERANCE * max(1.0, *norms)

    @cached_property
    def _working(self) -> WorkingRows:
        return WorkingRows(self._models, self._known.coef.toarray(), self._known.offset)

    def is_kept(self, limits: Sequence[Limit]) -> bool:
        """Whether some model keeps all limits."""
        return self.least_miss([], limits) <= self._tolerance

    def least_miss(self, firm: Sequence[Limit], soft: Sequence[Limit]) -> float:
        """The least total by which soft limits are missed while firm ones are kept.

        The slack of a limit's row is what it is missed by. Some model must keep the firm ones.
        """
        while True:
            models = self._working.models
            program = _elastic(models, firm, soft, self._tolerance)
            solution = HighsModel(program).solve("the least change of the constraints")
            coef = (
                solution.point[program.blocks["positive"]]
                - solution.point[program.blocks["negative"]]
            )
            if not self._working.miss(coef, solution.point[program.blocks["offset"]]):
                return solution.value

    def can_keep(self, constraints: Sequence[Constraint]) -> bool:
        """Whether some model keeps all constraints, with whatever signs."""
        return any(self.is_kept(pattern) for pattern in sign_patterns(constraints))

    def least_move(self, constraint: Constraint, others: Sequence[Constraint]) -> float:
        """By how much a constraint has to move for some model to keep it and the others."""
        return min(
            self.least_miss(pattern, [side])
            for pattern in sign_patterns(others)
            if self.is_kept(pattern)
            for side in constraint.sides()
        )


def _elastic(
    models: EquivalentModels, firm: Sequence[Limit], soft: Sequence[Limit], tolerance: float
) -> LinearProgram:
    """The set with firm limits and limits that may be missed at a cost."""
    program = limited_models(models, [*firm, *soft]).program
    slack = np.arange(program.n_columns)[program.blocks["slack"]][models.rows.n_rows :]
    n_firm = sum(len(limit.ends) for limit in firm)
    cost, upper = program.cost.copy(), program.column_upper.copy()
    upper[slack[:n_firm]], upper[slack[n_firm:]] = tolerance, np.inf
    cost[slack[n_firm:]] = 1.0
    return replace(program, cost=cost, column_upper=upper)


def clash_of(elastic: ElasticSet, constraints: Sequence[Constraint]) -> ClashError:
    """The error that tells why no model of a set keeps some constraints.

    Constraints that are not needed for the clash are left out one after the other; what is left is
    a minimal set: without any one of them there is a model that keeps the others.

    Parameters
    ----------
    elastic : ElasticSet
    constraints : sequence of Constraint
        That no model of the set keeps.
    """
    clash = list(constraints)
    for constraint in constraints:
        rest = [other for other in clash if other is not constraint]
        if not elastic.can_keep(rest):
            clash = rest
    moves = [
        elastic.least_move(constraint, [other for other in clash if other is not constraint])
        for constraint in clash
    ]
    return ClashError(_message(clash, moves), clash, moves)


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
