"""Short work in this process on one thread.

The progress bar on standard error.

What callers use: a function and its tasks in, results out.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import TypedDict, TypeVar, Unpack

from threadpoolctl import ThreadpoolController

from ..exceptions import MissingExtraError, WorkerDiedError
from .loky import Recovery, count_workers, shared_function


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep linear algebra to one thread, as in a worker: small matrices gain nothing from more.

    For answers that take milliseconds: looking for the libraries takes several of them, so that is
    done once.
    """
    with _blas_libraries().limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _blas_libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def progress_bar(title: str | None, total: int, *, done: int = 0) -> Iterator[Callable[[], object]]:
    """Show a bar while the block runs; what it gives is called once for every finished task.

    Parameters
    ----------
    title : str or None
        None shows none.
    total : int
        Number of tasks.
    done : int, default=0
        How many of them were done before.
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


Task = TypeVar("Task")


Result = TypeVar("Result")


class RunOptions(TypedDict, total=False):
    """The options of :func:`parallel_map`, for functions that pass them on."""

    n_jobs: int | None
    progress: str | None


def parallel_map(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    describe: Callable[[Task], str] = reprlib.repr,
    **run: Unpack[RunOptions],
) -> list[Result]:
    """Apply a function to every task, several at a time.

    A result must depend on its task alone: then the answer is the same at any ``n_jobs``.

    Parameters
    ----------
    function : callable
        With its data: a ``functools.partial`` of a function of some module, or a closure. In a
        worker the data are read-only.
    tasks : sequence
    describe : callable, default=reprlib.repr
        What messages call a task.
    n_jobs : int or None, default=None
        Number of worker processes, as in joblib: None is 1, -1 all cores. With 1, or within a
        worker, the tasks are done in this process.
    progress : str or None, default=None
        Title of a progress bar on standard error; None shows none.

    Returns
    -------
    list
        Results in the order of the tasks.

    Raises
    ------
    WorkerDiedError
        If tasks end the process that does them, every time. It has the results of all others.
    """
    results: dict[int, Result] = {}
    try:
        with closing(parallel_imap(function, tasks, describe=describe, **run)) as finished:
            results.update(finished)
    except WorkerDiedError as error:
        error.results = results
        raise
    return [results[index] for index in range(len(tasks))]


def parallel_imap(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    describe: Callable[[Task], str] = reprlib.repr,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Apply a function to every task and yield what has finished, as it comes.

    Closing the iterator, as leaving a loop over it does, kills the workers that are still busy.

    Parameters
    ----------
    function, tasks, describe, n_jobs, progress
        See :func:`parallel_map`.

    Yields
    ------
    index, result
        Place among the tasks, and what the function made of that task.

    Raises
    ------
    WorkerDiedError
        In the end, if tasks end the process that does them, every time.
    """
    n_workers = count_workers(n_jobs, len(tasks))
    with progress_bar(progress, len(tasks)) as advance:
        if n_workers < 2:
            stream = _one_by_one(function, tasks)
        else:
            stream = _by_workers(function, tasks, n_workers, describe)
        with closing(stream):
            for finished in stream:
                advance()
                yield finished


def _one_by_one(
    function: Callable[[Task], Result], tasks: Sequence[Task]
) -> Generator[tuple[int, Result], None, None]:
    # As in a worker: how a sum is split among threads shows in its last digits.
    libraries = _libraries(len(sys.modules))
    for index, task in enumerate(tasks):
        with libraries.limit(limits=1):
            result = function(task)
        yield index, result


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """The libraries with threads of their own: looked up again when more modules are loaded.

    To look them up takes longer than a short task, and some callers have thousands.
    """
    return ThreadpoolController()


def _by_workers(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    n_workers: int,
    describe: Callable[[Task], str],
) -> Generator[tuple[int, Result], None, None]:
    with shared_function(function) as folder:
        yield from Recovery(folder, tasks, describe).stream(n_workers)
