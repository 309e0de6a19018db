"""What can go wrong, by name.

Every exception of the package derives from :class:`AllRelevantError`, so that a caller
(the command line, for one) can tell a problem with the data or the settings from a bug.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class AllRelevantError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(AllRelevantError, ValueError):
    """The data or a setting cannot be used; the message says which and what to do."""


class CheckpointError(InputError):
    """A checkpoint is of another run, damaged, in use or not writable; it was left as it is."""


class InfeasibleConstraintsError(InputError):
    """No equally good model keeps all constraints.

    Attributes
    ----------
    clash : list
        Constraints that no model keeps together, and none of which could be left out of the list:
        without any one of them there is a model that keeps the others.
    moves : list of float
        By how much each of them would have to move, the others of the list staying as they are.
    """

    # Only the message goes to Exception, and the rest has defaults: so that it can be pickled.
    def __init__(
        self, message: str, clash: Sequence[Any] = (), moves: Sequence[float] = ()
    ) -> None:
        super().__init__(message)
        self.clash = list(clash)
        self.moves = list(moves)


class SolverError(AllRelevantError, RuntimeError):
    """A program was not solved to optimality; nothing it returned can be trusted."""


class TrainingError(AllRelevantError, FloatingPointError):
    """The loss of a training is no number any more; the message says when and the likely cause."""


class MissingExtraError(AllRelevantError, ImportError):
    """An optional dependency is needed; the message names the extra that brings it."""


class WorkerDiedError(AllRelevantError, RuntimeError):
    """Some tasks ended the process that did them, every time; all others were completed.

    Attributes
    ----------
    lost : list of int
        Places of the tasks that were given up.
    results : dict
        Results of the others by place; empty where they were handed out as they came.
    """

    # Only the message goes to Exception, and the rest has defaults: so that it can be pickled.
    def __init__(self, message: str, lost: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.lost = list(lost)
        self.results: dict[int, Any] = {}


class RelevanceWarning(UserWarning):
    """The result stands, but something about it deserves the reader's attention."""
