"""Commands in forked processes, which need not import the package anew.

A forked process starts in milliseconds, so that thousands of commands can be run. Its standard
streams are files, and it is killed if it takes too long.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Parts of the output that no user should see: tracebacks, and warnings of libraries.
FORBIDDEN = (
    "Traceback",
    "Warning: invalid value",
    "RuntimeWarning",
    "UserWarning",
    "ParserWarning",
)

MAX_MESSAGE = 3_000

POLL_SECONDS = 0.005


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a process; the code is None if the process was killed."""

    code: int | None
    stdout: str
    stderr: str

    def problem(self) -> str | None:
        """Return what is wrong with the outcome of a command, or None.

        A command either succeeds, or it ends with a one-line error and exit code 2.
        """
        if self.code is None:
            return "did not end in time"
        for text in FORBIDDEN:
            if text in self.stderr or text in self.stdout:
                return f"printed {text!r}: {self.stderr[-600:]}"
        if self.code == 0:
            return None
        return self._problem_of_error() if self.code == 2 else self._describe("unknown exit code")

    def _problem_of_error(self) -> str | None:
        last = (self.stderr.splitlines() or [""])[-1]
        if not last.startswith("Error: "):
            return self._describe("no error in the last line")
        if len(last) > MAX_MESSAGE:
            return f"an error of {len(last)} characters: {last[:200]!r}"
        return None if last.isprintable() else f"control characters in {last!r}"

    def _describe(self, problem: str) -> str:
        return f"{problem} (exit code {self.code}): {self.stderr[-600:]!r}"


class Forked:
    """Function that runs in a forked process, with a working folder and files as its output.

    ``prepare`` is called in the process first. It may replace or close the file descriptors of the
    standard streams.
    """

    def __init__(
        self,
        run: Callable[[], object],
        folder: Path,
        prepare: Callable[[], object] = lambda: None,
    ) -> None:
        # The files are closed with the outcome.
        self._streams = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115
        self._process = os.fork()
        if self._process == 0:
            out, err = self._streams
            _run_child(run, folder, out.fileno(), err.fileno(), prepare)

    def kill(self) -> None:
        """Kill the process and its children."""
        with suppress(ProcessLookupError):  # it has not yet become the leader of a group
            os.killpg(self._process, signal.SIGKILL)

    def outcome(self, timeout: float) -> Outcome:
        """Wait until the process ends, or kill it after a time, and return its outcome."""
        code, texts = self._wait(timeout), []
        for stream in self._streams:
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
            stream.close()
        return Outcome(code, *texts)

    def _wait(self, timeout: float) -> int | None:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            done, status = os.waitpid(self._process, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(POLL_SECONDS)
        self.kill()
        os.waitpid(self._process, 0)
        return None


def start_command(
    arguments: Sequence[str], folder: Path, prepare: Callable[[], object] = lambda: None
) -> Forked:
    """Start an `allrelevant` command in a forked process."""
    from allrelevant.cli import main

    def run() -> None:
        sys.argv = ["allrelevant", *arguments]
        main()

    return Forked(run, folder, prepare)


def run_command(arguments: Sequence[str], *, timeout: float, folder: Path) -> Outcome:
    """Run an `allrelevant` command in a forked process."""
    return start_command(arguments, folder).outcome(timeout)


def _run_child(
    run: Callable[[], object], folder: Path, out: int, err: int, prepare: Callable[[], object]
) -> None:
    os.setpgid(0, 0)
    os.chdir(folder)
    null = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((null, out, err)):
        os.dup2(descriptor, number)
    faulthandler.enable(os.dup(2))
    code = 0
    try:
        prepare()
        sys.stdin, sys.stdout, sys.stderr = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
        run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):  # as at the end of a Python process
                stream.flush()
    os._exit(code)


def _stream(descriptor: int, mode: str) -> Any:
    """Return a standard stream as Python does when a process starts; None if it is closed."""
    try:
        os.fstat(descriptor)
    except OSError:
        return None
    return open(descriptor, mode)


def report_failures(name: str, n_tried: int, failures: dict[int, str]) -> str:
    """Print how many cases passed, and return a message that lists the failures by seed."""
    print(f"\n{name}: {n_tried} tried, {n_tried - len(failures)} passed, {len(failures)} failed")
    return "\n".join(f"seed {seed}: {problem}" for seed, problem in failures.items())
