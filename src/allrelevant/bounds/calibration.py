"""Calibration: which bounds an irrelevant feature reaches on these data.

The cutoffs are given (:class:`FixedCutoff`), or learned from features that are irrelevant by
construction (:class:`ProbeCalibration`). A probe is a permuted copy of a column: it has the
column's values but knows nothing of the target. Probes are added to the table, never put in a
column's place, a whole table of them at a time: as many as there are columns, so that they compete
with each other for the noise as irrelevant features do. Then they are treated exactly as features
are: the baseline may use them, the set of equivalent models follows from that baseline, and the
bounds of each are found. A real feature has to exceed what their bounds come to.
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

# With fewer than this the spread of the probes is not known well enough to extrapolate from.
MIN_USABLE = 10

# Where the baseline uses no feature.
UNUSED_CUTOFF = np.full(2, 1e-9)

# Along a path, probes are solved for at every so manieth baseline, and cutoffs in between are
# interpolated: as a share of the norm they change little and steadily.
BASELINES_PER_CUTOFF = 7


@dataclass(frozen=True)
class FittedCalibration:
    """What the bounds of the features of each table must exceed.

    ``cutoff`` has shape (n_tables, 2): what the smallest weight must exceed for strong, the largest
    for relevant. ``notes`` is what the user should be told.
    """

    layout: WeightLayout
    cutoff: Matrix
    notes: tuple[str, ...] = ()

    def strong_cutoff(self) -> Vector:
        """What the smallest size of each weight must exceed to be strong."""
        return self.layout.per_weight(self.cutoff)[:, LOWER]

    def screening_cutoff(self) -> Vector:
        """What each weight must be able to exceed to be relevant."""
        return self.layout.per_weight(self.cutoff)[:, UPPER]

    def classify(self, interval: Matrix) -> NDArray[np.str_]:
        """The class of each feature."""
        return classify(interval, self.layout.per_weight(self.cutoff))


class Calibration(Protocol):
    """A way to find the cutoffs."""

    def fit(
        self, baseline: FittedBaseline, tolerance: Tolerance, **run: Unpack[RunOptions]
    ) -> FittedCalibration:
        """The cutoffs for the models as good as a baseline."""

    def fit_path(
        self,
        baselines: Sequence[FittedBaseline],
        tolerances: Sequence[Tolerance],
        **run: Unpack[RunOptions],
    ) -> list[FittedCalibration]:
        """The cutoffs for each of several baselines on the same data."""


@dataclass(frozen=True)
class FixedCutoff:
    """One number, used as it is for both bounds of all features."""

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
    """Cutoffs that an irrelevant feature exceeds with the nominal probability ``fpr``."""

    n_probes: int
    fpr: float
    seed: int

    def fit(
        self, baseline: FittedBaseline, tolerance: Tolerance, **run: Unpack[RunOptions]
    ) -> FittedCalibration:
        layout, notes = baseline.layout, []
        cutoffs = np.tile(UNUSED_CUTOFF, (layout.n_tables, 1))
        if baseline.model.uses_features:  # else every weight is zero, up to rounding
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
        """Cutoffs learned for some of the baselines, and interpolated as shares of the norm."""
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
            shares = np.array(
                [
                    calibration.cutoff / norms[a]
                    for calibration, a in zip(fitted, anchors, strict=True)
                ]
            )
            between = np.apply_along_axis(lambda s: np.interp(in_use, anchors, s), 0, shares)
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
        """Lower and upper bound of every probe that could be used, shape (n_usable, 2).

        On the scale of the problem without probes: a bound's share of the norm is what carries
        over. The baseline's C is used with probes too.
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
                return np.empty((0, 2))  # cannot be used: the caller counts those that can
            return interval * (model.norm_ / extended.model.norm_)

        parts = parallel_map(bounds, self._draw(baseline, table), **run)
        return np.concatenate([np.empty((0, 2)), *parts])

    def _draw(self, baseline: FittedBaseline, table: int) -> list[Matrix]:
        """Tables of permuted columns, each column in turn, none equal to its original."""
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
        """Twice what the slack alone allows a feature that is no use, and no use is strong.

        A weight that leaves every prediction as it is can grow until the slack of the budget is
        used up: that much means nothing.
        """
        model = baseline.model
        allowance = tolerance.norm_limit(model) - model.norm_
        allowance += model.C_ * (tolerance.loss_limit(model) - model.loss_)
        note = (
            f"Only {n_usable} of {self.n_probes} probes could be used, and {MIN_USABLE} are needed "
            f"to learn a cutoff. Using twice the slack of the budgets instead: {2 * allowance:.3g} "
            "for the upper bound, and 1e-5 of the norm for the lower one. More probes (n_probes) "
            "or a cutoff of your own (cutoff=0.1, say) would avoid this."
        )
        return np.array([1e-5 * model.norm_, 2.0 * allowance]), note


def upper_prediction_limit(bounds: Matrix, fpr: float) -> Vector:
    """What one more draw of the same kind exceeds with probability ``fpr``, by column.

    The upper end of a one-sided prediction interval for a normal variable of unknown mean and
    variance.
    """
    n = len(bounds)
    spread = bounds.std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / n)
    return bounds.mean(axis=0) + stats.t.ppf(1.0 - fpr, n - 1) * spread


def _column(table: Table, index: int) -> Vector:
    column = table[:, [index]]
    return column.toarray().ravel() if sp.issparse(column) else column.ravel()
