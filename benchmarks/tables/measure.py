"""Script that measures one table row in its own process, to isolate its peak memory.

usage: python -m benchmarks.tables.measure TABLE ROW --store FOLDER --seeds N ... [--data FOLDER]
"""

from __future__ import annotations

import argparse
import platform
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_limits

from ..comparators.interface import NotInstalledError
from .papers import TABLES
from .store import Store

# Exit code if a comparator cannot be installed; the reason is on standard error.
NOT_INSTALLED = 4

# Packages whose versions are stored with a run, in the order in which pages list them.
VERSIONED = (
    "python",
    "allrelevant",
    "numpy",
    "scipy",
    "scikit-learn",
    "highspy",
    "numba",
    "torch",
    "boruta",
    "lassonet",
)


def versions() -> dict[str, str]:
    installed = {"python": platform.python_version()}
    for package in VERSIONED[1:]:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def peak_megabytes() -> float:
    """Return the peak memory of this process or its largest child process, in megabytes."""
    return max(usage.ru_maxrss for usage in usages()) / 1024


def processor_seconds() -> float:
    """Return the CPU time of this process and its child processes, in seconds."""
    return sum(usage.ru_utime + usage.ru_stime for usage in usages())


def usages() -> list[resource.struct_rusage]:
    return [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("row")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("--data", type=Path, default=Path())
    args = parser.parse_args()
    table = TABLES[args.table]
    row, store = table.row(args.row), Store(args.store)
    with threadpool_limits(1):
        for seed in args.seeds:
            start, processor = time.perf_counter(), processor_seconds()
            try:
                figures = row.measure(seed, args.data)
            except NotInstalledError as error:
                print(error, file=sys.stderr)
                sys.exit(NOT_INSTALLED)
            cost = {
                "seconds": time.perf_counter() - start,
                "processor_seconds": processor_seconds() - processor,
                "megabytes": peak_megabytes(),
            }
            store.add(table, row, seed, figures, cost, versions())


if __name__ == "__main__":
    main()
