"""Cutoffs learned from features that are irrelevant by construction.

A probe is a permuted copy of a column: it has the column's values but knows nothing of the target.
It is added to the table, never put in a column's place, and treated exactly as a feature is: the
baseline may use it, the set of equivalent models follows from that baseline, and the two programs
of the bounds are solved for it. What its bounds come to is what an irrelevant feature's bounds come
to on these data; a real feature has to exceed that.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import scipy.sparse as sp
from scipy import stats

from ..arrays import Matrix, Vector
from ..exceptions import RelevanceWarning, SolverError
from ..parallel import RunOptions, run_tasks
from .equivalence import Slack, Standard, fit_baseline
from .models import LinearModel
from .programs.classification import Samples
from .solver.intervals import weight_ranges

# With fewer than this the spread of the probes is not known well enough to extrapolate from.
MIN_USABLE = 10


@dataclass(frozen=True)
class ProbeSettings:
    """How many probes, how strict a cutoff, and which seed."""

    n_probes: int
    fpr: float
    seed: int


def probe_cutoff(
    standard: Standard, slack: Slack, settings: ProbeSettings, **run: Unpack[RunOptions]
) -> Vector:
    """What the lower and the upper bound of a feature must exceed, shape (2,).

    Parameters
    ----------
    standard : Standard
        The problem without probes, whose C is used with them too.
    slack : Slack
    settings : ProbeSettings
    **run
        ``n_jobs`` and ``progress`` of :func:`allrelevant.parallel.run_tasks`.
    """
    bounds = probe_bounds(standard, slack, settings, **run)
    if len(bounds) < MIN_USABLE:
        return _fallback(standard.baseline, slack, len(bounds), settings.n_probes)
    return prediction_limit(bounds, settings.fpr)


def probe_bounds(
    standard: Standard, slack: Slack, settings: ProbeSettings, **run: Unpack[RunOptions]
) -> Matrix:
    """Lower and upper bound of every probe that could be used, shape (n_usable, 2)."""
    samples, formulation = standard.samples, standard.formulation

    def bounds_of(probe: Vector) -> Vector | None:
        extended = samples.append_column(probe)
        try:
            with_probe = fit_baseline(formulation, extended, standard.baseline.C_)
            models = formulation.equivalent(extended, with_probe, slack)
            return weight_ranges(models, [samples.n_features]).interval[0]
        except SolverError:
            return None  # a probe that cannot be used: the caller counts those that can

    answers = run_tasks(bounds_of, _draw(standard, settings), **run)
    return np.array([answer for answer in answers if answer is not None]).reshape(-1, 2)


def prediction_limit(bounds: Matrix, fpr: float) -> Vector:
    """What one more draw of the same kind exceeds with probability ``fpr``, by column.

    The upper end of a one-sided prediction interval for a normal variable of unknown mean and
    variance.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = np.array([[0.0, 0.1], [0.0, 0.2], [0.0, 0.3]])
    >>> prediction_limit(bounds, 0.05).round(3)
    array([0.   , 0.537])
    """
    n = len(bounds)
    spread = bounds.std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / n)
    return bounds.mean(axis=0) + stats.t.ppf(1.0 - fpr, n - 1) * spread


def _draw(standard: Standard, settings: ProbeSettings) -> list[Vector]:
    """Permuted copies of columns, each column in turn, that differ from the original."""
    rng = np.random.RandomState(settings.seed)
    order = rng.permutation(standard.features)
    probes = []
    for index in range(settings.n_probes):
        column = _column(standard.samples, order[index % len(order)])
        permuted = rng.permutation(column)
        if not np.array_equal(permuted, column):  # else it would be the feature itself
            probes.append(permuted)
    return probes


def _column(samples: Samples, index: int) -> Vector:
    column = samples.X[:, [index]]
    return column.toarray().ravel() if sp.issparse(column) else column.ravel()


def _fallback(baseline: LinearModel, slack: Slack, n_usable: int, n_probes: int) -> Vector:
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
