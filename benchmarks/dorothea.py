"""DOROTHEA, 800 x 100,000, sparse: the whole fit with default settings, probes included.

usage: python -m benchmarks.dorothea --data FOLDER (with dorothea.npz)
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from allrelevant import ClassificationBounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    path = args.data / "dorothea.npz"
    if not path.exists():
        sys.exit(f"skipped: no {path.name} in the data folder")
    arrays = np.load(path)
    parts = (arrays["data"].astype(float), arrays["indices"], arrays["indptr"])
    train = arrays["split"] == 0
    X, y = sp.csr_array(parts, shape=tuple(arrays["shape"]))[train], arrays["y"][train]
    start = time.perf_counter()
    bounds = ClassificationBounds(random_state=0, n_jobs=args.jobs, verbose=1).fit(X, y)
    seconds = time.perf_counter() - start
    peak = max(
        resource.getrusage(who).ru_maxrss / 1024**2
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    classes, counts = np.unique(bounds.relevance_, return_counts=True)
    constant = int((bounds.exact_ & (bounds.interval_[:, 1] == 0)).sum())
    print(
        f"{X.shape[0]} x {X.shape[1]:,}, {args.jobs} workers: {seconds:.0f} s, "
        f"at most {peak:.2f} GiB a process\n"
        f"C {bounds.baseline_.C_:g}, cutoff {bounds.cutoff_[1]:.3g} of norm "
        f"{bounds.baseline_.norm_:.3g}\n"
        f"proven irrelevant by the baseline's certificate: {(~bounds.exact_).sum():,}; "
        f"constant or never used: {constant:,}; "
        f"refined to exact bounds: {bounds.exact_.sum() - constant:,}, largest gap "
        f"{bounds.gap_[bounds.exact_].max():.0e}\n"
        + ", ".join(f"{count:,} {name}" for name, count in zip(classes, counts, strict=True))
    )


if __name__ == "__main__":
    main()
