"""Parallel measurement of the missing table rows, each in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from .measure import NOT_INSTALLED
from .store import Store
from .table import Row, Table

ROOT = Path(__file__).parent.parent.parent
# Rows are measured in parallel. With one thread each, their times are comparable.
SINGLE_THREADED = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Job:
    """A table row and the seeds for which it is not measured yet."""

    table: Table
    row: Row
    seeds: list[int]

    @property
    def title(self) -> str:
        return f"{self.table.name}: {self.row.name}"


@dataclass(frozen=True)
class Outcome:
    """Result of a job: its duration, the reason why it was skipped, or an error message."""

    job: Job
    seconds: float = 0.0
    skipped: str = ""
    error: str = ""


def pending_jobs(
    tables: Sequence[Table], store: Store, *, quick: bool, data: Path | None
) -> tuple[list[Job], list[Outcome]]:
    """Return the jobs to run, and those skipped because a data file is missing."""
    jobs, skipped = [], []
    for table in tables:
        for row in table.rows:
            seeds = store.missing(table, row, row.quick if quick else row.seeds)
            job = Job(table, row, seeds)
            if not seeds:
                continue
            if row.data_file and (data is None or not (data / row.data_file).exists()):
                missing = Path(row.data_file).parts[0]
                skipped.append(Outcome(job, skipped=f"no {missing} in the data folder"))
            else:
                jobs.append(job)
    return jobs, skipped


def run(jobs: Sequence[Job], store: Store, data: Path | None, n_jobs: int) -> Iterator[Outcome]:
    """Run jobs in parallel, and yield the outcome of each job when it finishes.

    Ctrl-C stops the running jobs; stored runs remain.
    """
    started: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(n_jobs) as pool:
        futures = {pool.submit(_run_one, job, store, data, started) for job in jobs}
        try:
            yield from _as_completed(futures)
        except BaseException:
            for future in futures:
                future.cancel()
            for process in started:
                process.terminate()
            raise


def _as_completed(futures: set[Future[Outcome]]) -> Iterator[Outcome]:
    while futures:
        done, futures = wait(futures, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


def _run_one(
    job: Job, store: Store, data: Path | None, started: list[subprocess.Popen[str]]
) -> Outcome:
    command = [sys.executable, "-m", "benchmarks.tables.measure", job.table.name, job.row.name]
    command += ["--store", str(store.folder.resolve()), "--seeds", *map(str, job.seeds)]
    command += ["--data", str(data.resolve())] if data else []
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | SINGLE_THREADED,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    started.append(process)
    _, errors = process.communicate()
    seconds = time.perf_counter() - start
    if process.returncode == NOT_INSTALLED:
        return Outcome(job, seconds, skipped=errors.strip().splitlines()[-1])
    if process.returncode:
        return Outcome(job, seconds, error=errors.strip())
    return Outcome(job, seconds)
