"""DOROTHEA, 800 x 100,000, sparse: the whole fit with default settings, probes included.

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
    """Peak memory of this process and its workers, which are still there, and their number."""
    family = [
        dict(line.split(":", 1) for line in status.splitlines())
        for status in map(read_status, Path("/proc").glob("[0-9]*/status"))
        if f"PPid:\t{os.getpid()}\n" in status or f"\nPid:\t{os.getpid()}\n" in status
    ]
    peaks = [int(process["VmHWM"].split()[0]) for process in family if "VmHWM" in process]
    return sum(peaks) / 1024**2, len(peaks)


def read_status(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:  # the process has ended in the meantime
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    path = args.data / "dorothea.npz"
    if not path.exists():
        print(f"skipped: no {path.name} in the data folder")
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
    constant = int((bounds.exact_ & (bounds.interval_[:, 1] == 0)).sum())
    print(
        f"{X.shape[0]} x {X.shape[1]:,}, {args.jobs} workers: {seconds:.0f} s, "
        f"{peak:.2f} GiB, the peaks of {n_processes} processes added up\n"
        f"C {bounds.baseline_.C_:g}, cutoff {bounds.cutoff_[1]:.3g} of norm "
        f"{bounds.baseline_.norm_:.3g}\n"
        f"proven irrelevant by certificates: {(~bounds.exact_).sum():,}; "
        f"constant or never used: {constant:,}; "
        f"refined to exact bounds: {bounds.exact_.sum() - constant:,}, largest gap "
        f"{bounds.gap_[bounds.exact_].max():.0e}\n"
        + ", ".join(f"{count:,} {name}" for name, count in zip(classes, counts, strict=True))
    )


if __name__ == "__main__":
    main()
