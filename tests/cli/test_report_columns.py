"""Tests of column roles and file formats in the commands, and of the table of results."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from allrelevant.cli.group import cli

from .outcomes import refused_report as refused
from .outcomes import result

Run = Callable[..., Result]
FAST = ["--C", "1", "--cutoff", "0.1", "--no-relations", "--no-small-set", "--json", "result.json"]


def test_rows_without_a_target_are_counted(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(sick=frame["sick"].where(frame.index > 2)).to_csv("t.csv", index=False)
    done = run("report", "t.csv", "-t", "sick", *FAST)
    assert done.exit_code == 0, done.output
    assert "Note: 3 rows of 80 left out, without a value of the target 'sick'." in done.stderr
    assert result()["table"]["n_rows"] == 77
    assert any("3 rows of 80" in note for note in result()["warnings"])


def test_explained_rows_are_rows_of_the_file(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(sick=frame["sick"].where(frame.index != 1)).to_csv("t.csv", index=False)
    done = run("explain", "t.csv", "-t", "sick", "--row", "5", "--json", "result.json")
    assert done.exit_code == 0, done.output
    values = {f["name"]: f["value"] for f in result()["rows"][0]["features"]}
    assert result()["rows"][0]["row"] == 5
    assert values == pytest.approx(frame.drop(columns="sick").iloc[4].to_dict())
    done = run("explain", "t.csv", "-t", "sick", "--row", "2", "-q")
    assert done.exit_code == 2
    assert "Error: Row 2 has no value of the target" in done.stderr


def test_weights(run: Run, frame: pd.DataFrame) -> None:
    """A weight of 0 removes a row."""
    weighted = frame.assign(w=np.where(np.arange(80) < 60, 1.0, 0.0))
    weighted.to_csv("t.csv", index=False)
    frame.iloc[:60].to_csv("part.csv", index=False)
    bounds = []
    for arguments in (["t.csv", "--weights", "w"], ["part.csv"]):
        done = run("report", *arguments, "-t", "sick", *FAST)
        assert done.exit_code == 0, done.output
        bounds.append([(f["name"], f["lower"], f["upper"]) for f in result()["features"]])
        Path("result.json").unlink()
    for first, second in zip(*bounds, strict=True):
        assert first[0] == second[0]
        assert first[1:] == pytest.approx(second[1:], abs=1e-6)


def test_weights_of_a_metric(run: Run, frame: pd.DataFrame) -> None:
    """A weight of 0 removes a row."""
    weighted = frame.assign(w=np.where(np.arange(80) < 60, 1.0, 0.0))
    weighted.to_csv("t.csv", index=False)
    frame.iloc[:60].to_csv("part.csv", index=False)
    bounds = []
    for arguments in (["t.csv", "--weights", "w"], ["part.csv"]):
        done = run(
            "report", *arguments, "-t", "sick", "--method", "metric", "--json", "result.json"
        )
        assert done.exit_code == 0, done.output
        bounds.append([f["upper"] for f in result()["features"]])
        Path("result.json").unlink()
    assert bounds[0] == pytest.approx(bounds[1], rel=0.05)


def test_order_of_words(run: Run, frame: pd.DataFrame) -> None:
    size = pd.cut(frame["alpha"], 3, labels=["small", "middle", "large"]).astype(str)
    frame.assign(sick=size).to_csv("t.csv", index=False)
    command = ["report", "t.csv", "-t", "sick", "--task", "ordinal", *FAST]
    refused(run(*command), "words", "--order")
    refused(run(*command, "--order", "small,large"), "does not contain 'middle'")
    refused(run(*command, "--order", "small"), "--order", "distinct words")
    done = run(*command, "--order", "small,middle,large")
    assert done.exit_code == 0, done.output
    assert [c["label"] for c in result()["classes"]] == ["small", "middle", "large"]
    (alpha,) = (f for f in result()["features"] if f["name"] == "alpha")
    assert alpha["signed_min"] > 0
    Path("result.json").unlink()
    refused(
        run(*command[:5], "classification", "--order", "a,b"), "--order requires --task ordinal"
    )


def test_order_of_a_categorical_is_used(run: Run, frame: pd.DataFrame) -> None:
    size = pd.cut(frame["alpha"], 3, labels=["small", "middle", "large"])
    frame.assign(sick=size).to_parquet("t.parquet")
    done = run("report", "t.parquet", "-t", "sick", "--task", "ordinal", *FAST)
    assert done.exit_code == 0, done.output
    assert [c["label"] for c in result()["classes"]] == ["small", "middle", "large"]


def test_standard_input(folder: Path, frame: pd.DataFrame) -> None:
    text = frame.to_csv(index=False)
    done = CliRunner().invoke(cli, ["report", "-", "-t", "sick", *FAST], input=text)
    assert done.exit_code == 0, done.output
    assert result()["table"]["name"] == "standard input"


def test_decimal_commas_are_reported(run: Run, frame: pd.DataFrame) -> None:
    frame.to_csv("t.csv", index=False, sep=";", decimal=",")
    done = run("report", "t.csv", "-t", "sick", *FAST)
    assert done.exit_code == 0, done.output
    (note,) = (line for line in done.stderr.splitlines() if "decimal commas" in line)
    assert note.startswith("Note: The columns of 't.csv' are separated by semicolons.")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "parquet"])
def test_table_of_results(run: Run, suffix: str) -> None:
    done = run("report", "table.csv", "-t", "sick", *FAST, "--table", f"out.{suffix}")
    assert done.exit_code == 0, done.output
    from allrelevant.tables.reading import read_table

    table = read_table(f"out.{suffix}")
    features = result()["features"]
    assert table["feature"].words() == [f["name"] for f in features]
    assert table["relevance"].words() == [f["relevance"] for f in features]
    np.testing.assert_allclose(table["upper"].values, [f["upper"] for f in features], rtol=1e-12)
    assert f"Table written to out.{suffix}" in done.stdout


def test_table_of_results_of_other_commands(run: Run) -> None:
    done = run("select", "table.csv", "-t", "sick", "--n-features", "2", "--table", "out.csv")
    assert done.exit_code == 0, done.output
    assert pd.read_csv("out.csv")["selected"].sum() == 2
    rows = ["--row", "3", "--row", "4"]
    done = run("explain", "table.csv", "-t", "sick", *rows, "--table", "out.csv")
    assert done.exit_code == 0, done.output
    explained = pd.read_csv("out.csv")
    assert explained["row"].tolist() == [3] * 5 + [4] * 5
    assert {"feature", "value", "percent", "usual_0", "usual_1"} <= set(explained.columns)


def test_invalid_table_of_results(run: Run) -> None:
    command = ["report", "table.csv", "-t", "sick", "--table"]
    refused(run(*command, "out.txt"), "'out.txt'", ".csv, .tsv, .xlsx or .parquet")
    refused(run(*command, "table.csv"), "is the table itself")
    refused(run(*command, "report.html"), "'report.html'")


WITHOUT_PANDAS = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "pyarrow"):
            raise ImportError(name)

sys.meta_path.insert(0, Missing())
from allrelevant.cli.group import cli
cli.main({arguments!r})
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "table.csv", "-t", "sick", "--json", "result.json", "--table", "out.csv"],
        ["select", "table.csv", "-t", "sick", "--json", "result.json", "--n-features", "2"],
        ["explain", "table.csv", "-t", "sick", "--json", "result.json", "--row", "3"],
        ["demo", "--C", "1", "--cutoff", "0.1", "--json", "result.json", "--no-small-set"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_without_pandas(folder: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS.format(arguments=[*arguments, "-q"])],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "result.json").read_text())["table"]
