"""One method on one table, in a process of its own: seconds, peak memory and programs as JSON.

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

# Exit code that says so.
TABLE_MISSING = 3


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def best_of(times: int, run: Callable[[], Any]) -> tuple[float, Any]:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def signed(case: Case, samples: ClassificationData, features: int) -> tuple[np.ndarray, Result]:
    """Both signed ends of every range."""
    baseline, baseline_seconds = compiled_baseline(case, samples)

    def solve() -> Any:
        # A set of its own each time: nothing is left over from the last.
        models = FORMULATIONS["separate"].equivalent_models(baseline, case.slack)
        return weight_ranges(models, range(features))

    seconds, ranges = best_of(repeats(samples), solve)
    return ranges.interval, {
        "seconds": seconds,
        "baseline_seconds": baseline_seconds,
        "programs": 2 * features,
        "pivots": ranges.effort.pivots,
        "fallbacks": ranges.effort.fallbacks,
        "gap": float(ranges.gap.max()),
    }


def absolute(case: Case, samples: ClassificationData, features: int) -> tuple[np.ndarray, Result]:
    """Absolute intervals, as fri and the papers give them: one sign where it is enough."""
    baseline, _ = compiled_baseline(case, samples)

    def solve() -> Any:
        models = FORMULATIONS["separate"].equivalent_models(baseline, case.slack)
        return size_ranges(models, range(features))

    seconds, (interval, effort) = best_of(repeats(samples), solve)
    programs = 2 * features - effort.spared
    return interval, {"seconds": seconds, "programs": programs, "spared": effort.spared}


def compiled_baseline(case: Case, samples: ClassificationData) -> tuple[FittedBaseline, float]:
    compile_kernel()
    start = time.perf_counter()
    baseline = FORMULATIONS["separate"].fit(samples, case.C)
    return baseline, time.perf_counter() - start


def repeats(samples: ClassificationData) -> int:
    """Of milliseconds the best of many, of seconds one."""
    return int(np.clip(2_000_000 // (samples.n_samples * samples.n_features), 1, 50))


def warm(case: Case, samples: ClassificationData, features: int) -> tuple[np.ndarray, Result]:
    baseline = FORMULATIONS["separate"].fit(samples, case.C)
    models = FORMULATIONS["separate"].equivalent_models(baseline, case.slack)
    seconds, ranges = best_of(1, lambda: weight_ranges(models, range(features), solver=HighsSolver))
    return ranges.interval, {"seconds": seconds, "programs": 2 * features}


def cold(case: Case, samples: ClassificationData, features: int) -> tuple[np.ndarray, Result]:
    baseline = FORMULATIONS["separate"].fit(samples, case.C)
    limits = case.slack.norm_limit(baseline.model), case.slack.loss_limit(baseline.model)
    seconds, interval = best_of(
        1, lambda: naive_separate(samples.X, samples.y, samples.weight, *limits)
    )
    return interval, {"seconds": seconds, "programs": 3 * features}


def compile_kernel() -> None:
    """Compile the inner loop, or load it from the cache, on a table of no interest."""
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
    parser.add_argument("--data", type=Path)
    parser.add_argument("--features", type=int)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    case = CASES[args.case]
    try:
        samples = case.load(args.data)
    except FileNotFoundError as error:
        print(f"{error} is not in the data folder", file=sys.stderr)
        sys.exit(TABLE_MISSING)
    features = min(args.features or samples.n_features, samples.n_features)
    with threadpool_limits(1):  # one core, as a worker has
        interval, result = METHODS[args.method](case, samples, features)
    if args.save:
        np.save(args.save, interval)
    shape = {"n": samples.n_samples, "d": samples.n_features, "features": features}
    print(json.dumps(result | shape | {"megabytes": peak_megabytes()}))


if __name__ == "__main__":
    main()
