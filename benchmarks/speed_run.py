"""Time, peak memory and number of LPs of one method on one table, printed as JSON.

Each run is a separate process, so that peak memory can be measured.

usage: python -m benchmarks.speed_run METHOD CASE [--data FOLDER] [--features N] [--save FILE.npy]
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from allrelevant.bounds.baseline import FORMULATIONS, FittedBaseline
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.programs.equivalent_models import separate_budgets
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.l1 import L1Baseline
from allrelevant.bounds.solver.ranges import size_ranges, weight_ranges
from tests.bounds.naive import naive_separate

from .speed_cases import CASES, Case

Result = dict[str, Any]

# Exit code if the table is not in the data folder.
TABLE_MISSING = 3


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(repeats: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest time of several runs and the result of the last run."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def signed(case: Case, samples: ClassificationData, features: int) -> tuple[np.ndarray, Result]:
    """Compute the smallest and the largest signed weight of each feature."""
    baseline, baseline_seconds = compiled_baseline(case, samples)

    def solve() -> Any:
        # A new set of models each time, so that no results of previous runs are reused.
        models = FORMULATIONS["separate"].equivalent_models(baseline, case.slack)
        return weight_ranges(models, range(features))

    seconds, ranges = measure(n_repeats(samples), solve)
    return ranges.interval, {
        "seconds": seconds,
        "baseline_seconds": baseline_seconds,
        "programs": 2 * features,
        "pivots": ranges.effort.pivots,
        "fallbacks": ranges.effort.fallbacks,
        "gap": float(ranges.gap.max()),
    }


def absolute(case: Case, samples: ClassificationData, features: int) -> tuple[np.ndarray, Result]:
    """Compute intervals of absolute weights, as fri and the papers do.

    LPs for signs that are ruled out are skipped.
    """
    baseline, _ = compiled_baseline(case, samples)

    def solve() -> Any:
        models = FORMULATIONS["separate"].equivalent_models(baseline, case.slack)
        return size_ranges(models, range(features))

    seconds, (interval, effort) = measure(n_repeats(samples), solve)
    programs = 2 * features - effort.spared
    return interval, {"seconds": seconds, "programs": programs, "skipped": effort.spared}


def compiled_baseline(case: Case, samples: ClassificationData) -> tuple[FittedBaseline, float]:
    compile_solver()
    start = time.perf_counter()
    baseline = FORMULATIONS["separate"].fit(samples, case.C)
    return baseline, time.perf_counter() - start


def n_repeats(samples: ClassificationData) -> int:
    """Return the number of timed runs, which is smaller for larger tables."""
    return int(np.clip(2_000_000 // (samples.n_samples * samples.n_features), 1, 50))


def warm(case: Case, samples: ClassificationData, features: int) -> tuple[np.ndarray, Result]:
    baseline = FORMULATIONS["separate"].fit(samples, case.C)
    models = FORMULATIONS["separate"].equivalent_models(baseline, case.slack)
    seconds, ranges = measure(1, lambda: weight_ranges(models, range(features), solver=HighsSolver))
    return ranges.interval, {"seconds": seconds, "programs": 2 * features}


def cold(case: Case, samples: ClassificationData, features: int) -> tuple[np.ndarray, Result]:
    baseline = FORMULATIONS["separate"].fit(samples, case.C)
    limits = case.slack.norm_limit(baseline.model), case.slack.loss_limit(baseline.model)
    seconds, interval = measure(
        1, lambda: naive_separate(samples.X, samples.y, samples.weight, *limits)
    )
    return interval, {"seconds": seconds, "programs": 3 * features}


def compile_solver() -> None:
    """Compile the solver, or load it from the cache, by solving a small problem."""
    rng = np.random.RandomState(0)
    samples = ClassificationData(
        rng.randn(40, 3), np.where(rng.rand(40) < 0.5, 1.0, -1.0), np.ones(40)
    )
    start = L1Baseline(samples.rows).solve(10.0)
    norm = 1.1 * np.abs(start.coef).sum()
    weight_ranges(separate_budgets(samples.rows, norm, 40.0))
    baseline = FORMULATIONS["separate"].fit(samples, 10.0)
    weight_ranges(separate_budgets(samples.rows, norm, 40.0, baseline.start))


METHODS = {"absolute": absolute, "signed": signed, "warm": warm, "cold": cold}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--data", type=Path, help="folder with the tables")
    parser.add_argument("--features", type=int, help="solve only the first N features")
    parser.add_argument("--save", type=Path, help="file for the intervals")
    args = parser.parse_args()
    case = CASES[args.case]
    try:
        samples = case.load(args.data)
    except FileNotFoundError as error:
        print(f"{error} is not in the data folder.", file=sys.stderr)
        sys.exit(TABLE_MISSING)
    features = min(args.features or samples.n_features, samples.n_features)
    with threadpool_limits(1):  # one core
        interval, result = METHODS[args.method](case, samples, features)
    if args.save:
        np.save(args.save, interval)
    shape = {"n": samples.n_samples, "d": samples.n_features, "features": features}
    print(json.dumps(result | shape | {"megabytes": peak_megabytes()}))


if __name__ == "__main__":
    main()
