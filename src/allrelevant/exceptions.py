"""Errors and the warning of the package.

Every error derives from :class:`AllRelevantError`, so that callers can tell a problem with the data
or the settings from a bug. The command line prints them in one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class AllRelevantError(Exception):
    """Base class of all errors that the package raises on purpose."""


class InputError(AllRelevantError, ValueError):
    """The data or a setting cannot be used; the message says which one and what to do."""


class CheckpointError(InputError):
    """A checkpoint belongs to another run, is damaged, in use or not writable.

    The file is left as it is.
    """


class InfeasibleConstraintsError(InputError):
    """No equivalent model satisfies all constraints.

    Attributes
    ----------
    constraints : list
        A smallest infeasible set: no model satisfies all of these constraints, but if any one of
        them is left out, some model satisfies the others.
    relaxations : list of float
        How far each of them would have to move while the others stay as they are.
    """

    # Only the message is passed to Exception, and the rest has defaults, so that it can be pickled.
    def __init__(
        self, message: str, constraints: Sequence[Any] = (), relaxations: Sequence[float] = ()
    ) -> None:
        super().__init__(message)
        self.constraints = list(constraints)
        self.relaxations = list(relaxations)


class SolverError(AllRelevantError, RuntimeError):
    """A program was not solved to optimality, so its answer cannot be trusted."""


class TrainingError(AllRelevantError, FloatingPointError):
    """The training loss is no longer finite; the message says when and the likely cause."""


class MissingExtraError(AllRelevantError, ImportError):
    """An optional dependency is missing; the message names the extra that installs it."""


class WorkerDiedError(AllRelevantError, RuntimeError):
    """Some items ended the process that worked on them, every time; all others are done.

    Attributes
    ----------
    lost : list of int
        Indices of the items that were given up.
    results : dict
        Results of the others by index; empty if they were yielded as they finished.
    """

    # Only the message is passed to Exception, and the rest has defaults, so that it can be pickled.
    def __init__(self, message: str, lost: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.lost = list(lost)
        self.results: dict[int, Any] = {}


class RelevanceWarning(UserWarning):
    """The result is valid, but something about it deserves attention."""
