"""Bounds under an expert's constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..exceptions import SolverError
from .constraints import Constraint, ElasticProgram, explain_infeasibility, sign_combinations
from .models import LinearModel
from .programs.equivalent_models import StartingVertex, limited_ranges
from .result import SubproblemBounds, put_together
from .solver.constrained import ConstrainedModels, hull, kept_by_sparse, union
from .solver.ranges import WeightRanges


def narrowed_problem(
    problem: SubproblemBounds, constraints: Sequence[Constraint]
) -> SubproblemBounds:
    """What is known of a problem when only models that keep constraints count.

    The baseline becomes the cheapest model that keeps them; where that overdraws a budget, the mean
    of the witnesses, which does not.

    Parameters
    ----------
    problem : SubproblemBounds
        Without the constraints.
    constraints : sequence of Constraint

    Raises
    ------
    InfeasibleConstraintsError
        If no model of the set keeps them.
    """
    if not constraints:
        return problem
    patterns = [
        ConstrainedModels(problem.models, limits, problem.baseline.C_)
        for limits in sign_combinations(constraints, problem.signed_interval)
    ]
    elastic = ElasticProgram(problem.models, problem.ranges)
    possible = [narrowed for narrowed in patterns if _has_models(problem, narrowed, elastic)]
    if not possible:
        raise explain_infeasibility(elastic, constraints)
    solved = [_solved(narrowed, problem.ranges) for narrowed in possible]
    first, parts = solved[0][0], [ranges for _, ranges in solved]
    standard = replace(problem.standard, baseline=_baseline(problem, first, parts[0]))
    outer = hull([limited_ranges(problem.signed_interval, part.limits) for part in possible])
    return put_together(standard, first.models, union(parts), outer, problem.cutoff)


def _solved(
    narrowed: ConstrainedModels, known: WeightRanges
) -> tuple[ConstrainedModels, WeightRanges]:
    """The ranges under limits; if a solver finds no model at all, a hair beyond them."""
    try:
        return narrowed, narrowed.ranges(known)
    except SolverError:
        wider = narrowed.with_room()
        return wider, wider.ranges(known)


def _has_models(
    problem: SubproblemBounds, narrowed: ConstrainedModels, elastic: ElasticProgram
) -> bool:
    """Whether any model of the set keeps the limits: a known one, the start, or one looked for."""
    if kept_by_sparse(problem.ranges.coef, narrowed.limits).any():
        return True
    if _start_within(narrowed) is not None:
        return True
    return elastic.is_feasible(narrowed.limits)


def _start_within(narrowed: ConstrainedModels) -> StartingVertex | None:
    """The model to start from, if it is a model of the set."""
    start = narrowed.models.start
    if start is None or narrowed.models.violation(start.coef[None], start.offset[None])[0] > 0:
        return None
    return start


def _baseline(
    problem: SubproblemBounds, narrowed: ConstrainedModels, ranges: WeightRanges
) -> LinearModel:
    """The cheapest model that keeps the limits; if it overdraws a budget, a mean of witnesses."""
    samples, C, rows = problem.standard.samples, problem.baseline.C_, narrowed.models.rows
    start = _start_within(narrowed)
    if start is not None:
        return replace(samples.model(start.coef, start.offset, C, rows), start_=start)
    coef, offset = np.asarray(ranges.coef.mean(axis=0)).ravel(), ranges.offset.mean(axis=0)
    return samples.model(coef, offset, C, rows)
