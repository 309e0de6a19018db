"""Estimate of the duration of a run, based on its first steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .._text import count_noun
from ..exceptions import warn_caller

# A run is announced if it is estimated to take longer than this.
LONG_SECONDS = 60.0

# Start of the announcement.
ANNOUNCEMENT = "This run will take about"

# The estimate is made when the first steps have taken this long.
OBSERVED_SECONDS = 2.0


@dataclass
class DurationEstimate:
    """Estimate of a run's duration, with an early warning if it exceeds a minute.

    ``n_steps`` is the number of steps in all parts of the run, and ``advice`` completes the
    message. Each step must call :meth:`advance`.
    """

    n_steps: int
    advice: str
    clock: Callable[[], float] = time.perf_counter
    _n_done: int = 0
    _first: float = 0.0
    _announced: bool = False

    def counting(self, function: Callable[[], object]) -> Callable[[], None]:
        """Return a function that calls ``function`` and then counts a step."""

        def call() -> None:
            function()
            self.advance()

        return call

    def advance(self) -> None:
        """Count a step, and warn once if the run is likely to take more than a minute.

        The first step is not timed, because it may import libraries.
        """
        self._n_done += 1
        if self._n_done == 1:
            self._first = self.clock()
        if self._n_done == 1 or self._announced:
            return
        elapsed = self.clock() - self._first
        if elapsed < OBSERVED_SECONDS:
            return
        self._announced = True
        total = elapsed * self.n_steps / (self._n_done - 1)
        if total > LONG_SECONDS:
            warn_caller(f"{ANNOUNCEMENT} {describe_duration(total)}. {self.advice}")


def describe_duration(seconds: float) -> str:
    """Return a rounded duration in minutes or hours.

    >>> describe_duration(100), describe_duration(7000)
    ('2 minutes', '1.9 hours')
    """
    if seconds < 5400:
        return count_noun(max(1, round(seconds / 60)), "minute", "minutes")
    return f"{seconds / 3600:.1f} hours"
