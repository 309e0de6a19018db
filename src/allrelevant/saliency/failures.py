"""Why a training failed, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..exceptions import InputError, WorkerDiedError

# What torch says, and what to know about it.
_CAUSES = {
    "shapes cannot be multiplied": (
        "the network takes another number of columns; with keep_shape=True those that left are set "
        "to zero and not dropped"
    ),
    "does not require grad": (
        "the outputs do not hang on the weights, for all of these are frozen, or something on the "
        "way (detach, argmax, numpy) breaks the gradient off"
    ),
    "empty parameter list": "the network has no weights to train, or all of them are frozen",
    "out of memory": "lower batch_size, or use a smaller network",
    "same dtype": "rows and weights differ in precision: leave the network in single precision",
    "more than 1 value per channel": (
        "batch normalisation cannot do with a batch of one row: take another batch_size"
    ),
}


@contextmanager
def failures_of(what: str) -> Iterator[None]:
    """Say in one line what failed and why, where a training fails in the block.

    Parameters
    ----------
    what : str
        What the block does.

    Raises
    ------
    InputError
        In the place of the errors of scikit-learn and torch. A worker that died is none of them.

    Examples
    --------
    >>> with failures_of("Round 1"):
    ...     raise ValueError("No rows.")
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: Round 1: No rows.
    """
    try:
        yield
    except WorkerDiedError:
        raise
    except (ValueError, FloatingPointError, RuntimeError) as error:
        raise InputError(f"{what}: {_with_cause(error)}") from error


def _with_cause(error: Exception) -> str:
    said = str(error)
    if isinstance(error, RuntimeError):  # torch appends where in its own code it was
        said = said.strip().partition("\n")[0] or type(error).__name__
    causes = [cause for sign, cause in _CAUSES.items() if sign in said]
    return f"{said.rstrip('.')} ({causes[0]})." if causes else said
