"""Relations and costs from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
ASK = ["report", "table.csv", "--target", "sick", "--C", "1", "--cutoff", "0.5"]
COSTS = "feature,cost\nalpha,1\nbeta,5\ngamma,2\ndelta,1\nepsilon,1\n"


def test_both_sections_in_page_and_json(run: Run) -> None:
    Path("costs.csv").write_text(COSTS)
    result = run(*ASK, "--relations", "--costs", "costs.csv", "-o", "out.html", "--json", "o.json")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(Path("o.json").read_text())
    assert summary["design"]["models"][0]["features"] == ["alpha", "gamma"]
    assert summary["design"]["models"][0]["cost"] == 3.0
    assert ["beta", "gamma"] in [group["features"] for group in summary["relations"]["groups"]]
    page = Path("out.html").read_text()
    assert "What replaces what" in page
    assert "The cheapest equally good models" in page


def test_neither_unless_asked_for(run: Run) -> None:
    result = run(*ASK, "--json")
    summary = json.loads(result.stdout)
    assert summary["relations"] is None
    assert summary["design"] is None


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("name,cost\nalpha,1\n", "no column 'feature'"),
        ("feature,cost\nalpha,cheap\n", "cost of 'alpha'"),
        (COSTS + "alpha,2\n", "two costs of 'alpha'"),
        ("feature,cost\nalpha,1\n", "no cost for feature 'beta'"),
        (COSTS + "zeta,2\n", "no feature 'zeta'"),
        (COSTS.replace("beta,5", "beta,-5"), "non-negative"),
    ],
)
def test_bad_costs_are_refused_in_one_line(run: Run, text: str, fragment: str) -> None:
    Path("costs.csv").write_text(text)
    result = run(*ASK, "--costs", "costs.csv")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert fragment in line
    assert Path("report.html").read_text() == "the earlier report"
