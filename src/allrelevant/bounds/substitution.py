"""What replaces what: how the interval of one feature changes with the weight of another.

Feature k is dropped (its weight is zero), and it is raised (its weight has at least half the size
that it can have). Each time the interval of feature j is found anew, over the models that are left:

- dropping k lifts the lower bound of j, or raising k presses its upper bound down: the two are
  *substitutes*, for what one does the other need not do;
- dropping k presses the upper bound of j down, or raising k lifts its lower bound: they are
  *complements*, of use together.

Half the size and not all of it: at its largest weight a feature has used up the slack of the
budgets, a single model is left as a rule, and every other weight changes, whatever it is about.
Half of it a feature can have without any slack if it is worth more than the slack is. A feature
that all models need cannot be dropped: then only raising it says something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix
from ..relevance import IRRELEVANT
from .programs.equivalent_models import WeightLimit
from .result import SubproblemBounds
from .solver.constrained import ConstrainedModels
from .solver.interface import SolverStats, total_effort

# Share of its largest size that a raised weight has at least.
RAISED_SHARE = 0.5


@dataclass(frozen=True)
class Changes:
    """Intervals of features j, shape (m, 2), with feature k dropped and with k raised.

    If k cannot be dropped, the first are those without any change.
    """

    dropped: Matrix
    raised: Matrix
    effort: SolverStats


@dataclass(frozen=True)
class SubproblemRelations:
    """What replaces what among the m relevant features of one subproblem.

    ``dropped`` and ``raised``, shape (m, m, 2), are intervals of feature j, by rows, with feature
    k, by columns, dropped or raised. ``relations``, shape (d, d), go from -1 (k replaces j) to 1 (j
    is of use with k only); zero where one is irrelevant. Privileged features are behind the others.
    """

    features: NDArray[np.intp]
    dropped: NDArray[np.float64]
    raised: NDArray[np.float64]
    relations: Matrix
    effort: SolverStats


def relevant_weights(bounds: SubproblemBounds) -> NDArray[np.intp]:
    """The weights of a subproblem that are relevant, and solved for."""
    return np.flatnonzero((bounds.relevance != IRRELEVANT) & bounds.exact)


def interval_changes(bounds: SubproblemBounds, feature: int) -> Changes:
    """Intervals of all relevant features with one of them dropped, and raised."""
    features = relevant_weights(bounds)
    lower, upper = bounds.interval[feature]
    dropped, effort = bounds.interval[features], SolverStats()
    if lower == 0:
        dropped, effort = _sizes(bounds, features, WeightLimit(feature, 0.0, 0.0))
    low, high = bounds.signed_interval[feature]
    raised, more = _sizes(
        bounds,
        features,
        WeightLimit(feature, RAISED_SHARE * upper, np.inf)
        if high >= -low
        else WeightLimit(feature, -np.inf, -RAISED_SHARE * upper),
    )
    return Changes(dropped, raised, total_effort([effort, more]))


def _sizes(
    bounds: SubproblemBounds, features: NDArray[np.intp], limit: WeightLimit
) -> tuple[Matrix, SolverStats]:
    constrained = ConstrainedModels(bounds.models, [limit], bounds.baseline.model.C_)
    return constrained.sizes(features, bounds.ranges, bounds.signed_interval)


def relation_matrix(bounds: SubproblemBounds, changes: list[Changes]) -> SubproblemRelations:
    """The relations of the relevant features of a subproblem, from the changes with each."""
    features = relevant_weights(bounds)
    d, m = len(bounds.relevance), len(features)
    dropped = np.array([c.dropped for c in changes]).reshape(m, m, 2).transpose(1, 0, 2)
    raised = np.array([c.raised for c in changes]).reshape(m, m, 2).transpose(1, 0, 2)
    relations = np.zeros((d, d))
    relations[np.ix_(features, features)] = signed_relations(
        bounds.interval[features], dropped, raised
    )
    return SubproblemRelations(
        features, dropped, raised, relations, total_effort([c.effort for c in changes])
    )


def signed_relations(
    interval: Matrix, dropped: NDArray[np.float64], raised: NDArray[np.float64]
) -> Matrix:
    """How far features replace each other (negative) or go together (positive).

    All changes are in units of the upper bound of feature j. A raised feature that replaces j takes
    ``RAISED_SHARE`` of it away, so changes with raised features are in units of that. Whichever
    change is larger counts. Intervals have shape (m, 2); with feature k, by columns, dropped or
    raised, (m, m, 2).
    """
    lower, upper = (ends[:, None] for ends in interval.T)
    taken = (upper - raised[:, :, 1]) / RAISED_SHARE
    lifted = (raised[:, :, 0] - lower) / RAISED_SHARE
    substitutes = np.maximum(dropped[:, :, 0] - lower, taken) / upper
    complements = np.maximum(upper - dropped[:, :, 1], lifted) / upper
    relation = np.where(complements > substitutes, complements, -substitutes)
    relation[np.maximum(complements, substitutes) < 0] = 0.0  # rounding
    np.fill_diagonal(relation, 0.0)
    return np.clip(relation, -1.0, 1.0)
