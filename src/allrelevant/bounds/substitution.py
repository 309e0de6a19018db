"""Changes in the relevance interval of a feature when another is dropped or raised.

Feature k is either dropped (weight zero) or raised (at least half its largest absolute weight). In
both cases, the interval of feature j is computed over the remaining models:

- If dropping k raises the lower bound of j, or raising k lowers its upper bound, the two features
  are *substitutes*: one makes the other unnecessary.
- If dropping k lowers the upper bound of j, or raising k raises its lower bound, they are
  *complements*: they are useful only together.

Weights are raised to half their maximum, because the maximum would use up the slack of the budgets.
Usually a single model remains there, and all other weights change, whether related or not. Half the
maximum needs no slack if the feature contributes more than the slack does. A feature that all
models need cannot be dropped; for such a feature, only raising is informative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix
from ..deadline import NO_DEADLINE, Deadline
from ..relevance import RELEVANT
from .programs.equivalent_models import WeightLimit
from .result import SubproblemBounds
from .solver.constrained import ConstrainedModels
from .solver.interface import SolverStats, sum_stats

# Minimum of a raised weight, as a fraction of its largest absolute value.
RAISED_SHARE = 0.5


@dataclass(frozen=True)
class IntervalChanges:
    """Intervals of m relevant features when one of them is dropped, and when it is raised.

    ``features`` are their indices. If the feature cannot be dropped, ``dropped`` contains the
    original intervals.
    """

    features: NDArray[np.intp]
    dropped: Matrix
    raised: Matrix
    effort: SolverStats


@dataclass(frozen=True)
class SubproblemRelations:
    """Substitutes and complements among the m relevant features of one subproblem.

    ``dropped`` and ``raised``, shape (m, m, 2), contain the interval of feature j (row) with
    feature k (column) dropped or raised. ``relations``, shape (d, d), ranges from -1 (k replaces j)
    to 1 (j is useful only together with k), and is zero if either feature is irrelevant. Privileged
    features follow the other features. ``examined``, shape (m, m), is False for pairs that the time
    limit left out; their relation is zero.
    """

    features: NDArray[np.intp]
    dropped: NDArray[np.float64]
    raised: NDArray[np.float64]
    relations: Matrix
    examined: NDArray[np.bool_]
    effort: SolverStats


def relevant_features(bounds: SubproblemBounds) -> NDArray[np.intp]:
    """Return the indices of the relevant features whose ranges are exact."""
    return np.flatnonzero(np.isin(bounds.relevance, RELEVANT) & bounds.has_witness)


def strongest_first(bounds: SubproblemBounds) -> NDArray[np.intp]:
    """Return the indices of the relevant features, those with the largest upper bounds first."""
    features = relevant_features(bounds)
    return features[np.argsort(-bounds.interval[features, 1], kind="stable")]


def interval_changes(
    bounds: SubproblemBounds,
    feature: int,
    features: NDArray[np.intp],
    deadline: Deadline = NO_DEADLINE,
) -> IntervalChanges:
    """Compute how the intervals of some relevant features change if one is dropped or raised."""
    layout = bounds.baseline.layout
    lower, upper = bounds.interval[feature]
    weights = layout.weights_of(feature)
    dropped, drop_effort = bounds.interval[features], SolverStats()
    if lower == 0:
        dropped, drop_effort = _constrained_intervals(
            bounds, features, [WeightLimit(int(weight), 0.0, 0.0) for weight in weights], deadline
        )
    least = RAISED_SHARE * upper
    raised, raise_effort = _constrained_intervals(
        bounds, features, [_raised(bounds, feature, weights, least)], deadline
    )
    return IntervalChanges(features, dropped, raised, sum_stats([drop_effort, raise_effort]))


def _raised(
    bounds: SubproblemBounds, feature: int, weights: NDArray[np.intp], least: float
) -> WeightLimit:
    """Return a lower limit on a feature, in the direction in which its weight is largest."""
    if feature in bounds.solved.blocks:
        direction = bounds.solved.blocks[feature].direction
        return WeightLimit.on_direction(direction, weights, least, np.inf)
    low, high = bounds.signed_interval[feature]
    if high >= -low:
        return WeightLimit(int(weights[0]), least, np.inf)
    return WeightLimit(int(weights[0]), -np.inf, -least)


def _constrained_intervals(
    bounds: SubproblemBounds,
    features: NDArray[np.intp],
    limits: list[WeightLimit],
    deadline: Deadline,
) -> tuple[Matrix, SolverStats]:
    constrained = ConstrainedModels(
        bounds.models, limits, bounds.baseline.model.C_, deadline=deadline
    )
    return constrained.feature_sizes(
        features, bounds.solved, bounds.baseline.layout, bounds.weight_bounds
    )


def relation_matrix(
    bounds: SubproblemBounds, changes: Mapping[int, IntervalChanges]
) -> SubproblemRelations:
    """Compute substitutes and complements from the interval changes that each feature causes.

    ``changes`` has an item for each feature that was examined.
    """
    features = relevant_features(bounds)
    d, m = len(bounds.relevance), len(features)
    interval, examined = bounds.interval[features], np.zeros((m, m), dtype=bool)
    dropped, raised = (np.tile(interval[:, None], (1, m, 1)) for _ in range(2))
    for feature, change in changes.items():
        rows, column = (
            np.searchsorted(features, change.features),
            np.searchsorted(features, feature),
        )
        dropped[rows, column], raised[rows, column] = change.dropped, change.raised
        examined[rows, column] = True
    relations = np.zeros((d, d))
    signed = signed_relations(interval, dropped, raised)
    relations[np.ix_(features, features)] = np.where(examined, signed, 0.0)
    np.fill_diagonal(relations, 0.0)
    effort = sum_stats([change.effort for change in changes.values()])
    return SubproblemRelations(features, dropped, raised, relations, examined, effort)


def signed_relations(
    interval: Matrix, dropped: NDArray[np.float64], raised: NDArray[np.float64]
) -> Matrix:
    """Compute the relation of each pair of features, from -1 (substitutes) to 1 (complements).

    Changes are measured relative to the upper bound of feature j. Changes due to a raised feature
    are divided by ``RAISED_SHARE``, because raising a perfect substitute lowers the upper bound by
    that fraction only. The larger change counts. ``interval`` has shape (m, 2); ``dropped`` and
    ``raised`` have shape (m, n, 2), with feature k in columns. The relation of a feature to itself
    has no meaning.
    """
    lower, upper = (ends[:, None] for ends in interval.T)
    upper_decrease = (upper - raised[:, :, 1]) / RAISED_SHARE
    lower_increase = (raised[:, :, 0] - lower) / RAISED_SHARE
    substitutes = np.maximum(dropped[:, :, 0] - lower, upper_decrease) / upper
    complements = np.maximum(upper - dropped[:, :, 1], lower_increase) / upper
    relation = np.where(complements > substitutes, complements, -substitutes)
    relation[np.maximum(complements, substitutes) < 0] = 0.0  # negative changes are rounding errors
    return np.clip(relation, -1.0, 1.0)
