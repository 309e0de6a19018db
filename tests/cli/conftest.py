"""Fixtures for command tests: a small table on disk, and a function that runs a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from allrelevant.cli.group import cli
from allrelevant.datasets import make_linear_classification


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    """Return a table with one strong, two weak and two irrelevant columns and a text target."""
    data = make_linear_classification(
        n_samples=80, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    )
    table = pd.DataFrame(data.X, columns=["alpha", "beta", "gamma", "delta", "epsilon"])
    return table.assign(sick=["yes" if label else "no" for label in data.y == data.y.max()])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frame: pd.DataFrame) -> Path:
    """Return a working folder with the table and an existing report."""
    monkeypatch.chdir(tmp_path)
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "report.html").write_text("the earlier report")
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Callable[..., Result]:
    """Return a function that runs a command in the working folder."""

    def run_command(*arguments: str) -> Result:
        return CliRunner().invoke(cli, list(arguments))

    return run_command
