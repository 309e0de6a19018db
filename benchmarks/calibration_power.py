"""Power and false alarms of the default rule, compared with simpler rules on the same tables.

The *rank rule* is an earlier design of ``cutoff="fdr"``. It uses the largest weights alone, without
associations and without a test of the whole table. It is implemented here as plainly as possible:

1. Draw K = 1 / fdr permutations of the rows; append the permuted table to the original one.
2. Choose C by cross-validation on each extended table; use the first quartile of these values.
3. Compute the largest weight of each column of each extended table, as a fraction of the norm. The
   statistic of a feature is its mean over the permutations.
4. Rank it among all probes (first p-value). Rank its difference to the mean of its own probes, in
   units of their standard deviation, among the same values of all probes (second p-value).
5. Apply the Benjamini-Hochberg procedure to the larger of the two p-values.

The last two tables show the effect of clipping outliers, on tables with heavy-tailed columns: how
often the test of the whole table finds evidence, and how many features are found.

All rules are applied to the same tables, so their differences are paired. Standard errors are in
parentheses. The default seeds were not used to develop any of the rules.

usage: python -m benchmarks.calibration_power [--tables N] [--noise-tables N]
                                              [--evidence-tables N] [--heavy-tables N]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from allrelevant import ClassificationBounds
from allrelevant._params import CutoffName
from allrelevant.bounds import association
from allrelevant.bounds.baseline import SEPARATE, Tolerance
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.cross_validation import choose_C
from allrelevant.bounds.permutations import EVIDENCE_LEVEL, N_TABLE_PERMUTATIONS
from allrelevant.bounds.solver.ranges import weight_ranges
from allrelevant.bounds.tuning import Tuning
from allrelevant.terms.scaling import no_scaling
from benchmarks.calibration import is_relevant, mean_and_error, print_head, print_row
from benchmarks.calibration_designs import (
    BALANCED_NOISE,
    HEAVY_TAILS,
    Design,
    flipped,
    heavy_tailed,
)

FIRST_SEED = 110_000
FDR = 0.05
TOLERANCE = Tolerance(norm_slack=0.02, loss_slack=0.01, loss_tol=1e-6)
TIE_TOL = 1e-12

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def rank_rule(design: Design, seed: int) -> Mask:
    """Return the features that the rank rule calls relevant."""
    X = StandardScaler().fit_transform(design.X)
    rng, n_permutations = np.random.RandomState(seed), round(1 / FDR)
    tables = [_extended(X, design.y, rng.permutation(len(X))) for _ in range(n_permutations)]
    chosen = [
        choose_C(table, table, SEPARATE, no_scaling, Tuning(seed + index)).C
        for index, table in enumerate(tables)
    ]
    C = np.sort(chosen)[(n_permutations - 1) // 4]
    largest = np.array([_largest_weights(table, C) for table in tables])
    features, probes = largest[:, : X.shape[1]].mean(axis=0), largest[:, X.shape[1] :]
    pvalue = np.maximum(
        _rank_pvalues(features, probes),
        _rank_pvalues(*_standardized(features, probes)),
    )
    return np.asarray(false_discovery_control(pvalue) <= FDR)


def _extended(X: Array, y: NDArray[np.int_], order: NDArray[np.intp]) -> ClassificationData:
    return ClassificationData(np.hstack([X, X[order]]), np.where(y > 0, 1.0, -1.0), np.ones(len(y)))


def _largest_weights(table: ClassificationData, C: float) -> Array:
    """Return the largest weight of each column, as a fraction of the norm; zeros if unused."""
    baseline = SEPARATE.fit(table, C)
    if not baseline.model.uses_features:
        return np.zeros(table.n_features)
    ranges = weight_ranges(SEPARATE.equivalent_models(baseline, TOLERANCE))
    return np.asarray(ranges.interval[:, 1] / baseline.model.norm_)


def _standardized(features: Array, probes: Array) -> tuple[Array, Array]:
    """Compare features with all of their own probes, and each probe with its other copies."""
    pooled = probes.var(axis=0, ddof=1).mean()

    def standardize(values: Array, own: Array) -> Array:
        scale = np.sqrt((own.var(axis=0, ddof=1) + pooled) / 2) + 1e-9
        return np.asarray((values - own.mean(axis=0)) / scale)

    others = [np.delete(probes, k, axis=0) for k in range(len(probes))]
    null = [standardize(row, own) for row, own in zip(probes, others, strict=True)]
    return standardize(features, probes), np.array(null)


def _rank_pvalues(features: Array, probes: Array) -> Array:
    n_larger = (probes.ravel() >= features[:, None] - TIE_TOL).sum(axis=1)
    return np.asarray((1 + n_larger) / (1 + probes.size), dtype=np.float64)


def package_rule(cutoff: CutoffName) -> Callable[[Design, int], Mask]:
    def select(design: Design, seed: int) -> Mask:
        bounds = ClassificationBounds(cutoff=cutoff, random_state=seed).fit(design.X, design.y)
        return is_relevant(bounds.relevance_)

    return select


RULES: dict[str, Callable[[Design, int], Mask]] = {
    "probes": package_rule("probes"),
    "rank rule": rank_rule,
    "fdr": package_rule("fdr"),
}


def print_power(seeds: Sequence[int]) -> None:
    """Print found features and false discoveries of the design with flipped labels."""
    found: dict[str, list[float]] = {name: [] for name in RULES}
    false: dict[str, list[float]] = {name: [] for name in RULES}
    for seed in seeds:
        design = flipped(np.random.RandomState(seed))
        for name, rule in RULES.items():
            called = rule(design, seed)
            found[name].append(float(called[design.may_be_found].mean()))
            n_false = (called & ~design.may_be_found).sum()
            false[name].append(float(n_false / max(1, called.sum())))
        progress = ", ".join(f"{name} {values[-1]:g}" for name, values in found.items())
        print(f"seed {seed}: found {progress}", file=sys.stderr, flush=True)
    print_head(f"150 x 40, 20% flipped ({len(seeds)} tables)", *RULES, "fdr - rank rule")
    for title, values in (("fraction found", found), ("false discoveries", false)):
        print_row(title, [*map(mean_and_error, values.values()), paired_difference(values)])


def paired_difference(values: dict[str, list[float]]) -> str:
    return mean_and_error((np.array(values["fdr"]) - np.array(values["rank rule"])).tolist())


def print_alarms(seeds: Sequence[int]) -> None:
    """Print the fraction of noise tables in which a rule calls any feature relevant."""
    print_head(f"noise ({len(seeds)} tables each), any relevant", *RULES, "fdr - rank rule")
    everything: dict[str, list[float]] = {name: [] for name in RULES}
    for kind, make in BALANCED_NOISE.items():
        alarms: dict[str, list[float]] = {name: [] for name in RULES}
        for seed in seeds:
            design = make(np.random.RandomState(seed))
            for name, rule in RULES.items():
                alarms[name].append(float(rule(design, seed).any()))
        print_row(kind, [*map(mean_and_error, alarms.values()), paired_difference(alarms)])
        for name, values in alarms.items():
            everything[name] += values
    print_row("all", [*map(mean_and_error, everything.values()), paired_difference(everything)])


def print_evidence(seeds: Sequence[int]) -> None:
    """Print how often the test of the whole table finds evidence, with and without clipping."""
    print_head(
        f"evidence in tables with heavy-tailed columns ({len(seeds)} tables each)",
        "not clipped",
        "clipped",
        "difference",
        "not clipped, permuted target",
        "clipped, permuted target",
    )
    for is_numeric, saturates, tail in product((False, True), (False, True), HEAVY_TAILS):
        runs = []
        for seed in seeds:
            rng = np.random.RandomState(seed)
            design = heavy_tailed(tail, saturates, is_numeric, 2.0, rng)
            orders = [rng.permutation(len(design.y)) for _ in range(N_TABLE_PERMUTATIONS)]
            runs.append(
                [
                    has_evidence(design.X, target, orders, clips=clips)
                    for target in (design.y, rng.permutation(design.y))
                    for clips in (False, True)
                ]
            )
        unclipped, clipped, *permuted = np.array(runs, dtype=float).T
        columns = (unclipped, clipped, clipped - unclipped, *permuted)
        print_row(
            heavy_tailed_name(tail, saturates, is_numeric),
            [mean_and_error(column.tolist()) for column in columns],
        )


def has_evidence(
    X: Array, y: NDArray[Any], orders: Sequence[NDArray[np.intp]], *, clips: bool
) -> bool:
    """Test a whole table for association with the target, with or without clipping."""
    with nullcontext() if clips else without_clipping():
        pvalue = association.association_pvalue(
            X, np.asarray(y, dtype=float)[:, None], np.ones(len(y)), orders
        )
    return pvalue <= EVIDENCE_LEVEL


def without_clipping() -> Any:
    """Return a context in which associations are measured without clipping outliers."""
    return patch.object(association, "clip_outliers", lambda table: table)


def heavy_tailed_name(tail: str, saturates: bool, is_numeric: bool) -> str:
    target = "regression" if is_numeric else "two classes"
    return f"{target}, {tail}, {'saturating' if saturates else 'linear'}"


def print_heavy_tails(seeds: Sequence[int]) -> None:
    """Print what clipping changes for single features of tables with heavy-tailed columns."""
    print_head(
        f"heavy-tailed columns, 4 relevant ({len(seeds)} tables each)",
        *(
            f"{kind}, {rule}"
            for kind in ("found", "false discoveries")
            for rule in ("probes", "fdr, not clipped", "fdr")
        ),
    )
    for saturates, tail in product((False, True), HEAVY_TAILS):
        runs = []
        for seed in seeds:
            design = heavy_tailed(tail, saturates, False, 1.0, np.random.RandomState(seed))
            with without_clipping():
                unclipped = package_rule("fdr")(design, seed)
            called = [package_rule(rule)(design, seed) for rule in ("probes", "fdr")]
            runs.append([called[0], unclipped, called[1]])
        is_called = np.array(runs)  # (table, rule, feature)
        n_found = is_called[:, :, design.may_be_found].sum(axis=2)
        n_false = is_called[:, :, ~design.may_be_found].sum(axis=2)
        proportion = n_false / np.maximum(1, n_found + n_false)
        cells = [mean_and_error(column) for column in [*n_found.T.tolist(), *proportion.T.tolist()]]
        print_row(heavy_tailed_name(tail, saturates, False), cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--noise-tables", type=int, default=20)
    parser.add_argument("--evidence-tables", type=int, default=100)
    parser.add_argument("--heavy-tables", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for n_tables, part in (
            (args.tables, print_power),
            (args.noise_tables, print_alarms),
            (args.evidence_tables, print_evidence),
            (args.heavy_tables, print_heavy_tails),
        ):
            if n_tables:
                part(range(args.first_seed, args.first_seed + n_tables))


if __name__ == "__main__":
    main()
