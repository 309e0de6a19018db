"""Substitutes and complements among the relevant features: pairwise relations and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._optional import display, import_extra
from .._typing import Matrix, Vector
from ..deadline import NO_DEADLINE, Deadline
from ..exceptions import InputError, warn_caller
from ..parallel import Job, TimedOptions, deadline_of, parallel_map, timed_map, with_deadline
from ..relevance import STRONG, WEAK
from .result import BoundsResult, SubproblemBounds
from .solver.interface import SolverStats, sum_stats
from .solver.mixed_integer import TotalWeight
from .solver.proofs import largest_norm
from .substitution import (
    IntervalChanges,
    SubproblemRelations,
    interval_changes,
    relation_matrix,
    relevant_features,
    signed_relations,
    strongest_first,
)

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import RelationsDisplay, SubstitutesDisplay


# Features are related, and groups merged, if their (mean) absolute relation is at least this.
RELATION_THRESHOLD = 0.5

# Stages of a computation, with their usual relative durations.
RELATIONS, GROUPS = "relations", "groups"
RELATION_STAGES = {RELATIONS: 0.8, GROUPS: 0.2}

# If the time does not suffice for the effects on all features, the relations among this number of
# features with the largest bounds are computed.
N_STRONGEST = 10

# Parts of the time for the effects on all features, and of the rest for those on the strongest.
ALL_SHARE = 0.5
STRONGEST_SHARE = 0.6

SUBSTITUTES, COMPLEMENTS, INDEPENDENT = "substitutes", "complements", "independent"


@dataclass(frozen=True)
class Relations:
    """Substitutes and complements among the relevant features.

    Returned by the method ``relations`` of a fitted estimator. Privileged features, if any, follow
    the other features.

    Attributes
    ----------
    feature_names : list of str
        Names of all d features.
    relations_ : ndarray of shape (d, d)
        Effect of feature k (column) on feature j (row), from -1 (substitutes: k replaces j) through
        0 (independent) to 1 (complements: j is useful only together with k). Zero if either feature
        is irrelevant. With more than two classes, the strongest relation over the classes.
    class_relations_ : ndarray of shape (n_problems, d, d)
        Relations in each one-vs-rest subproblem.
    labels_ : ndarray of shape (d,)
        Group number of each feature; -1 for irrelevant features.
    feature_groups_ : list of FeatureGroup
        Substitution groups, ordered by number.
    problems : list of SubproblemRelations
        Intervals from which the relations are computed, one item per one-vs-rest subproblem.
    effort : SolverStats
        Numbers of LPs solved, and of LPs skipped because their solutions were known.
    examined_ : ndarray of shape (d, d) or None
        False for pairs of relevant features that were not examined within the time limit; their
        relation is zero. None if all pairs were examined.
    """

    feature_names: list[str]
    relations_: Matrix
    class_relations_: NDArray[np.float64]
    labels_: NDArray[np.intp]
    feature_groups_: list[FeatureGroup]
    problems: list[SubproblemRelations]
    effort: SolverStats
    examined_: NDArray[np.bool_] | None = None

    @property
    def unexamined(self) -> list[tuple[str, str]]:
        """Pairs (affected feature, other feature) that were not examined within the time limit."""
        if self.examined_ is None:
            return []
        names = self.feature_names
        return [(names[j], names[k]) for j, k in np.argwhere(~self.examined_).tolist()]

    def kind(self, feature: int, other: int) -> str:
        """Classify two features as "substitutes", "complements" or "independent"."""
        pair = [self.relations_[feature, other], self.relations_[other, feature]]
        relation = max(pair, key=abs)
        if abs(relation) < RELATION_THRESHOLD:
            return INDEPENDENT
        return SUBSTITUTES if relation < 0 else COMPLEMENTS

    def to_frame(self) -> pd.DataFrame:
        """Return all pairs of relevant features as a data frame, strongest relations first.

        Returns
        -------
        pandas.DataFrame
            ``feature``, ``other``, ``relation`` (effect of ``other`` on ``feature``), ``kind`` and
            ``group`` (number of the common group, or -1).
        """
        pandas = import_extra("pandas", "pandas")

        shown = np.flatnonzero(self.labels_ >= 0).tolist()
        rows = [
            (
                self.feature_names[j],
                self.feature_names[k],
                self.relations_[j, k],
                self.kind(j, k),
                int(self.labels_[j]) if self.labels_[j] == self.labels_[k] else -1,
            )
            for j in shown
            for k in shown
            if j != k
        ]
        rows.sort(key=lambda row: -abs(row[2]))
        return pandas.DataFrame(rows, columns=["feature", "other", "relation", "kind", "group"])

    def to_dict(self) -> dict[str, Any]:
        """Return the relations and groups of relevant features as JSON-compatible values.

        Returns
        -------
        dict
            ``features``, ordered by group; ``group``, the group number of each feature; ``matrix``,
            the relations, with affected features in rows; ``groups``; ``threshold``, the smallest
            absolute relation that counts; and ``unexamined``, the pairs that the time limit left
            out.
        """
        shown = self.by_group()
        names = ("features", "relevance", "lower", "upper", "norm_fraction")
        return {
            "features": [self.feature_names[j] for j in shown],
            "group": self.labels_[shown].tolist(),
            "matrix": self.relations_[shown][:, shown].tolist(),
            "groups": [
                {name: getattr(group, name) for name in names} for group in self.feature_groups_
            ],
            "threshold": RELATION_THRESHOLD,
            "unexamined": [list(pair) for pair in self.unexamined],
        }

    def groups_to_frame(self) -> pd.DataFrame:
        """Return the substitution groups as a data frame with one row per group.

        Returns
        -------
        pandas.DataFrame
            ``features``, ``relevance``, ``lower``, ``upper`` and ``norm_fraction``.
        """
        pandas = import_extra("pandas", "pandas")

        names = ("features", "relevance", "lower", "upper", "norm_fraction")
        rows = [[getattr(group, name) for name in names] for group in self.feature_groups_]
        frame = pandas.DataFrame(rows, columns=list(names))
        return frame.rename_axis("group")

    def by_group(self, max_features: int | None = None) -> NDArray[np.intp]:
        """Return the indices of relevant features sorted by group, largest groups first."""
        relevant = np.flatnonzero(self.labels_ >= 0)
        labels = self.labels_[relevant]
        size = np.bincount(labels, minlength=1)[labels]
        order = relevant[np.lexsort((relevant, labels, -size))]
        return order if max_features is None else order[:max_features]

    def plot(
        self, kind: Literal["matrix", "graph"] = "matrix", **kwargs: Any
    ) -> RelationsDisplay | SubstitutesDisplay:
        """Plot the relations between features as a matrix or a graph.

        Parameters
        ----------
        kind : {"matrix", "graph"}, default="matrix"
            Heat map ordered by group, or graph of substitutes.
        **kwargs
            Keyword arguments for the ``plot`` method of
            :class:`~allrelevant.plots.RelationsDisplay` or
            :class:`~allrelevant.plots.SubstitutesDisplay`.
        """
        if kind not in ("matrix", "graph"):
            raise InputError(f"kind must be 'matrix' or 'graph' (got {kind!r}).")
        if kind == "graph":
            return display("SubstitutesDisplay").from_result(self, **kwargs)
        return display("RelationsDisplay").from_result(self, **kwargs)


@dataclass(frozen=True)
class FeatureGroup:
    """Substitution group: related features, and the bounds on their total weight.

    Attributes
    ----------
    features : list of str
        Feature names.
    members : ndarray of int
        Feature indices; privileged features follow the other features.
    lower, upper : float
        Smallest and largest sum of the members' absolute weights over all equivalent models. With
        more than two classes, the largest over the classes, as for single features.
    norm_fraction : float
        ``lower`` as a fraction of the baseline's norm.
    relevance : {"strong", "weak"}
        "strong" if the group is jointly strong: every equivalent model uses some of its members,
        because ``lower`` exceeds the cutoff for lower bounds.
    """

    features: list[str]
    members: NDArray[np.intp]
    lower: float
    upper: float
    norm_fraction: float
    relevance: str


def find_relations(result: BoundsResult, job: Job, *, n_jobs: int | None = None) -> Relations:
    """Compute pairwise relations and substitution groups of the relevant features.

    If the job has a deadline, the features with the largest bounds come first.
    """
    result.check_single_set()
    subproblems, names = result.subproblems, list(result.layout.names)
    changes = _all_changes(subproblems, job.stage(RELATIONS, n_jobs))
    by_class = [
        relation_matrix(bounds, own) for bounds, own in zip(subproblems, changes, strict=True)
    ]
    class_relations = np.array([part.relations for part in by_class])
    # For each pair, take the strongest relation over the classes.
    strongest = np.abs(class_relations).argmax(axis=0)
    relations = np.take_along_axis(class_relations, strongest[None], axis=0)[0]
    relevant = np.unique(np.concatenate([part.features for part in by_class]))
    labels = np.full(len(names), -1)
    labels[relevant] = group_labels(relations[np.ix_(relevant, relevant)])
    return Relations(
        feature_names=names,
        relations_=relations,
        class_relations_=class_relations,
        labels_=labels,
        feature_groups_=_make_groups(result, labels, job.stage(GROUPS, n_jobs)),
        problems=by_class,
        effort=sum_stats([part.effort for part in by_class]),
        examined_=_examined(by_class, len(names)),
    )


def _all_changes(
    subproblems: Sequence[SubproblemBounds], run: TimedOptions
) -> list[dict[int, IntervalChanges]]:
    """Return the interval changes that each relevant feature causes, for each subproblem.

    If the time does not suffice, features without changes are missing, and some features have
    changes of the strongest features only.
    """
    order = [strongest_first(bounds) for bounds in subproblems]
    tasks = [(i, int(k)) for i, features in enumerate(order) for k in features]
    tasks.sort(key=lambda task: -subproblems[task[0]].interval[task[1], 1])
    affected = [relevant_features(bounds) for bounds in subproblems]
    changes: list[dict[int, IntervalChanges]] = [{} for _ in subproblems]

    def add(own: Sequence[tuple[int, int]], share: float) -> None:
        def change(task: tuple[int, int], deadline: Deadline) -> IntervalChanges:
            i, k = task
            return interval_changes(subproblems[i], k, affected[i], deadline)

        limited = with_deadline(run, deadline_of(run).share(share))
        for (i, k), found in zip(own, timed_map(change, own, **limited), strict=True):
            if found is not None:
                changes[i][k] = found

    add(tasks, ALL_SHARE)
    affected = [np.sort(features[:N_STRONGEST]) for features in order]
    missing = [(i, k) for i, k in tasks if k not in changes[i] and k in affected[i]]
    if missing:
        add(missing, STRONGEST_SHARE)
    return changes


def _examined(by_class: Sequence[SubproblemRelations], d: int) -> NDArray[np.bool_] | None:
    """Return which pairs were examined in all classes, and warn if some were not."""
    examined = np.ones((d, d), dtype=bool)
    for part in by_class:
        examined[np.ix_(part.features, part.features)] &= part.examined
    np.fill_diagonal(examined, val=True)
    n_missing = int((~examined).sum())
    if n_missing == 0:
        return None
    n_relevant = len(np.unique(np.concatenate([part.features for part in by_class])))
    n_pairs = n_relevant * (n_relevant - 1)
    warn_caller(
        f"{n_missing:,} of {n_pairs:,} ordered pairs of relevant features were not examined within "
        "the time limit, so substitutes and groups may be incomplete. The features with the "
        "largest bounds came first. Increase max_seconds to examine all pairs."
    )
    return examined


def find_substitutes(
    result: BoundsResult, features: Sequence[int], *, n_jobs: int | None = None
) -> list[list[int]]:
    """Return the substitutes of each of the given features, strongest relation first.

    A substitute becomes more necessary if the feature is dropped, or less useful if it is raised.
    """
    result.check_single_set()
    relevant = [set(relevant_features(bounds).tolist()) for bounds in result.subproblems]
    tasks = [(i, k) for i, indices in enumerate(relevant) for k in features if k in indices]
    changes = parallel_map(
        lambda task: interval_changes(
            result.subproblems[task[0]], task[1], relevant_features(result.subproblems[task[0]])
        ),
        tasks,
        n_jobs=n_jobs,
    )
    strength = np.zeros((len(result.layout.names), len(result.layout.names)))
    for (i, k), change in zip(tasks, changes, strict=True):
        bounds = result.subproblems[i]
        rows = relevant_features(bounds)
        column = signed_relations(
            bounds.interval[rows], change.dropped[:, None], change.raised[:, None]
        )[:, 0]
        strength[rows, k] = np.maximum(strength[rows, k], -column)
    np.fill_diagonal(strength, 0.0)
    by_strength = [np.argsort(-strength[:, k], kind="stable") for k in features]
    return [
        [int(j) for j in order if strength[j, k] >= RELATION_THRESHOLD]
        for k, order in zip(features, by_strength, strict=True)
    ]


def group_labels(relations: Matrix, threshold: float = RELATION_THRESHOLD) -> NDArray[np.intp]:
    """Cluster features into substitution groups and return the group number of each feature.

    The groups come from hierarchical clustering with average linkage. The distance between two
    features is 1 minus their absolute relation in the stronger direction. Substitutes are close,
    and complements are close as well, because together they replace a third feature. Two groups are
    merged if the mean absolute relation between them is at least ``threshold``. The groups are
    numbered in the order of their first features.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(relations) < 2:
        return np.zeros(len(relations), dtype=np.intp)
    strength = np.maximum(np.abs(relations), np.abs(relations).T)
    distance = 1.0 - strength
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    clusters = fcluster(tree, 1.0 - threshold, criterion="distance")
    _, first, label = np.unique(clusters, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label.ravel()]


def _make_groups(
    result: BoundsResult, labels: NDArray[np.intp], run: TimedOptions
) -> list[FeatureGroup]:
    """Compute the substitution groups and the bounds on the total weight of each.

    After the deadline, the bounds of the members bound their total weight, and a warning is issued.
    """
    groups = [np.flatnonzero(labels == label) for label in range(labels.max(initial=-1) + 1)]
    subproblems = result.subproblems
    tasks = [(i, members) for members in groups for i in range(len(subproblems))]
    found = timed_map(
        lambda task, deadline: sum_range(subproblems[task[0]], task[1], deadline), tasks, **run
    )
    n_missing = sum(part is None for part in found)
    if n_missing:
        warn_caller(
            f"The total weights of {n_missing} of {len(tasks)} groups were not computed within the "
            "time limit. Their bounds are certified but not tight. Increase max_seconds."
        )
    ranges = [
        _outer_sum_range(subproblems[i], members) if part is None else part
        for (i, members), part in zip(tasks, found, strict=True)
    ]
    sums = np.array(ranges).reshape(len(groups), len(subproblems), 2)
    return [_make_group(result, *group) for group in zip(groups, sums, strict=True)]


def _outer_sum_range(bounds: SubproblemBounds, members: NDArray[np.intp]) -> Vector:
    """Return certified bounds on the total absolute weight of several features, without an LP."""
    lower, upper = (bounds.interval[members] + [-1, 1] * bounds.gap[members]).sum(axis=0)
    return np.array([max(lower, 0.0), min(upper, largest_norm(bounds.models))])


def sum_range(
    bounds: SubproblemBounds, members: NDArray[np.intp], deadline: Deadline = NO_DEADLINE
) -> Vector:
    """Compute the smallest and largest total absolute weight of several features, shape (2,)."""
    if len(members) == 1:
        return bounds.interval[members[0]]
    total = TotalWeight(bounds.models, bounds.solved.models, bounds.weight_bounds, deadline)
    weights = bounds.baseline.layout.weights_of(members)
    return np.array([total.smallest(weights), total.largest(weights)])


def _make_group(result: BoundsResult, members: NDArray[np.intp], sums: Matrix) -> FeatureGroup:
    """Return a substitution group, given the bounds on its total weight in each subproblem."""
    norms = np.array([bounds.baseline.model.norm_ for bounds in result.subproblems])
    cutoffs = [bounds.calibration.strong_cutoff()[members].max() for bounds in result.subproblems]
    return FeatureGroup(
        features=[result.layout.names[j] for j in members],
        members=members,
        lower=float(sums[:, 0].max()),
        upper=float(sums[:, 1].max()),
        norm_fraction=float((sums[:, 0] / np.maximum(norms, 1e-300)).max()),
        relevance=STRONG if (sums[:, 0] > cutoffs).any() else WEAK,
    )
