"""Bounds under an expert's constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..exceptions import SolverError
from .constraints import Constraint, ElasticSet, clash_of, sign_patterns
from .models import LinearModel
from .programs.equivalent_models import Start, limited_ranges
from .result import ProblemBounds, put_together
from .solver.constrained import Narrowed, hull, kept_by_sparse, united
from .solver.ranges import WeightRanges


def narrowed_problem(problem: ProblemBounds, constraints: Sequence[Constraint]) -> ProblemBounds:
    """What is known of a problem when only models that keep constraints count.

    The baseline becomes the cheapest model that keeps them; where that overdraws a budget, the mean
    of the witnesses, which does not.

    Parameters
    ----------
    problem : ProblemBounds
        Without the constraints.
    constraints : sequence of Constraint

    Raises
    ------
    ClashError
        If no model of the set keeps them.
    """
    if not constraints:
        return problem
    patterns = [
        Narrowed(problem.models, limits, problem.baseline.C_)
        for limits in sign_patterns(constraints, problem.signed_interval)
    ]
    elastic = ElasticSet(problem.models, problem.ranges)
    possible = [narrowed for narrowed in patterns if _has_models(problem, narrowed, elastic)]
    if not possible:
        raise clash_of(elastic, constraints)
    solved = [_solved(narrowed, problem.ranges) for narrowed in possible]
    first, parts = solved[0][0], [ranges for _, ranges in solved]
    standard = replace(problem.standard, baseline=_baseline(problem, first, parts[0]))
    outer = hull([limited_ranges(problem.signed_interval, part.limits) for part in possible])
    return put_together(standard, first.models, united(parts), outer, problem.cutoff)


def _solved(narrowed: Narrowed, known: WeightRanges) -> tuple[Narrowed, WeightRanges]:
    """The ranges under limits; if a solver finds no model at all, a hair beyond them."""
    try:
        return narrowed, narrowed.ranges(known)
    except SolverError:
        wider = narrowed.with_room()
        return wider, wider.ranges(known)


def _has_models(problem: ProblemBounds, narrowed: Narrowed, elastic: ElasticSet) -> bool:
    """Whether any model of the set keeps the limits: a known one, the start, or one looked for."""
    if kept_by_sparse(problem.ranges.coef, narrowed.limits).any():
        return True
    if _start_within(narrowed) is not None:
        return True
    return elastic.is_kept(narrowed.limits)


def _start_within(narrowed: Narrowed) -> Start | None:
    """The model to start from, if it is a model of the set."""
    start = narrowed.models.start
    if start is None or narrowed.models.violation(start.coef[None], start.offset[None])[0] > 0:
        return None
    return start


def _baseline(problem: ProblemBounds, narrowed: Narrowed, ranges: WeightRanges) -> LinearModel:
    """The cheapest model that keeps the limits; if it overdraws a budget, a mean of witnesses."""
    samples, C, rows = problem.standard.samples, problem.baseline.C_, narrowed.models.rows
    start = _start_within(narrowed)
    if start is not None:
        return replace(samples.model(start.coef, start.offset, C, rows), start_=start)
    coef, offset = np.asarray(ranges.coef.mean(axis=0)).ravel(), ranges.offset.mean(axis=0)
    return samples.model(coef, offset, C, rows)
