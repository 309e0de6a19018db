"""A small table, in a working folder of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Five columns of numbers and a target of words; tests write their files beside each other."""
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).normal(size=(80, 5))
    table = pd.DataFrame(values, columns=["alpha", "beta", "gamma", "delta", "epsilon"])
    return table.assign(sick=["yes", "no"] * 40)
