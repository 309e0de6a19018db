"""Job: the time limit and the progress bar of one call of the user, shared by all its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..deadline import NO_DEADLINE, Deadline
from .api import TimedOptions
from .progress import HIDDEN, JobBar


@dataclass(frozen=True)
class Job:
    """Time limit and progress bar of a call; each step gets a part of both."""

    deadline: Deadline = NO_DEADLINE
    bar: JobBar = HIDDEN

    def until(self, deadline: Deadline) -> Job:
        """Return the same job with an earlier deadline, for one of its steps."""
        return replace(self, deadline=deadline)

    def stage(self, title: str, n_jobs: int | None, n_loops: int = 1) -> TimedOptions:
        """Start a stage of the bar; return the keyword arguments for its loops."""
        progress = self.bar.stage(title, n_loops)
        return {"n_jobs": n_jobs, "progress": progress, "deadline": self.deadline}


@contextmanager
def start_job(
    stages: Mapping[str, float], *, max_seconds: float | None = None, verbose: bool = False
) -> Iterator[Job]:
    """Start the clock and show the bar of a job, given its stages and their usual durations."""
    deadline = Deadline.after(max_seconds)
    with JobBar(stages, is_shown=verbose, deadline=deadline) as bar:
        yield Job(deadline, bar)
