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
from dataclasses import dataclass
from pathlib import Path

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


def run_forked(run: Callable[[], object], *, timeout: float, folder: Path) -> Outcome:
    """Run a function in a forked process with a working folder, and return its outcome."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = os.fork()
        if process == 0:
            _run_child(run, folder, out.fileno(), err.fileno())
        code = _wait(process, timeout)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return Outcome(code, *texts)


def run_command(arguments: Sequence[str], *, timeout: float, folder: Path) -> Outcome:
    """Run an `allrelevant` command in a forked process."""
    from allrelevant.cli.group import cli

    return run_forked(lambda: cli.main(list(arguments)), timeout=timeout, folder=folder)


def _run_child(run: Callable[[], object], folder: Path, out: int, err: int) -> None:
    os.setpgid(0, 0)
    os.chdir(folder)
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115 - open until the process ends
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    faulthandler.enable(sys.stderr)
    code = 0
    try:
        run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _wait(process: int, timeout: float) -> int | None:
    """Return the exit code of a child process; kill it and return None after a time."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(POLL_SECONDS)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def report_failures(name: str, n_tried: int, failures: dict[int, str]) -> str:
    """Print how many cases passed, and return a message that lists the failures by seed."""
    print(f"\n{name}: {n_tried} tried, {n_tried - len(failures)} passed, {len(failures)} failed")
    return "\n".join(f"seed {seed}: {problem}" for seed, problem in failures.items())
