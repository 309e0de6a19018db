"""What runs in a worker: one task, and the warnings it raised, which the parent issues again."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from .handover import log_start, received

# Where each warning was issued before, by file, as Python keeps it in every module: what the
# reader's filters want to see once is shown once, not once for every task.
_ISSUED: dict[str, dict[Any, Any]] = {}


@dataclass(frozen=True)
class RaisedWarning:
    """A warning on its way to the parent."""

    message: Warning
    category: type[Warning]
    filename: str
    lineno: int

    def issue(self) -> None:
        """Warn as the task did, under the filters of this process."""
        warnings.warn_explicit(
            self.message,
            self.category,
            self.filename,
            self.lineno,
            registry=_ISSUED.setdefault(self.filename, {}),
        )


@dataclass(frozen=True)
class Outcome:
    """What came of one task."""

    index: int
    result: Any
    warnings: list[RaisedWarning]


def perform(folder: str, index: int, task: Any) -> Outcome:
    """Do one task with the function of a folder, loading it if this worker has not yet."""
    log_start(folder, index)
    function = received(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # the parent's filters decide
        result = function(task)
    raised = [_raised(warning) for warning in caught]
    return Outcome(index, result, raised)


def _raised(caught: warnings.WarningMessage) -> RaisedWarning:
    message = caught.message
    if isinstance(message, str):
        message = caught.category(message)
    return RaisedWarning(message, caught.category, caught.filename, caught.lineno)
