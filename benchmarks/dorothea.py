"""Time and memory of a fit on DOROTHEA (800 x 100,000, sparse) with default settings.

usage: python -m benchmarks.dorothea --data FOLDER (with dorothea.npz)
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from allrelevant import ClassificationBounds


def peak_gigabytes() -> tuple[float, int]:
    """Return the total peak memory of this process and its workers, and the process count."""
    statuses = [
        dict(line.split(":", 1) for line in status.splitlines())
        for status in map(read_status, Path("/proc").glob("[0-9]*/status"))
        if f"PPid:\t{os.getpid()}\n" in status or f"\nPid:\t{os.getpid()}\n" in status
    ]
    peaks = [int(process["VmHWM"].split()[0]) for process in statuses if "VmHWM" in process]
    return sum(peaks) / 1024**2, len(peaks)


def read_status(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:  # the process has ended since
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with dorothea.npz")
    parser.add_argument("--jobs", type=int, default=2, help="number of worker processes")
    args = parser.parse_args()
    path = args.data / "dorothea.npz"
    if not path.exists():
        print(f"Skipped: {path.name} is not in the data folder.")
        return
    arrays = np.load(path)
    parts = (arrays["data"].astype(float), arrays["indices"], arrays["indptr"])
    train = arrays["split"] == 0
    X, y = sp.csr_array(parts, shape=tuple(arrays["shape"]))[train], arrays["y"][train]
    start = time.perf_counter()
    bounds = ClassificationBounds(random_state=0, n_jobs=args.jobs, verbose=1).fit(X, y)
    seconds = time.perf_counter() - start
    peak, n_processes = peak_gigabytes()
    classes, counts = np.unique(bounds.relevance_, return_counts=True)
    unused = int((bounds.exact_ & (bounds.interval_[:, 1] == 0)).sum())
    workers = {1: "one worker", 2: "two workers"}.get(args.jobs, f"{args.jobs} workers")
    largest_gap = bounds.gap_[bounds.exact_].max()
    rows = {
        "Size": f"{X.shape[0]} x {X.shape[1]:,}",
        f"Time, {workers}": f"{seconds:.0f} s",
        f"Memory, sum of the peaks of {n_processes} processes": f"{peak:.2f} GiB",
        "C; cutoff; norm": f"{bounds.baseline_.C_:g}; {bounds.cutoff_[1]:.3g}; "
        f"{bounds.baseline_.norm_:.3g}",
        "Features proven irrelevant by certificates (not solved)": f"{(~bounds.exact_).sum():,}",
        "Features that are constant or never used": f"{unused:,}",
        "Features with exact bounds": f"{bounds.exact_.sum() - unused:,}, "
        f"largest gap {largest_gap:.0e}",
        "Relevance classes": ", ".join(
            f"{count:,} {name}" for name, count in zip(classes, counts, strict=True)
        ),
    }
    print("| Quantity | Value |\n| --- | --- |")
    for quantity, value in rows.items():
        print(f"| {quantity} | {value} |")


if __name__ == "__main__":
    main()
