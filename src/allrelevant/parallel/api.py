"""What callers use: ``parallel_map``, ``parallel_imap``, ``single_threaded``, ``progress_bar``.

A result depends on its item alone, and serial execution limits threads as workers do. So the
answer is the same, to the last bit, whichever executor computes it. A new executor is a class with
the method of :class:`Executor`, and a line in :func:`executor_for`.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from ..exceptions import MissingExtraError, WorkerDiedError
from .loky import LokyExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")


class RunOptions(TypedDict, total=False):
    """The options of :func:`parallel_map`, for functions that pass them on."""

    n_jobs: int | None
    progress: str | None


def parallel_map(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    describe: Callable[[Item], str] = reprlib.repr,
    **run: Unpack[RunOptions],
) -> list[Result]:
    """Apply a function to every item, several at a time.

    Parameters
    ----------
    function : callable
        With its data: a ``functools.partial`` or a closure. In a worker the data are read-only.
        A result must depend on its item alone.
    items : sequence
    describe : callable, default=reprlib.repr
        What messages call an item.
    n_jobs : int or None, default=None
        Number of worker processes, as in joblib: None is 1, -1 all cores. With 1, or inside a
        worker, the items are processed in this process.
    progress : str or None, default=None
        Title of a progress bar on standard error; None shows none.

    Returns
    -------
    list
        Results in the order of the items.

    Raises
    ------
    WorkerDiedError
        If items end the process that works on them, every time. It has the results of all others.
    """
    results: dict[int, Result] = {}
    try:
        with closing(parallel_imap(function, items, describe=describe, **run)) as finished:
            results.update(finished)
    except WorkerDiedError as error:
        error.results = results
        raise
    return [results[index] for index in range(len(items))]


def parallel_imap(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    describe: Callable[[Item], str] = reprlib.repr,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Apply a function to every item; yield index and result of each as it finishes.

    Parameters and errors are those of :func:`parallel_map`. Closing the iterator, as leaving a
    loop over it does, ends the workers that are still busy.
    """
    executor = executor_for(n_jobs, len(items))
    stream = executor.run(function, items, describe)
    with progress_bar(progress, len(items)) as advance, closing(stream):
        for finished in stream:
            advance()
            yield finished


class Executor(Protocol):
    """Computes the results of all items, in any order."""

    def run(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        describe: Callable[[Any], str],
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield index and result of each item as it finishes.

        Warnings are issued in this process. A :exc:`WorkerDiedError` in the end names the items
        that were lost. Closing the generator ends all work.
        """
        ...


def executor_for(n_jobs: int | None, n_items: int) -> Executor:
    """The executor for a number of items: serial for a single worker and inside a worker."""
    backend, _ = get_active_backend()
    inside_worker = backend.nesting_level > 0  # ours or any other of joblib's
    n_workers = 1 if inside_worker else min(effective_n_jobs(n_jobs), n_items)
    return SerialExecutor() if n_workers < 2 else LokyExecutor(n_workers)


class SerialExecutor:
    """Processes one item after the other in this process, on one thread as a worker does."""

    def run(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        describe: Callable[[Item], str],
    ) -> Generator[tuple[int, Result], None, None]:
        for index, item in enumerate(items):
            with single_threaded():
                result = function(item)
            yield index, result


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit all thread pools to one thread, as in a worker.

    How a sum is split among threads shows in its last digits, and small matrices gain nothing from
    more threads.
    """
    with _thread_pools(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    # Looking them up takes milliseconds, so they are looked up only when modules were loaded since.
    return ThreadpoolController()


@contextmanager
def progress_bar(title: str | None, total: int, *, done: int = 0) -> Iterator[Callable[[], object]]:
    """Show a bar while the block runs; the block calls what it gets after every finished item.

    Without a title nothing is shown. ``done`` items were finished before.
    """
    if title is None:
        yield lambda: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        raise MissingExtraError(
            "Progress bars need tqdm: pip install 'allrelevant[cli]', or use verbose=0."
        ) from None
    with tqdm(desc=title, total=total, initial=done, leave=False) as bar:
        yield bar.update
