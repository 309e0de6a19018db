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
LEVEL = 0.5


@dataclass(frozen=True)
class Changes:
    """Intervals of features j while the weight of one feature k is set.

    Attributes
    ----------
    dropped : ndarray of shape (m, 2)
        With k dropped; as without, if k cannot be dropped.
    raised : ndarray of shape (m, 2)
        With k raised.
    effort : Effort
    """

    dropped: Matrix
    raised: Matrix
    effort: SolverStats


@dataclass(frozen=True)
class SubproblemRelations:
    """What replaces what in one problem.

    Attributes
    ----------
    features : ndarray of shape (m,)
        The relevant ones, privileged features behind the others.
    dropped, raised : ndarray of shape (m, m, 2)
        Interval of feature j, by rows, with feature k dropped or raised, by columns.
    relations : ndarray of shape (d, d)
        From -1 (k replaces j) to 1 (j is of use with k only); zero where one is irrelevant.
    effort : Effort
    """

    features: NDArray[np.intp]
    dropped: NDArray[np.float64]
    raised: NDArray[np.float64]
    relations: Matrix
    effort: SolverStats


def relevant_weights(problem: SubproblemBounds) -> NDArray[np.intp]:
    """The weights of a problem that are relevant, and solved for."""
    return np.flatnonzero((problem.relevance != IRRELEVANT) & problem.exact)


def interval_changes(problem: SubproblemBounds, feature: int) -> Changes:
    """Intervals of all relevant features with one of them dropped, and raised."""
    features = relevant_weights(problem)
    lower, upper = problem.interval[feature]
    dropped, effort = problem.interval[features], SolverStats()
    if lower == 0:
        dropped, effort = _sizes(problem, features, WeightLimit(feature, 0.0, 0.0))
    low, high = problem.signed_interval[feature]
    raised, more = _sizes(
        problem,
        features,
        WeightLimit(feature, LEVEL * upper, np.inf)
        if high >= -low
        else WeightLimit(feature, -np.inf, -LEVEL * upper),
    )
    return Changes(dropped, raised, total_effort([effort, more]))


def _sizes(
    problem: SubproblemBounds, features: NDArray[np.intp], limit: WeightLimit
) -> tuple[Matrix, SolverStats]:
    narrowed = ConstrainedModels(problem.models, [limit], problem.baseline.C_)
    return narrowed.sizes(features, problem.ranges, problem.signed_interval)


def relation_matrix(problem: SubproblemBounds, changes: list[Changes]) -> SubproblemRelations:
    """The relations of the relevant features of a problem, from the changes with each."""
    features = relevant_weights(problem)
    d, m = len(problem.relevance), len(features)
    dropped = np.array([c.dropped for c in changes]).reshape(m, m, 2).transpose(1, 0, 2)
    raised = np.array([c.raised for c in changes]).reshape(m, m, 2).transpose(1, 0, 2)
    relations = np.zeros((d, d))
    relations[np.ix_(features, features)] = signed_relations(
        problem.interval[features], dropped, raised
    )
    return SubproblemRelations(
        features, dropped, raised, relations, total_effort([c.effort for c in changes])
    )


def signed_relations(
    interval: Matrix, dropped: NDArray[np.float64], raised: NDArray[np.float64]
) -> Matrix:
    """How far features replace each other (negative) or go together (positive).

    All changes are in units of the upper bound of feature j. A raised feature that replaces j
    takes ``LEVEL`` of it away, so changes with raised features are in units of that.

    Parameters
    ----------
    interval : ndarray of shape (m, 2)
    dropped, raised : ndarray of shape (m, m, 2)
        Interval of feature j, by rows, with feature k dropped or raised.

    Returns
    -------
    ndarray of shape (m, m)
        Whichever change is larger; zero on the diagonal.

    Examples
    --------
    Of two copies each can do the other's work:

    >>> import numpy as np
    >>> interval = np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> dropped = np.array([[[0.0, 0.0], [0.9, 1.0]], [[0.9, 1.0], [0.0, 0.0]]])
    >>> raised = np.array([[[0.5, 1.0], [0.0, 0.5]], [[0.0, 0.5], [0.5, 1.0]]])
    >>> signed_relations(interval, dropped, raised)
    array([[ 0., -1.],
           [-1.,  0.]])
    """
    lower, upper = (ends[:, None] for ends in interval.T)
    substitutes = np.maximum(dropped[:, :, 0] - lower, (upper - raised[:, :, 1]) / LEVEL) / upper
    complements = np.maximum(upper - dropped[:, :, 1], (raised[:, :, 0] - lower) / LEVEL) / upper
    relation = np.where(complements > substitutes, complements, -substitutes)
    relation[np.maximum(complements, substitutes) < 0] = 0.0  # rounding
    np.fill_diagonal(relation, 0.0)
    return np.clip(relation, -1.0, 1.0)
