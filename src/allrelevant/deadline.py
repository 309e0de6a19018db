"""Time limit of a computation, passed down as a value from the call that sets it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeVar

from .exceptions import TimeLimitError

Result = TypeVar("Result")


@dataclass(frozen=True)
class Deadline:
    """Time at which a computation must end, as in ``time.time()``; infinite without a limit.

    All processes of a run compare it with the same clock. Long computations call :meth:`check`
    regularly, and callers that can use a partial result catch the error with :func:`attempt`.
    """

    at: float = float("inf")

    @classmethod
    def after(cls, seconds: float | None) -> Self:
        """Return the deadline a number of seconds from now; None means no limit."""
        return cls() if seconds is None else cls(time.time() + seconds)

    @property
    def is_set(self) -> bool:
        return self.at < float("inf")

    @property
    def is_over(self) -> bool:
        return self.is_set and time.time() >= self.at

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, at least zero; None without a limit."""
        return max(0.0, self.at - time.time()) if self.is_set else None

    def check(self) -> None:
        """Raise if the deadline is over."""
        if self.is_over:
            raise TimeLimitError(
                "The time limit was reached before a result was available. Increase max_seconds."
            )

    def share(self, fraction: float) -> Deadline:
        """Return an earlier deadline, at a fraction of the time left."""
        left = self.seconds_left
        return self if left is None else Deadline(time.time() + fraction * left)

    def for_item(self, index: int, n_items: int, n_workers: int = 1) -> Deadline:
        """Return the deadline of an item that starts now and leaves equal time to later ones."""
        return self.share(1.0 / -(-(n_items - index) // max(1, n_workers)))


NO_DEADLINE = Deadline()


def attempt(function: Callable[[], Result]) -> Result | None:
    """Return the result of a function; None if it reached its deadline."""
    try:
        return function()
    except TimeLimitError:
        return None
