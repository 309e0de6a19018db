"""Parallel execution of a function on many items, in worker processes.

- ``api``: functions for callers, and the choice of the executor
- ``config``: the context that moves all parallel work to a cluster
- ``loky``: worker processes on this computer
- ``cluster``: worker processes of a Dask cluster
- ``tasks``, ``recovery``: parts that both executors share
- ``progress``: progress bars
- ``job``: time limit and progress bar of a whole call
- ``estimate``: announcement of long runs

All parallel code and all thread limits are in this package.
"""

from __future__ import annotations

from .api import (
    RunOptions,
    TimedOptions,
    deadline_of,
    divide_loop,
    has_workers,
    n_processes,
    parallel_imap,
    parallel_map,
    timed_map,
    with_deadline,
)
from .config import cluster_context, config_context
from .estimate import DurationEstimate
from .job import Job, start_job
from .progress import progress_bar
from .threads import single_threaded

__all__ = [
    "DurationEstimate",
    "Job",
    "RunOptions",
    "TimedOptions",
    "cluster_context",
    "config_context",
    "deadline_of",
    "divide_loop",
    "has_workers",
    "n_processes",
    "parallel_imap",
    "parallel_map",
    "progress_bar",
    "single_threaded",
    "start_job",
    "timed_map",
    "with_deadline",
]
