"""Standard output and standard error of a command that may be closed, full or a broken pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from ..exceptions import AllRelevantError

# Exit code of a program that writes to a pipe that nobody reads, as with other Unix tools.
BROKEN_PIPE = 141


class OutputError(AllRelevantError, OSError):
    """Raised when standard output cannot be written."""


class _Stream:
    """Stream with the interface of the given stream, whose errors are handled by the subclass."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._fail(error)
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Discard the rest of the output, also what Python writes when the process ends."""
        with suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)


class _Output(_Stream):
    """Standard output: errors end the command."""

    def _fail(self, error: OSError) -> None:
        super()._fail(error)
        if isinstance(error, BrokenPipeError):
            raise error
        raise OutputError(
            f"Cannot write to standard output: {error.strerror}. Write to a file instead, or free "
            "some space."
        ) from error


class _Messages(_Stream):
    """Standard error: errors are ignored, because there is no place to report them."""


class _ClosedOutput:
    """Standard output that is closed: every attempt to write fails."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def isatty(self) -> bool:
        return False

    def flush(self) -> None:
        """Do nothing."""

    def write(self, text: str) -> int:
        raise OutputError(
            "Cannot write to standard output: it is closed. Use --quiet, and write to a file."
        )


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Convert errors of standard output to one-line errors, and ignore those of standard error."""
    before = sys.stdout, sys.stderr
    _occupy_closed_descriptors()
    sys.stderr = _Messages(sys.stderr or open(os.devnull, "w"))  # type: ignore[assignment]
    sys.stdout = _ClosedOutput() if sys.stdout is None else _Output(sys.stdout)  # type: ignore
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _occupy_closed_descriptors() -> None:
    """Open the null device in place of closed standard streams.

    Otherwise, the next file that is opened would get their number, and libraries would write to it.
    """
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        return
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
