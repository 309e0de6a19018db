"""Time and memory of whole fits for growing numbers of rows and columns, with other packages.

usage: python -m benchmarks.fit_growth [--methods NAME ...] [--max-seconds S] [--figure FILE]

All methods get the same tables, use their default settings and one core. Each run is a separate
process. It is stopped after ``--max-seconds``, and larger tables of the series are then skipped.
The CPU time does not include the start of the process. The memory is the peak of the process, with
Python and its libraries. The slope is that of the logarithm of the time over the logarithm of the
size, between the two largest tables: 1 means that twice the size takes twice the time. hidimstat is
installed in ``.calibration-env`` on first use.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant.datasets import make_linear_classification

from .comparators.inference_peer import install, select_all
from .comparators.interface import Classes, NotInstalledError, Table

FIGURE = Path(__file__).parent.parent / "docs" / "images" / "fit_growth.svg"

# Shapes of the tables, by the title of the axis.
SERIES = {
    "rows (20 columns)": [(n, 20) for n in (100, 1_000, 10_000, 100_000)],
    "columns (100 rows)": [(100, d) for d in (10, 100, 1_000, 10_000, 100_000)],
}

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def fit_bounds(X: Table, y: Classes) -> None:
    from allrelevant import ClassificationBounds

    ClassificationBounds(random_state=0).fit(X, y)


def fit_boruta(X: Table, y: Classes) -> None:
    from .comparators.forests import boruta

    boruta(X, y, folds=5, seed=0)


def fit_rfecv(X: Table, y: Classes) -> None:
    from .comparators.wrappers import rfecv

    rfecv(X, y, folds=5, seed=0)


def fit_lassonet(X: Table, y: Classes) -> None:
    from .comparators.networks import lassonet

    lassonet(X, y, folds=5, seed=0)


HIDIMSTAT = "hidimstat, BH 0.05"


def fit_hidimstat(X: Table, y: Classes) -> None:
    select_all(X, y, seed=0, only=HIDIMSTAT)


METHODS: dict[str, Callable[[Table, Classes], None]] = {
    "allrelevant": fit_bounds,
    "Boruta": fit_boruta,
    "RFECV": fit_rfecv,
    "hidimstat": fit_hidimstat,
    "LassoNet": fit_lassonet,
}


@dataclass(frozen=True)
class Run:
    """CPU seconds and peak megabytes of one fit; no seconds if it was stopped."""

    shape: tuple[int, int]
    seconds: float | None
    megabytes: float | None = None


def make_table(n: int, d: int) -> tuple[Table, Classes]:
    """Return a standardized table with relevant columns, at most 15, and a tenth of flips."""
    n_strong, n_weak = (5, 10) if d > 15 else (2, 4)
    data = make_linear_classification(
        n,
        n_strong=n_strong,
        n_weak=n_weak,
        n_irrelevant=d - n_strong - n_weak,
        flip=0.1,
        random_state=0,
    )
    return (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y


def measure(method: str, n: int, d: int) -> dict[str, float]:
    """Return CPU seconds and peak megabytes of a fit in this process and its children."""
    warnings.simplefilter("ignore")
    X, y = make_table(n, d)
    METHODS[method](*make_table(60, 8))  # imports
    before = _cpu_seconds()
    METHODS[method](X, y)
    peaks = [
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return {"seconds": _cpu_seconds() - before, "megabytes": max(peaks) / 1024}


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def run(method: str, shape: tuple[int, int], max_seconds: float) -> Run:
    """Measure a fit in a new process, which is stopped after a time."""
    command = [sys.executable, "-m", "benchmarks.fit_growth", "--run", method, *map(str, shape)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=max_seconds,
            env=os.environ | ONE_THREAD,
        )
    except subprocess.TimeoutExpired:
        return Run(shape, None)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{method} failed at {shape[0]:,} x {shape[1]:,}: {reason}", file=sys.stderr)
        return Run(shape, None)
    return Run(shape, **json.loads(done.stdout))


def run_series(method: str, shapes: Sequence[tuple[int, int]], max_seconds: float) -> list[Run]:
    """Measure tables of growing size, up to the first that is not finished in time."""
    runs: list[Run] = []
    for shape in shapes:
        runs.append(run(method, shape, max_seconds))
        if runs[-1].seconds is None:
            break
    return runs


def slope(runs: Sequence[Run], axis: int) -> str:
    """Return the slope between the two largest tables that were finished."""
    finished = [(part.shape[axis], part.seconds) for part in runs if part.seconds is not None]
    if len(finished) < 2:
        return "-"
    (size, seconds), (larger, more) = finished[-2:]
    return f"{np.log(more / seconds) / np.log(larger / size):.2f}"


def print_series(title: str, axis: int, results: dict[str, list[Run]], max_seconds: float) -> None:
    """Print CPU seconds and megabytes, one line per method."""
    shapes = SERIES[title]
    head = [f"{shape[axis]:,}" for shape in shapes]
    print(f"\n| {title} | {' | '.join(head)} | slope |")
    print("| --- " * (len(head) + 2) + "|")
    for method, runs in results.items():
        cells = [
            f"> {max_seconds:g} s"
            if part.seconds is None
            else f"{part.seconds:.2f} s, {part.megabytes:.0f} MB"
            for part in runs
        ]
        cells += ["-"] * (len(shapes) - len(cells))
        print(f"| {method} | {' | '.join(cells)} | {slope(runs, axis)} |", flush=True)


def draw(all_results: dict[str, dict[str, list[Run]]], figure_file: Path) -> None:
    """Draw time (above) and memory (below) against rows (left) and columns (right)."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(8, 6), sharex="col", layout="constrained")
    for column, (title, results) in enumerate(all_results.items()):
        for method, runs in results.items():
            finished = [part for part in runs if part.seconds is not None]
            sizes = [part.shape[column] for part in finished]
            style: dict[str, Any] = {"marker": "o", "label": method}
            if method == "allrelevant":
                style |= {"color": "#0b6e99", "linewidth": 2.5, "zorder": 3}
            axes[0, column].loglog(sizes, [part.seconds for part in finished], **style)
            axes[1, column].loglog(sizes, [part.megabytes for part in finished], **style)
        axes[1, column].set_xlabel(title)
    axes[0, 0].set_ylabel("CPU seconds")
    axes[1, 0].set_ylabel("peak memory (MB)")
    axes[0, 1].legend(frameon=False)
    for ax in axes.ravel():
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(figure_file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--max-seconds", type=float, default=120.0)
    parser.add_argument("--figure", type=Path, default=FIGURE)
    parser.add_argument("--run", nargs=3, metavar=("METHOD", "ROWS", "COLUMNS"))
    args = parser.parse_args()
    if args.run:
        method, n, d = args.run
        print(json.dumps(measure(method, int(n), int(d))))
        return
    methods = list(args.methods)
    if "hidimstat" in methods:
        try:
            install()
        except NotInstalledError as error:
            print(error, file=sys.stderr)
            methods.remove("hidimstat")
    all_results = {}
    for axis, (title, shapes) in enumerate(SERIES.items()):
        all_results[title] = {
            method: run_series(method, shapes, args.max_seconds) for method in methods
        }
        print_series(title, axis, all_results[title], args.max_seconds)
    draw(all_results, args.figure)


if __name__ == "__main__":
    main()
