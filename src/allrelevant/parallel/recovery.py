"""Retries after worker crashes, and the error that names the items that cannot be processed.

If a worker crashes, several items may be the cause. These suspects are retried one at a time, after
all other items. A suspect that crashes its worker in each of these attempts is abandoned. If every
item seems to crash, all are abandoned, because retries of each item would take long.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

from ..exceptions import WorkerDiedError

# If no item has finished after this number of crashes, one item is tried alone. If it crashes as
# well, all items are abandoned.
MAX_IDLE_CRASHES = 3

# Maximum number of lost items listed in a message; further items are only counted.
MAX_NAMED_ITEMS = 5


@dataclass(frozen=True)
class Crash:
    """Crashes of workers, their number and the indices of the items that may have caused them."""

    suspects: set[int]
    cause: BaseException
    n_crashes: int = 1


Results = Generator[tuple[int, Any], None, Crash | None]


class Attempt(Protocol):
    """Function that processes items, keyed by index, and yields (index, result) pairs.

    It returns a :class:`Crash` if a worker crashed. In this case, items may be missing. With
    ``alone=True``, there is a single item, and no other item runs at the same time.
    """

    def __call__(self, items: Mapping[int, Any], *, alone: bool) -> Results: ...


def run_with_retries(
    attempt: Attempt,
    items: Sequence[Any],
    describe: Callable[[Any], str],
    max_solo_attempts: int,
) -> Generator[tuple[int, Any], None, None]:
    """Process all items, with retries after crashes; yield (index, result) pairs.

    Raises :exc:`WorkerDiedError` at the end if items are abandoned.
    """
    yield from _Run(attempt, items, describe).results(max_solo_attempts)


class _Run:
    """State of a parallel run: all items, unfinished items, and those that may crash a worker."""

    def __init__(
        self, attempt: Attempt, items: Sequence[Any], describe: Callable[[Any], str]
    ) -> None:
        self._attempt = attempt
        self._items = items
        self._describe = describe
        self._unfinished = set(range(len(items)))
        self._suspects: set[int] = set()
        self._cause: BaseException | None = None

    def results(self, max_solo_attempts: int) -> Generator[tuple[int, Any], None, None]:
        yield from self._process_together()
        # If items remain that are not suspects, nothing works.
        if self._unfinished <= self._suspects:
            for suspect in sorted(self._suspects):
                for _ in range(max_solo_attempts):
                    if suspect in self._unfinished:
                        yield from self._process({suspect}, alone=True)
        if self._unfinished:
            raise self._error() from self._cause

    def _process_together(self) -> Generator[tuple[int, Any], None, None]:
        idle_crashes = 0
        while todo := self._unfinished - self._suspects:
            if idle_crashes >= MAX_IDLE_CRASHES:
                yield from self._process({max(todo)}, alone=True)
                if todo <= self._unfinished:
                    return
                idle_crashes = 0
                continue
            n_crashes = yield from self._process(todo, alone=False)
            is_idle = todo == self._unfinished - self._suspects
            works = len(self._unfinished) < len(self._items)
            idle_crashes = 0 if works and not is_idle else idle_crashes + n_crashes

    def _process(self, indices: set[int], *, alone: bool) -> Generator[tuple[int, Any], None, int]:
        """Process the given items once and yield results; note suspects if a worker crashes.

        Returns the number of crashes.
        """
        items = {index: self._items[index] for index in sorted(indices)}
        crash: list[Crash | None] = []

        def attempt() -> Generator[tuple[int, Any], None, None]:
            crash.append((yield from self._attempt(items, alone=alone)))

        with closing(attempt()) as finished:
            for index, result in finished:
                self._unfinished.remove(index)
                yield index, result
        if crash[0] is None:
            return 0
        self._cause = crash[0].cause
        self._suspects |= crash[0].suspects & self._unfinished
        return crash[0].n_crashes

    def _error(self) -> WorkerDiedError:
        lost, items = sorted(self._unfinished), self._items
        named = [f"{index} ({self._describe(items[index])})" for index in lost[:MAX_NAMED_ITEMS]]
        if len(lost) > MAX_NAMED_ITEMS:
            named.append(f"{len(lost) - MAX_NAMED_ITEMS} more")
        return WorkerDiedError(
            f"The worker process crashed in every attempt for {len(lost)} of {len(items)} "
            f"items: {', '.join(named)}. All other items are finished. The likely cause is "
            "insufficient memory. Use less data, or a computer with more memory. If compiled code "
            "crashed, see its messages on standard error.",
            lost,
        )
