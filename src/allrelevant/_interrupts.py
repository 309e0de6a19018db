"""Reliable Ctrl-C and SIGTERM for a command.

A signal raises an exception in the main thread, as usual. Compiled code may delay this exception or
lose it, for example during an import. Therefore a thread ends the process if it still runs after a
grace period.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

GRACE_SECONDS = 1.0

INTERRUPTED = 130
TERMINATED = 143

_EXIT_CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}
_MESSAGES = {INTERRUPTED: "Interrupted.", TERMINATED: "Terminated."}

# Functions called before a process ends by force.
_cleanups: list[Callable[[], object]] = []

_received: list[int] = []
_announced = threading.Event()


def at_forced_exit(function: Callable[[], object]) -> None:
    """Register a function that is called before the process ends by force."""
    _cleanups.append(function)


def exit_code() -> int | None:
    """Return the exit code for the signal that was received, or None."""
    return _received[0] if _received else None


def announce() -> None:
    """Print once that the command was interrupted."""
    text = _take_message()
    with suppress(OSError):  # standard error is closed
        print(text, end="", file=sys.stderr, flush=True)


def _take_message() -> str:
    """Return the message on the interrupt the first time, and then an empty text."""
    if _announced.is_set():
        return ""
    _announced.set()
    return f"{_MESSAGES[exit_code() or INTERRUPTED]}\n"


@contextmanager
def signals_handled() -> Iterator[None]:
    """Raise KeyboardInterrupt once for SIGINT or SIGTERM, and end the process if this fails."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for number in _EXIT_CODES:
        if signal.getsignal(number) is not signal.SIG_IGN:  # set by nohup or a shell script
            signal.signal(number, _raise_once)
    if os.name == "posix":
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        threading.Thread(target=_watch, args=[reader], daemon=True).start()
    yield


def _raise_once(number: int, frame: FrameType | None) -> None:
    if not _received:
        _received.append(_EXIT_CODES[signal.Signals(number)])
        sys.unraisablehook = _ignore_interrupts
        raise KeyboardInterrupt


def _ignore_interrupts(unraisable: Any) -> None:
    """Do not print an interrupt raised where it cannot be handled, such as in a destructor."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _watch(reader: int) -> None:
    """Wait for a signal, and end the process if it still runs after the grace period."""
    while (number := os.read(reader, 1)[0]) not in _EXIT_CODES:
        pass
    time.sleep(GRACE_SECONDS)
    if not _received:  # the main thread is in compiled code
        _received.append(_EXIT_CODES[signal.Signals(number)])
    for cleanup in _cleanups:
        with suppress(Exception):  # nobody could handle an error any longer
            cleanup()
    with suppress(OSError):
        os.write(2, _take_message().encode())
    os._exit(_received[0])
