"""What is tried again when a worker dies, and when it is given up.

A process that is killed, or crashes in compiled code, takes the whole pool with it. What has
finished is kept, and the rest goes on in a new pool. The tasks that were under way are suspects:
any of them may have been the cause. They wait until all others are done, then each has the pool to
itself, where it hurts no neighbour and can be told from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

from ..exceptions import WorkerDiedError
from .handover import under_way
from .pool import TerminatedWorkerError, work_through

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
            with closing(work_through(self._folder, tasks, n_workers)) as finished:
                for index, result in finished:
                    self._unfinished.remove(index)
                    yield index, result
        except TerminatedWorkerError as death:
            self._death = death
            self._suspects |= under_way(self._folder) & self._unfinished

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
