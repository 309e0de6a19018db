"""Time of complete fits with calibrated classes on tables with many features, by stage.

The stages are the choice of C (with the baseline), the permutation test of the table, the
calibration and the ranges. Their CPU times come from a profile of a fit in one process, and include
the overhead of profiling. The command also prints the numbers of LPs and of simplex pivots, and
the numbers of features in each relevance class. ``--jobs`` measures a fit with worker processes
instead: elapsed time and CPU time, including those of the workers. ``--save`` stores the results of
the fits, and ``--compare`` prints their largest differences from stored results. ``--max-cpu``
stops each profiled fit after this CPU time and prints the times of the stages up to then. The table
with a million columns is only fitted if ``--only`` names it.

usage: python -m benchmarks.wide [--data FOLDER] [--only TEXT ...] [--jobs N] [--relations]
                                 [--max-cpu SECONDS] [--save FOLDER] [--compare FOLDER]
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp

from allrelevant import ClassificationBounds, RankingBounds
from allrelevant.datasets import make_linear_classification
from allrelevant.native import simplex
from benchmarks.million_columns import make_table

STAGES = {
    "C": ("pipeline.py", "fit_baseline"),
    "test": ("permutations.py", "table_pvalues"),
    "calibration": ("permutations.py", "fit"),
    "ranges": ("pipeline.py", "bound_subproblem"),
}

Loader = Callable[[Path | None], tuple[type, Any, Any]]


def linear(n: int, d: int, n_relevant: int = 15, flip: float = 0.05) -> Loader:
    def load(folder: Path | None) -> tuple[type, Any, Any]:
        data = make_linear_classification(
            n,
            n_strong=n_relevant // 3,
            n_weak=n_relevant - n_relevant // 3,
            n_irrelevant=d - n_relevant,
            flip=flip,
            random_state=0,
        )
        return ClassificationBounds, data.X, data.y

    return load


def noise(n: int, d: int) -> Loader:
    def load(folder: Path | None) -> tuple[type, Any, Any]:
        rng = np.random.RandomState(0)
        return ClassificationBounds, rng.standard_normal((n, d)), rng.permutation(n) % 2

    return load


def rare_binary(folder: Path | None) -> tuple[type, Any, Any]:
    """Return 800 rows of 1,000 binary columns; 3.5 % of the rows are positive."""
    rng = np.random.RandomState(0)
    X = (rng.random_sample((800, 1000)) < rng.uniform(0.02, 0.3, 1000)).astype(float)
    score = X[:, :10].sum(axis=1) + 0.5 * rng.standard_normal(800)
    return ClassificationBounds, X, (score >= np.sort(score)[-28]).astype(int)


def four_classes(folder: Path | None) -> tuple[type, Any, Any]:
    """Return 83 rows, 2,308 columns and four classes; each class raises 25 correlated columns."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(4), [29, 11, 18, 25])
    X = rng.standard_normal((83, 2308)) + rng.standard_normal((83, 40)) @ rng.standard_normal(
        (40, 2308)
    ) / np.sqrt(40)
    for label in range(4):
        raised = 1.5 + 0.5 * rng.standard_normal((83, 1)) + 0.5 * rng.standard_normal((83, 25))
        X[:, 25 * label : 25 * (label + 1)] += raised * (y == label)[:, None]
    return ClassificationBounds, X, y


def diabetes_ranking(folder: Path | None) -> tuple[type, Any, Any]:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return RankingBounds, X, (y > np.median(y)).astype(int)


def file(name: str, *, train: bool) -> Loader:
    def load(folder: Path | None) -> tuple[type, Any, Any]:
        if folder is None or not (folder / name).exists():
            raise FileNotFoundError(name)
        arrays = np.load(folder / name)
        rows = arrays["split"] == 0 if train else np.ones(len(arrays["y"]), dtype=bool)
        return ClassificationBounds, arrays["X"][rows].astype(float), arrays["y"][rows]

    return load


def dorothea(folder: Path | None) -> tuple[type, Any, Any]:
    if folder is None or not (folder / "dorothea.npz").exists():
        raise FileNotFoundError("dorothea.npz")
    arrays = np.load(folder / "dorothea.npz")
    parts = (arrays["data"].astype(float), arrays["indices"], arrays["indptr"])
    rows = arrays["split"] == 0
    X = sp.csr_array(parts, shape=tuple(arrays["shape"]))[rows]
    return ClassificationBounds, X, arrays["y"][rows]


def million(folder: Path | None) -> tuple[type, Any, Any]:
    return ClassificationBounds, *make_table(1000, 1_000_000)


MILLION = "million columns 1,000 x 1,000,000"
TABLES: dict[str, Loader] = {
    "ranking 442 x 10": diabetes_ranking,
    "noise 100 x 2,000": noise(100, 2000),
    "binary 800 x 1,000": rare_binary,
    "four classes 83 x 2,308": four_classes,
    "leukemia 72 x 7,129": file("leukemia_golub.npz", train=False),
    "arcene 100 x 9,920": file("arcene.npz", train=True),
    "100 x 12,600": linear(100, 12_600),
    "2,000 x 5,000": linear(2000, 5000),
    "dorothea 800 x 100,000": dorothea,
    MILLION: million,
}


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the LPs for largest and smallest weights, and their pivots, in this process."""
    counts: Counter[str] = Counter()
    solve = simplex.solve_extremes

    def count(*args: Any) -> Any:
        found = solve(*args)
        counts.update(LPs=len(found.status), pivots=found.pivots)
        return found

    with patch.object(simplex, "solve_extremes", count):
        yield counts


def stage_seconds(profile: cProfile.Profile) -> dict[str, float]:
    stats: Any = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    found = {(Path(file).name, name): times[3] for (file, _, name), times in stats.items()}
    return {stage: found.get(place, 0.0) for stage, place in STAGES.items()}


class OutOfTimeError(Exception):
    """Raised in a fit that has used up its CPU time."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTimeError`` in the block when this process has used the given CPU time."""

    def stop(*_: Any) -> None:
        raise OutOfTimeError

    former = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def profiled_fit(est: Any, X: Any, y: Any, max_cpu: float) -> list[str]:
    profile = cProfile.Profile(time.process_time)
    start = time.process_time()
    with counted() as counts, suppress(OutOfTimeError), cpu_limit(max_cpu):
        profile.runcall(est.fit, X, y)
    total = time.process_time() - start
    seconds = [*stage_seconds(profile).values(), total]
    return [*(f"{s:.2f}" for s in seconds), f"{counts['LPs']:,}", f"{counts['pivots']:,}"]


def parallel_fit(est: Any, X: Any, y: Any, relations: bool) -> list[str]:
    start, cpu = time.perf_counter(), sum(os.times()[:4])
    est.fit(X, y)
    if relations:
        est.relations()
    elapsed = time.perf_counter() - start
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # the CPU time of workers counts when they end
    return [f"{elapsed:.1f}", f"{sum(os.times()[:4]) - cpu:.1f}"]


def results(est: Any) -> dict[str, Any]:
    return {
        "interval": est.interval_,
        "signed": est.signed_interval_,
        "cutoff": est.cutoff_,
        "C": np.atleast_1d(est.baseline_.C_),
        "exact": est.exact_,
        "relevance": est.relevance_.astype(str),
    }


def differences(former: Any, now: dict[str, Any]) -> str:
    """Return the differences of two results; bounds count where both are exact."""
    exact = former["exact"] & now["exact"]
    bounds = max(
        np.abs(former[name][exact] - now[name][exact]).max(initial=0.0)
        for name in ("interval", "signed")
    )
    n_classes = int((former["relevance"] != now["relevance"]).sum())
    cutoff, C = (np.abs(former[name] - now[name]).max() for name in ("cutoff", "C"))
    n_exact = int((former["exact"] != now["exact"]).sum())
    return f"bounds {bounds:.0e}, cutoff {cutoff:.0e}, C {C:.0e}, {n_classes} classes" + (
        f", exact_ {n_exact}" if n_exact else ""
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide")
    parser.add_argument("--data", type=Path, help="folder with the real tables")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the names of tables")
    parser.add_argument("--jobs", type=int, help="measure a fit with this many processes")
    parser.add_argument("--relations", action="store_true", help="with --jobs: also relations")
    parser.add_argument("--max-cpu", type=float, default=0, help="limit per fit, in seconds")
    parser.add_argument("--save", type=Path, help="folder for the results")
    parser.add_argument("--compare", type=Path, help="folder of results to compare with")
    args = parser.parse_args()
    stages = [f"{stage} (s)" for stage in (*STAGES, "total")]
    columns = ["elapsed (s)", "CPU (s)"] if args.jobs else [*stages, "LPs", "pivots"]
    head = ["Table", *columns, "Relevance classes", *(["Differences"] if args.compare else [])]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)
    for name, load in TABLES.items():
        if not any(text in name for text in args.only) or (name == MILLION and "" in args.only):
            continue
        try:
            estimator, X, y = load(args.data)
        except FileNotFoundError as missing:
            print(f"| {name} | skipped: {missing} is not in the data folder |")
            continue
        est = estimator(random_state=0, n_jobs=args.jobs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if args.jobs:
                cells = parallel_fit(est, X, y, args.relations)
            else:
                cells = profiled_fit(est, X, y, args.max_cpu)
        if not hasattr(est, "relevance_"):
            print(f"| {name} | {' | '.join([*cells, 'stopped'])} |", flush=True)
            continue
        classes = Counter(est.relevance_.tolist())
        cells.append(", ".join(f"{n:,} {kind}" for kind, n in classes.items()))
        file_name = f"{name.replace(' ', '_').replace(',', '')}.npz"
        if args.save:
            args.save.mkdir(parents=True, exist_ok=True)
            np.savez(args.save / file_name, **results(est))
        if args.compare and (args.compare / file_name).exists():
            cells.append(differences(np.load(args.compare / file_name), results(est)))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
