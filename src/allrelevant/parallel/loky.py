"""Worker processes on this machine, by joblib's loky pool.

*Data.* A function comes with its data: arguments of a ``functools.partial``, or what a closure
holds. They are written once to a temporary folder. The arrays lie beside the pickle, and every
worker maps the same pages of the same file into its memory, read-only.

*Workers that die.* A process that is killed, or crashes in compiled code, ends the whole pool.
Finished results are kept, and the rest is computed by a new pool. The items that were running are
suspects, because any of them may be the cause. They wait until all others are done. Then each has
a pool to itself, where it cannot harm the others. An item that ends its worker there as well is
given up.

*Interrupts.* Ctrl-C reaches this process only, which ends the workers.
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

# An item that has ended so many workers on its own is given up.
MAX_SOLO_ATTEMPTS = 2

# A pool that has died so often without an item started or finished is given up.
MAX_IDLE_RESTARTS = 3

# More lost items than these are only counted in a message.
MAX_NAMED_ITEMS = 5

# The largest alignment that vector instructions ask for.
ARRAY_ALIGNMENT = 64


class LokyExecutor:
    """Computes results in at least two worker processes, and survives workers that die."""

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
    """All items of one run: which are unfinished, and which of them may have ended a worker."""

    def __init__(self, folder: str, items: Sequence[Any], describe: Callable[[Any], str]) -> None:
        self._folder = folder
        self._items = items
        self._describe = describe
        self._unfinished = set(range(len(items)))
        self._suspects: set[int] = set()
        self._death: TerminatedWorkerError | None = None

    def results(self, n_workers: int) -> Iterator[tuple[int, Any]]:
        yield from self._compute_together(n_workers)
        yield from self._compute_suspects()
        if self._unfinished:
            raise self._error() from self._death

    def _compute_together(self, n_workers: int) -> Iterator[tuple[int, Any]]:
        idle_restarts = 0
        while idle_restarts < MAX_IDLE_RESTARTS and (todo := self._unfinished - self._suspects):
            yield from self._attempt(todo, n_workers)
            idle = todo == self._unfinished - self._suspects
            idle_restarts = idle_restarts + 1 if idle else 0

    def _compute_suspects(self) -> Iterator[tuple[int, Any]]:
        for suspect in sorted(self._suspects):
            for _ in range(MAX_SOLO_ATTEMPTS):
                if suspect in self._unfinished:
                    yield from self._attempt({suspect}, n_workers=2)  # one of them stays idle

    def _attempt(self, indices: set[int], n_workers: int) -> Iterator[tuple[int, Any]]:
        """Compute these items until all are done or a worker dies."""
        items = {index: self._items[index] for index in sorted(indices)}
        try:
            with closing(run_on_pool(self._folder, items, n_workers)) as finished:
                for index, result in finished:
                    self._unfinished.remove(index)
                    yield index, result
        except TerminatedWorkerError as death:
            self._death = death
            self._suspects |= running_items(self._folder) & self._unfinished

    def _error(self) -> WorkerDiedError:
        lost = sorted(self._unfinished)
        named = [
            f"{index} ({self._describe(self._items[index])})" for index in lost[:MAX_NAMED_ITEMS]
        ]
        if len(lost) > MAX_NAMED_ITEMS:
            named.append(f"{len(lost) - MAX_NAMED_ITEMS} more")
        return WorkerDiedError(
            f"Gave up task {', '.join(named)}, of {len(self._items)}: the process at work on it "
            "died every time. All others are done. Not enough memory is the likely cause: try more "
            "of it, or less data. A crash in compiled code leaves its trace on standard error.",
            lost,
        )


# The pool of this process


def run_on_pool(
    folder: str, items: Mapping[int, Any], n_workers: int
) -> Generator[tuple[int, Any], None, None]:
    """Compute items by index with the shared function of a folder, in at least two workers.

    If a worker dies, all others are gone as well, and TerminatedWorkerError is raised.
    """
    with _pool(n_workers) as workers:
        with _interrupts_held():
            finished = workers(delayed(run_item)(folder, *item) for item in items.items())
        with _stopped_quietly(finished):
            for outcome in finished:
                for warning in outcome.warnings:
                    warning.issue()
                yield outcome.index, outcome.result


def _pool(n_workers: int) -> Parallel:
    # One thread per worker: n_jobs is the number of cores in use, and results do not depend on how
    # many cores there are. It also keeps the pool alive between calls: joblib starts another when
    # the number of threads changes, and derives that number from n_workers if it is not given.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        return Parallel(
            n_jobs=n_workers,
            return_as="generator_unordered",
            batch_size=1,  # a finished result is not lost with an item that ends its worker
            max_nbytes=None,  # arrays of items and results stay arrays, whatever their size
        )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while workers are started, and from the workers for good.

    A terminal sends it to all processes. Workers inherit the signal mask: they leave interrupts to
    the parent, which ends them, and print no tracebacks of their own.
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

    joblib does that when its generator is closed, with a warning that is of no use here.
    """
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finished.close()


# In a worker

# Where each warning was issued before, by file, as Python keeps it in every module: a warning that
# is shown once per place is shown once, not once for every item.
_ISSUED: dict[str, dict[Any, Any]] = {}


@dataclass(frozen=True)
class RaisedWarning:
    """A warning on its way to the parent."""

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
        """Warn as the item did, under the filters of this process."""
        warnings.warn_explicit(
            self.message,
            self.category,
            self.filename,
            self.lineno,
            registry=_ISSUED.setdefault(self.filename, {}),
        )


@dataclass(frozen=True)
class Outcome:
    """The result of one item and the warnings it raised."""

    index: int
    result: Any
    warnings: list[RaisedWarning]


def run_item(folder: str, index: int, item: Any) -> Outcome:
    """Compute one item with the shared function of a folder."""
    log_start(folder, index)
    function = load_function(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # the parent's filters decide
        result = function(item)
    return Outcome(index, result, [RaisedWarning.from_caught(warning) for warning in caught])


def log_start(folder: str, index: int) -> None:
    """Record that this process starts an item, for :func:`running_items` if the process dies."""
    with Path(folder, f"{os.getpid()}.log").open("a") as log:
        log.write(f"{index}\n")


def running_items(folder: str) -> set[int]:
    """Take the last item of every worker from the logs, once all workers are gone."""
    latest: set[int] = set()
    for log in Path(folder).glob("*.log"):
        latest.update(int(index) for index in log.read_text().split()[-1:])
        log.unlink()
    return latest


# The shared function


@contextmanager
def shared_function(function: Callable[..., Any]) -> Iterator[str]:
    """Write a function and its data to a folder that lasts as long as the block."""
    # Windows does not remove a file that a worker still has in its memory.
    windows = sys.platform == "win32"
    with TemporaryDirectory(prefix="allrelevant-", ignore_cleanup_errors=windows) as folder:
        _write(function, Path(folder))
        yield folder


@lru_cache(maxsize=1)  # the last one only: nothing of earlier runs is needed
def load_function(folder: str) -> Callable[..., Any]:
    """The function of a folder, its arrays mapped into memory."""
    spans, pickled = pickle.loads(Path(folder, "function").read_bytes())
    arrays = _mapped(Path(folder, "arrays"))
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


def _mapped(path: Path) -> memoryview:
    if path.stat().st_size == 0:  # which no system maps
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
