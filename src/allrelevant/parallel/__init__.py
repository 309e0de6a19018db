"""Parallel execution of a function on many items, in worker processes.

- ``api``: functions for callers, and the choice of the executor
- ``config``: the context that moves all parallel work to a cluster
- ``loky``: worker processes on this computer
- ``cluster``: worker processes of a Dask cluster
- ``tasks``, ``recovery``: parts that both executors share
- ``estimate``: announcement of long runs

All parallel code and all thread limits are in this package.
"""

from __future__ import annotations

from .api import RunOptions, has_workers, parallel_imap, parallel_map, progress_bar
from .config import cluster_context, config_context
from .estimate import DurationEstimate
from .threads import single_threaded

__all__ = [
    "DurationEstimate",
    "RunOptions",
    "cluster_context",
    "config_context",
    "has_workers",
    "parallel_imap",
    "parallel_map",
    "progress_bar",
    "single_threaded",
]
