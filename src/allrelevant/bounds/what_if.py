"""Bounds under user constraints (what-if analysis)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError, SolverError
from ..parallel import single_threaded
from ..relevance import RELEVANT
from .constraints import (
    Constraint,
    ConstraintSpec,
    ElasticProgram,
    explain_infeasibility,
    parse_constraint,
    sign_combinations,
)
from .models import LinearModel
from .programs.equivalent_models import StartingVertex, satisfies_limits, within
from .result import BoundsResult, SubproblemBounds
from .solver.blocks import FeatureRanges
from .solver.constrained import ConstrainedModels, hull, union


def constrain_result(
    result: BoundsResult,
    constraints: Mapping[Any, Any],
    *,
    signed: bool = False,
    subproblem: int | None = None,
) -> BoundsResult:
    """Return the result restricted to models that satisfy the user constraints.

    Earlier constraints of the result remain in force, unless a new constraint on the same feature
    replaces them. ``subproblem`` restricts the new constraints to one subproblem; None applies them
    to all. Raise :class:`InfeasibleConstraintsError` if no model of a subproblem satisfies them.
    """
    free = result if result.unconstrained is None else result.unconstrained
    specs = {
        **(result.constraints or {}),
        **_parse_constraints(result, constraints, signed, subproblem),
    }
    with single_threaded():
        subproblems = tuple(
            constrain_subproblem(bounds, subproblem_constraints(free, index, specs))
            for index, bounds in enumerate(free.subproblems)
        )
    return replace(free, subproblems=subproblems, constraints=specs, unconstrained=free)


def find_subproblem(result: BoundsResult, classes: NDArray[Any], label: Any) -> int:
    """Return the index of the one-vs-rest subproblem of a class."""
    if len(result.subproblems) == 1:
        raise InputError(f"label={label!r} requires more than two classes. Remove label.")
    (index,) = np.nonzero(classes == label)
    if len(index) == 0:
        raise InputError(f"Unknown label {label!r}. Use one of {classes.tolist()}.")
    return int(index[0])


def describe_constraints(result: BoundsResult) -> list[str]:
    """Return a description of each constraint of a result, without duplicates."""
    free = result if result.unconstrained is None else result.unconstrained
    descriptions = [
        str(constraint)
        for index in range(len(free.subproblems))
        for constraint in subproblem_constraints(free, index, result.constraints or {})
    ]
    return list(dict.fromkeys(descriptions))


def _parse_constraints(
    result: BoundsResult, constraints: Mapping[Any, Any], signed: bool, subproblem: int | None
) -> dict[int, ConstraintSpec]:
    """Parse the user constraints into specifications, keyed by feature index."""
    if not isinstance(constraints, Mapping):
        raise InputError(
            "Constraints must be a dict that maps features to 'drop', 'keep', a number or a pair "
            f"of numbers (got {constraints!r})."
        )
    layout, varying = result.layout, result.subproblems[0].baseline.varying
    specs: dict[int, ConstraintSpec] = {}
    for key, value in constraints.items():
        feature = layout.index(key)
        name = layout.names[feature]
        if feature in specs:
            raise InputError(
                f"{name!r} is constrained twice, by name and by index. Remove one of the "
                "constraints."
            )
        if feature not in varying:
            raise InputError(
                f"{name!r} is constant, so no model can use it. Remove it from the constraints."
            )
        if signed and feature in layout.blocks and value != "drop":
            raise InputError(
                f"signed=True requires a feature with a single weight, but {name!r} has several. "
                "Use signed=False to constrain their size."
            )
        specs[feature] = parse_constraint(name, value, signed=signed, subproblem=subproblem)
    return specs


def subproblem_constraints(
    free: BoundsResult, index: int, specs: Mapping[int, ConstraintSpec]
) -> list[Constraint]:
    """Return the constraints that apply to one subproblem.

    "keep" applies to the subproblems in which the feature is relevant, or to all subproblems if it
    is relevant in none.
    """
    bounds = free.subproblems[index]
    cutoff = bounds.calibration.relevance_cutoff()
    constraints = []
    for feature, spec in specs.items():
        if spec.subproblem not in (None, index):
            continue
        relevant = [sub.relevance[feature] in RELEVANT for sub in free.subproblems]
        if spec.keep and any(relevant) and not relevant[index]:
            continue
        constraints.append(spec.constraint(feature, free.layout, float(cutoff[feature])))
    return constraints


def constrain_subproblem(
    bounds: SubproblemBounds, constraints: Sequence[Constraint]
) -> SubproblemBounds:
    """Return the bounds of a subproblem over the models that satisfy the constraints.

    The new baseline is the feasible model with the smallest regularized loss. If that model exceeds
    a budget, the baseline is the mean of the witnesses, which is always within the budgets.
    """
    if not constraints:
        return bounds
    C = bounds.baseline.model.C_
    candidates = [
        ConstrainedModels(bounds.models, limits, C)
        for limits in sign_combinations(constraints, bounds.weight_bounds)
    ]
    elastic = ElasticProgram(bounds.models, bounds.solved.models)
    feasible = [candidate for candidate in candidates if _has_models(bounds, candidate, elastic)]
    if not feasible:
        raise explain_infeasibility(elastic, constraints)
    solved = [_solve(candidate, bounds) for candidate in feasible]
    first, parts = solved[0][0], [ranges for _, ranges in solved]
    outer = hull([within(bounds.weight_bounds.T.copy(), part.limits).T for part in feasible])
    model, start = _constrained_baseline(bounds, first, parts[0])
    return SubproblemBounds.from_ranges(
        replace(bounds.baseline, model=model, start=start),
        first.models,
        union(parts),
        outer,
        bounds.calibration,
        tol=bounds.tol,
        is_union=len(parts) > 1,
    )


def _solve(
    candidate: ConstrainedModels, free: SubproblemBounds
) -> tuple[ConstrainedModels, FeatureRanges]:
    """Compute the ranges of all features under constraints; return the set and the ranges.

    If the solver fails, return the set with slightly relaxed limits and its ranges.
    """
    layout = free.baseline.layout
    try:
        return candidate, candidate.feature_ranges(free.solved, layout)
    except SolverError:
        wider = candidate.with_room()
        return wider, wider.feature_ranges(free.solved, layout)


def _has_models(
    bounds: SubproblemBounds, candidate: ConstrainedModels, elastic: ElasticProgram
) -> bool:
    """Return whether some equivalent model satisfies the limits of a constrained set.

    A known witness or the starting vertex may prove feasibility; otherwise, an LP is solved.
    """
    if satisfies_limits(bounds.solved.models.coef, candidate.limits).any():
        return True
    if _start_within(candidate) is not None:
        return True
    return elastic.is_feasible(candidate.limits)


def _start_within(candidate: ConstrainedModels) -> StartingVertex | None:
    """Return the starting vertex of a constrained set if it is feasible, else None."""
    start = candidate.models.start
    if start is None or candidate.models.violation(start.coef[None], start.offset[None])[0] > 0:
        return None
    return start


def _constrained_baseline(
    bounds: SubproblemBounds, candidate: ConstrainedModels, solved: FeatureRanges
) -> tuple[LinearModel, StartingVertex | None]:
    """Return the baseline under the constraints, and the starting vertex (None if infeasible).

    The baseline is the starting vertex if that is feasible, else the mean of the witnesses.
    """
    data, C, rows = bounds.baseline.data, bounds.baseline.model.C_, candidate.models.rows
    start = _start_within(candidate)
    if start is not None:
        return data.model(start.coef, start.offset, C, rows), start
    known = solved.models
    coef, offset = np.asarray(known.coef.mean(axis=0)).ravel(), known.offset.mean(axis=0)
    return data.model(coef, offset, C, rows), None
