"""Series of steps that worker processes compute.

Only the parent process writes the checkpoint file. A worker gets a copy of its series in memory and
continues it. When the worker has finished, the parent process stores the new steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, Unpack

from ..exceptions import WorkerDiedError
from ..parallel import RunOptions, parallel_imap
from .file import Series

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class MemorySteps:
    """Steps and state of a single series in memory, with the interface of a checkpoint file."""

    known: list[dict[str, Any]]
    latest: dict[str, Any] | None
    new: list[dict[str, Any]] = field(default_factory=list)

    def steps(self, series: str) -> list[dict[str, Any]]:
        return [*self.known, *self.new]

    def state(self, series: str) -> dict[str, Any] | None:
        return self.latest

    def extend(
        self,
        series: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self.new += map(dict, steps)
        self.latest = self.latest if state is None else dict(state)


def map_series(
    function: Callable[[Series, Item], Result],
    series: Sequence[Series],
    items: Sequence[Item],
    advance: Callable[[], object],
    **run: Unpack[RunOptions],
) -> list[Result]:
    """Call ``function(series, item)`` in workers; store the steps of each series at its end.

    ``advance`` is called after each item. If a worker crashes in every attempt, the steps of all
    other items are stored.
    """
    tasks = [(_in_memory(part), item) for part, item in zip(series, items, strict=True)]
    results: dict[int, Result] = {}
    try:
        with closing(parallel_imap(partial(_continue_series, function), tasks, **run)) as finished:
            for index, (result, new, state) in finished:
                if new:
                    series[index].extend(new, state)
                results[index] = result
                advance()
    except WorkerDiedError as error:
        error.results = dict(results)
        raise
    return [results[index] for index in range(len(items))]


def _in_memory(series: Series) -> Series:
    if series.file is None:
        return series
    return Series(MemorySteps(series.steps(), series.state()), series.name)


def _continue_series(
    function: Callable[[Series, Item], Result], task: tuple[Series, Item]
) -> tuple[Result, list[dict[str, Any]], dict[str, Any] | None]:
    """Call the function in a worker; return its result, the new steps and the last state."""
    series, item = task
    result = function(series, item)
    if isinstance(series.file, MemorySteps):
        return result, series.file.new, series.file.latest
    return result, [], None
