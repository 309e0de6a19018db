"""Tests of ``allrelevant report --method metric`` and of options it does not support."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result

from allrelevant import MetricBounds
from allrelevant.datasets import make_xor

Run = Callable[..., Result]
METRIC = ["report", "t.csv", "-t", "y", "--method", "metric"]
FAST = ["--prototypes", "2", "--effective-dimension", "3"]


@pytest.fixture(autouse=True)
def table(run: Run) -> None:
    data = make_xor(n_samples=60, random_state=0)
    names = ["copy 1", "copy 2", "copy 3", "needed", "<noise>", "noise"]
    pd.DataFrame(data.X, columns=names).assign(y=data.y).to_csv("t.csv", index=False)


def test_page_and_table(run: Run) -> None:
    result = run(*METRIC, *FAST)
    assert result.exit_code == 0, result.output
    assert "Of 6 features, 1 is strong, 3 are weak and 2 are irrelevant." in result.stdout
    assert "over all equivalent mappings" in result.stdout
    page = Path("report.html").read_text()
    assert "equivalent models" not in page
    assert "&lt;noise&gt;" in page
    assert "<noise>" not in page


def test_every_option_reaches_the_estimator(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    fit = MetricBounds.fit

    def recording(self: MetricBounds, *arguments: Any) -> MetricBounds:
        seen.update(self.get_params())
        return fit(self, *arguments)

    monkeypatch.setattr(MetricBounds, "fit", recording)
    options = ["--slack=0.02", "--cutoff=0.1", "--rank=3", "--no-standardize", "--seed=7"]
    assert run(*METRIC, *FAST, *options).exit_code == 0
    expected = {
        "slack": 0.02,
        "cutoff": 0.1,
        "standardize": False,
        "random_state": 7,
        "effective_dimension": 3,
        "learner__rank": 3,
        "learner__prototypes_per_class": 2,
        "learner__random_state": 7,
    }
    assert {name: seen[name] for name in expected} == expected


def test_lmnn(run: Run) -> None:
    result = run(*METRIC, "--learner", "lmnn", "--effective-dimension", "3", "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["metric"]["learner"] == "LMNN"
    assert summary["metric"]["effective_dimension"] == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--C", "1"], "--C cannot be combined with --method metric."),
        (["--path", "C"], "--path cannot be combined with --method metric."),
        (["--privileged", "noise"], "--privileged cannot be combined with --method metric."),
        (["--relations"], "--relations cannot be combined with --method metric."),
        (["--fdr", "0.1"], "--fdr cannot be combined with --method metric."),
        (["--cutoff", "fdr"], "--cutoff fdr cannot be combined with --method metric."),
        (
            ["--cutoff", "probes"],
            "--cutoff probes cannot be combined with --method metric. Pass a number.",
        ),
        (["--task", "regression"], "requires --task classification (got regression)."),
        (["--effective-dimension", "0"], "is not a number of dimensions"),
        (["--effective-dimension", "9"], "exceeds the rank of the data"),
        (["--rank", "9"], "exceeds the number of features (6)"),
        (
            ["--method", "linear", "--slack", "0.1"],
            "--slack requires --method metric. Add this option, or remove --slack.",
        ),
    ],
)
def test_unsupported_options(run: Run, options: list[str], words: str) -> None:
    result = run(*METRIC, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert Path("report.html").read_text() == "the earlier report"
