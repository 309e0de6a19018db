"""Standard output and standard error of a command that may be closed, full or a broken pipe."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from ..exceptions import AllRelevantError

# Exit code of a program that writes to a pipe that nobody reads, as with other Unix tools.
BROKEN_PIPE = 141


class OutputError(AllRelevantError):
    """Raised when standard output cannot be written."""


class BrokenOutputError(OutputError):
    """Raised when nobody reads standard output any longer, as in ``allrelevant ... | head``."""


class _Stream:
    """Stream with the interface of the given stream, whose errors are handled by a subclass."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._error: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._call(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        self._call(self._stream.flush)

    def discard_rest(self) -> None:
        """After an error, discard what Python would write when the process ends."""
        if self._error is not None:
            with suppress(OSError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self._stream.fileno())
                os.close(null)

    def _call(self, function: Callable[..., object], *arguments: str) -> None:
        if self._error is None:
            try:
                function(*arguments)
            except OSError as error:
                self._error = error
        if self._error is not None:  # an earlier error may have been swallowed
            self._handle(self._error)

    def _handle(self, error: OSError) -> None:
        """Ignore an error: for standard error, there is no place to report it."""


class _Output(_Stream):
    """Standard output: errors end the command."""

    def _handle(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise BrokenOutputError(str(error)) from error
        raise OutputError(
            f"Cannot write to standard output: {error.strerror}. Write to a file instead, or free "
            "some space."
        ) from error


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
    streams = [_Stream(sys.stderr or io.StringIO())]
    output: Any = _ClosedOutput()
    if sys.stdout is not None:
        output = _Output(sys.stdout)
        streams.append(output)
    sys.stdout, sys.stderr = output, cast(Any, streams[0])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in streams:
            stream.discard_rest()


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
