"""Tests of output that cannot be written, and of signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "allrelevant.cli"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX streams and signals")


def shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose streams are redirected by the shell."""
    script = f'"$@" {redirection}'
    return subprocess.run(
        ["/bin/bash", "-c", script, "bash", *COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="requires /dev/full")
@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_full_output(argument: str) -> None:
    done = shell(">/dev/full", argument)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: Cannot write to standard output: No space left")
    assert done.stderr.count("\n") == 1


def test_closed_output() -> None:
    done = shell(">&-", "--help")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: Cannot write to standard output: it is closed.")
    assert done.stderr.count("\n") == 1


def test_broken_pipe_is_silent() -> None:
    done = shell("| true; exit ${PIPESTATUS[0]}", "--help")
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_messages_that_cannot_be_written(redirection: str) -> None:
    assert shell(redirection, "report", "absent.csv", "-t", "y").returncode == 2


def test_control_characters_and_long_words_of_arguments() -> None:
    done = shell("", "report", "\x1b[31m" + "x" * 50_000, "-t", "y")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 300


@pytest.mark.parametrize("module", ["click", "numpy", "scipy.linalg", "sklearn.svm"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_while_modules_are_imported(
    folder: Path, module: str, number: int, code: int
) -> None:
    script = (
        "import os, sys\n"
        "class Sender:\n"
        "    def find_spec(self, name, *arguments):\n"
        f"        if name == '{module}': os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Sender())\n"
        "sys.argv = 'allrelevant select table.csv -t sick'.split()\n"
        "from allrelevant.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == code
    assert done.stderr.split()[-1:] == ["Interrupted." if code == 130 else "Terminated."]
    assert "Traceback" not in done.stderr


def test_signal_that_compiled_code_swallows() -> None:
    code = (
        "import time\n"
        "from allrelevant._interrupts import signals_handled\n"
        "with signals_handled():\n"
        "    while True:\n"
        "        try: print('ready', flush=True) or time.sleep(9)\n"
        "        except BaseException: pass\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (130, "Interrupted.\n")


def test_joblib_does_not_warn_on_read_only_computers() -> None:
    code = (
        "import sys, warnings\n"
        "sys.argv = ['allrelevant', '--version']\n"
        "from allrelevant.cli import main\n"
        "try: main()\n"
        "finally: warnings.warn('Read-only file system.  joblib will operate in serial mode')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
