"""Bounds of a generated sparse table with a million columns, with local processes and on a cluster.

The table has 0.1 % nonzero values. Twenty columns are relevant: they are nonzero in a tenth of the
rows, and the class is the sign of their sum. The command prints time, memory of all processes and
the number of features in each relevance class.

usage: python -m benchmarks.million_columns [--columns N] [--rows N] [--jobs N] [--max-seconds S]
                                            [--executor processes|cluster]
"""

from __future__ import annotations

import argparse
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import psutil
import scipy.sparse as sp

from allrelevant import ClassificationBounds
from allrelevant.parallel import cluster_context

DENSITY = 0.001
N_RELEVANT = 20
RELEVANT_DENSITY = 0.1


def make_table(n_rows: int, n_columns: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Return a sparse table and its classes; the first columns are relevant."""
    rng = np.random.default_rng(seed)
    n_relevant_values = round(N_RELEVANT * RELEVANT_DENSITY * n_rows)
    n_noise = max(0, round(DENSITY * n_rows * n_columns) - n_relevant_values)
    relevant = sp.random_array(
        (n_rows, N_RELEVANT), density=RELEVANT_DENSITY, rng=rng, data_sampler=rng.standard_normal
    )
    rows = rng.integers(n_rows, size=n_noise)
    columns = rng.integers(N_RELEVANT, n_columns, size=n_noise)
    noise = sp.coo_array(
        (rng.standard_normal(n_noise), (rows, columns - N_RELEVANT)),
        shape=(n_rows, n_columns - N_RELEVANT),
    )
    y = relevant.sum(axis=1) + 0.01 * rng.standard_normal(n_rows) > 0
    return sp.csr_array(sp.hstack([relevant, noise])), y.astype(int)


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Measure the memory of this process and its children, in GB (shared pages count once each)."""
    peak, stop = [0.0], threading.Event()

    def watch() -> None:
        this = psutil.Process()
        while not stop.wait(0.5):
            total = 0
            for process in [this, *this.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.Error:  # it has ended
                    continue
            peak[0] = max(peak[0], total / 1e9)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        stop.set()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million_columns")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--max-seconds", type=float)
    parser.add_argument("--executor", choices=["processes", "cluster"], default="processes")
    args = parser.parse_args()
    X, y = make_table(args.rows, args.columns)
    print(f"{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzero values", flush=True)
    estimator = ClassificationBounds(
        random_state=0, screen=True, n_jobs=args.jobs, max_seconds=args.max_seconds, verbose=1
    )
    place = "local" if args.executor == "cluster" else None
    start = time.perf_counter()
    with peak_memory() as peak, cluster_context(place, args.jobs):
        estimator.fit(X, y)
    relevance = Counter(map(str, estimator.relevance_))
    n_exact = int(estimator.exact_.sum())
    print(
        f"{args.executor}: {time.perf_counter() - start:.0f} s, {peak[0]:.2f} GB, classes "
        f"{dict(relevance)}, solved exactly {n_exact:,}, proven without LP "
        f"{len(estimator.exact_) - n_exact:,}, relevant columns found "
        f"{int(estimator.get_support()[:N_RELEVANT].sum())} of {N_RELEVANT}"
    )


if __name__ == "__main__":
    main()
