"""Retries after worker crashes, and the error that names the items that cannot be processed.

If a worker crashes, several items may be the cause. These suspects are retried one at a time, after
all other items. A suspect that crashes its worker in each of these attempts is abandoned.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

from ..exceptions import WorkerDiedError

# Maximum number of consecutive crashes without progress before all items are abandoned.
MAX_IDLE_RESTARTS = 3

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

    idle_restarts = 0
    while idle_restarts < MAX_IDLE_RESTARTS and (todo := unfinished - suspects):
        found = yield from process(todo, alone=False)
        if found is not None:
            crash = found
            suspects |= found.suspects & unfinished
        idle_restarts = idle_restarts + 1 if todo == unfinished - suspects else 0
    for suspect in sorted(suspects):
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
