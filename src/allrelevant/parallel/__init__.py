"""Parallel execution: a function and its items in, results out as they finish.

- ``api``: what callers use, and the choice of an executor
- ``loky``: worker processes on this machine

Nothing else in the package knows how work is spread or how threads are limited.
"""

from __future__ import annotations

from .api import RunOptions, parallel_imap, parallel_map, progress_bar, single_threaded

__all__ = ["RunOptions", "parallel_imap", "parallel_map", "progress_bar", "single_threaded"]
