"""One pass of tasks over the pool of processes.

The pool is joblib's: it stays alive between passes, for starting it costs a second or so.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import get_active_backend

from .worker import Outcome, perform

__all__ = ["TerminatedWorkerError", "count_workers", "work_through"]


def count_workers(n_jobs: int | None, n_tasks: int) -> int:
    """How many workers to use: 1 means that the tasks are best done in this process."""
    backend, _ = get_active_backend()
    if backend.nesting_level:  # in a worker already, ours or any other of joblib's
        return 1
    return min(effective_n_jobs(n_jobs), n_tasks)


def work_through(
    folder: str, tasks: Mapping[int, Any], n_workers: int
) -> Generator[tuple[int, Any], None, None]:
    """Have tasks done by at least two workers.

    Parameters
    ----------
    folder : str
        Where the function was handed over.
    tasks : mapping
        Tasks by index.
    n_workers : int
        At least 2: with 1 joblib would do them in this process.

    Yields
    ------
    index, result
        As they finish.

    Raises
    ------
    TerminatedWorkerError
        If a worker died. All others are gone then as well.
    """
    with _crew(n_workers) as workers:
        with _interrupts_held():
            finished = workers(delayed(perform)(folder, *item) for item in tasks.items())
        with _stopped_quietly(finished):
            for outcome in finished:
                for warning in outcome.warnings:
                    warning.issue()
                yield outcome.index, outcome.result


def _crew(n_workers: int) -> Parallel:
    # One thread each: n_jobs is the number of cores in use, and results do not depend on how many
    # the machine has. It also keeps the pool, of which joblib starts another when the number of
    # threads changes; left to itself it derives that from the number of workers.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        return Parallel(
            n_jobs=n_workers,
            return_as="generator_unordered",
            batch_size=1,  # what has finished is not lost with a neighbour that dies
            max_nbytes=None,  # arrays of tasks and results stay arrays, whatever their size
        )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C back while workers are started, and from them for good.

    A terminal sends it to all processes. Workers inherit the mask of signals: they leave it to the
    parent, which ends them, and print no tracebacks of their own.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # on its first start it would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _stopped_quietly(finished: Generator[Outcome, None, None]) -> Iterator[None]:
    """Kill the workers if the block is left before they have finished.

    That is what joblib does when its generator is closed, with a warning that is of no use here.
    """
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finished.close()
