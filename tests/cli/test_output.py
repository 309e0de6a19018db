"""Tests of output files and of the table printed on the terminal."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from allrelevant._text import display_width
from allrelevant.cli.output import echo, result_table, use_color

from .outcomes import refused_report as refused

Run = Callable[..., Result]
FAST = ["--C", "1", "--cutoff", "0.1", "--task", "classification"]


def feature(
    name: str, relevance: str, lower: float, upper: float, qvalue: float | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "relevance": relevance,
        "lower": lower,
        "upper": upper,
        "exact": True,
        "qvalue": qvalue,
        "pvalue": qvalue,
    }


def table(text: str) -> list[str]:
    """Return the lines of the first printed table, starting with its header."""
    lines = click.unstyle(text).splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("feature "))
    return lines[first : lines.index("", first)]


@pytest.fixture
def summary() -> dict[str, Any]:
    return {
        "table": {"name": "t.csv", "target": "y", "n_rows": 10, "n_features": 3},
        "classes": [{"label": 0, "n_rows": 4}, {"label": 1, "n_rows": 6}],
        "values": None,
        "privileged": [],
        "counts": {"strong": 1, "weak": 1, "unconfirmed": 0, "irrelevant": 1},
        "rule": "fixed",
        "fdr": None,
        "table_pvalue": 0.002,
        "privileged_rule": None,
        "privileged_table_pvalue": None,
        "subproblems": [{"label": None}],
        "relations": None,
        "small_set": None,
        "sufficiency": None,
        "metric": None,
        "settings": {"cutoff": 0.1},
        "n_outer": 0,
        "features": [
            feature("\x1b[31mevil\nname", "irrelevant", 0.0, 0.01),
            feature("年齢" * 40, "weak", 0.0, 1.0),
            feature("plain", "strong", 1.5, 2.0),
        ],
    }


def test_bars_run_from_lower_to_upper(summary: dict[str, Any]) -> None:
    _, *rows = table(result_table(summary, unicode=False, width=100))
    bars = [row.split()[-1] for row in rows]
    assert bars == ["." * 18 + "#" * 6, "#" * 12, "#"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_columns_are_aligned_and_fit_the_width(summary: dict[str, Any], width: int) -> None:
    text = result_table(summary, unicode=True, width=width)
    for line in click.unstyle(text).splitlines():
        assert display_width(line) <= width
    head, *rows = table(text)
    assert len(rows) == 3
    column = display_width(head[: head.index("relevance")])
    for row in rows:
        word = next(w for w in ("strong", "weak", "irrelevant") if w in row)
        assert display_width(row[: row.index(word)]) == column


def test_unconfirmed_features_and_q_values(summary: dict[str, Any]) -> None:
    before = result_table(summary, unicode=False, width=100)
    assert "unconfirmed" not in before
    assert "q-value" not in before
    summary.update(rule="fdr", fdr=0.05, settings={"cutoff": "fdr"})
    summary["features"].append(feature("maybe", "unconfirmed", 0.2, 0.4, qvalue=0.234))
    summary["features"][2].update(qvalue=0.0004)
    summary["features"][1].update(qvalue=0.05)
    summary["counts"]["unconfirmed"] = 1
    text = result_table(summary, unicode=False, width=100)
    head, *rows = table(text)
    assert head.split()[:5] == ["feature", "relevance", "q-value", "lower", "upper"]
    column = head.index("q-value") + len("q-value")
    assert display_width(rows[0].partition("<0.001")[0]) + len("<0.001") == column
    assert [row.split()[2] for row in rows] == ["<0.001", "0.05", "0.23", "-"]
    assert "unconfirmed (1): Every equivalent model uses it" in click.unstyle(text)


def test_outer_bounds_are_marked(summary: dict[str, Any]) -> None:
    assert "<=" not in result_table(summary, unicode=False)
    summary["features"][0]["exact"] = False
    summary["n_outer"] = 1
    text = click.unstyle(result_table(summary, unicode=False, width=100))
    assert "<=0.010" in text
    assert "may not be tight" in text


def test_privileged_features_have_a_separate_table(summary: dict[str, Any]) -> None:
    summary["privileged"] = [feature("later", "weak", 0.0, 40.0)]
    lines = click.unstyle(result_table(summary, unicode=False, width=100)).splitlines()
    first = lines.index("privileged: 0 strong, 1 weak, 0 irrelevant")
    assert lines[first + 3].split() == ["later", "weak", "0.00", "40.00", "#" * 24]
    # The first table has a separate scale.
    assert table("\n".join(lines))[1].split()[-1] == "." * 18 + "#" * 6
    summary.update(privileged_rule="fdr", privileged_table_pvalue=0.6)
    text = click.unstyle(result_table(summary, unicode=False, width=100))
    assert (
        "no evidence that y depends on the privileged features (permutation test, p = 0.6)" in text
    )


def test_numeric_target_in_the_first_line(summary: dict[str, Any]) -> None:
    summary.update(classes=[], values={"min": -1.5, "max": 20000.0, "mean": 3.0})
    first = result_table(summary, unicode=False).splitlines()[0]
    assert first == "t.csv: 10 rows, 3 features, target y: -1.5 to 20,000, mean 3"


def test_names_cannot_control_the_terminal(summary: dict[str, Any]) -> None:
    table = click.unstyle(result_table(summary, unicode=True, width=100))
    assert "\x1b" not in table
    assert "\\x1b[31mevil\\nname" in table


def test_color_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert use_color(Terminal())
    assert not use_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not use_color(Terminal())


def test_unsupported_characters_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", stream)
    echo("Größe")
    stream.seek(0)
    assert stream.read() == "Gr\\xf6\\xdfe\n"


@pytest.mark.parametrize("option", ["-o", "--json"])
class TestOutputs:
    def test_no_such_folder(self, run: Run, option: str) -> None:
        # Outputs are checked first, so it does not matter that the table does not exist.
        refused(run("report", "absent.csv", "-t", "sick", option, "no/x"), "does not exist")

    def test_is_a_folder(self, run: Run, option: str) -> None:
        refused(run("report", "absent.csv", "-t", "sick", option, "."), "folder")

    def test_is_the_table(self, run: Run, option: str) -> None:
        before = Path("table.csv").read_text()
        refused(run("report", "table.csv", "-t", "sick", option, "./table.csv"), "itself")
        assert Path("table.csv").read_text() == before

    def test_not_writable(self, run: Run, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        refused(run("report", "absent.csv", "-t", "sick", option, "x"), "permission")


def test_page_to_stdout(run: Run) -> None:
    refused(run("report", "table.csv", "-t", "sick", "-o", "-"), "--json")


def test_page_and_json_in_one_file(run: Run) -> None:
    refused(run("report", "table.csv", "-t", "sick", "-o", "x", "--json", "x"), "both")


def test_disk_full(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    result = run("report", "table.csv", "-t", "sick", "-o", "report.html", *FAST)
    refused(result, "report.html", "No space left")
