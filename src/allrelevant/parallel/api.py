"""Public functions for parallel execution.

Each result depends only on its item, and serial execution limits threads as workers do. Results are
therefore bit-identical for all executors. To add an executor, write a class that implements
:class:`Executor` and add a line to :func:`executor_for`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from ..deadline import NO_DEADLINE, Deadline, attempt
from ..exceptions import WorkerDiedError
from .config import EXECUTOR
from .loky import LokyExecutor
from .progress import Progress, StageProgress, progress_bar
from .threads import single_threaded

Item = TypeVar("Item")
Result = TypeVar("Result")


class RunOptions(TypedDict, total=False):
    """Keyword arguments that other functions pass on to :func:`parallel_map`."""

    n_jobs: int | None
    progress: str | Progress | None


class TimedOptions(RunOptions, total=False):
    """Keyword arguments that other functions pass on to :func:`timed_map`."""

    deadline: Deadline


def deadline_of(run: TimedOptions) -> Deadline:
    """Return the deadline among keyword arguments."""
    return run.get("deadline", NO_DEADLINE)


def with_deadline(run: TimedOptions, deadline: Deadline) -> TimedOptions:
    """Return keyword arguments with a different deadline."""
    return {**run, "deadline": deadline}


def divide_loop(run: RunOptions, n_loops: int) -> None:
    """Announce that at most ``n_loops`` loops replace the next one, if progress is shown."""
    progress = run.get("progress")
    if isinstance(progress, StageProgress):
        progress.divide_loop(n_loops)


def parallel_map(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    describe: Callable[[Item], str] = reprlib.repr,
    **run: Unpack[RunOptions],
) -> list[Result]:
    """Apply a function to every item in parallel and return the results in order.

    Parameters
    ----------
    function : callable
        Function to apply. Bind its data with ``functools.partial`` or a closure. The data are
        read-only in workers. Each result must depend only on its item.
    items : sequence
        Arguments of the function, one per call.
    describe : callable, default=reprlib.repr
        Function that returns a short description of an item, for messages.
    n_jobs : int or None, default=None
        Number of worker processes, as in joblib: None means 1, and -1 means all cores. With 1, or
        inside a worker, the items are processed in this process.
    progress : str, Progress or None, default=None
        Title of a progress bar on standard error, or part of the bar of a job. None shows no bar.

    Returns
    -------
    list
        Results in the order of the items.

    Raises
    ------
    WorkerDiedError
        If some items crash their worker in every attempt. The error contains the other results.
    """
    results: dict[int, Result] = {}
    try:
        with closing(parallel_imap(function, items, describe=describe, **run)) as finished:
            results.update(finished)
    except WorkerDiedError as error:
        error.results = results
        raise
    return [results[index] for index in range(len(items))]


def timed_map(
    function: Callable[[Item, Deadline], Result],
    items: Sequence[Item],
    *,
    equal_shares: bool = False,
    describe: Callable[[Item], str] = reprlib.repr,
    deadline: Deadline = NO_DEADLINE,
    **run: Unpack[RunOptions],
) -> list[Result | None]:
    """Apply a function to every item until a deadline; return None for items not finished.

    The function takes an item and its deadline. It may raise :exc:`TimeLimitError`. With
    ``equal_shares``, each item leaves equal time to later ones; otherwise, the first items may use
    all of the time.
    """
    n_items = len(items)
    n_workers = n_processes(run.get("n_jobs"))

    def call(index: int) -> Result | None:
        own = deadline.for_item(index, n_items, n_workers) if equal_shares else deadline
        return None if own.is_over else attempt(lambda: function(items[index], own))

    return parallel_map(call, range(n_items), describe=lambda index: describe(items[index]), **run)


def parallel_imap(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    describe: Callable[[Item], str] = reprlib.repr,
    n_jobs: int | None = None,
    progress: str | Progress | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Apply a function to every item in parallel; yield (index, result) pairs as they finish.

    Parameters and errors are the same as for :func:`parallel_map`. Closing the iterator stops busy
    workers. Leaving a loop over the iterator closes it.
    """
    executor = executor_for(n_jobs, len(items))
    stream = executor.run(function, items, describe)
    with progress_bar(progress, len(items)) as advance, closing(stream):
        for finished in stream:
            advance()
            yield finished


class Executor(Protocol):
    """Interface of executors, which apply a function to items serially or in parallel."""

    def run(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        describe: Callable[[Any], str],
    ) -> Generator[tuple[int, Any], None, None]:
        """Apply the function to all items; yield (index, result) pairs as items finish.

        Warnings are issued in this process. If items are lost, a final :exc:`WorkerDiedError` lists
        them. Closing the generator stops all workers.
        """
        ...


def executor_for(n_jobs: int | None, n_items: int) -> Executor:
    """Return the executor for a number of items.

    A single item, and all items inside a worker, are processed in this process. Otherwise, the
    executor is that of :func:`config_context` or, by default, a pool of ``n_jobs`` processes.
    """
    backend, _ = get_active_backend()
    inside_worker = backend.nesting_level > 0  # a worker of this package or of any joblib pool
    if inside_worker or n_items < 2:
        return SerialExecutor()
    configured = EXECUTOR.get()
    if configured is not None:
        return configured
    n_workers = min(effective_n_jobs(n_jobs), n_items)
    return SerialExecutor() if n_workers < 2 else LokyExecutor(n_workers)


def has_workers(n_jobs: int | None) -> bool:
    """Return whether :func:`parallel_map` would process two items in worker processes."""
    return not isinstance(executor_for(n_jobs, 2), SerialExecutor)


def n_processes(n_jobs: int | None) -> int:
    """Return the number of processes that work on many items."""
    return int(effective_n_jobs(n_jobs)) if has_workers(n_jobs) else 1


class SerialExecutor:
    """Executor that processes items one by one in the calling process, with a single thread."""

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
