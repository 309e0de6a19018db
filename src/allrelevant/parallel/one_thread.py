"""Short work in this process on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread, as in a worker: small matrices gain nothing from more.

    For answers that take milliseconds: looking for the libraries takes several of them, so that is
    done once.
    """
    with _libraries().limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")
