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
    """Crash of one or more workers, and the indices of the items that may have caused it."""

    suspects: set[int]
    cause: BaseException


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
    unfinished = set(range(len(items)))
    suspects: set[int] = set()
    crash: Crash | None = None

    def process(indices: set[int], *, alone: bool) -> Results:
        results = attempt({index: items[index] for index in sorted(indices)}, alone=alone)
        with closing(results):
            while True:
                try:
                    index, result = next(results)
                except StopIteration as end:
                    return end.value
                unfinished.remove(index)
                yield index, result

    idle_crashes = 0
    while todo := unfinished - suspects:
        if idle_crashes == MAX_IDLE_CRASHES:
            yield from process({max(todo)}, alone=True)
            if todo <= unfinished:
                break
            idle_crashes = 0
            continue
        found = yield from process(todo, alone=False)
        if found is not None:
            crash = found
            suspects |= found.suspects & unfinished
        has_progress = len(unfinished) < len(items) and todo != unfinished - suspects
        idle_crashes = 0 if has_progress else idle_crashes + 1
    nothing_works = todo and len(unfinished) == len(items)
    for suspect in [] if nothing_works else sorted(suspects):
        for _ in range(max_solo_attempts):
            if suspect in unfinished:
                crash = (yield from process({suspect}, alone=True)) or crash
    if unfinished:
        cause = None if crash is None else crash.cause
        raise _error(sorted(unfinished), items, describe) from cause


def _error(
    lost: Sequence[int], items: Sequence[Any], describe: Callable[[Any], str]
) -> WorkerDiedError:
    named = [f"{index} ({describe(items[index])})" for index in lost[:MAX_NAMED_ITEMS]]
    if len(lost) > MAX_NAMED_ITEMS:
        named.append(f"{len(lost) - MAX_NAMED_ITEMS} more")
    return WorkerDiedError(
        f"The worker process crashed in every attempt for {len(lost)} of {len(items)} "
        f"items: {', '.join(named)}. All other items are finished. The likely cause is "
        "insufficient memory. Use less data, or a computer with more memory. If compiled code "
        "crashed, see its messages on standard error.",
        lost,
    )
