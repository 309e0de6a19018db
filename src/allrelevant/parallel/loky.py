"""Executor that uses worker processes on one computer, based on joblib's loky pool.

*Data.* A function contains its data, as arguments of a ``functools.partial`` or in a closure. Both
are written once to a temporary folder. Arrays are stored in a separate file, which all workers map
into memory read-only.

*Worker crashes.* If a worker is killed or crashes in compiled code, the whole pool terminates.
Finished results are kept, and a new pool processes the remaining items. The items that were running
are suspects, because any of them may be the cause. They are retried one at a time, after all other
items. An item that crashes its worker in each of these attempts is abandoned.

*Interrupts.* Only this process receives Ctrl-C. It terminates the workers.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import cloudpickle
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from ..exceptions import WorkerDiedError

# Maximum number of attempts to process a suspect alone before it is abandoned.
MAX_SOLO_ATTEMPTS = 2

# Maximum number of consecutive pool crashes without progress before all items are abandoned.
MAX_IDLE_RESTARTS = 3

# Maximum number of lost items listed in a message; further items are only counted.
MAX_NAMED_ITEMS = 5

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
            yield from _Run(folder, items, describe).results(self.n_workers)


class _Run:
    """State of a parallel run: all items, unfinished items, and those that may crash a worker."""

    def __init__(self, folder: str, items: Sequence[Any], describe: Callable[[Any], str]) -> None:
        self._folder = folder
        self._items = items
        self._describe = describe
        self._unfinished = set(range(len(items)))
        self._suspects: set[int] = set()
        self._crash: TerminatedWorkerError | None = None

    def results(self, n_workers: int) -> Iterator[tuple[int, Any]]:
        yield from self._process_together(n_workers)
        yield from self._process_suspects()
        if self._unfinished:
            raise self._error() from self._crash

    def _process_together(self, n_workers: int) -> Iterator[tuple[int, Any]]:
        idle_restarts = 0
        while idle_restarts < MAX_IDLE_RESTARTS and (todo := self._unfinished - self._suspects):
            yield from self._attempt(todo, n_workers)
            idle = todo == self._unfinished - self._suspects
            idle_restarts = idle_restarts + 1 if idle else 0

    def _process_suspects(self) -> Iterator[tuple[int, Any]]:
        for suspect in sorted(self._suspects):
            for _ in range(MAX_SOLO_ATTEMPTS):
                if suspect in self._unfinished:
                    yield from self._attempt({suspect}, n_workers=2)  # one worker stays idle

    def _attempt(self, indices: set[int], n_workers: int) -> Iterator[tuple[int, Any]]:
        """Process the given items and yield results until all are finished or a worker crashes."""
        items = {index: self._items[index] for index in sorted(indices)}
        try:
            with closing(run_on_pool(self._folder, items, n_workers)) as finished:
                for index, result in finished:
                    self._unfinished.remove(index)
                    yield index, result
        except TerminatedWorkerError as crash:
            self._crash = crash
            self._suspects |= running_items(self._folder) & self._unfinished

    def _error(self) -> WorkerDiedError:
        lost = sorted(self._unfinished)
        named = [
            f"{index} ({self._describe(self._items[index])})" for index in lost[:MAX_NAMED_ITEMS]
        ]
        if len(lost) > MAX_NAMED_ITEMS:
            named.append(f"{len(lost) - MAX_NAMED_ITEMS} more")
        return WorkerDiedError(
            f"The worker process crashed in every attempt for {len(lost)} of {len(self._items)} "
            f"items: {', '.join(named)}. All other items are finished. The likely cause is "
            "insufficient memory. Use less data, or a computer with more memory. If compiled code "
            "crashed, see its messages on standard error.",
            lost,
        )


# Worker pool of the parent process


def run_on_pool(
    folder: str, items: Mapping[int, Any], n_workers: int
) -> Generator[tuple[int, Any], None, None]:
    """Apply a stored function to items in worker processes; yield (index, result) pairs.

    The function is stored in ``folder``, and items are keyed by index. There are at least two
    workers. If a worker crashes, the whole pool terminates and TerminatedWorkerError is raised.
    """
    with _pool(n_workers) as workers:
        with _interrupts_blocked():
            finished = workers(delayed(run_item)(folder, *item) for item in items.items())
        with _terminate_on_exit(finished):
            for outcome in finished:
                for warning in outcome.warnings:
                    warning.issue()
                yield outcome.index, outcome.result


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


# Functions that run in workers, and their results

# Registries of issued warnings, keyed by file, like ``__warningregistry__`` of a module. With the
# filter "default", a warning is shown once per location, not once per item.
_ISSUED: dict[str, dict[Any, Any]] = {}


@dataclass(frozen=True)
class RaisedWarning:
    """Warning that a worker process recorded and returned to the parent process."""

    message: Warning
    category: type[Warning]
    filename: str
    lineno: int

    @classmethod
    def from_caught(cls, caught: warnings.WarningMessage) -> RaisedWarning:
        message = caught.message
        if isinstance(message, str):
            message = caught.category(message)
        return cls(message, caught.category, caught.filename, caught.lineno)

    def issue(self) -> None:
        """Issue the warning in the parent process, subject to its warning filters."""
        warnings.warn_explicit(
            self.message,
            self.category,
            self.filename,
            self.lineno,
            registry=_ISSUED.setdefault(self.filename, {}),
        )


@dataclass(frozen=True)
class Outcome:
    """Result of one item, with the warnings issued while it was processed."""

    index: int
    result: Any
    warnings: list[RaisedWarning]


def run_item(folder: str, index: int, item: Any) -> Outcome:
    """Apply the function stored in ``folder`` to one item; return its result and warnings."""
    log_start(folder, index)
    function = load_function(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # the parent process applies its filters
        result = function(item)
    return Outcome(index, result, [RaisedWarning.from_caught(warning) for warning in caught])


def log_start(folder: str, index: int) -> None:
    """Record in a file that the current worker process starts an item."""
    with Path(folder, f"{os.getpid()}.log").open("a") as log:
        log.write(f"{index}\n")


def running_items(folder: str) -> set[int]:
    """Return the index of the last item that each worker started, and delete the records."""
    latest: set[int] = set()
    for log in Path(folder).glob("*.log"):
        latest.update(int(index) for index in log.read_text().split()[-1:])
        log.unlink()
    return latest


# Function shared with the workers


@contextmanager
def shared_function(function: Callable[..., Any]) -> Iterator[str]:
    """Write a function and its data to a temporary folder, and yield the path of the folder."""
    # Windows cannot delete a file that a worker has mapped into memory.
    windows = sys.platform == "win32"
    with TemporaryDirectory(prefix="allrelevant-", ignore_cleanup_errors=windows) as folder:
        _write(function, Path(folder))
        yield folder


@lru_cache(maxsize=1)  # functions of earlier runs are not needed
def load_function(folder: str) -> Callable[..., Any]:
    """Load the function stored in ``folder``, with its arrays mapped into memory."""
    spans, pickled = pickle.loads(Path(folder, "function").read_bytes())
    arrays = _map_file(Path(folder, "arrays"))
    return pickle.loads(pickled, buffers=[arrays[start:stop] for start, stop in spans])


def _write(function: Callable[..., Any], folder: Path) -> None:
    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(function, protocol=5, buffer_callback=buffers.append)
    with (folder / "arrays").open("wb") as file:
        spans = [_append(buffer.raw(), file) for buffer in buffers]
    (folder / "function").write_bytes(pickle.dumps((spans, pickled)))


def _append(array: memoryview, file: BinaryIO) -> tuple[int, int]:
    start = file.seek(-file.tell() % ARRAY_ALIGNMENT, os.SEEK_CUR)
    return start, start + file.write(array)


def _map_file(path: Path) -> memoryview:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
