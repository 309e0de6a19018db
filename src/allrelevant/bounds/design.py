"""Search for the minimum-cost feature sets that suffice for some equivalent model."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Integral
from typing import Any, Literal, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from .._params import AUTO
from .._typing import Matrix, Vector
from .._validation import check_unscaled, to_floats
from ..deadline import NO_DEADLINE, Deadline
from ..exceptions import InputError, SolverError, TimeLimitError, warn_caller
from ..parallel import RunOptions
from ..terms.layout import WeightLayout
from .baseline import FittedBaseline, Tolerance
from .calibration import zero_weight
from .cheapest_models import CheapestModel, CheapestModels
from .cross_validation import cross_validated_score, nested_score
from .programs.equivalent_models import EquivalentModels
from .result import BoundsResult, SubproblemBounds
from .solver.blocks import KnownModels
from .solver.cheapest import CheapestSearch, FeatureSet
from .solver.ranges import LOWER, weight_ranges
from .task import FitScaling
from .tuning import Tuning

# With held_out_score="auto", the score is computed for tables with up to this many features.
MAX_FEATURES_FOR_HELD_OUT_SCORE = 40

# Tolerance when a gap between integer costs is rounded down.
_GAP_TOL = 1e-6

OPTIMISTIC_SCORE = (
    "The cross-validated scores of the feature sets are optimistic, because the sets were chosen "
    "on the same rows. Pass held_out_score=True for a nested cross-validation score."
)


@dataclass(frozen=True)
class DesignRequest:
    """Validated arguments of :meth:`RelevanceBounds.cheapest`."""

    costs: Vector
    must_use: NDArray[np.intp]
    must_not_use: NDArray[np.intp]
    n_solutions: int
    max_seconds: float | None
    held_out_score: bool | Literal["auto"] = False

    @classmethod
    def parse(
        cls,
        layout: WeightLayout,
        costs: Any,
        must_use: Sequence[int | str],
        must_not_use: Sequence[int | str],
        n_solutions: int,
        max_seconds: float | None,
        held_out_score: bool | Literal["auto"],
    ) -> Self:
        """Validate the arguments of ``cheapest`` and convert feature names to indices."""
        if not (isinstance(n_solutions, Integral) and n_solutions >= 1):
            raise InputError(f"n_solutions must be an integer of at least 1 (got {n_solutions!r}).")
        check_max_seconds(max_seconds)
        if not (held_out_score == AUTO or isinstance(held_out_score, bool)):
            raise InputError(
                f"held_out_score must be True, False or 'auto' (got {held_out_score!r})."
            )
        required, excluded = (
            np.array([_feature_index(layout, feature) for feature in features], dtype=np.intp)
            for features in (must_use, must_not_use)
        )
        both = np.intersect1d(required, excluded)
        if len(both):
            name = layout.names[both[0]]
            raise InputError(
                f"{name!r} is in both must_use and must_not_use. Remove it from one of them."
            )
        values = read_costs(costs, layout.table_names(0))
        return cls(values, required, excluded, int(n_solutions), max_seconds, held_out_score)

    def for_fold(self, n_folds: int) -> Self:
        """Return the request for one feature set in one fold, with a fraction of the time limit.

        All folds together have the time limit of the whole request.
        """
        seconds = None if self.max_seconds is None else self.max_seconds / n_folds
        return replace(self, n_solutions=1, max_seconds=seconds, held_out_score=False)


def check_max_seconds(max_seconds: float | None) -> None:
    if max_seconds is not None and not max_seconds > 0:
        raise InputError(f"max_seconds must be positive or None (got {max_seconds!r}).")


def _feature_index(layout: WeightLayout, feature: int | str) -> int:
    index = layout.index(feature)
    if layout.is_privileged(index):
        raise InputError(
            f"{feature!r} is a privileged feature, which is not available at prediction time. "
            "Remove it from must_use and must_not_use."
        )
    return index


def read_costs(costs: Any, names: Sequence[str]) -> Vector:
    """Validate user-supplied costs and return the cost of each feature.

    ``costs`` is a mapping from names to costs, an array in the order of the table, or None for unit
    costs.
    """
    if costs is None:
        return np.ones(len(names))
    if isinstance(costs, Mapping):
        by_name = {str(name): cost for name, cost in costs.items()}
        unknown = [name for name in by_name if name not in set(names)]
        missing = [name for name in names if name not in by_name]
        if unknown or missing:
            problem = (
                f"there is no feature {unknown[0]!r}. Remove its cost"
                if unknown
                else f"there is no cost for feature {missing[0]!r}. Add its cost"
            )
            raise InputError(f"The costs do not match the features: {problem}.")
        costs = [by_name[name] for name in names]
    try:
        values = to_floats(costs, "the costs")
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"Costs must be numbers (got {costs!r}).") from error
    if values.shape != (len(names),):
        raise InputError(
            f"Costs of shape {values.shape} do not match {len(names)} features. Pass one cost per "
            "feature."
        )
    is_valid = np.isfinite(values) & (values >= 0)
    if not is_valid.all():
        raise InputError(f"Costs must be finite and nonnegative (got {values[~is_valid][0]:g}).")
    check_unscaled(values, "costs")
    return values


def find_cheapest_models(
    result: BoundsResult,
    request: DesignRequest,
    scoring: Scoring,
    make_predictor: Callable[[BoundsResult], Any],
    deadline: Deadline = NO_DEADLINE,
    **run: Unpack[RunOptions],
) -> CheapestModels:
    """Find minimum-cost feature sets and cross-validate all of them on the same folds.

    ``make_predictor`` returns an estimator for a result. The time limit of the request is that of
    the search. After ``deadline``, :exc:`TimeLimitError` is raised.
    """
    wants_held_out_score = _wants_held_out_score(result, request)
    spaces = [SearchSpace.from_bounds(bounds) for bounds in result.subproblems]
    sets, complete = find_cheapest_sets(spaces, request, deadline)
    gaps = [_optimality_gap(chosen, request.costs) for chosen in sets]
    _warn_unproven(gaps[-1], request)
    baselines = [bounds.baseline for bounds in result.subproblems]
    names = result.features.names
    (baseline_score, baseline_error), *scores = (
        cross_validated_score(baselines, features, scoring.fit_scaling, scoring.tuning, deadline)
        for features in (np.arange(len(names)), *(chosen.members for chosen in sets))
    )
    held_out, notes = None, [OPTIMISTIC_SCORE]
    if wants_held_out_score:
        held_out, notes = score_held_out(baselines, request, scoring, deadline, **run)
    solutions = []
    for chosen, gap, (score, error) in zip(sets, gaps, scores, strict=True):
        models = [
            bounds.model(coef, offset)
            for bounds, (coef, offset) in zip(result.subproblems, chosen.models, strict=True)
        ]
        cheapest = result.with_models(models)
        solutions.append(
            CheapestModel(
                features=[names[j] for j in chosen.members],
                indices=chosen.members,
                cost=chosen.cost,
                proven=gap == 0,
                gap=gap,
                model=cheapest.baseline,
                score=score,
                score_error=error,
                predictor=make_predictor(cheapest),
            )
        )
    return CheapestModels(
        feature_names=names,
        costs=request.costs,
        solutions=solutions,
        baseline_used=result.features.baseline != 0,
        baseline_score=baseline_score,
        baseline_score_error=baseline_error,
        complete=complete,
        held_out_score=None if held_out is None else held_out[0],
        held_out_score_error=None if held_out is None else held_out[1],
        notes=tuple(notes),
    )


def _optimality_gap(chosen: FeatureSet, costs: Vector) -> float:
    """Return an upper bound on the possible saving, rounded down if all costs are integers."""
    if chosen.proven:
        return 0.0
    gap = max(0.0, chosen.cost - chosen.bound)
    return float(np.floor(gap + _GAP_TOL)) if (costs == np.round(costs)).all() else gap


def _warn_unproven(gap: float, request: DesignRequest) -> None:
    """Warn if the time limit was reached before the last set was proven optimal."""
    if gap == 0:
        return
    counts_features = bool((request.costs == 1).all())
    word = "smallest" if counts_features else "cheapest"
    better = f"up to {gap:g} fewer features" if counts_features else f"a cost up to {gap:g} lower"
    warn_caller(
        f"The feature set is not proven to be the {word}, because the search stopped after "
        f"max_seconds={request.max_seconds:g}. A sufficient set with {better} may exist. Increase "
        "max_seconds to prove optimality or to find a better set."
    )


@dataclass(frozen=True)
class Scoring:
    """Cross-validation settings; ``tolerance`` defines the equivalent models of each fold."""

    fit_scaling: FitScaling
    tolerance: Tolerance
    tuning: Tuning


def _wants_held_out_score(result: BoundsResult, request: DesignRequest) -> bool:
    if request.held_out_score == AUTO:
        is_small = len(request.costs) <= MAX_FEATURES_FOR_HELD_OUT_SCORE
        return is_small and result.constraints is None
    if request.held_out_score and result.constraints is not None:
        raise InputError(
            "held_out_score=True is not supported after what_if, because its constraints refer to "
            "the models of all rows. Use held_out_score=False, or pass dropped features as "
            "must_not_use to cheapest() of the original estimator."
        )
    return bool(request.held_out_score)


def score_held_out(
    baselines: Sequence[FittedBaseline],
    request: DesignRequest,
    scoring: Scoring,
    deadline: Deadline = NO_DEADLINE,
    **run: Unpack[RunOptions],
) -> tuple[tuple[float, float] | None, list[str]]:
    """Return the nested cross-validation score with its standard error, and remarks on it.

    The score is None if the search fails in a fold.
    """
    fold_request = request.for_fold(scoring.tuning.n_folds)

    def select(train: NDArray[np.intp]) -> NDArray[np.intp]:
        spaces = [
            SearchSpace.from_rows(baseline, train, scoring, deadline) for baseline in baselines
        ]
        (cheapest,), _ = find_cheapest_sets(spaces, fold_request, deadline)
        return cheapest.members

    try:
        score = nested_score(
            baselines, select, scoring.fit_scaling, scoring.tuning, deadline, **run
        )
        return score, []
    except (InputError, SolverError, TimeLimitError) as error:
        reason = (
            f"The held-out score was not computed, because the search failed in a fold: {error}"
        )
        return None, [OPTIMISTIC_SCORE.partition(" Pass ")[0], reason]


@dataclass(frozen=True)
class SearchSpace:
    """Equivalent models of one subproblem, as a search space for minimum-cost feature sets.

    ``known`` are some of the models. ``signed`` bounds the weights, shape (n_weights, 2);
    ``needed`` is a mask of the features that all models use. A model of a feature set minimizes
    ``|w|_1 + C * loss``.
    """

    models: EquivalentModels
    known: KnownModels
    layout: WeightLayout
    signed: Matrix
    needed: NDArray[np.bool_]
    C: float

    @classmethod
    def from_bounds(cls, bounds: SubproblemBounds) -> Self:
        """Return the search space of a fitted subproblem: its equivalent models."""
        needed = bounds.interval[:, LOWER] > zero_weight(bounds.baseline)
        C, layout = bounds.baseline.model.C_, bounds.baseline.layout
        known = bounds.solved.models
        return cls(bounds.models, known, layout, bounds.weight_bounds, needed, C)

    @classmethod
    def from_rows(
        cls,
        baseline: FittedBaseline,
        rows: NDArray[np.intp],
        scoring: Scoring,
        deadline: Deadline = NO_DEADLINE,
    ) -> Self:
        """Refit a baseline to some of the samples and return its equivalent models."""
        data, C = baseline.data.take(rows), baseline.model.C_
        scaled = data.scale(scoring.fit_scaling)
        fitted = baseline.formulation.fit(data.with_tables(scaled.tables), C, deadline=deadline)
        models = baseline.formulation.equivalent_models(fitted, scoring.tolerance)
        varying = np.flatnonzero(scaled.varying)
        ranges = weight_ranges(models, varying, deadline=deadline)
        if len(ranges.features) < len(varying):
            deadline.check()
        signed, is_needed = np.zeros((models.n_weights, 2)), np.zeros(models.n_weights, dtype=bool)
        signed[ranges.features] = ranges.attained
        is_needed[ranges.features] = ranges.interval[:, LOWER] > zero_weight(fitted)
        known, layout = KnownModels(ranges.coef, ranges.offset), fitted.layout
        return cls(models, known, layout, signed, layout.any_weight(is_needed), C)


def find_cheapest_sets(
    spaces: Sequence[SearchSpace], request: DesignRequest, deadline: Deadline = NO_DEADLINE
) -> tuple[list[FeatureSet], bool]:
    """Return minimum-cost feature sets in order of cost, and whether the list is complete.

    There is one search space per subproblem.
    """
    n = len(request.costs)
    fixed = np.tile([0.0, 1.0], (n, 1))
    # Features that every equivalent model of some subproblem needs are always included.
    needed = np.any([space.needed[:n] for space in spaces], axis=0)
    fixed[np.flatnonzero(needed)] = 1.0
    fixed[request.must_use], fixed[request.must_not_use] = 1.0, 0.0
    search = CheapestSearch(
        [space.models for space in spaces],
        [space.known for space in spaces],
        [space.signed for space in spaces],
        spaces[0].layout,
        request.costs,
        fixed,
        [space.C for space in spaces],
        deadline,
    )
    limit = None if request.max_seconds is None else time.time() + request.max_seconds
    sets = list(islice(search.search(limit), request.n_solutions))
    if not sets:
        raise InputError(
            "Every equivalent model uses at least one feature in must_not_use. Remove features "
            "from must_not_use."
        )
    return sets, len(sets) < request.n_solutions and not search.timed_out
