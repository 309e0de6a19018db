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
    for fragment in ("Error: ", *fragments):
        assert fragment in lines[0]
    assert not Path("result.json").exists()
