"""The one seam between the package and its workers: tasks in, results out as they finish.

Nothing else in the package knows how the work is spread.

- ``seam``: what callers use
- ``recovery``: what is tried again when a worker dies, and when it is given up
- ``pool``: one pass of tasks over the pool of processes; what Ctrl-C does
- ``handover``: the data, written once and mapped into the memory of each worker
- ``worker``: what runs in a worker
- ``progress``: the progress bar
- ``single_threaded``: short work that needs no workers
"""

from __future__ import annotations

from .api import RunOptions, parallel_imap, parallel_map, single_threaded

__all__ = ["RunOptions", "parallel_imap", "parallel_map", "single_threaded"]
