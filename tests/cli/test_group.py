"""Tests of the ``allrelevant`` command: exit codes, streams, signals, imports, help, errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from allrelevant import ClassificationBounds
from allrelevant._version import __version__
from allrelevant.cli.group import cli

from .outcomes import refused_report as refused

Run = Callable[..., Result]

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
    assert done.stderr == "Error: File 'absent.csv' does not exist. Check the path.\n"
    assert done.stdout == ""


@pytest.mark.skipif(os.name == "nt", reason="signals work differently on Windows")
def test_interrupt_of_a_process(folder: Path, frame: pd.DataFrame) -> None:
    frame.assign(flat=1.0).to_csv("table.csv", index=False)
    slow = ["--n-probes", "10000", "-o", "report.html", "--task", "classification"]
    process = subprocess.Popen(
        [*COMMAND, "report", "table.csv", "-t", "sick", "--C", "1", *slow],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "constant" in process.stderr.readline()  # the fit is running now
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr.split() == ["Interrupted."]
    assert stdout == ""
    assert (folder / "report.html").read_text() == "the earlier report"


@pytest.mark.parametrize("command", ["", "report ", "demo ", "select ", "explain "])
def test_help_imports_nothing_heavy(command: str) -> None:
    code = (
        f"import sys; sys.argv = 'allrelevant {command}--help'.split()\n"
        "from allrelevant.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'numpy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "arguments", [["report"], ["report", "table.csv"], ["repor"], ["report", "--wrong"]]
)
def test_wrong_usage(run: Run, arguments: list[str]) -> None:
    refused(run(*arguments), "--help")


def test_a_bug_shows_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **named: object) -> None:
        raise ValueError("shapes do not match")

    monkeypatch.setattr(ClassificationBounds, "_fit_in_job", broken)
    result = run("report", "table.csv", "-t", "sick")
    assert isinstance(result.exception, ValueError)
    assert "Error:" not in result.stderr


def test_interrupt(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ClassificationBounds, "_fit_in_job", interrupted)
    result = run("report", "table.csv", "-t", "sick", "-o", "report.html", *FAST)
    assert result.stderr.split() == ["Interrupted."]
    assert result.exit_code == 130
    assert Path("report.html").read_text() == "the earlier report"


def test_help_explains_classes_and_commands() -> None:
    overall = CliRunner().invoke(cli, ["--help"])
    assert overall.exit_code == 0
    for word in ("strong", "weak", "irrelevant", "Examples:", "report", "demo"):
        assert word in overall.stdout
    assert CliRunner().invoke(cli, []).stdout == overall.stdout
    assert "--target" in CliRunner().invoke(cli, ["report", "--help"]).stdout


def test_version() -> None:
    assert CliRunner().invoke(cli, ["--version"]).stdout == f"allrelevant {__version__}\n"
