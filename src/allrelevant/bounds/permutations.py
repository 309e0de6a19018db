"""Calibration by permuted tables: p-values of features and control of the false discovery rate.

All columns of a table are permuted together and appended as probes, so that copies, categories and
correlations survive among the probes. On the extended table, features and probes are treated
exactly alike. There are two kinds of evidence that a column is relevant, and both are standardized:

- **Weight.** The largest weight, as a fraction of the norm, that the models equivalent to the
  baseline can give the column. One C is chosen for all extended tables, by the one-standard-error
  rule. The weight of a feature is its mean over several permutations. It is compared with the
  probes that are copies of this feature: the difference to their mean, divided by their standard
  deviation. The variance is shrunk towards the mean variance of the probes with as many columns,
  because the size of a category with many levels varies more than the weight of a number. Each
  probe is compared with the probes of the other permutations.
- **Association.** The covariance of the standardized column with the target. A feature that is
  associated with the target is at least weakly relevant, even if other features contain the same
  information. Weights alone have little power for such features, because each of them gets a part
  of the weight.

The evidence of a column is the sum of both, in standard deviations of the probes, and the larger
one counts twice. The p-value of a feature is the rank of its evidence among that of all probes of
all permutations. Ties count against the feature. With several subproblems, it is the rank among the
probes' largest evidence over the subproblems, so that the p-values are adjusted for the number of
subproblems. A capped Benjamini-Hochberg procedure turns the p-values of all features into q-values.

A feature is relevant if its q-value is at most the false discovery rate ``fdr``, provided that the
table as a whole shows evidence at :data:`EVIDENCE_LEVEL`. The number of permutations is
``1 / fdr``: the smallest possible p-value is then small enough for a single relevant feature.

With more features than samples, probes dominate the baseline and the p-values have little power. In
this case, the cutoffs of :class:`.ProbeCalibration` are used, again only if the table as a whole
shows evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from .._params import FDR, PROBES, UNTESTED, CutoffRule
from .._typing import Matrix, Rows, Table, Vector
from ..deadline import Deadline, attempt
from ..exceptions import SolverError
from ..parallel import TimedOptions, deadline_of, timed_map, with_deadline
from ..relevance import adjust_pvalues, rank_cap
from .association import association_pvalue, permuted_associations
from .baseline import FittedBaseline, Tolerance
from .calibration import (
    UNTESTED_NOTE,
    UNUSED_CUTOFF,
    FittedCalibration,
    zero_weight,
)
from .cross_validation import choose_sparse_C
from .probes import ProbeCalibration
from .solver.blocks import directed_sizes
from .solver.families import solvers_for
from .task import TaskData
from .tuning import Tuning

# Largest p-value of the whole table at which its features are tested.
EVIDENCE_LEVEL = 0.05

# Permutations of the test of the whole table.
N_TABLE_PERMUTATIONS = 499

# Slack of the equivalent models of extended tables: smaller than the user's, because large slack
# lets noise grow.
TEST_TOLERANCE = {"norm_slack": 0.02, "loss_slack": 0.01}

# Extended tables that C is chosen on.
N_TABLES_FOR_C = 5

# Fraction of the permutations for which the statistics of the features are computed; those of the
# probes are computed for all.
FEATURE_FRACTION = 0.5

# Weight of a probe's own variance, compared with the mean variance of probes with as many columns.
OWN_VARIANCE = 0.25

# Part of the time of the tests in which C is chosen.
CHOICE_SHARE = 0.3

# Statistics up to this fraction of the norm are replaced by the outer bound, without an LP.
SKIP_BELOW = 0.05

# If there are many rows or pairs: relative duality gap of the baselines of extended tables, and gap
# of their statistics, relative to the norm. Noise is much larger.
BASELINE_GAP = 1e-4
STATISTIC_TOL = 1e-3

# Difference below which two statistics are equal up to rounding errors.
TIE_TOL = 1e-9


def table_pvalues(baselines: Sequence[FittedBaseline], seed: int) -> Vector:
    """Return the p-value of a permutation test of each table as a whole.

    ``X`` is tested for association with the target. Privileged features model the loss, so they are
    tested for association with the slack variables of a baseline without them.
    """
    data = baselines[0].data
    orders = data.draw_orders(N_TABLE_PERMUTATIONS, seed)
    return np.array(
        [
            association_pvalue(
                values,
                np.column_stack([_association_target(baseline, table) for baseline in baselines]),
                data.weight,
                orders,
            )
            for table, values in enumerate(data.tables)
        ]
    )


def _association_target(baseline: FittedBaseline, table: int) -> Vector:
    """Return the vector with which the columns of a table are tested for association."""
    return baseline.data.association_target() if table == 0 else _slack_variables(baseline)


def _slack_variables(baseline: FittedBaseline) -> Vector:
    """Fit a baseline without privileged features; return the slack variables summed by sample."""
    requirements = baseline.data.requirements()
    rows = requirements.rows
    start = solvers_for(rows).baseline().solve(baseline.model.C_)
    slack = np.maximum(rows.slack(start.coef[None], start.offset[None])[0], 0.0)
    has_sample = requirements.sample >= 0
    total = np.zeros(baseline.data.n_samples)
    np.add.at(total, requirements.sample[has_sample], slack[has_sample])
    return total


@dataclass(frozen=True)
class PermutationCalibration:
    """Calibration by permutation tests that control the false discovery rate at ``fdr``.

    ``C`` is that of the estimator, None if it is chosen by cross-validation according to
    ``tuning``. ``wide`` is the rule for tables with more features than samples.
    """

    compares_with_noise: ClassVar[bool] = True

    fdr: float
    C: float | None
    seed: int
    tuning: Tuning
    wide: ProbeCalibration

    def fit(
        self,
        baselines: Sequence[FittedBaseline],
        tolerance: Tolerance,
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[FittedCalibration]:
        layout, n_subproblems = baselines[0].layout, len(baselines)
        pvalue = np.full((n_subproblems, layout.n_all_features), np.nan)
        qvalue = np.full((n_subproblems, layout.n_all_features), np.nan)
        cutoff = np.tile(UNUSED_CUTOFF, (n_subproblems, layout.n_tables, 1))
        notes: list[list[str]] = [[] for _ in baselines]
        rules: list[CutoffRule] = []
        for table in range(layout.n_tables):
            features = np.intersect1d(baselines[0].varying, layout.table_features(table))
            is_wide = len(layout.weights_of(features)) > baselines[0].data.n_samples
            rules.append(PROBES if is_wide else FDR)
            if evidence[table] > EVIDENCE_LEVEL or len(features) == 0:
                continue
            own = with_deadline(run, deadline_of(run).for_item(table, layout.n_tables))
            if is_wide:
                fitted = attempt(partial(self._wide_cutoffs, baselines, tolerance, table, own))
            else:
                fitted = self._test(baselines, features, table, own)
            if fitted is None:
                rules[-1] = UNTESTED
                notes[0].append(UNTESTED_NOTE)
                continue
            cutoff[:, table] = fitted.cutoff
            pvalue[:, features], qvalue[:, features] = fitted.pvalue, fitted.qvalue
            notes = [before + part for before, part in zip(notes, fitted.notes, strict=True)]
        return [
            FittedCalibration(
                layout=layout,
                cutoff=self._with_zero(cutoff[index], rules, baseline),
                zero=zero_weight(baseline),
                rule=tuple(rules),
                has_evidence=evidence <= EVIDENCE_LEVEL,
                pvalue=pvalue[index],
                qvalue=qvalue[index],
                fdr=self.fdr,
                notes=tuple(notes[index]),
            )
            for index, baseline in enumerate(baselines)
        ]

    def _wide_cutoffs(
        self,
        baselines: Sequence[FittedBaseline],
        tolerance: Tolerance,
        table: int,
        run: TimedOptions,
    ) -> TableRule:
        """Return the cutoffs of a table with more features than samples."""
        parts = []
        for index, baseline in enumerate(baselines):
            own = with_deadline(run, deadline_of(run).for_item(index, len(baselines)))
            parts.append(self.wide.table_cutoff(baseline, tolerance, table, **own))
        return TableRule(np.array([cutoff for cutoff, _ in parts]), [notes for _, notes in parts])

    def _test(
        self,
        baselines: Sequence[FittedBaseline],
        features: NDArray[np.intp],
        table: int,
        run: TimedOptions,
    ) -> TableRule | None:
        """Test the features of a table; return None if the time suffices for too few draws."""
        weights = []
        for index, baseline in enumerate(baselines):
            own = with_deadline(run, deadline_of(run).for_item(index, len(baselines)))
            weights.append(self._draw_weights(baseline, features, table, **own))
        n_drawn = min(len(part) for part in weights)
        least = int(np.ceil(1.0 / (self.fdr * max(1, n_drawn)) - 1e-9))
        draws = Draws.aligned(
            [part[:n_drawn] for part in weights],
            [self._draw_associations(b, features, table)[: 1 + n_drawn] for b in baselines],
            baselines[0].layout.widths[features],
        )
        notes = draws[0].notes(n_drawn)
        if n_drawn < self.n_permutations:
            if not draws[0].is_usable or least > rank_cap(len(features)):
                return None
            notes.append(
                f"The time limit was reached after {n_drawn} of {self.n_permutations} permuted "
                f"tables. With so few, relevant features are found only if there are at least "
                f"{least} of them with strong evidence. Increase max_seconds to find fewer."
            )
        pvalue = pvalues(draws)
        noise = [
            draw.noise_level(self.fdr) * baseline.model.norm_
            for draw, baseline in zip(draws, baselines, strict=True)
        ]
        all_notes = [notes, *[[] for _ in baselines[1:]]]
        return TableRule(np.array(noise), all_notes, pvalue, adjust_pvalues(pvalue))

    def fit_path(
        self,
        paths: Sequence[Sequence[FittedBaseline]],
        tolerances: Sequence[Tolerance],
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[list[FittedCalibration]]:
        """Fit the tests once and scale their cutoffs to the norm of each baseline of the path.

        The tests depend on neither C nor ``norm_slack``.
        """
        last = [path[-1] for path in paths]
        fitted = self.fit(last, tolerances[-1], evidence, **run)
        return [
            [
                replace(
                    calibration,
                    zero=zero_weight(baseline),
                    cutoff=calibration.cutoff * _norm_ratio(baseline, path[-1]),
                    notes=calibration.notes if baseline is path[-1] else (),
                )
                for baseline in path
            ]
            for path, calibration in zip(paths, fitted, strict=True)
        ]

    @property
    def n_permutations(self) -> int:
        return int(np.ceil(1.0 / self.fdr - 1e-9))

    def _draw_associations(
        self, baseline: FittedBaseline, features: NDArray[np.intp], table: int
    ) -> Matrix:
        """Return associations of features (first row) and of probes (one row per permutation)."""
        data = baseline.data
        orders = data.draw_orders(self.n_permutations, self.seed)
        columns = data.tables[table][:, data.layout.table_columns(features, table)]
        target = _association_target(baseline, table)
        widths = data.layout.widths[features]
        return permuted_associations(columns, target, data.weight, orders, widths)

    def _draw_weights(
        self,
        baseline: FittedBaseline,
        features: NDArray[np.intp],
        table: int,
        **run: Unpack[TimedOptions],
    ) -> Matrix:
        """Return the largest weights of features and probes, one row per permutation.

        NaN marks features of permutations that need only probes, and permutations without a
        solution. After the deadline, the rows of the first permutations are returned.
        """
        data, formulation = baseline.data, baseline.formulation
        orders = data.draw_orders(self.n_permutations, self.seed)
        if self.C is None:
            extended = [_extend(data, features, table, order) for order in orders[:N_TABLES_FOR_C]]
            search = with_deadline(run, deadline_of(run).share(CHOICE_SHARE))
            chosen = attempt(lambda: choose_sparse_C(extended, formulation, self.tuning, **search))
            C = baseline.model.C_ if chosen is None else chosen
        else:
            C = self.C
        tolerance = Tolerance(**TEST_TOLERANCE, loss_tol=1e-6)
        n_features = n_probes = len(features)
        places = features - data.layout.table_features(table)[0]
        n_with_features = max(2, int(np.ceil(FEATURE_FRACTION * len(orders))))

        def statistics(index: int, deadline: Deadline) -> Vector:
            """Return the largest weights of the features and of their probes in one permutation."""
            extended = formulation.fit(
                _extend(data, features, table, orders[index]), C, BASELINE_GAP, deadline
            )
            values = np.full(n_features + n_probes, np.nan)
            first = 0 if index < n_with_features else n_features
            if not extended.model.uses_features:
                values[first:] = 0.0
                return values
            own = extended.layout.table_features(table)
            searched = np.concatenate([own[places], own[-n_probes:]])[first:]
            norm, layout = extended.model.norm_, extended.layout
            try:
                models = formulation.equivalent_models(extended, tolerance)
                skip_below = SKIP_BELOW * norm
                sizes = directed_sizes(
                    models, layout, searched, skip_below, STATISTIC_TOL, deadline
                )
                values[first:] = sizes / norm
            except SolverError:
                values[:] = np.nan  # dropped; the caller counts the rest
            return values

        rows = list(takewhile(_is_finished, timed_map(statistics, range(len(orders)), **run)))
        return np.array(rows).reshape(-1, n_features + n_probes)

    def _with_zero(
        self, cutoff: Matrix, rules: Sequence[CutoffRule], baseline: FittedBaseline
    ) -> Matrix:
        """Replace the lower cutoff by the zero threshold in tables whose features are tested."""
        lower = np.where([rule == FDR for rule in rules], zero_weight(baseline), cutoff[:, 0])
        return np.column_stack([lower, cutoff[:, 1]])


def _is_finished(row: Vector | None) -> bool:
    return row is not None


@dataclass(frozen=True)
class TableRule:
    """Cutoffs of a table, shape (n_subproblems, 2), with its p-values and q-values, if any.

    ``notes`` are messages to the user, for each subproblem.
    """

    cutoff: Matrix
    notes: list[list[str]]
    pvalue: Matrix | float = np.nan
    qvalue: Matrix | float = np.nan


@dataclass(frozen=True)
class Draws:
    """Largest weights and associations of features and probes, one row per permutation.

    ``features`` and ``probes`` are the largest weights. Column j of ``probes`` holds the permuted
    copies of feature j. Fewer rows of ``features`` are enough, because only their mean is used.
    ``feature_association`` and ``probe_association`` are associations with the target. ``widths``
    is the number of columns of each feature.
    """

    features: Matrix
    probes: Matrix
    feature_association: Vector
    probe_association: Matrix
    widths: NDArray[np.intp]

    @classmethod
    def aligned(
        cls,
        weights: Sequence[Matrix],
        associations: Sequence[Matrix],
        widths: NDArray[np.intp],
    ) -> list[Draws]:
        """Separate features from probes; keep only permutations solved in all subproblems."""
        is_solved = np.all([~np.isnan(part[:, -1]) for part in weights], axis=0)
        n_features = weights[0].shape[1] // 2
        return [
            cls(
                features=part[is_solved & ~np.isnan(part[:, 0]), :n_features],
                probes=part[is_solved, n_features:],
                feature_association=association[0],
                probe_association=association[1:][is_solved],
                widths=widths,
            )
            for part, association in zip(weights, associations, strict=True)
        ]

    @property
    def is_usable(self) -> bool:
        return len(self.probes) >= 3 and len(self.features) >= 1

    def scores(self) -> tuple[Vector, Matrix]:
        """Return the evidence of each feature and probe, from its weight and its association."""
        weight, association = self.probe_scores(), self.probe_association
        return (
            _combine(
                _in_units_of(weight, self.feature_scores()),
                _in_units_of(association, self.feature_association),
            ),
            _combine(_in_units_of(weight, weight), _in_units_of(association, association)),
        )

    def feature_scores(self) -> Vector:
        """Return the standardized weight of each feature."""
        variance = self.probes.var(axis=0, ddof=1)
        mean = self.probes.mean(axis=0)
        return _standardize(self.features.mean(axis=0), mean, variance, self._pooled_variance)

    def probe_scores(self) -> Matrix:
        """Return the weight of each probe, standardized by the probes of other permutations."""
        n_others = len(self.probes) - 1
        mean = (self.probes.sum(axis=0) - self.probes) / n_others
        square = ((self.probes**2).sum(axis=0) - self.probes**2) / n_others
        variance = np.maximum(square - mean**2, 0.0) * n_others / (n_others - 1)
        return _standardize(self.probes, mean, variance, self._pooled_variance)

    @property
    def _pooled_variance(self) -> Vector:
        """Mean variance of the probes with as many columns, for each feature."""
        variance = self.probes.var(axis=0, ddof=1)
        pooled = np.empty_like(variance)
        for width in np.unique(self.widths):
            pooled[self.widths == width] = variance[self.widths == width].mean()
        return pooled

    def noise_level(self, level: float) -> Vector:
        """Return the cutoffs (0, q), where a fraction ``level`` of the probes exceeds q."""
        if self.probes.size == 0:
            return UNUSED_CUTOFF
        return np.array([0.0, np.quantile(self.probes, 1.0 - level)])

    def notes(self, n_expected: int) -> list[str]:
        """Return a warning message if permutations were dropped, else an empty list."""
        n_usable = len(self.probes)
        if n_usable == n_expected:
            return []
        return [
            f"Only {n_usable} of {n_expected} permuted tables could be solved, so relevant "
            "features may be missed. The usual cause is badly scaled columns: set standardize=True."
        ]


def pvalues(draws: Sequence[Draws]) -> Matrix:
    """Return the p-value of each feature in each subproblem, shape (n_subproblems, d)."""
    if not draws[0].is_usable:
        return np.ones((len(draws), draws[0].probes.shape[1]))
    features, probes = zip(*(part.scores() for part in draws), strict=True)
    null = np.sort(np.max(probes, axis=0).ravel())
    n_larger = len(null) - np.searchsorted(null, np.array(features) - TIE_TOL)
    return np.asarray((1.0 + n_larger) / (1.0 + len(null)), dtype=np.float64)


def _standardize(
    values: Vector | Matrix, mean: Vector | Matrix, variance: Vector | Matrix, pooled: Vector
) -> NDArray[np.float64]:
    shrunk = OWN_VARIANCE * variance + (1.0 - OWN_VARIANCE) * pooled
    return (values - mean) / (np.sqrt(shrunk) + TIE_TOL)


def _in_units_of(probes: Matrix, values: Vector | Matrix) -> NDArray[np.float64]:
    """Center and scale values by the mean and the standard deviation of all probes."""
    return np.asarray((values - probes.mean()) / (probes.std() + TIE_TOL), dtype=np.float64)


def _combine(weight: NDArray[np.float64], association: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of two standardized values, in which the larger one counts twice.

    Compared with the plain sum, this has more power if only one of the two shows evidence.
    """
    return np.asarray(weight + association + np.maximum(weight, association), dtype=np.float64)


def _extend(data: TaskData, features: NDArray[np.intp], table: int, order: Rows) -> TaskData:
    """Append copies of some features of a table to that table, with their rows permuted."""
    permuted: Table = data.tables[table][order][:, data.layout.table_columns(features, table)]
    return data.append_copies(features, permuted, table)


def _norm_ratio(baseline: FittedBaseline, reference: FittedBaseline) -> float:
    return baseline.model.norm_ / max(reference.model.norm_, np.finfo(float).tiny)
