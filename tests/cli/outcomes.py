"""Helper functions that check the outcome of a command."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from click.testing import Result


def result() -> dict:
    """Return the parsed JSON result that a command has written."""
    return json.loads(Path("result.json").read_text())


def scaled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the standardized features, as the commands pass them to models."""
    X = frame.drop(columns="sick")
    return (X - X.mean()) / X.std(ddof=0)


def refused(done: Result, *fragments: str) -> None:
    """Check that a run failed with a one-line error and wrote no result."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert done.exit_code == 2
    assert done.stdout == ""
    assert lines[0].startswith("Error: ")
    for fragment in fragments:
        assert fragment in lines[0]
    assert isinstance(done.exception, SystemExit)
    assert not Path("result.json").exists()


def refused_report(done: Result, *fragments: str) -> None:
    """Check that a run failed, kept the existing report and left no temporary file."""
    refused(done, *fragments)
    assert Path("report.html").read_text() == "the earlier report"
    assert sorted(path.name for path in Path().glob(".allrelevant*")) == []


def table_rows(text: str) -> dict[str, list[str]]:
    """Return the cells of the first printed table; keys are feature names without spaces."""
    lines = text.splitlines()
    (first, *_) = (n for n, line in enumerate(lines) if line.startswith("feature "))
    rows = lines[first + 1 : lines.index("", first)]
    return {cells[0]: cells[1:] for cells in map(str.split, rows)}
