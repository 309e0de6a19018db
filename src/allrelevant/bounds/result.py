"""Several problems, one answer: classes against the rest, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix
from ..exceptions import InputError
from ..relevance import IRRELEVANT, STRONG, WEAK, classify
from .baseline import FittedBaseline
from .models import LinearModel
from .programs.equivalent_models import EquivalentModels
from .solver.ranges import WeightRanges


@dataclass(frozen=True)
class SubproblemBounds:
    """What is known of one problem.

    Weights are those of all tables, privileged features behind the others.

    Attributes
    ----------
    standard : Standard
    models : EquivalentModels
        The set of models as good as the baseline.
    ranges : WeightRanges
        Range of each weight that was solved for; constant columns are left out, and so are
        features that screening has proven irrelevant or for which there was no time.
    exact : ndarray of shape (d,)
        False for features that were not solved for: what is known of them is an outer bound.
    signed_interval, interval, gap : ndarray of shape (d, 2)
        Zero for constant columns and dropped features.
    cutoff : ndarray of shape (n_tables, 2)
        For the features of each table.
    relevance : ndarray of shape (d,)
    """

    standard: FittedBaseline
    models: EquivalentModels
    ranges: WeightRanges
    exact: NDArray[np.bool_]
    signed_interval: Matrix
    interval: Matrix
    gap: Matrix
    cutoff: Matrix
    relevance: NDArray[np.str_]

    @property
    def baseline(self) -> LinearModel:
        return self.standard.baseline

    def witness(self, feature: int, side: int) -> LinearModel:
        """A model that attains an end of the feature's interval."""
        if not self.exact[feature]:
            raise InputError(
                "This feature's bound is proven, but no model was looked for that attains it. Fit "
                "with screen=False, and without max_seconds, to get one."
            )
        (index,) = np.nonzero(self.ranges.features == feature)
        if len(index) == 0:  # constant or dropped: no model uses it, the baseline as little as any
            return self.baseline
        coef, offset = self.ranges.witness(int(index[0]), side)
        return self.standard.samples.model(coef, offset, self.baseline.C_, self.models.rows)


def put_together(
    standard: FittedBaseline,
    models: EquivalentModels,
    ranges: WeightRanges,
    outer: Matrix,
    cutoff: Matrix,
) -> SubproblemBounds:
    """What follows from the ranges of some weights, and from what is proven of all.

    Parameters
    ----------
    standard : Standard
    models : EquivalentModels
    ranges : WeightRanges
    outer : ndarray of shape (d, 2)
    cutoff : ndarray of shape (n_tables, 2)
    """
    samples, baseline = standard.samples, standard.baseline
    of_weight = np.repeat(cutoff, [table.shape[1] for table in samples.tables], axis=0)
    signed = _spread_out(ranges, ranges.attained, samples.n_weights)
    interval = _spread_out(ranges, ranges.interval, samples.n_weights)
    gap = _spread_out(ranges, ranges.gap, samples.n_weights)
    # Of the others the truth lies between the baseline's weight and what is proven.
    others = np.setdiff1d(standard.features, ranges.features)
    weight, upper = np.abs(baseline.weights[others]), np.abs(outer[others]).max(axis=1)
    signed[others] = outer[others]
    interval[others] = np.column_stack([np.zeros(len(others)), upper])
    gap[others] = np.column_stack([weight, upper - weight])
    exact = np.ones(samples.n_weights, dtype=bool)
    exact[others] = (outer[others] == 0).all(axis=1)  # nothing is open about a dropped one
    return SubproblemBounds(
        standard=standard,
        models=models,
        ranges=ranges,
        exact=exact,
        signed_interval=signed,
        interval=interval,
        gap=gap,
        cutoff=cutoff,
        relevance=classify(interval, of_weight),
    )


def _spread_out(ranges: WeightRanges, values: Matrix, n_weights: int) -> Matrix:
    full = np.zeros((n_weights, 2))
    full[ranges.features] = values
    return full


@dataclass(frozen=True)
class BoundsResult:
    """What is known of each weight over all problems, and in each of them.

    Attributes
    ----------
    interval, signed_interval, gap : ndarray of shape (d, 2)
    exact, relevance : ndarray of shape (d,)
    class_interval : ndarray of shape (n_problems, d, 2)
    class_relevance : ndarray of shape (n_problems, d)
    """

    interval: Matrix
    signed_interval: Matrix
    gap: Matrix
    exact: NDArray[np.bool_]
    relevance: NDArray[np.str_]
    class_interval: NDArray[np.float64]
    class_relevance: NDArray[np.str_]

    def of(self, weights: NDArray[np.intp]) -> BoundsResult:
        """The part of some weights."""
        return BoundsResult(
            interval=self.interval[weights],
            signed_interval=self.signed_interval[weights],
            gap=self.gap[weights],
            exact=self.exact[weights],
            relevance=self.relevance[weights],
            class_interval=self.class_interval[:, weights],
            class_relevance=self.class_relevance[:, weights],
        )


def combine_subproblems(problems: Sequence[SubproblemBounds]) -> BoundsResult:
    """The largest bound counts; strong for one is strong, relevant for one at least weak."""
    intervals = np.array([problem.interval for problem in problems])
    relevances = np.array([problem.relevance for problem in problems])
    signed = np.array([problem.signed_interval for problem in problems])
    strong = (relevances == STRONG).any(axis=0)
    relevant = (relevances != IRRELEVANT).any(axis=0)
    return BoundsResult(
        interval=intervals.max(axis=0),
        signed_interval=np.column_stack([signed[:, :, 0].min(axis=0), signed[:, :, 1].max(axis=0)]),
        gap=np.max([problem.gap for problem in problems], axis=0),
        exact=np.all([problem.exact for problem in problems], axis=0),
        relevance=np.where(strong, STRONG, np.where(relevant, WEAK, IRRELEVANT)),
        class_interval=intervals,
        class_relevance=relevances,
    )


@dataclass(frozen=True)
class FeatureBounds:
    """The features of one table, d of them, as the columns of a result read them."""

    names: list[str]
    relevance: NDArray[np.str_]
    interval: Matrix
    signed_interval: Matrix
    gap: Matrix
    exact: NDArray[np.bool_]
    baseline: NDArray[np.float64]
    # For each class against the rest, of shapes (n_classes, d, 2) and (n_classes, d); None where
    # there is a single subproblem.
    class_interval: NDArray[np.float64] | None = None
    class_relevance: NDArray[np.str_] | None = None

    def per_class(self) -> list[list[dict[str, Any]]] | None:
        """Of each feature, the interval and the relevance for each class."""
        if self.class_interval is None or self.class_relevance is None:
            return None
        return [
            [
                {"relevance": relevance, "lower": lower, "upper": upper}
                for relevance, (lower, upper) in zip(relevances, intervals, strict=True)
            ]
            for relevances, intervals in zip(
                self.class_relevance.T.tolist(),
                self.class_interval.transpose(1, 0, 2).tolist(),
                strict=True,
            )
        ]


@dataclass(frozen=True)
class Column:
    """One column of a result, wherever a result is shown: frame, document, page and terminal.

    ``values`` reads the column off a table of features, and gives None if this table has no such
    column. The page shows the columns that have a ``heading``.
    """

    name: str
    heading: str | None
    values: Callable[[Any], Any]
    in_frame: bool = True
    on_terminal: bool = False


FEATURE_COLUMNS: tuple[Column, ...] = (
    Column("relevance", "Relevance", lambda table: table.relevance, on_terminal=True),
    Column("lower", "Lower", lambda table: table.interval[:, 0], on_terminal=True),
    Column("upper", "Upper", lambda table: table.interval[:, 1], on_terminal=True),
    Column("signed_min", "Signed from", lambda table: table.signed_interval[:, 0]),
    Column("signed_max", "Signed to", lambda table: table.signed_interval[:, 1]),
    Column("baseline", "Baseline", lambda table: table.baseline),
    Column("exact", None, lambda table: table.exact),
    Column("gap_lower", None, lambda table: table.gap[:, 0]),
    Column("gap_upper", None, lambda table: table.gap[:, 1]),
    Column("per_class", None, lambda table: table.per_class(), in_frame=False),
)


def feature_records(columns: Iterable[Column], table: Any) -> list[dict[str, Any]]:
    """The columns of a table of features as JSON holds them: one dict for each feature."""
    values = {"name": table.names}
    for column in columns:
        entries = column.values(table)
        if entries is not None:
            values[column.name] = entries if isinstance(entries, list) else entries.tolist()
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def cutoff_record(cutoff: Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    """What a lower and what an upper bound must exceed, as JSON holds it."""
    lower, upper = cutoff
    return {"lower": float(lower), "upper": float(upper)}
