"""What replaces what: how the interval of one feature changes with the weight of another.

Feature k is *dropped* (its weight is zero; if every model needs some of it, its weight is lowered
to the middle of its range), and it is *raised* (to the middle of its range, or above). Each time
the interval of feature j is found anew, over the models that are left:

- dropping k lifts the lower bound of j, or raising k presses its upper bound down: the two are
  *substitutes*, for what one does the other need not do;
- dropping k presses the upper bound of j down, or raising k lifts its lower bound: they are
  *companions*, of use together.

The middle and not the end: at the end of its range a feature has used up the slack of the budgets,
a single model is left as a rule, and every other weight changes, whatever it is about. The middle
it can have without any slack if the range is longer than slack alone makes it. How long that is the
cutoff for upper bounds says: slack takes an irrelevant weight so far from zero, to either side. Of
a feature that every model needs, and that has no more room than this, nothing can be replaced; it
is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix
from .problem import ProblemBounds
from .programs.limits import Limit
from .relevance import IRRELEVANT
from .solver.extremes import Effort, total_effort
from .solver.narrowed import Narrowed

# How far up its range, as a share of it, a raised weight is at least; a lowered one at most.
LEVEL = 0.5


@dataclass(frozen=True)
class Changes:
    """Intervals of features j while the weight of one feature k is set.

    Attributes
    ----------
    dropped : ndarray of shape (m, 2)
        With k dropped, or lowered if every model needs it.
    raised : ndarray of shape (m, 2)
        With k raised. Both as they are without, if nothing can replace any of k.
    effort : Effort
    """

    dropped: Matrix
    raised: Matrix
    effort: Effort


@dataclass(frozen=True)
class ProblemRelations:
    """What replaces what in one problem.

    Attributes
    ----------
    features : ndarray of shape (m,)
        The relevant ones, privileged features behind the others.
    dropped, raised : ndarray of shape (m, m, 2)
        Interval of feature j, by rows, with feature k dropped (or lowered) or raised, by columns.
    relations : ndarray of shape (d, d)
        From -1 (k replaces j) to 1 (j is of use with k only); zero where one is irrelevant.
    effort : Effort
    """

    features: NDArray[np.intp]
    dropped: NDArray[np.float64]
    raised: NDArray[np.float64]
    relations: Matrix
    effort: Effort


def relevant_weights(problem: ProblemBounds) -> NDArray[np.intp]:
    """The weights of a problem that are relevant, and solved for."""
    return np.flatnonzero((problem.relevance != IRRELEVANT) & problem.exact)


def changes_with(problem: ProblemBounds, feature: int) -> Changes:
    """Intervals of all relevant features with one of them dropped, and raised."""
    features = relevant_weights(problem)
    if not _can_be_replaced(problem, feature):
        return Changes(problem.interval[features], problem.interval[features], Effort())
    lower, upper = problem.interval[feature]
    middle = lower + LEVEL * (upper - lower)
    low, high = problem.signed_interval[feature]
    sign = 1 if high >= -low else -1  # with which its weight can be larger
    dropped, effort = _sizes(problem, features, _at_most(feature, middle if lower > 0 else 0.0))
    raised, more = _sizes(problem, features, _at_least(feature, middle, sign))
    return Changes(dropped, raised, total_effort([effort, more]))


def _can_be_replaced(problem: ProblemBounds, feature: int) -> bool:
    """Whether a feature is not needed at all, or its range is longer than slack alone makes it."""
    lower, upper = problem.interval[feature]
    of_slack = 2.0 * problem.weight_cutoff[feature, 1]  # from minus to plus the cutoff
    return bool(lower == 0 or upper - lower > of_slack)


def _at_most(feature: int, size: float) -> Limit:
    return Limit(feature, -size, size)


def _at_least(feature: int, size: float, sign: int) -> Limit:
    return Limit(feature, size, np.inf) if sign > 0 else Limit(feature, -np.inf, -size)


def _sizes(
    problem: ProblemBounds, features: NDArray[np.intp], limit: Limit
) -> tuple[Matrix, Effort]:
    narrowed = Narrowed(problem.models, [limit], problem.baseline.C_)
    return narrowed.sizes(features, problem.ranges, problem.signed_interval)


def related(problem: ProblemBounds, changes: list[Changes]) -> ProblemRelations:
    """The relations of the relevant features of a problem, from the changes with each."""
    features = relevant_weights(problem)
    d, m = len(problem.relevance), len(features)
    dropped = np.array([c.dropped for c in changes]).reshape(m, m, 2).transpose(1, 0, 2)
    raised = np.array([c.raised for c in changes]).reshape(m, m, 2).transpose(1, 0, 2)
    relations = np.zeros((d, d))
    relations[np.ix_(features, features)] = signed_relations(
        problem.interval[features], dropped, raised
    )
    return ProblemRelations(
        features, dropped, raised, relations, total_effort([c.effort for c in changes])
    )


def signed_relations(
    interval: Matrix, dropped: NDArray[np.float64], raised: NDArray[np.float64]
) -> Matrix:
    """How far features replace each other (negative) or go together (positive).

    All changes are in units of the upper bound of feature j. A feature that replaces j takes all of
    it away when it is raised to its end, ``LEVEL`` of it when it is raised so far; and likewise
    when it is lowered and not dropped. Such changes are in units of that.

    Parameters
    ----------
    interval : ndarray of shape (m, 2)
    dropped, raised : ndarray of shape (m, m, 2)
        Interval of feature j, by rows, with feature k dropped (or lowered) or raised.

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
    way_down = np.where(interval[:, 0] > 0, LEVEL, 1.0)  # of each feature k: lowered, or dropped
    lifts, shrinks = dropped[:, :, 0] - lower, upper - dropped[:, :, 1]
    substitutes = np.maximum(lifts / way_down, (upper - raised[:, :, 1]) / LEVEL) / upper
    companions = np.maximum(shrinks / way_down, (raised[:, :, 0] - lower) / LEVEL) / upper
    relation = np.where(companions > substitutes, companions, -substitutes)
    relation[np.maximum(companions, substitutes) < 0] = 0.0  # rounding
    np.fill_diagonal(relation, 0.0)
    return np.clip(relation, -1.0, 1.0)
