"""The command as a process of its own: exit codes, streams, signals, start-up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

FAST = ["--C", "1", "--cutoff", "0.1", "--task", "classification"]
COMMAND = [sys.executable, "-m", "allrelevant.cli"]


def test_success(folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "report", "table.csv", "-t", "sick", *FAST, "--json"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(done.stdout)["counts"]["strong"] == 1
    assert done.stderr == ""


def test_bad_input(folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "report", "absent.csv", "-t", "sick"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "Error: There is no file 'absent.csv'.\n"
    assert done.stdout == ""


@pytest.mark.skipif(os.name == "nt", reason="signals work otherwise there")
def test_interrupt(folder: Path, frame: pd.DataFrame) -> None:
    frame.assign(flat=1.0).to_csv("table.csv", index=False)
    slow = ["--n-probes", "1000000", "-o", "report.html", "--task", "classification"]
    process = subprocess.Popen(
        [*COMMAND, "report", "table.csv", "-t", "sick", "--C", "1", *slow],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "constant" in process.stderr.readline()  # by now it is at work
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr.split() == ["Interrupted."]
    assert stdout == ""
    assert (folder / "report.html").read_text() == "the earlier report"


def test_without_click(folder: Path) -> None:
    code = "import sys; sys.modules['click'] = None; from allrelevant.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert done.stderr == "Error: The command needs click: pip install 'allrelevant[cli]'.\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['allrelevant', 'report', '--help']\n"
        "from allrelevant.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'numpy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"
