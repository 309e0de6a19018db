"""Features that belong together, by what replaces what, and what they carry together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .problem import ProblemBounds
from .relevance import STRONG, WEAK
from .solver.sums import Sums

# Groups are told apart where the mean relation between their members is weaker than this.
CUT = 0.5


def group_labels(relations: Matrix, cut: float = CUT) -> NDArray[np.intp]:
    """The group of each feature, numbered in the order of their first members.

    Hierarchical clustering with average linkage. The distance of two features is 1 less the size of
    their relation, whichever direction is stronger: substitutes are close, and so are companions,
    which together replace a third. Two groups are joined while the mean of that size over the pairs
    between them is at least ``cut``.

    Parameters
    ----------
    relations : ndarray of shape (m, m)
    cut : float, default=0.5

    Examples
    --------
    >>> import numpy as np
    >>> group_labels(np.array([[0.0, -0.9, 0.1], [-0.8, 0.0, 0.0], [0.0, 0.2, 0.0]]))
    array([0, 0, 1])
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(relations) < 2:
        return np.zeros(len(relations), dtype=np.intp)
    strength = np.maximum(np.abs(relations), np.abs(relations).T)
    distance = 1.0 - strength
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    found = fcluster(tree, 1.0 - cut, criterion="distance")
    _, first, label = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label.ravel()]


@dataclass(frozen=True)
class Group:
    """Features that replace each other, and what they carry together.

    Attributes
    ----------
    features : list of str
        Their names.
    members : ndarray of int
        Their places in the table; privileged features count on behind the others.
    lower, upper : float
        Smallest and largest sum of the sizes of their weights, over all equally good models; with
        more than two classes the largest over the classes, as for single features.
    share : float
        What the lower sum is of the baseline's norm.
    relevance : {"strong", "weak"}
        Strong if every equally good model needs some of them: if the lower sum exceeds the cutoff
        for lower bounds.
    """

    features: list[str]
    members: NDArray[np.intp]
    lower: float
    upper: float
    share: float
    relevance: str


def sum_range(problem: ProblemBounds, members: NDArray[np.intp]) -> Vector:
    """Smallest and largest sum of the sizes of some weights, shape (2,)."""
    if len(members) == 1:
        return problem.interval[members[0]]
    sums = Sums(problem.models, problem.ranges, problem.signed_interval)
    return np.array([sums.smallest(members), sums.largest(members)])


def make_group(
    names: list[str], members: NDArray[np.intp], sums: Matrix, problems: list[ProblemBounds]
) -> Group:
    """A group from what its members come to in each problem.

    Parameters
    ----------
    names : list of str
        Of all features.
    members : ndarray of int
    sums : ndarray of shape (n_problems, 2)
    problems : list of ProblemBounds
    """
    norms = np.array([problem.baseline.norm_ for problem in problems])
    strong = [
        bool(sums[i, 0] > problem.cutoff[_table_of(problem, members), 0].max())
        for i, problem in enumerate(problems)
    ]
    return Group(
        features=[names[j] for j in members],
        members=members,
        lower=float(sums[:, 0].max()),
        upper=float(sums[:, 1].max()),
        share=float((sums[:, 0] / np.maximum(norms, 1e-300)).max()),
        relevance=STRONG if any(strong) else WEAK,
    )


def _table_of(problem: ProblemBounds, members: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which table each member is a column of."""
    return (members >= problem.standard.samples.n_features).astype(np.intp)
