"""Executor that uses worker processes on one computer, based on joblib's loky pool.

*Data.* The pickled function is written once to a temporary folder. Arrays are stored in a separate
file, which all workers map into memory read-only. (joblib would map arrays as well, but load the
rest of the function again for every item.)

*Worker crashes.* If a worker is killed or crashes in compiled code, the whole pool terminates, and
joblib reports neither the item nor the results that other workers have finished by then. Finished
results are kept, and the items that were sent to the pool are suspects (see ``recovery``).

*Interrupts.* Only this process receives Ctrl-C. It terminates the workers.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import signal
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from .._interrupts import at_forced_exit
from .folders import temporary_folder
from .recovery import Crash, Results, run_with_retries
from .tasks import Outcome, PickledFunction, dump_function, process_item

# Maximum number of attempts to process a suspect alone before it is abandoned.
MAX_SOLO_ATTEMPTS = 2

# Largest alignment that vector instructions require, in bytes.
ARRAY_ALIGNMENT = 64


class LokyExecutor:
    """Executor that uses two or more worker processes and recovers from worker crashes."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def run(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        describe: Callable[[Any], str],
    ) -> Generator[tuple[int, Any], None, None]:
        with shared_function(function) as folder:
            attempt = partial(run_on_pool, folder, self.n_workers)
            yield from run_with_retries(attempt, items, describe, MAX_SOLO_ATTEMPTS)


# Worker pool of the parent process


def run_on_pool(
    folder: str, n_workers: int, items: Mapping[int, Any], *, alone: bool = False
) -> Results:
    """Apply the function stored in ``folder`` to items in worker processes.

    Yields (index, result) pairs. If a worker crashes, the whole pool terminates.
    """
    sent: set[int] = set()

    def tasks() -> Iterator[Any]:
        for index, item in items.items():
            sent.add(index)  # joblib takes an item when it sends it to the pool
            yield delayed(run_item)(folder, index, item)

    try:
        with _pool(2 if alone else n_workers) as workers:  # with a single item, one stays idle
            with _interrupts_blocked():
                finished = workers(tasks())
            with _terminate_on_exit(finished):
                for outcome in finished:
                    sent.discard(outcome.index)
                    yield outcome.unpack()
    except TerminatedWorkerError as error:
        return Crash(sent, error)
    return None


def _pool(n_workers: int) -> Parallel:
    # With one thread per worker, n_jobs is the number of cores in use, and results do not depend on
    # the number of cores. A fixed number also keeps the pool alive between calls: joblib starts a
    # new pool when the number of threads changes, and by default derives it from n_workers.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        return Parallel(
            n_jobs=n_workers,
            return_as="generator_unordered",
            batch_size=1,  # in a larger batch, a crash would also lose finished results
            max_nbytes=None,  # do not turn large arrays of items and results into memory maps
        )


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C while worker processes start, so that they ignore it permanently.

    A terminal sends Ctrl-C to all processes. Workers inherit the signal mask, so only the parent
    handles the interrupt. It terminates the workers, and they print no tracebacks.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its first start unblocks the signal, so start it before
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _terminate_on_exit(finished: Generator[Outcome, None, None]) -> Iterator[None]:
    """Terminate the worker processes if the block exits before they have finished.

    joblib terminates them when its generator is closed. Its warning is suppressed.
    """
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finished.close()


def _kill_workers() -> None:
    for process in multiprocessing.active_children():
        process.kill()


at_forced_exit(_kill_workers)


# Function shared with the workers


def run_item(folder: str, index: int, item: Any) -> Outcome:
    """Apply the function stored in ``folder`` to one item; return its result and warnings."""
    return process_item(load_function(folder), index, item)


@contextmanager
def shared_function(function: Callable[..., Any]) -> Iterator[str]:
    """Write a function and its data to a temporary folder, and yield the path of the folder."""
    with temporary_folder() as folder:
        _write(function, Path(folder))
        yield folder


@lru_cache(maxsize=1)  # functions of earlier runs are not needed
def load_function(folder: str) -> Callable[..., Any]:
    """Load the function stored in ``folder``, with its arrays mapped into memory."""
    spans, content = pickle.loads(Path(folder, "function").read_bytes())
    arrays = _map_file(Path(folder, "arrays"))
    return PickledFunction(content).load([arrays[start:stop] for start, stop in spans])


def _write(function: Callable[..., Any], folder: Path) -> None:
    pickled, arrays = dump_function(function)
    with (folder / "arrays").open("wb") as file:
        spans = [_append(array, file) for array in arrays]
    (folder / "function").write_bytes(pickle.dumps((spans, pickled.content)))


def _append(array: memoryview, file: BinaryIO) -> tuple[int, int]:
    start = file.seek(-file.tell() % ARRAY_ALIGNMENT, os.SEEK_CUR)
    return start, start + file.write(array)


def _map_file(path: Path) -> memoryview:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
