"""Cutoffs learned from features that are irrelevant by construction.

A probe is a permuted copy of a column: it has the column's values but knows nothing of the target.
Probes are added to the table, never put in a column's place, a whole table of them at a time: as
many as there are columns, so that they compete with each other for the noise as irrelevant features
do. Then they are treated exactly as features are: the baseline may use them, the set of equivalent
models follows from that baseline, and the bounds of each are found. What
their bounds come to is what an irrelevant feature's bounds come to on these data; a real feature
has to exceed that.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import scipy.sparse as sp
from scipy import stats

from .._typing import Matrix, Table, Vector
from ..exceptions import RelevanceWarning, SolverError
from ..parallel import RunOptions, parallel_map
from ..resampling import permuted_copies
from .baseline import FittedBaseline, Tolerance, fit_baseline, uses_features
from .models import LinearModel
from .solver.ranges import size_ranges

# With fewer than this the spread of the probes is not known well enough to extrapolate from.
MIN_USABLE = 10


# Where the baseline uses no feature.
IDLE_CUTOFF = np.full(2, 1e-9)


@dataclass(frozen=True)
class ProbeSettings:
    """How many probes, how strict a cutoff, and which seed."""

    n_probes: int
    fpr: float
    seed: int


def probe_cutoff(
    standard: FittedBaseline,
    slack: Tolerance,
    settings: ProbeSettings,
    table: int = 0,
    **run: Unpack[RunOptions],
) -> Vector:
    """What the lower and the upper bound of a feature must exceed, shape (2,).

    Parameters
    ----------
    standard : Standard
        The problem without probes, whose C is used with them too.
    slack : Slack
    settings : ProbeSettings
    table : int, default=0
        Which table's features it is about; see ``Samples.tables``.
    **run
        ``n_jobs`` and ``progress`` of :func:`allrelevant.parallel.parallel_map`.
    """
    if not uses_features(standard.baseline):
        return IDLE_CUTOFF.copy()  # every weight is zero, up to rounding
    bounds = probe_bounds(standard, slack, settings, table, **run)
    if len(bounds) < MIN_USABLE:
        return _fallback(standard.baseline, slack, len(bounds), settings.n_probes)
    return upper_prediction_limit(bounds, settings.fpr)


def probe_bounds(
    standard: FittedBaseline,
    slack: Tolerance,
    settings: ProbeSettings,
    table: int = 0,
    **run: Unpack[RunOptions],
) -> Matrix:
    """Lower and upper bound of every probe that could be used, shape (n_usable, 2).

    On the scale of the problem without probes: a bound's share of the norm is what carries over.
    """

    def bounds_of(probes: Matrix) -> Matrix:
        try:
            extended = _with_probes(standard, probes, table)
            models = extended.formulation.equivalent(extended.samples, extended.baseline, slack)
            last = extended.samples.weights_of(table)[-probes.shape[1] :]
            interval, _ = size_ranges(models, last)
        except SolverError:
            return np.empty((0, 2))  # probes that cannot be used: the caller counts those that can
        return interval * (standard.baseline.norm_ / extended.baseline.norm_)

    tables = _draw(standard, settings, table)
    return np.concatenate([np.empty((0, 2)), *parallel_map(bounds_of, tables, **run)])


def upper_prediction_limit(bounds: Matrix, fpr: float) -> Vector:
    """What one more draw of the same kind exceeds with probability ``fpr``, by column.

    The upper end of a one-sided prediction interval for a normal variable of unknown mean and
    variance.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = np.array([[0.0, 0.1], [0.0, 0.2], [0.0, 0.3]])
    >>> upper_prediction_limit(bounds, 0.05).round(3)
    array([0.   , 0.537])
    """
    n = len(bounds)
    spread = bounds.std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / n)
    return bounds.mean(axis=0) + stats.t.ppf(1.0 - fpr, n - 1) * spread


def _with_probes(standard: FittedBaseline, probes: Matrix, table: int) -> FittedBaseline:
    samples = standard.samples.append_columns(probes, table)
    baseline = fit_baseline(standard.formulation, samples, standard.baseline.C_)
    if not uses_features(baseline):
        raise SolverError("The baseline with probes uses no feature.")
    return replace(standard, samples=samples, baseline=baseline)


def _draw(standard: FittedBaseline, settings: ProbeSettings, table: int) -> list[Matrix]:
    """Tables of permuted columns, each column in turn, none equal to its original."""
    rng = np.random.RandomState(settings.seed)
    weights = standard.samples.weights_of(table)
    order = rng.permutation(np.intersect1d(standard.features, weights) - weights[0])
    tables = []
    for start in range(0, settings.n_probes, max(1, len(order))):
        columns = [
            _column(standard.samples.tables[table], j) for j in order[: settings.n_probes - start]
        ]
        probes = permuted_copies(columns, rng)
        if probes:
            tables.append(np.column_stack(probes))
    return tables


def _column(table: Table, index: int) -> Vector:
    column = table[:, [index]]
    return column.toarray().ravel() if sp.issparse(column) else column.ravel()


def _fallback(baseline: LinearModel, slack: Tolerance, n_usable: int, n_probes: int) -> Vector:
    """Twice what the slack alone allows a feature that is no use, and no use is strong.

    A weight that leaves every prediction as it is can grow until the slack of the budget is used
    up: that much means nothing.
    """
    allowance = slack.norm_limit(baseline) - baseline.norm_
    allowance += baseline.C_ * (slack.loss_limit(baseline) - baseline.loss_)
    warnings.warn(
        f"Only {n_usable} of {n_probes} probes could be used, and {MIN_USABLE} are needed to learn "
        f"a cutoff. Using twice the slack of the budgets instead: {2 * allowance:.3g} for the "
        "upper bound, and 1e-5 of the norm for the lower one. More probes (n_probes) or a cutoff "
        "of your own (cutoff=0.1, say) would avoid this.",
        RelevanceWarning,
        stacklevel=2,
    )
    return np.array([1e-5 * baseline.norm_, 2.0 * allowance])
