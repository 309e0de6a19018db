"""The data, written once to a temporary folder and mapped into the memory of each worker.

A function comes with its data: an argument of a ``functools.partial``, or what a closure holds.
Its arrays are written beside its pickle, not into it, and every worker sees the same pages of the
same file. There they are ordinary arrays, but read-only.

What runs in a worker: one task, and the warnings it raised, which the parent issues again.

One pass of tasks over the pool of processes.

The pool is joblib's: it stays alive between passes, for starting it costs a second or so.

What is tried again when a worker dies, and when it is given up.

A process that is killed, or crashes in compiled code, takes the whole pool with it. What has
finished is kept, and the rest goes on in a new pool. The tasks that were under way are suspects:
any of them may have been the cause. They wait until all others are done, then each has the pool to
itself, where it hurts no neighbour and can be told from them.
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
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import get_active_backend

from ..exceptions import WorkerDiedError

# What vector instructions want at most; a power of two.
_ALIGNMENT = 64


@contextmanager
def shared_function(function: Callable[..., Any]) -> Iterator[str]:
    """Write a function to a folder that lasts as long as the block.

    Parameters
    ----------
    function : callable
        Anything that cloudpickle can write: lambdas and closures too.

    Yields
    ------
    str
        The folder, from which workers take the function with :func:`load_function`.
    """
    # Windows does not remove a file that a worker still has in its memory.
    windows = sys.platform == "win32"
    with TemporaryDirectory(prefix="allrelevant-", ignore_cleanup_errors=windows) as folder:
        _write(function, Path(folder))
        yield folder


@lru_cache(maxsize=1)  # the latest alone: of earlier runs nothing is needed any more
def load_function(folder: str) -> Callable[..., Any]:
    """Load the function of a folder, the first time it is asked for in this process."""
    spans, pickled = pickle.loads(Path(folder, "function").read_bytes())
    arrays = _mapped(Path(folder, "arrays"))
    return pickle.loads(pickled, buffers=[arrays[start:stop] for start, stop in spans])


def log_start(folder: str, index: int) -> None:
    """Note that this process starts a task, for :func:`running_tasks` to find if it dies of it."""
    with Path(folder, f"{os.getpid()}.log").open("a") as log:
        log.write(f"{index}\n")


def running_tasks(folder: str) -> set[int]:
    """Take the latest task of every worker out of the logs, once all workers are gone."""
    latest: set[int] = set()
    for log in Path(folder).glob("*.log"):
        latest.update(int(index) for index in log.read_text().split()[-1:])
        log.unlink()
    return latest


def _write(function: Callable[..., Any], folder: Path) -> None:
    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(function, protocol=5, buffer_callback=buffers.append)
    with (folder / "arrays").open("wb") as file:
        spans = [_append(buffer.raw(), file) for buffer in buffers]
    (folder / "function").write_bytes(pickle.dumps((spans, pickled)))


def _append(array: memoryview, file: BinaryIO) -> tuple[int, int]:
    start = file.seek(-file.tell() % _ALIGNMENT, os.SEEK_CUR)
    return start, start + file.write(array)


def _mapped(path: Path) -> memoryview:
    if path.stat().st_size == 0:  # which no system maps
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


# Where each warning was issued before, by file, as Python keeps it in every module: what the
# reader's filters want to see once is shown once, not once for every task.
_ISSUED: dict[str, dict[Any, Any]] = {}


@dataclass(frozen=True)
class RaisedWarning:
    """A warning on its way to the parent."""

    message: Warning
    category: type[Warning]
    filename: str
    lineno: int

    def issue(self) -> None:
        """Warn as the task did, under the filters of this process."""
        warnings.warn_explicit(
            self.message,
            self.category,
            self.filename,
            self.lineno,
            registry=_ISSUED.setdefault(self.filename, {}),
        )


@dataclass(frozen=True)
class Outcome:
    """What came of one task."""

    index: int
    result: Any
    warnings: list[RaisedWarning]


def run_task(folder: str, index: int, task: Any) -> Outcome:
    """Do one task with the function of a folder, loading it if this worker has not yet."""
    log_start(folder, index)
    function = load_function(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # the parent's filters decide
        result = function(task)
    raised = [_raised(warning) for warning in caught]
    return Outcome(index, result, raised)


def _raised(caught: warnings.WarningMessage) -> RaisedWarning:
    message = caught.message
    if isinstance(message, str):
        message = caught.category(message)
    return RaisedWarning(message, caught.category, caught.filename, caught.lineno)


def count_workers(n_jobs: int | None, n_tasks: int) -> int:
    """How many workers to use: 1 means that the tasks are best done in this process."""
    backend, _ = get_active_backend()
    if backend.nesting_level:  # in a worker already, ours or any other of joblib's
        return 1
    return min(effective_n_jobs(n_jobs), n_tasks)


def run_on_pool(
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
    with _pool(n_workers) as workers:
        with _interrupts_held():
            finished = workers(delayed(run_task)(folder, *item) for item in tasks.items())
        with _stopped_quietly(finished):
            for outcome in finished:
                for warning in outcome.warnings:
                    warning.issue()
                yield outcome.index, outcome.result


def _pool(n_workers: int) -> Parallel:
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


# A task that has ended as many workers on its own is given up.
_ATTEMPTS_ALONE = 2


# A pool that has died as often without a task begun or finished is given up.
_STARTS_IN_VAIN = 3


# More than these are only counted in a message.
_MOST_NAMED = 5


class Recovery:
    """All tasks of one run, done in spite of workers that die.

    Parameters
    ----------
    folder : str
        Where the function was handed over.
    tasks : sequence
    describe : callable
        What messages call a task.
    """

    def __init__(self, folder: str, tasks: Sequence[Any], describe: Callable[[Any], str]) -> None:
        self._folder = folder
        self._tasks = tasks
        self._describe = describe
        self._unfinished = set(range(len(tasks)))
        self._suspects: set[int] = set()
        self._death: TerminatedWorkerError | None = None

    def stream(self, n_workers: int) -> Iterator[tuple[int, Any]]:
        """Yield index and result of every task as it finishes.

        Raises
        ------
        WorkerDiedError
            In the end, if tasks had to be given up.
        """
        yield from self._together(n_workers)
        yield from self._alone()
        if self._unfinished:
            raise self._error() from self._death

    def _together(self, n_workers: int) -> Iterator[tuple[int, Any]]:
        in_vain = 0
        while in_vain < _STARTS_IN_VAIN and (todo := self._unfinished - self._suspects):
            yield from self._attempt(todo, n_workers)
            in_vain = in_vain + 1 if todo == self._unfinished - self._suspects else 0

    def _alone(self) -> Iterator[tuple[int, Any]]:
        for suspect in sorted(self._suspects):
            for _ in range(_ATTEMPTS_ALONE):
                if suspect in self._unfinished:
                    yield from self._attempt({suspect}, n_workers=2)  # of which one stays idle

    def _attempt(self, indices: set[int], n_workers: int) -> Iterator[tuple[int, Any]]:
        """Do these tasks until all are done or a worker dies."""
        tasks = {index: self._tasks[index] for index in sorted(indices)}
        try:
            with closing(run_on_pool(self._folder, tasks, n_workers)) as finished:
                for index, result in finished:
                    self._unfinished.remove(index)
                    yield index, result
        except TerminatedWorkerError as death:
            self._death = death
            self._suspects |= running_tasks(self._folder) & self._unfinished

    def _error(self) -> WorkerDiedError:
        lost = sorted(self._unfinished)
        named = [f"{index} ({self._describe(self._tasks[index])})" for index in lost[:_MOST_NAMED]]
        if len(lost) > _MOST_NAMED:
            named.append(f"{len(lost) - _MOST_NAMED} more")
        return WorkerDiedError(
            f"Gave up task {', '.join(named)}, of {len(self._tasks)}: the process at work on it "
            "died every time. All others are done. Not enough memory is the likely cause: try more "
            "of it, or less data. A crash in compiled code leaves its trace on standard error.",
            lost,
        )
