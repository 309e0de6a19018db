"""Fixture with a small table and a temporary working folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Return a table with five numeric columns and a text target; change to a temporary folder."""
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).normal(size=(80, 5))
    table = pd.DataFrame(values, columns=["alpha", "beta", "gamma", "delta", "epsilon"])
    return table.assign(sick=["yes", "no"] * 40)
