"""Parallel execution of a function on many items, in worker processes.

- ``api``: functions for callers, and the choice of the executor
- ``loky``: worker processes on this computer
- ``estimate``: announcement of long runs

All parallel code and all thread limits are in this package.
"""

from __future__ import annotations

from .api import RunOptions, parallel_imap, parallel_map, progress_bar, single_threaded
from .estimate import DurationEstimate

__all__ = [
    "DurationEstimate",
    "RunOptions",
    "parallel_imap",
    "parallel_map",
    "progress_bar",
    "single_threaded",
]
