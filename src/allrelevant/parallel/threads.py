"""Limit on the threads of numerical libraries."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit numerical libraries to one thread while the block runs, as in a worker process.

    The number of threads changes the rounding of sums, and small matrices gain nothing from more
    threads.
    """
    with _thread_pools(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    # Finding the pools takes milliseconds, so the result is cached until new modules are imported.
    return ThreadpoolController()
