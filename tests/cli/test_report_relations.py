"""Tests of relations and minimum-cost feature sets on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
REPORT = ["report", "table.csv", "--target", "sick", "--C", "1", "--cutoff", "0.5"]
COSTS = "feature,cost\nalpha,1\nbeta,5\ngamma,2\ndelta,1\nepsilon,1\n"


def test_both_sections_in_report_and_json(run: Run) -> None:
    Path("costs.csv").write_text(COSTS)
    result = run(
        *REPORT, "--relations", "--costs", "costs.csv", "-o", "out.html", "--json", "o.json"
    )
    assert result.exit_code == 0, result.stderr
    summary = json.loads(Path("o.json").read_text())
    assert summary["cheapest_models"]["models"][0]["features"] == ["alpha", "gamma"]
    assert summary["cheapest_models"]["models"][0]["cost"] == 3.0
    assert ["beta", "gamma"] in [group["features"] for group in summary["relations"]["groups"]]
    page = Path("out.html").read_text()
    assert "Substitutes and complements" in page
    assert "Minimum-cost feature sets" in page


def test_relations_of_small_tables_are_the_default(run: Run) -> None:
    result = run(*REPORT, "--json", "o.json", "-o", "out.html")
    assert "at least one of:\n  - beta or gamma\n" in result.stdout
    assert ["beta", "gamma"] in [group["features"] for group in groups("o.json")]
    page = Path("out.html").read_text()
    assert "Substitutes and complements" in page
    assert "needs at least one of:" in page


def groups(path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(path).read_text())["relations"]["groups"]
    return found


def test_both_sections_are_optional(run: Run) -> None:
    result = run(*REPORT, "--no-relations", "--json", "o.json")
    summary = json.loads(Path("o.json").read_text())
    assert summary["relations"] is None
    assert summary["cheapest_models"] is None
    assert "at least one of" not in result.stdout
    assert "--relations" in result.stdout


@pytest.mark.parametrize("limit", ["MAX_RELATED_FEATURES", "MAX_CELLS"])
def test_relations_of_large_tables(run: Run, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(f"allrelevant.cli.effort.{limit}", 2)
    found = json.loads(run(*REPORT, "--json").stdout)
    assert (found["relations"], found["small_set"]) == (None, None)
    found = json.loads(run(*REPORT, "--relations", "--small-set", "--json").stdout)
    assert found["relations"] is not None
    assert found["small_set"] is not None


def test_small_set(run: Run) -> None:
    result = run(*REPORT, "--json", "o.json", "-o", "out.html")
    small_set = json.loads(Path("o.json").read_text())["small_set"]
    (only,) = small_set["models"]
    assert len(only["features"]) == only["cost"] == 2
    sentence = (
        "2 features suffice for a linear model that is equivalent to the baseline with all "
        "features (norm and loss within the tolerance): "
        f"{only['features'][0]} and {only['features'][1]}. No smaller set suffices."
    )
    assert f"Small set: {sentence}" in " ".join(result.stdout.split())
    page = " ".join(Path("out.html").read_text().split())
    assert "A small set that suffices" in page
    assert sentence in page
    score = f"{small_set['held_out_score']:.3f} ± {small_set['held_out_score_error']:.3f}"
    assert f"the accuracy is {score}" in page
    result = run(*REPORT, "--no-small-set", "--json", "o.json", "-o", "out.html")
    assert json.loads(Path("o.json").read_text())["small_set"] is None
    assert "Small set" not in result.stdout
    assert "A small set that suffices" not in Path("out.html").read_text()


def test_time_limit_that_is_not_reached_changes_nothing(run: Run) -> None:
    limited = json.loads(run(*REPORT, "--max-seconds", "600", "--json").stdout)
    unlimited = json.loads(run(*REPORT, "--json").stdout)
    assert limited["not_reached"] == []
    for key in ("features", "relations"):
        assert limited[key] == unlimited[key]


def test_steps_that_are_not_reached_are_named(run: Run) -> None:
    document = json.loads(run(*REPORT, "--max-seconds", "1e-9", "--relations", "--json").stdout)
    assert document["not_reached"]
    assert any("Not reached within the time limit" in note for note in document["warnings"])


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("name,cost\nalpha,1\n", "no column 'feature'"),
        ("feature,cost\nalpha,cheap\n", "cost of 'alpha'"),
        (COSTS + "alpha,2\n", "more than one cost for 'alpha'"),
        ("feature,cost\nalpha,1\n", "no cost for feature 'beta'"),
        (COSTS + "zeta,2\n", "no feature 'zeta'"),
        (COSTS.replace("beta,5", "beta,-5"), "nonnegative"),
    ],
)
def test_invalid_costs(run: Run, text: str, fragment: str) -> None:
    Path("costs.csv").write_text(text)
    result = run(*REPORT, "--costs", "costs.csv")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert fragment in line
    assert Path("report.html").read_text() == "the earlier report"
