"""What can go wrong, by name.

Every exception of the package derives from :class:`AllRelevantError`, so that a caller
(the command line, for one) can tell a problem with the data or the settings from a bug.
"""


class AllRelevantError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(AllRelevantError, ValueError):
    """The data or a setting cannot be used; the message says which and what to do."""


class SolverError(AllRelevantError, RuntimeError):
    """A linear program was not solved to optimality; nothing it returned can be trusted."""


class MissingExtraError(AllRelevantError, ImportError):
    """An optional dependency is needed; the message names the extra that brings it."""


class RelevanceWarning(UserWarning):
    """The result stands, but something about it deserves the reader's attention."""
