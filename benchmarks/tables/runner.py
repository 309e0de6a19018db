"""Parallel measurement of the missing table rows, each in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from allrelevant.parallel import parallel_imap

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

    On a cluster, all computers must share this repository, the store and the data folder. Ctrl-C
    stops the running jobs; stored runs remain.
    """
    arguments = [_arguments(job, store, data) for job in jobs]
    with closing(parallel_imap(_measure, arguments, n_jobs=n_jobs)) as finished:
        for index, (seconds, status, errors) in finished:
            if status == NOT_INSTALLED:
                yield Outcome(jobs[index], seconds, skipped=errors.splitlines()[-1])
            else:
                yield Outcome(jobs[index], seconds, error=errors if status else "")


def _arguments(job: Job, store: Store, data: Path | None) -> list[str]:
    arguments = [job.table.name, job.row.name, "--store", str(store.folder.resolve())]
    arguments += ["--seeds", *map(str, job.seeds)]
    return arguments + (["--data", str(data.resolve())] if data else [])


def _measure(arguments: list[str]) -> tuple[float, int, str]:
    """Measure a row in its own process; return its duration, exit status and errors."""
    start = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.tables.measure", *arguments],
        cwd=ROOT,
        env=os.environ | SINGLE_THREADED,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return time.perf_counter() - start, ended.returncode, ended.stderr.strip()
