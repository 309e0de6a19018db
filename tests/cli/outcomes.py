"""What tests of the commands ask of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from click.testing import Result


def result() -> dict:
    """The JSON that a command has written."""
    return json.loads(Path("result.json").read_text())


def scaled(frame: pd.DataFrame) -> pd.DataFrame:
    """The features as commands hand them to models."""
    X = frame.drop(columns="sick")
    return (X - X.mean()) / X.std(ddof=0)


def refused(done: Result, *fragments: str) -> None:
    """One line that says why, and nothing else, no result either."""
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
    """The same, with the earlier report as it was and no temporary file left."""
    refused(done, *fragments)
    assert Path("report.html").read_text() == "the earlier report"
    assert sorted(path.name for path in Path().glob(".allrelevant*")) == []
