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
from typing import Protocol, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from .._typing import Matrix, Table, Vector
from ..exceptions import SolverError
from ..parallel import RunOptions, parallel_map
from ..relevance import classify
from ..resampling import permuted_copies
from ..terms.layout import WeightLayout
from .baseline import FittedBaseline, Tolerance
from .solver.ranges import LOWER, UPPER, size_ranges

# Minimum number of usable probes for estimating the standard deviation of their bounds.
MIN_USABLE = 10

# Cutoffs if the baseline uses no feature.
UNUSED_CUTOFF = np.full(2, 1e-9)

# Along a path, the bounds of probes are computed for about every k-th baseline only. The cutoffs in
# between are interpolated as fractions of the norm, which change slowly.
BASELINES_PER_CUTOFF = 7


@dataclass(frozen=True)
class FittedCalibration:
    """Cutoffs for the features of each table.

    ``cutoff`` has shape (n_tables, 2): the cutoffs of the lower bound (for strong) and of the upper
    bound (for relevant). ``notes`` are messages to the user.
    """

    layout: WeightLayout
    cutoff: Matrix
    notes: tuple[str, ...] = ()

    def strong_cutoff(self) -> Vector:
        """Return the cutoff of each weight's lower bound, for strong relevance."""
        return self.layout.per_weight(self.cutoff)[:, LOWER]

    def screening_cutoff(self) -> Vector:
        """Return the cutoff of each weight's upper bound, for relevance."""
        return self.layout.per_weight(self.cutoff)[:, UPPER]

    def classify(self, interval: Matrix) -> NDArray[np.str_]:
        """Return the relevance class of each feature."""
        return classify(interval, self.layout.per_weight(self.cutoff))


class Calibration(Protocol):
    """Method for determining the cutoffs."""

    def fit(
        self, baseline: FittedBaseline, tolerance: Tolerance, **run: Unpack[RunOptions]
    ) -> FittedCalibration:
        """Determine the cutoffs for the models equivalent to a baseline."""

    def fit_path(
        self,
        baselines: Sequence[FittedBaseline],
        tolerances: Sequence[Tolerance],
        **run: Unpack[RunOptions],
    ) -> list[FittedCalibration]:
        """Determine the cutoffs for each of several baselines on the same data."""


@dataclass(frozen=True)
class FixedCutoff:
    """User-supplied cutoff, used for both bounds of all features."""

    cutoff: float

    def fit(
        self, baseline: FittedBaseline, tolerance: Tolerance, **run: Unpack[RunOptions]
    ) -> FittedCalibration:
        layout = baseline.layout
        return FittedCalibration(layout, np.full((layout.n_tables, 2), self.cutoff))

    def fit_path(
        self,
        baselines: Sequence[FittedBaseline],
        tolerances: Sequence[Tolerance],
        **run: Unpack[RunOptions],
    ) -> list[FittedCalibration]:
        return [self.fit(*pair) for pair in zip(baselines, tolerances, strict=True)]


@dataclass(frozen=True)
class ProbeCalibration:
    """Cutoffs from probes; an irrelevant feature exceeds them with nominal probability ``fpr``."""

    n_probes: int
    fpr: float
    seed: int

    def fit(
        self, baseline: FittedBaseline, tolerance: Tolerance, **run: Unpack[RunOptions]
    ) -> FittedCalibration:
        layout, notes = baseline.layout, []
        cutoffs = np.tile(UNUSED_CUTOFF, (layout.n_tables, 1))
        if baseline.model.uses_features:  # otherwise, all weights are zero up to rounding
            for table in range(layout.n_tables):
                bounds = self.probe_bounds(baseline, tolerance, table, **run)
                if len(bounds) < MIN_USABLE:
                    cutoffs[table], note = self._fallback(baseline, tolerance, len(bounds))
                    notes.append(note)
                else:
                    cutoffs[table] = upper_prediction_limit(bounds, self.fpr)
        return FittedCalibration(layout, cutoffs, tuple(notes))

    def fit_path(
        self,
        baselines: Sequence[FittedBaseline],
        tolerances: Sequence[Tolerance],
        **run: Unpack[RunOptions],
    ) -> list[FittedCalibration]:
        """Estimate cutoffs for some baselines; interpolate the others as fractions of the norm."""
        layout = baselines[0].layout
        cutoffs = np.tile(UNUSED_CUTOFF, (len(baselines), layout.n_tables, 1))
        notes: dict[int, tuple[str, ...]] = {}
        in_use = np.flatnonzero([baseline.model.uses_features for baseline in baselines])
        if len(in_use):
            n_anchors = max(2, -(-len(in_use) // BASELINES_PER_CUTOFF))
            places = np.linspace(0, len(in_use) - 1, n_anchors).round().astype(int)
            anchors = np.unique(in_use[places])
            fitted = [self.fit(baselines[a], tolerances[a], **run) for a in anchors]
            norms = np.array([baseline.model.norm_ for baseline in baselines])
            relative_cutoffs = np.array(
                [
                    calibration.cutoff / norms[a]
                    for calibration, a in zip(fitted, anchors, strict=True)
                ]
            )
            between = np.apply_along_axis(
                lambda s: np.interp(in_use, anchors, s), 0, relative_cutoffs
            )
            cutoffs[in_use] = between * norms[in_use, None, None]
            notes = {int(a): c.notes for a, c in zip(anchors, fitted, strict=True)}
        return [FittedCalibration(layout, c, notes.get(i, ())) for i, c in enumerate(cutoffs)]

    def probe_bounds(
        self,
        baseline: FittedBaseline,
        tolerance: Tolerance,
        table: int = 0,
        **run: Unpack[RunOptions],
    ) -> Matrix:
        """Compute the lower and upper bound of every usable probe, shape (n_usable, 2).

        A baseline with probes has the same C as the baseline without. The bounds of the probes are
        rescaled by the ratio of the two norms, so that they apply to the problem without probes.
        """
        formulation, data, model = baseline.formulation, baseline.data, baseline.model

        def bounds(probes: Matrix) -> Matrix:
            try:
                extended = formulation.fit(data.append_columns(probes, table), model.C_)
                if not extended.model.uses_features:
                    raise SolverError("The baseline with probes uses no feature.")
                models = formulation.equivalent_models(extended, tolerance)
                probe_weights = extended.layout.table_weights(table)[-probes.shape[1] :]
                interval, _ = size_ranges(models, probe_weights)
            except SolverError:
                return np.empty((0, 2))  # not usable; the caller counts the usable probes
            return interval * (model.norm_ / extended.model.norm_)

        parts = parallel_map(bounds, self._draw_probes(baseline, table), **run)
        return np.concatenate([np.empty((0, 2)), *parts])

    def _draw_probes(self, baseline: FittedBaseline, table: int) -> list[Matrix]:
        """Draw tables of permuted columns, without permutations that equal the original column."""
        rng = np.random.RandomState(self.seed)
        weights = baseline.layout.table_weights(table)
        order = rng.permutation(np.intersect1d(baseline.varying, weights) - weights[0])
        tables = []
        for start in range(0, self.n_probes, max(1, len(order))):
            columns = [
                _column(baseline.data.tables[table], j) for j in order[: self.n_probes - start]
            ]
            probes = permuted_copies(columns, rng)
            if probes:
                tables.append(np.column_stack(probes))
        return tables

    def _fallback(
        self, baseline: FittedBaseline, tolerance: Tolerance, n_usable: int
    ) -> tuple[Vector, str]:
        """Return fallback cutoffs and a note that explains them.

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
    """Return, for each column, the value that a further draw exceeds with probability ``fpr``.

    This is the upper end of a one-sided prediction interval for a normal variable of unknown mean
    and variance.
    """
    n = len(bounds)
    scale = bounds.std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / n)
    return bounds.mean(axis=0) + stats.t.ppf(1.0 - fpr, n - 1) * scale


def _column(table: Table, index: int) -> Vector:
    column = table[:, [index]]
    return column.toarray().ravel() if sp.issparse(column) else column.ravel()
