"""False alarms, false discoveries, power and CPU time of the relevance classes.

This script compares the rules ``cutoff="fdr"`` and ``cutoff="probes"`` on the same tables. The
default seeds were not used to develop the rule.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from allrelevant import ClassificationBounds
from benchmarks.calibration_designs import (
    BALANCED_NOISE,
    OTHER_NOISE,
    WIDE_NOISE,
    Design,
    Generator,
    RealTable,
    known_nulls,
    real_tables,
    wide,
)
from benchmarks.scores import class_scores
from benchmarks.sets import ESANN17, FEREL18, GENERAL

RULES = ("probes", "fdr")
FIRST_SEED = 110_000


def fit(estimator: type, design: Design, seed: int, rule: str) -> tuple[Any, float]:
    """Fit an estimator with one cutoff rule; return it and the CPU time in seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est = estimator(cutoff=rule, random_state=seed).fit(design.X, design.y)
    return est, time.process_time() - start


def run_table(estimator: type, make: Generator, seed: int) -> dict[str, Any]:
    """Compute relevance classes and CPU times on one table with both cutoff rules."""
    design = make(np.random.RandomState(seed))
    result: dict[str, Any] = {"may_be_found": design.may_be_found}
    for rule in RULES:
        est, seconds = fit(estimator, design, seed, rule)
        result[rule] = est.relevance_
        result[f"{rule} seconds"] = seconds
    return result


def run_all(
    estimator: type, make: Generator, seeds: Iterable[int], n_jobs: int
) -> list[dict[str, Any]]:
    return Parallel(n_jobs=n_jobs)(delayed(run_table)(estimator, make, seed) for seed in seeds)


def is_relevant(classes: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isin(classes, ("strong", "weak"))


def mean_and_error(values: Sequence[float]) -> str:
    array = np.asarray(values, dtype=float)
    return f"{array.mean():.3f} ({array.std(ddof=1) / np.sqrt(len(array)):.3f})"


def print_row(name: str, cells: Iterable[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def print_head(*names: str) -> None:
    print(f"\n| {' | '.join(names)} |\n|{' --- |' * len(names)}")


def alarms(runs: list[dict[str, Any]], rule: str) -> list[float]:
    return [float(is_relevant(run[rule]).any()) for run in runs]


def strong_alarms(runs: list[dict[str, Any]], rule: str) -> list[float]:
    return [float((run[rule] == "strong").any()) for run in runs]


def noise_part(seeds: Callable[[int], range], n_jobs: int, folder: Path | None) -> None:
    """Print the fractions of noise tables with a relevant feature and with a strong feature."""
    columns = [f"{kind}, {rule}" for kind in ("any relevant", "any strong") for rule in RULES]
    print_head("noise, balanced labels (40 tables each)", *columns)
    everything: list[dict[str, Any]] = []
    for name, make in BALANCED_NOISE.items():
        runs = run_all(ClassificationBounds, make, seeds(40), n_jobs)
        everything += runs
        print_alarms(name, runs)
    print_alarms("all", everything)
    print_head("noise, other targets (20 tables each)", *columns)
    for name, (estimator, make) in OTHER_NOISE.items():
        print_alarms(name, run_all(estimator, make, seeds(20), n_jobs))


def print_alarms(name: str, runs: list[dict[str, Any]]) -> None:
    cells = [mean_and_error(alarms(runs, rule)) for rule in RULES]
    print_row(name, cells + [mean_and_error(strong_alarms(runs, rule)) for rule in RULES])


def nulls_part(seeds: Callable[[int], range], n_jobs: int, folder: Path | None) -> None:
    """Print false discovery proportions and found features on tables with null features."""
    columns = [f"{kind}, {rule}" for kind in ("false discoveries", "found") for rule in RULES]
    print_head("known nulls (20 tables each)", *columns)
    everything: list[dict[str, Any]] = []
    for name, make in known_nulls(folder).items():
        runs = run_all(ClassificationBounds, make, seeds(20), n_jobs)
        everything += runs
        print_discoveries(name, runs)
    print_discoveries("all", everything)


def false_discoveries(run: dict[str, Any], rule: str) -> float:
    called = is_relevant(run[rule])
    return float((called & ~run["may_be_found"]).sum() / max(1, called.sum()))


def found(run: dict[str, Any], rule: str) -> float:
    return float((is_relevant(run[rule]) & run["may_be_found"]).sum())


def print_discoveries(name: str, runs: list[dict[str, Any]]) -> None:
    cells = [mean_and_error([false_discoveries(run, rule) for run in runs]) for rule in RULES]
    cells += [mean_and_error([found(run, rule) for run in runs]) for rule in RULES]
    print_row(f"{name} ({int(runs[0]['may_be_found'].sum())} columns)", cells)


def papers_part(seeds: Callable[[int], range], n_jobs: int, folder: Path | None) -> None:
    """Print the F1 scores on the papers' datasets, and the CPU time of the fits."""
    columns = [f"{kind}, {rule}" for kind in ("relevant", "strong", "weak") for rule in RULES]
    print_head("F1 on the papers' sets (10 tables each)", *columns)
    scores: dict[str, list[dict[str, dict[str, float]]]] = {"clean": [], "flipped": []}
    ratios: list[float] = []
    for kind, flip in (("clean", 0.0), ("flipped", 0.1)):
        for name, generator in {**FEREL18, **ESANN17, **GENERAL}.items():
            parts = Parallel(n_jobs=n_jobs)(
                delayed(run_paper)(generator, flip, seed) for seed in seeds(10)
            )
            scores[kind] += [part for part, _ in parts]
            ratios += [ratio for _, ratio in parts]
            print_scores(f"{name}, {kind}", [part for part, _ in parts])
        print_scores(f"all, {kind}", scores[kind])
    print_ratios("the papers' sets", ratios)


def run_paper(
    generator: Callable[..., Any], flip: float, seed: int
) -> tuple[dict[str, dict[str, float]], float]:
    data = generator(flip=flip, random_state=seed)
    design = Design(data.X, data.y, np.asarray(data.relevance) != "irrelevant")
    scores, seconds = {}, {}
    for rule in RULES:
        est, seconds[rule] = fit(ClassificationBounds, design, seed, rule)
        scores[rule] = class_scores(data.relevance, est.relevance_)
    return scores, seconds["fdr"] / seconds["probes"]


def print_scores(name: str, parts: list[dict[str, dict[str, float]]]) -> None:
    print_row(
        name,
        [
            mean_and_error([part[rule][kind] for part in parts])
            for kind in ("relevant", "strong", "weak")
            for rule in RULES
        ],
    )


def print_ratios(name: str, ratios: list[float]) -> None:
    print(
        f'\nOn {name} ({len(ratios)} fits), the CPU time with "fdr" relative to "probes" has a '
        f"median of {np.median(ratios):.2f} and a 90% quantile of {np.quantile(ratios, 0.9):.2f}."
    )


def wide_part(seeds: Callable[[int], range], n_jobs: int, folder: Path | None) -> None:
    """Print power and false alarms on tables with more features than rows."""
    print_head("90 x 500 (10 tables)", *RULES)
    runs = run_all(ClassificationBounds, wide, seeds(10), n_jobs)
    print_row("found of 10", [mean_and_error([found(r, rule) for r in runs]) for rule in RULES])
    print_row(
        "false discoveries",
        [mean_and_error([false_discoveries(r, rule) for r in runs]) for rule in RULES],
    )
    noise_runs = run_all(ClassificationBounds, WIDE_NOISE, seeds(10), n_jobs)
    print_row("noise tables with an alarm", [f"{sum(alarms(noise_runs, r)):g}" for r in RULES])


def time_part(seeds: Callable[[int], range], n_jobs: int, folder: Path | None) -> None:
    """Print the CPU time on noise tables and on tables with null features, one at a time."""
    ratios: list[float] = []
    for designs in (BALANCED_NOISE, known_nulls(folder)):
        for make in designs.values():
            for run in run_all(ClassificationBounds, make, seeds(5), 1):
                ratios.append(run["fdr seconds"] / run["probes seconds"])
    print_ratios("noise and known nulls", ratios)


def real_part(seeds: Callable[[int], range], n_jobs: int, folder: Path | None) -> None:
    """Print how classes of real tables depend on the seed, and held-out scores of the features.

    Each cell has the values of both rules. The score is that of a linear model on 30% of the rows;
    relevant features are found on the others.
    """
    print_head(
        f"real tables (10 seeds), {RULES[0]} / {RULES[1]}",
        "relevant",
        "Jaccard index between seeds",
        "needed, but called irrelevant",
        "held-out score, relevant features",
        "held-out score, all features",
    )
    for table in real_tables(folder):
        runs = Parallel(n_jobs=n_jobs)(delayed(run_real)(table, seed) for seed in seeds(10))
        cells = [
            " / ".join(f"{summary(rule, runs):.3g}" for rule in RULES)
            for summary in (n_relevant, jaccard, n_contradictions, held_out)
        ]
        print_row(table.name, [*cells, mean_and_error([run["all"] for run in runs])])


def n_relevant(rule: str, runs: list[dict[str, Any]]) -> float:
    return float(np.mean([is_relevant(run[rule]).sum() for run in runs]))


def jaccard(rule: str, runs: list[dict[str, Any]]) -> float:
    """Return the mean similarity of the relevant features of two seeds."""
    found = [is_relevant(run[rule]) for run in runs]
    return float(
        np.mean([(a & b).sum() / max(1, (a | b).sum()) for a, b in combinations(found, 2)])
    )


def n_contradictions(rule: str, runs: list[dict[str, Any]]) -> float:
    """Return the number of features that every equivalent model uses, but that are irrelevant."""
    return float(sum(run[f"{rule} contradictions"] for run in runs))


def held_out(rule: str, runs: list[dict[str, Any]]) -> float:
    return float(np.mean([run[f"{rule} score"] for run in runs]))


def run_real(table: RealTable, seed: int) -> dict[str, Any]:
    """Fit all rows with both rules; score the relevant features of a training part."""
    result: dict[str, Any] = {}
    train, test = table.split(seed)
    result["all"] = table.score(train, test, np.ones(table.X.shape[1], dtype=bool))
    for rule in RULES:
        design = Design(table.X, table.y, np.empty(0, dtype=bool))
        est, _ = fit(table.estimator, design, seed, rule)
        result[rule] = est.relevance_
        needed = est.interval_[:, 0] > 1e-6 * np.max(est.baseline_.norm_)
        result[f"{rule} contradictions"] = int((needed & (est.relevance_ == "irrelevant")).sum())
        part = Design(table.X[train], table.y[train], np.empty(0, dtype=bool))
        est, _ = fit(table.estimator, part, seed, rule)
        result[f"{rule} score"] = table.score(train, test, is_relevant(est.relevance_))
    return result


PARTS = {
    "noise": noise_part,
    "nulls": nulls_part,
    "papers": papers_part,
    "wide": wide_part,
    "time": time_part,
    "real": real_part,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--data", type=Path, default=None, help="folder with parkinsons.npz, ...")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    # Compile the solver outside the measured fits.
    fit(ClassificationBounds, BALANCED_NOISE["copies"](np.random.RandomState(0)), 0, "probes")

    def seeds(n: int) -> range:
        return range(args.first_seed, args.first_seed + n)

    for name in args.part:
        PARTS[name](seeds, args.jobs, args.data)


if __name__ == "__main__":
    main()
