"""Exceptions and warnings of the package.

Every error derives from :class:`AllRelevantError`, so that callers can distinguish a problem with
the data or the settings from a bug. The command line prints these errors in one line.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

# Packages whose frames do not count as the caller of a function that warns.
_NOT_CALLERS = ("allrelevant", "sklearn", "joblib")


class AllRelevantError(Exception):
    """Base class of all errors that the package raises."""


class InputError(AllRelevantError, ValueError):
    """Raised for invalid data or settings; the message states the cause and the remedy."""


class CheckpointError(InputError):
    """Raised when a checkpoint belongs to a different run, or is damaged, in use or not writable.

    The file is not modified.
    """


class InfeasibleConstraintsError(InputError):
    """Raised when no equivalent model satisfies all user constraints.

    Attributes
    ----------
    constraints : list
        Irreducible infeasible subset (IIS): no model satisfies all of these constraints, but
        removing any one of them makes the others feasible.
    relaxations : list of float
        Amount by which each constraint must be relaxed if the others stay unchanged.
    """

    # Pickling requires that Exception receives only the message, and that the rest has defaults.
    def __init__(
        self, message: str, constraints: Sequence[Any] = (), relaxations: Sequence[float] = ()
    ) -> None:
        super().__init__(message)
        self.constraints = list(constraints)
        self.relaxations = list(relaxations)


class SolverError(AllRelevantError, RuntimeError):
    """Raised when a solver does not find an optimal, feasible solution."""


class TimeLimitError(AllRelevantError):
    """Raised when a time limit ends a computation that has no partial result."""


class TrainingError(AllRelevantError, FloatingPointError):
    """Raised when the training loss becomes NaN or infinite.

    The message states when this happened and the likely cause.
    """


class MissingExtraError(AllRelevantError, ImportError):
    """Raised when an optional dependency is missing; the message names the extra to install."""


class WorkerDiedError(AllRelevantError, RuntimeError):
    """Raised when items to process in parallel crash their worker process in every attempt.

    All other items are finished.

    Attributes
    ----------
    lost : list of int
        Indices of the abandoned items.
    results : dict
        Results of the other items, keyed by index. Empty if they were already yielded.
    """

    # Pickling requires that Exception receives only the message, and that the rest has defaults.
    def __init__(self, message: str, lost: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.lost = list(lost)
        self.results: dict[int, Any] = {}


class ClusterError(AllRelevantError, RuntimeError):
    """Raised when a cluster cannot be used: no connection, no workers or different versions."""


class RelevanceWarning(UserWarning):
    """Warning about a result that is valid but should be interpreted with care."""


def warn_caller(message: str, category: type[Warning] = RelevanceWarning) -> None:
    """Issue a warning that refers to the line of the user's code that called this package.

    Frames of scikit-learn and joblib are skipped as well, because pipelines and searches call
    ``fit`` from there.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame) in _NOT_CALLERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
