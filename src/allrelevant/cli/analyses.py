"""Steps of ``report``: the fit and the further analyses, within one time limit and one bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ..parallel import Job

Result = TypeVar("Result")

FIT = "bounds"
PATH = "path"
RELATIONS = "relations"
COSTS = "minimum-cost feature sets"
SMALL_SET = "smallest sufficient set"
SUFFICIENCY = "sufficiency of the relevant features"
OUTPUT = "output"

# Usual relative durations. Each step may use this part of the time left for it and later steps.
WEIGHTS = {FIT: 6.0, PATH: 2.0, RELATIONS: 2.0, COSTS: 1.0, SMALL_SET: 1.0, SUFFICIENCY: 1.0}
OUTPUT_WEIGHT = 0.5

# Part of a step's time that a search for feature sets may use; the rest is for their scores.
SEARCH_SHARE = 0.4


@dataclass
class Analyses:
    """Steps that share the time of a job, and the names of those that it did not reach."""

    job: Job
    steps: list[str] = field(default_factory=lambda: list(WEIGHTS))
    not_reached: list[str] = field(default_factory=list)

    def plan(self, steps: list[str]) -> None:
        """Set the steps that remain, in order."""
        self.steps = steps

    def run(self, step: str, analysis: Callable[[Job], Result]) -> Result | None:
        """Run a step with its part of the time; return None if it reached no result."""
        from ..deadline import attempt

        part, result = self.next_part(step), None
        self.job.bar.stage(step)
        if not part.deadline.is_over:
            result = attempt(partial(analysis, part))
        if result is None:
            self.not_reached.append(step)
        return result

    def next_part(self, step: str) -> Job:
        """Return the job of a step, with its part of the time, and remove it from the plan."""
        left = sum(WEIGHTS[name] for name in self.steps) + OUTPUT_WEIGHT
        self.steps.remove(step)
        return self.job.until(self.job.deadline.share(WEIGHTS[step] / left))

    def warn(self) -> None:
        """Issue a warning that names the steps that were not reached."""
        from .._text import join_names
        from ..exceptions import warn_caller

        if self.not_reached:
            warn_caller(
                f"Not reached within the time limit: {join_names(self.not_reached)}. Increase "
                "max_seconds."
            )


def search_seconds(job: Job, default: float) -> float:
    """Return the time limit of a search for feature sets."""
    left = job.deadline.seconds_left
    return default if left is None else min(default, max(SEARCH_SHARE * left, 1e-3))


@contextmanager
def started_analyses(settings: dict[str, Any], *, verbose: bool) -> Iterator[Analyses]:
    """Start the clock and the progress bar of a command."""
    from ..bounds.pipeline import FIT_STAGES
    from ..parallel import start_job

    stages = {"reading the table": 0.3}
    stages |= {title: WEIGHTS[FIT] * weight for title, weight in FIT_STAGES.items()}
    stages |= {step: weight for step, weight in WEIGHTS.items() if step != FIT}
    with start_job(stages, max_seconds=settings.get("max_seconds"), verbose=verbose) as job:
        yield Analyses(job)
