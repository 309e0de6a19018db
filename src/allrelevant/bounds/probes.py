"""Cutoffs estimated from probes, which are irrelevant by construction.

A probe is a randomly permuted copy of a column: it has the same values, but carries no information
about the target. Probes are appended to the table and do not replace columns. As many probes as
columns are appended at a time, so that they compete with each other in fitting noise, as irrelevant
features do. Probes are treated exactly like features: a baseline is fitted to the extended table,
and the bounds of the probes are computed over its equivalent models. A feature counts as relevant
if its bound exceeds the cutoff derived from the bounds of the probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from .._params import PROBES, UNTESTED, CutoffRule
from .._typing import Matrix, Table, Vector
from ..deadline import Deadline
from ..exceptions import SolverError, TimeLimitError
from ..parallel import TimedOptions, deadline_of, timed_map
from ..resampling import permute_rows
from ..terms.layout import WeightLayout
from .baseline import FittedBaseline, Tolerance
from .calibration import UNTESTED_NOTE, UNUSED_CUTOFF, FittedCalibration
from .programs.equivalent_models import EquivalentModels
from .solver.blocks import feature_sizes

# Minimum number of usable probes for estimating the standard deviation of their bounds.
MIN_USABLE = 10

# Along a path, the bounds of probes are computed for about every k-th baseline only. The cutoffs in
# between are interpolated as fractions of the norm, which change slowly.
BASELINES_PER_CUTOFF = 7

# Number of probes per parallel task. It is fixed, so that the result does not depend on the
# number of workers.
PROBES_PER_TASK = 10

# Gap of the bounds of probes, relative to the norm, if there are many rows.
PROBE_TOL = 1e-5


@dataclass(frozen=True)
class Probes:
    """Permuted copies of features, each permuted independently, as columns of a table."""

    features: NDArray[np.intp]
    columns: Matrix


@dataclass(frozen=True)
class ExtendedModels:
    """Equivalent models of a table with probes; ``probes`` are the indices of these.

    ``norm_ratio`` is the norm of the baseline without probes, divided by that of the one with.
    """

    models: EquivalentModels
    layout: WeightLayout
    probes: NDArray[np.intp]
    norm_ratio: float

    def bounds(self, probes: NDArray[np.intp], deadline: Deadline) -> Matrix:
        """Return the rescaled bounds of some of the probes, except for those that failed."""
        try:
            sizes = feature_sizes(self.models, self.layout, probes, PROBE_TOL, deadline)
        except SolverError:
            return np.empty((0, 2))  # not usable; the caller counts the usable probes
        return sizes[~np.isnan(sizes[:, 0])] * self.norm_ratio


def _extended(
    baseline: FittedBaseline,
    tolerance: Tolerance,
    table: int,
    probes: Probes,
    deadline: Deadline,
) -> ExtendedModels | None:
    """Append probes to a table and return its equivalent models; None if they are not usable."""
    formulation, model = baseline.formulation, baseline.model
    copies = baseline.data.append_copies(probes.features, probes.columns, table)
    try:
        extended = formulation.fit(copies, model.C_, deadline=deadline)
        if not extended.model.uses_features:
            return None
        models = formulation.equivalent_models(extended, tolerance)
    except SolverError:
        return None
    added = extended.layout.table_features(table)[-len(probes.features) :]
    return ExtendedModels(models, extended.layout, added, model.norm_ / extended.model.norm_)


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
        draws = self._draw_probes(baseline, table)
        fitted = timed_map(partial(_extended, baseline, tolerance, table), draws, **run)
        usable = [extended for extended in fitted if extended is not None]

        def bounds(task: tuple[int, NDArray[np.intp]], deadline: Deadline) -> Matrix:
            index, probes = task
            return usable[index].bounds(probes, deadline)

        tasks = [
            (index, extended.probes[start : start + PROBES_PER_TASK])
            for index, extended in enumerate(usable)
            for start in range(0, len(extended.probes), PROBES_PER_TASK)
        ]
        parts = timed_map(bounds, tasks, **run)
        return np.concatenate([np.empty((0, 2)), *[part for part in parts if part is not None]])

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
