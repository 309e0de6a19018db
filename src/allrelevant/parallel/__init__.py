"""Parallel execution of a function on many items, in worker processes.

- ``api``: functions for callers, and the choice of the executor
- ``loky``: worker processes on this computer

All parallel code and all thread limits are in this package.
"""

from __future__ import annotations

from .api import RunOptions, parallel_imap, parallel_map, progress_bar, single_threaded

__all__ = ["RunOptions", "parallel_imap", "parallel_map", "progress_bar", "single_threaded"]
