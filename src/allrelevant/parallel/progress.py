"""Progress bars on standard error: one bar for a whole job, or one for a single loop.

A job has stages, such as the choice of C and the calibration, and each stage has one or several
loops. The bar covers all of them and estimates the time left. It also moves within long items, at
the pace of the items before: a thread draws it every second.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Protocol, Self

from ..deadline import NO_DEADLINE, Deadline

# Seconds between two drawings of a bar, and the smallest expected duration of an item.
SECONDS_PER_DRAWING = 1.0
MIN_ITEM_SECONDS = 5.0

# An unfinished item counts as at most this fraction of a finished one.
MAX_UNFINISHED = 0.9

# Part of a job after which the time left is estimated. Estimates from less are far off.
MIN_DONE = 1e-3

# Positions of the bar of a job.
RESOLUTION = 1000

JOB_FORMAT = "{desc} {percentage:3.0f}%|{bar}| {elapsed}{postfix}"


class Progress(Protocol):
    """Interface of objects that show the progress of loops."""

    def track(self, n_items: int) -> Any:
        """Return a context manager whose value is the function to call after each item."""


class JobBar:
    """Progress bar of a whole job, given the title and the relative duration of each stage.

    The time left is estimated from the stages, and is at most that until the deadline. Without
    ``is_shown``, nothing is drawn. Use it as a context manager.
    """

    def __init__(
        self, stages: Mapping[str, float], *, is_shown: bool, deadline: Deadline = NO_DEADLINE
    ) -> None:
        total = sum(stages.values()) or 1.0
        self._ends: dict[str, tuple[float, float]] = {}
        position = 0.0
        for title, weight in stages.items():
            self._ends[title] = (position, position + weight / total)
            position += weight / total
        self._is_shown, self._deadline = is_shown, deadline
        self._bar: Any = None
        self._stop = Event()
        self._thread: Thread | None = None
        self._position = self._item_width = 0.0
        self._item_start, self._item_seconds = time.monotonic(), MIN_ITEM_SECONDS

    def __enter__(self) -> Self:
        if self._is_shown and self._bar is None:
            from tqdm.auto import tqdm

            title = next(iter(self._ends), "")
            self._bar = tqdm(desc=title, total=RESOLUTION, leave=False, bar_format=JOB_FORMAT)
            self._thread = Thread(target=self._draw_regularly, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._bar.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bar as one that is not shown, because workers do not draw it."""
        return _hidden_bar, ()

    def stage(self, title: str, n_loops: int = 1) -> StageProgress | None:
        """Start a stage with a number of loops, or continue it; None if nothing is drawn."""
        if self._bar is None:
            return None
        start, end = self._ends.get(title, (self._position, self._position))
        self._move_to(max(self._position, start))
        self._bar.set_description_str(title, refresh=True)
        return StageProgress(self, end, n_loops)

    def _move_to(self, position: float, item_width: float = 0.0) -> None:
        self._position, self._item_width = position, item_width
        self._item_start = time.monotonic()
        self._draw()

    def start_items(self, width: float) -> None:
        """Start a loop whose items have the given width on the bar."""
        self._item_seconds = MIN_ITEM_SECONDS
        self._move_to(self._position, width)

    def finish_item(self) -> None:
        """Move by one item."""
        self._item_seconds = max(MIN_ITEM_SECONDS, time.monotonic() - self._item_start)
        self._move_to(self._position + self._item_width, self._item_width)

    def _draw(self) -> None:
        waited = (time.monotonic() - self._item_start) / self._item_seconds
        unfinished = MAX_UNFINISHED * (1.0 - math.exp(-waited)) * self._item_width
        done = min(1.0, self._position + unfinished)
        self._bar.n = round(RESOLUTION * done, 2)
        if done >= MIN_DONE:
            elapsed = self._bar.format_dict["elapsed"]
            left = elapsed * (1.0 - done) / done
            if self._deadline.seconds_left is not None:
                left = min(left, self._deadline.seconds_left)
            self._bar.set_postfix_str(f"about {self._bar.format_interval(left)} left", False)
        self._bar.refresh()

    def _draw_regularly(self) -> None:
        while not self._stop.wait(SECONDS_PER_DRAWING):
            self._draw()


def _hidden_bar() -> JobBar:
    return JobBar({}, is_shown=False)


HIDDEN = _hidden_bar()


class StageProgress:
    """Part of the bar of a job that belongs to one stage; each loop takes an equal part of it."""

    def __init__(self, bar: JobBar, end: float, n_loops: int) -> None:
        self._bar, self._end, self._n_left = bar, end, n_loops

    def divide_loop(self, n_loops: int) -> None:
        """Replace the next loop by at most ``n_loops`` loops."""
        self._n_left += n_loops - 1

    @contextmanager
    def track(self, n_items: int) -> Iterator[Callable[[], object]]:
        left = max(0.0, self._end - self._bar._position)
        self._bar.start_items(left / max(1, self._n_left) / max(1, n_items))
        self._n_left = max(1, self._n_left - 1)
        yield self._bar.finish_item


@contextmanager
def progress_bar(
    progress: str | Progress | None, total: int, *, done: int = 0
) -> Iterator[Callable[[], object]]:
    """Show the progress of a loop while the block runs; yield the function that advances it.

    ``progress`` is the title of a bar of its own, a part of the bar of a job, or None to show
    nothing. ``done`` is the number of items finished earlier.
    """
    if progress is None:
        yield lambda: None
    elif isinstance(progress, str):
        from tqdm.auto import tqdm

        with tqdm(desc=progress, total=total, initial=done, leave=False) as bar:
            yield bar.update
    else:
        with progress.track(total - done) as advance:
            yield advance
