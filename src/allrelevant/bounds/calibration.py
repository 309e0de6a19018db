"""Calibration of the cutoffs that separate relevant from irrelevant features.

The cutoffs are given by the user (:class:`FixedCutoff`) or estimated from features that are
irrelevant by construction (:class:`ProbeCalibration`). A probe is a randomly permuted copy of a
column: it has the same values, but carries no information about the target.

Probes are appended to the table and do not replace columns. As many probes as columns are appended
at a time, so that they compete with each other in fitting noise, as irrelevant features do. Probes
are treated exactly like features: a baseline is fitted to the extended table, and the bounds of the
probes are computed over its equivalent models. A feature counts as relevant if its bound exceeds
the cutoff derived from the bounds of the probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from .._params import FDR, FIXED, PROBES, UNTESTED, CutoffRule
from .._typing import Matrix, Table, Vector
from ..deadline import Deadline
from ..exceptions import SolverError, TimeLimitError
from ..parallel import TimedOptions, deadline_of, timed_map
from ..relevance import UNCONFIRMED, assign_classes
from ..resampling import permute_rows
from ..terms.layout import WeightLayout
from .baseline import FittedBaseline, Tolerance
from .solver.blocks import feature_sizes
from .solver.ranges import LOWER, UPPER

# Minimum number of usable probes for estimating the standard deviation of their bounds.
MIN_USABLE = 10

# Weight that counts as zero, as a fraction of the norm.
ZERO_WEIGHT = 1e-6

# Cutoffs if the baseline uses no feature.
UNUSED_CUTOFF = np.full(2, 1e-9)

# Along a path, the bounds of probes are computed for about every k-th baseline only. The cutoffs in
# between are interpolated as fractions of the norm, which change slowly.
BASELINES_PER_CUTOFF = 7

UNTESTED_NOTE = (
    "The time limit was reached before single features could be compared with noise, so no feature "
    "is called relevant. Features that no equivalent model uses are irrelevant; all others are "
    "unconfirmed. Increase max_seconds to test them."
)

# Gap of the bounds of probes, relative to the norm, if there are many rows.
PROBE_TOL = 1e-5


@dataclass(frozen=True)
class FittedCalibration:
    """Fitted rule that assigns each feature of a subproblem to a relevance class.

    ``rule`` names the rule of each table. ``cutoff`` has shape (n_tables, 2): the cutoffs of the
    lower bound (for strong) and of the upper bound (for relevant). Where the rule is a test, a
    feature is relevant if its ``qvalue`` is at most ``fdr``, and the cutoff of the upper bound is
    the weight that permuted columns rarely exceed. Features whose table shows no evidence
    (``has_evidence``) are not relevant. A lower bound above ``zero`` is positive despite rounding
    errors. ``fdr`` is zero without tests; features with tight bounds are then never unconfirmed.
    Where the time did not suffice for any rule, the rule is "untested": features that no model
    uses are irrelevant, and all others are unconfirmed. ``notes`` are messages to the user.
    """

    layout: WeightLayout
    cutoff: Matrix
    zero: float
    rule: tuple[CutoffRule, ...]
    has_evidence: NDArray[np.bool_]
    pvalue: Vector
    qvalue: Vector
    fdr: float = 0.0
    notes: tuple[str, ...] = ()

    @classmethod
    def from_cutoff(
        cls,
        baseline: FittedBaseline,
        cutoff: Matrix,
        *rules: CutoffRule,
        notes: tuple[str, ...] = (),
    ) -> FittedCalibration:
        """Return a rule that compares the bounds of features with cutoffs, without tests.

        ``rules`` has one item, or one per table.
        """
        layout = baseline.layout
        return cls(
            layout=layout,
            cutoff=cutoff,
            zero=zero_weight(baseline),
            rule=rules * (layout.n_tables // len(rules)),
            has_evidence=np.ones(layout.n_tables, dtype=bool),
            pvalue=np.full(layout.n_all_features, np.nan),
            qvalue=np.full(layout.n_all_features, np.nan),
            notes=notes,
        )

    def strong_cutoff(self) -> Vector:
        """Return, for each weight, the cutoff of its lower bound for strong relevance."""
        return self.layout.per_feature(self.cutoff)[:, LOWER]

    def relevance_cutoff(self) -> Vector:
        """Return, for each feature, the cutoff of its upper bound for relevance."""
        return self.layout.per_feature(self.cutoff)[:, UPPER]

    def screening_cutoff(self, baseline: FittedBaseline) -> Vector:
        """Return, for each feature, the upper bound up to which it is certainly irrelevant.

        Without evidence in its table, a feature that the baseline does not use is irrelevant
        whatever its upper bound.
        """
        is_unused = ~self.layout.any_weight(baseline.model.weights != 0)
        has_evidence = self.layout.per_feature(self.has_evidence)
        return np.where(is_unused & ~has_evidence, np.inf, self.relevance_cutoff())

    def classify(self, interval: Matrix) -> NDArray[np.str_]:
        """Return the relevance class of each feature, given the relevance intervals."""
        lower, upper = interval.T
        is_tested = self.layout.per_feature(np.array([rule == FDR for rule in self.rule]))
        is_significant = (self.qvalue <= self.fdr) & (upper > self.zero)
        is_relevant = np.where(is_tested, is_significant, upper > self.relevance_cutoff())
        is_relevant &= self.layout.per_feature(self.has_evidence)
        is_needed = (lower > self.zero) & (self.fdr > 0)
        classes = assign_classes(is_relevant, lower > self.strong_cutoff(), is_needed)
        is_untested = self.layout.per_feature(np.array([r == UNTESTED for r in self.rule]))
        return np.where(is_untested & (upper > self.zero), UNCONFIRMED, classes)

    def classify_range(self, known: Matrix, proven: Matrix) -> NDArray[np.str_]:
        """Return the relevance class of each feature, given inner and outer relevance intervals.

        ``known`` is attained by models, and no model is outside ``proven``. Where the class depends
        on which of the two is correct, the feature is unconfirmed.
        """
        classes = self.classify(proven)
        return np.where(self.classify(known) == classes, classes, UNCONFIRMED)


@dataclass(frozen=True)
class Probes:
    """Permuted copies of features, each permuted independently, as columns of a table."""

    features: NDArray[np.intp]
    columns: Matrix


class Calibration(Protocol):
    """Interface of the methods that separate relevant from irrelevant features.

    ``evidence`` is the p-value of each table as a whole; see :mod:`.association`.
    ``compares_with_noise`` is False if the user decides what counts as relevant.
    """

    compares_with_noise: ClassVar[bool]

    def fit(
        self,
        baselines: Sequence[FittedBaseline],
        tolerance: Tolerance,
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[FittedCalibration]:
        """Return the fitted relevance rule of each subproblem."""

    def fit_path(
        self,
        paths: Sequence[Sequence[FittedBaseline]],
        tolerances: Sequence[Tolerance],
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[list[FittedCalibration]]:
        """Return, for each subproblem, the fitted relevance rule of each baseline along a path."""


def zero_weight(baseline: FittedBaseline) -> float:
    """Return the weight below which a bound may be a rounding error."""
    return max(ZERO_WEIGHT * baseline.model.norm_, float(UNUSED_CUTOFF[LOWER]))


@dataclass(frozen=True)
class FixedCutoff:
    """User-supplied cutoff, used for both bounds of all features."""

    compares_with_noise: ClassVar[bool] = False

    cutoff: float

    def fit(
        self,
        baselines: Sequence[FittedBaseline],
        tolerance: Tolerance,
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[FittedCalibration]:
        shape = (baselines[0].layout.n_tables, 2)
        cutoff = np.full(shape, self.cutoff)
        return [FittedCalibration.from_cutoff(baseline, cutoff, FIXED) for baseline in baselines]

    def fit_path(
        self,
        paths: Sequence[Sequence[FittedBaseline]],
        tolerances: Sequence[Tolerance],
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[list[FittedCalibration]]:
        return [self.fit(path, tolerances[0], evidence) for path in paths]


@dataclass(frozen=True)
class ProbeCalibration:
    """Calibration by probes, with a nominal false positive rate of ``fpr`` per feature."""

    compares_with_noise: ClassVar[bool] = True

    n_probes: int
    fpr: float
    seed: int

    def fit(
        self,
        baselines: Sequence[FittedBaseline],
        tolerance: Tolerance,
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[FittedCalibration]:
        return [self.fit_baseline(baseline, tolerance, **run) for baseline in baselines]

    def fit_baseline(
        self, baseline: FittedBaseline, tolerance: Tolerance, **run: Unpack[TimedOptions]
    ) -> FittedCalibration:
        """Estimate the cutoffs of one subproblem from the bounds of probes."""
        layout, notes = baseline.layout, []
        cutoffs = np.tile(UNUSED_CUTOFF, (layout.n_tables, 1))
        rules: list[CutoffRule] = [PROBES] * layout.n_tables
        for table in range(layout.n_tables):
            try:
                cutoffs[table], note = self.table_cutoff(baseline, tolerance, table, **run)
                notes += note
            except TimeLimitError:
                rules[table] = UNTESTED
                notes.append(UNTESTED_NOTE)
        return FittedCalibration.from_cutoff(baseline, cutoffs, *rules, notes=tuple(notes))

    def table_cutoff(
        self,
        baseline: FittedBaseline,
        tolerance: Tolerance,
        table: int,
        **run: Unpack[TimedOptions],
    ) -> tuple[Vector, list[str]]:
        """Return the cutoffs of both bounds for the features of a table, and warning messages.

        :exc:`TimeLimitError` is raised if the deadline leaves too few probes.
        """
        if not baseline.model.uses_features:  # all weights are zero up to rounding
            return UNUSED_CUTOFF, []
        bounds = self.probe_bounds(baseline, tolerance, table, **run)
        if deadline_of(run).is_over and len(bounds) < self.n_probes:
            if len(bounds) < MIN_USABLE:
                deadline_of(run).check()
            note = (
                f"The time limit was reached after {len(bounds)} of {self.n_probes} probes, so the "
                "cutoffs are less precise. Increase max_seconds to use all probes."
            )
            return upper_prediction_limit(bounds, self.fpr), [note]
        if len(bounds) < MIN_USABLE:
            cutoff, note = self._fallback(baseline, tolerance, len(bounds))
            return cutoff, [note]
        return upper_prediction_limit(bounds, self.fpr), []

    def fit_path(
        self,
        paths: Sequence[Sequence[FittedBaseline]],
        tolerances: Sequence[Tolerance],
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[list[FittedCalibration]]:
        return [self._fit_one_path(path, tolerances, **run) for path in paths]

    def _fit_one_path(
        self,
        baselines: Sequence[FittedBaseline],
        tolerances: Sequence[Tolerance],
        **run: Unpack[TimedOptions],
    ) -> list[FittedCalibration]:
        """Estimate the cutoffs at some baselines of a path and interpolate those of the others."""
        layout = baselines[0].layout
        cutoffs = np.tile(UNUSED_CUTOFF, (len(baselines), layout.n_tables, 1))
        notes: dict[int, tuple[str, ...]] = {}
        in_use = np.flatnonzero([baseline.model.uses_features for baseline in baselines])
        if len(in_use):
            n_anchors = max(2, -(-len(in_use) // BASELINES_PER_CUTOFF))
            places = np.linspace(0, len(in_use) - 1, n_anchors).round().astype(int)
            anchors = np.unique(in_use[places])
            fitted = [self.fit_baseline(baselines[a], tolerances[a], **run) for a in anchors]
            norms = np.array([baseline.model.norm_ for baseline in baselines])
            fractions = np.array(
                [
                    calibration.cutoff / norms[a]
                    for calibration, a in zip(fitted, anchors, strict=True)
                ]
            )
            between = np.apply_along_axis(lambda s: np.interp(in_use, anchors, s), 0, fractions)
            cutoffs[in_use] = between * norms[in_use, None, None]
            notes = {int(a): c.notes for a, c in zip(anchors, fitted, strict=True)}
        return [
            FittedCalibration.from_cutoff(baseline, cutoff, PROBES, notes=notes.get(i, ()))
            for i, (baseline, cutoff) in enumerate(zip(baselines, cutoffs, strict=True))
        ]

    def probe_bounds(
        self,
        baseline: FittedBaseline,
        tolerance: Tolerance,
        table: int = 0,
        **run: Unpack[TimedOptions],
    ) -> Matrix:
        """Compute the lower and upper bound of every usable probe, shape (n_usable, 2).

        A baseline with probes has the same C as the baseline without. The bounds of the probes are
        rescaled by the ratio of the two norms, so that they apply to the problem without probes.
        """
        formulation, data, model = baseline.formulation, baseline.data, baseline.model

        def bounds(probes: Probes, deadline: Deadline) -> Matrix:
            try:
                copies = data.append_copies(probes.features, probes.columns, table)
                extended = formulation.fit(copies, model.C_, deadline=deadline)
                if not extended.model.uses_features:
                    raise SolverError("The baseline with probes uses no feature. Increase C.")
                models = formulation.equivalent_models(extended, tolerance)
                added = extended.layout.table_features(table)[-len(probes.features) :]
                interval = feature_sizes(models, extended.layout, added, PROBE_TOL, deadline)
                interval = interval[~np.isnan(interval[:, 0])]
            except SolverError:
                return np.empty((0, 2))  # not usable; the caller counts the usable probes
            return interval * (model.norm_ / extended.model.norm_)

        parts = timed_map(bounds, self._draw_probes(baseline, table), **run)
        found = [part for part in parts if part is not None]
        return np.concatenate([np.empty((0, 2)), *found])

    def _draw_probes(self, baseline: FittedBaseline, table: int) -> list[Probes]:
        """Draw probes, at most one per feature and table; omit copies equal to their original."""
        rng = np.random.RandomState(self.seed)
        data, layout = baseline.data, baseline.layout
        order = rng.permutation(np.intersect1d(baseline.varying, layout.table_features(table)))
        tables = []
        for start in range(0, self.n_probes, max(1, len(order))):
            features, copies = [], []
            for j in order[: self.n_probes - start]:
                columns = _dense(data.tables[table][:, layout.table_columns(j, table)])
                copy = columns[permute_rows(data.n_samples, rng, data.row_groups)]
                if not np.array_equal(copy, columns):
                    features.append(j)
                    copies.append(copy)
            if features:
                tables.append(Probes(np.array(features), np.hstack(copies)))
        return tables

    def _fallback(
        self, baseline: FittedBaseline, tolerance: Tolerance, n_usable: int
    ) -> tuple[Vector, str]:
        """Return fallback cutoffs for too few usable probes, and a warning message.

        The cutoff of the lower bound is 1e-5 of the norm. The cutoff of the upper bound is twice
        the weight that slack alone allows: the weight of a feature that does not affect predictions
        can grow until the slack is used up.
        """
        model = baseline.model
        allowance = tolerance.norm_limit(model) - model.norm_
        allowance += model.C_ * (tolerance.loss_limit(model) - model.loss_)
        note = (
            f"Only {n_usable} of {self.n_probes} probes are usable, but estimating the cutoffs "
            f"requires {MIN_USABLE}. Fallback cutoffs were used: twice the slack of the budgets "
            f"({2 * allowance:.3g}) for the upper bound, and 1e-5 of the norm for the lower bound. "
            "Increase n_probes, or set the cutoff to a number, such as cutoff=0.1."
        )
        return np.array([1e-5 * model.norm_, 2.0 * allowance]), note


def upper_prediction_limit(bounds: Matrix, fpr: float) -> Vector:
    """Return, for each column, the value that a new draw exceeds with probability ``fpr``.

    This is the upper end of a one-sided prediction interval for a normal variable of unknown mean
    and variance.
    """
    n = len(bounds)
    scale = bounds.std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / n)
    return bounds.mean(axis=0) + stats.t.ppf(1.0 - fpr, n - 1) * scale


def _dense(columns: Table) -> Matrix:
    return columns.toarray() if sp.issparse(columns) else columns
