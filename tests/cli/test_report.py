"""Tests of ``allrelevant report``: output, options, kinds of targets and notes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import allrelevant
from allrelevant import ClassificationBounds, RelevanceWarning
from allrelevant._params import LINEAR_TASKS, SURVIVAL, TASKS

from .outcomes import table_rows

Run = Callable[..., Result]
FAST = ["--C", "1", "--cutoff", "0.1", "--task", "classification"]


def succeeded(result: Result) -> Result:
    assert result.exit_code == 0, result.stderr
    return result


def test_writes_the_page_and_prints_the_table(run: Run, frame: pd.DataFrame) -> None:
    result = succeeded(run("report", "table.csv", "-t", "sick", "-o", "new.html", *FAST))
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == "table.csv: 80 rows, 5 features, target sick: no (37), yes (43)"
    assert lines[-1] == "Report written to new.html"
    assert set(table_rows(result.stdout)) == set(frame.columns[:-1])
    assert "<title>Which features matter for sick" in Path("new.html").read_text()
    assert Path("report.html").read_text() == "the earlier report"


def test_replaces_the_earlier_report_by_default(run: Run) -> None:
    succeeded(run("report", "table.csv", "-t", "sick", *FAST))
    assert Path("report.html").read_text().startswith("<!DOCTYPE html>")


def test_table_agrees_with_the_estimator(run: Run, frame: pd.DataFrame) -> None:
    result = succeeded(run("report", "table.csv", "-t", "sick", *FAST))
    est = ClassificationBounds(C=1.0, cutoff=0.1, random_state=0)
    expected = est.fit(frame.drop(columns="sick"), frame["sick"].to_numpy(dtype=object)).to_frame()
    printed = [(name, *cells[:3]) for name, cells in table_rows(result.stdout).items()]
    assert len(printed) == 5
    for name, relevance, lower, upper in printed:
        row = expected.loc[name]
        assert relevance == row["relevance"]
        assert float(lower) == pytest.approx(row["lower"], abs=6e-4)
        assert float(upper) == pytest.approx(row["upper"], abs=6e-4)
    rank = ["strong", "weak", "irrelevant"].index
    order = [(rank(relevance), -float(upper)) for _, relevance, _, upper in printed]
    assert order == sorted(order)


@pytest.mark.parametrize("arguments", [["--json"], ["--json", "-"], ["-q", "--json"]])
def test_json_alone_on_stdout(run: Run, arguments: list[str]) -> None:
    result = succeeded(run("report", "table.csv", "-t", "sick", *FAST, *arguments))
    summary = json.loads(result.stdout)
    assert summary["table"] == {
        "name": "table.csv",
        "target": "sick",
        "n_rows": 80,
        "n_features": 5,
    }
    assert summary["command"].startswith("allrelevant report table.csv -t sick --C 1")
    assert result.stderr == ""
    assert Path("report.html").read_text() == "the earlier report"


def test_json_on_stdout_and_report_in_a_file(run: Run) -> None:
    result = succeeded(run("report", "table.csv", "-t", "sick", *FAST, "--json", "-o", "a.html"))
    json.loads(result.stdout)
    assert result.stderr == "Report written to a.html\n"
    assert Path("a.html").exists()


def test_json_in_a_file(run: Run) -> None:
    result = succeeded(run("report", "table.csv", "-t", "sick", *FAST, "--json", "a.json"))
    assert result.stdout.endswith("JSON written to a.json\n")
    assert json.loads(Path("a.json").read_text())["counts"]["strong"] == 1


def test_path_is_in_the_report_and_in_the_json(run: Run) -> None:
    run("report", "table.csv", "--target", "sick", "--cutoff", "0.1", "--C", "1",
        "--path", "norm_slack", "-o", "path.html", "--json", "path.json")  # fmt: skip
    assert "Dependence on norm_slack" in Path("path.html").read_text()
    path = json.loads(Path("path.json").read_text())["path"]
    assert [len(path["values"]), len(path["features"])] == [20, 5]


def test_quiet(run: Run) -> None:
    result = succeeded(run("report", "table.csv", "-t", "sick", *FAST, "-q", "-o", "a.html"))
    assert result.output == ""
    assert Path("a.html").exists()


def test_every_option_reaches_the_estimator(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[str, Any, str]] = [
        ("C", 2.5, "--C=2.5"),
        ("Cs", [0.1, 2.0], "--Cs=0.1,2"),
        ("cv", 3, "--cv=3"),
        ("scoring", "roc_auc", "--scoring=roc_auc"),
        ("norm_slack", 0.2, "--norm-slack=0.2"),
        ("loss_slack", 0.3, "--loss-slack=0.3"),
        ("loss_tol", 1e-5, "--loss-tol=1e-5"),
        ("formulation", "joint", "--formulation=joint"),
        ("class_weight", "balanced", "--class-weight=balanced"),
        ("standardize", False, "--no-standardize"),
        ("curves", 3, "--curves=3"),
        ("cutoff", 0.05, "--cutoff=0.05"),
        ("fdr", 0.2, "--fdr=0.2"),
        ("n_probes", 20, "--n-probes=20"),
        ("fpr", 0.01, "--fpr=0.01"),
        ("tol", 1e-3, "--tol=1e-3"),
        ("screen", True, "--screen=yes"),
        ("max_seconds", 90.0, "--max-seconds=90"),
        ("random_state", 7, "--seed=7"),
        ("n_jobs", 2, "--jobs=2"),
    ]
    parameters = set(inspect.signature(ClassificationBounds).parameters)
    # The command converts the columns of --categorical itself.
    assert {name for name, _, _ in given} == parameters - {"verbose", "categorical", "terms"}
    seen: dict[str, Any] = {}
    fit = ClassificationBounds._fit_in_job

    def recording(
        self: ClassificationBounds, *arguments: Any, **named: Any
    ) -> ClassificationBounds:
        seen.update(self.get_params())
        return fit(self, *arguments, **named)

    monkeypatch.setattr(ClassificationBounds, "_fit_in_job", recording)
    succeeded(run("report", "table.csv", "-t", "sick", *(option for _, _, option in given)))
    others = {"verbose": 0, "categorical": None, "terms": None}
    assert seen == {**{name: value for name, value, _ in given}, **others}


@pytest.mark.parametrize("task", LINEAR_TASKS)
def test_defaults_are_those_of_the_estimator(
    run: Run, monkeypatch: pytest.MonkeyPatch, frame: pd.DataFrame, task: str
) -> None:
    estimator = getattr(allrelevant, TASKS[task])
    seen: list[dict[str, Any]] = []

    def recording(self: Any, *arguments: Any, **named: Any) -> None:
        seen.append(self.get_params())
        raise KeyboardInterrupt

    monkeypatch.setattr(estimator, "_fit_in_job", recording)
    frame.assign(sick=[0, 1] * 40, died=[1, 1, 0, 0] * 20).to_csv("t.csv", index=False)
    event = ["--event", "died"] if task == SURVIVAL else []
    run("report", "t.csv", "-t", "sick", "--task", task, *event)
    # random_state differs on purpose, so that runs are reproducible by default.
    assert seen == [{**estimator().get_params(), "random_state": 0}]


def test_runs_are_reproducible(run: Run) -> None:
    arguments = ("report", "table.csv", "-t", "sick", "--C", "1", "--n-probes", "12", "--json")
    first, second = (json.loads(succeeded(run(*arguments)).stdout) for _ in range(2))
    assert first["features"] == second["features"]
    assert first["subproblems"] == second["subproblems"]
    other = json.loads(succeeded(run(*arguments, "--seed", "1")).stdout)
    assert other["subproblems"][0]["cutoff"] != first["subproblems"][0]["cutoff"]


def test_constant_columns_are_noted(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(flat=1.0).to_csv("flat.csv", index=False)
    result = succeeded(run("report", "flat.csv", "-t", "sick", *FAST))
    assert result.stderr.startswith("Note: 1 constant column(s)")
    assert result.stderr.count("\n") == 1
    page = Path("report.html").read_text()
    assert "1 constant column(s)" in page.partition("<script")[0]
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("flat ")] == [
        "irrelevant"
    ]


def test_row_numbers_are_noted(run: Run, frame: pd.DataFrame) -> None:
    frame.to_csv("index.csv")
    result = succeeded(run("report", "index.csv", "-t", "sick", *FAST))
    assert "Unnamed: 0" in result.stderr
    assert "--drop" in result.stderr
    dropped = run("report", "index.csv", "-t", "sick", "--drop", "Unnamed: 0", *FAST)
    assert succeeded(dropped).stderr == ""


def test_other_warnings_pass(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    fit = ClassificationBounds._fit_in_job

    def warning(self: ClassificationBounds, *arguments: Any, **named: Any) -> ClassificationBounds:
        warnings.warn("not ours", DeprecationWarning, stacklevel=1)
        warnings.warn("ours", RelevanceWarning, stacklevel=1)
        warnings.warn("ours", RelevanceWarning, stacklevel=1)
        return fit(self, *arguments, **named)

    monkeypatch.setattr(ClassificationBounds, "_fit_in_job", warning)
    with pytest.warns(DeprecationWarning, match="not ours"):
        result = run("report", "table.csv", "-t", "sick", *FAST, "--json")
    assert result.stderr == "Note: ours\n"
    assert json.loads(result.stdout)["warnings"] == ["ours"]


def test_one_feature(run: Run, frame: pd.DataFrame) -> None:
    frame[["alpha", "sick"]].to_csv("one.csv", index=False)
    result = succeeded(run("report", "one.csv", "-t", "sick", *FAST))
    assert "The only feature is strong." in result.stdout
    assert "The only feature is strong." in Path("report.html").read_text()


@pytest.mark.parametrize("dtype", ["int", "bool", "float", "category", "mixed"])
def test_kinds_of_targets(run: Run, frame: pd.DataFrame, dtype: str) -> None:
    yes = frame["sick"] == "yes"
    targets = {
        "int": yes.astype(int) + 1,
        "bool": yes,
        "float": yes.astype(float),
        "category": frame["sick"].astype("category"),
        "mixed": yes.map({True: "7", False: "none at all"}),
    }
    labels = {
        "int": [1, 2],
        "bool": [False, True],
        "float": [0, 1],
        "category": ["no", "yes"],
        "mixed": ["7", "none at all"],
    }
    frame.assign(sick=targets[dtype]).to_parquet("t.parquet")
    result = succeeded(run("report", "t.parquet", "-t", "sick", *FAST, "--json"))
    assert [c["label"] for c in json.loads(result.stdout)["classes"]] == labels[dtype]


def test_three_classes(run: Run) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    table = pd.DataFrame(X, columns=list("abc")).assign(kind=np.repeat(["x", "y", "z"], 30))
    table.loc[:29, "a"] += 4
    table.loc[30:59, "b"] += 4
    table.to_csv("three.csv", index=False)
    result = succeeded(run("report", "three.csv", "-t", "kind", *FAST, "-o", "a.html", "--json"))
    summary = json.loads(result.stdout)
    assert [problem["label"] for problem in summary["subproblems"]] == ["x", "y", "z"]
    assert len(summary["features"][0]["per_class"]) == 3
    assert "Bounds by class" in Path("a.html").read_text()


def test_separator(run: Run, frame: pd.DataFrame) -> None:
    frame.to_csv("t.txt", sep=";", index=False)
    succeeded(run("report", "t.txt", "-t", "sick", "--sep", ";", *FAST))


def test_columns_of_many_kinds(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(
        flag=[True, False] * 40,
        small=np.arange(80, dtype="int8") % 5,
        nullable=pd.array(np.arange(80) % 7, dtype="Int64"),
        half=np.linspace(0, 1, 80, dtype="float32"),
    ).to_parquet("t.parquet")
    result = succeeded(run("report", "t.parquet", "-t", "sick", *FAST, "--json"))
    assert json.loads(result.stdout)["table"]["n_features"] == 9


def test_terminal_lists_at_most_40_features(run: Run, frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(80, 45)), columns=[f"noise {j}" for j in range(45)])
    pd.concat([frame, wide], axis=1).to_csv("wide.csv", index=False)
    result = succeeded(run("report", "wide.csv", "-t", "sick", *FAST))
    assert "... and 10 more." in result.stdout
    assert sum(line.startswith("noise ") for line in result.stdout.splitlines()) <= 40


def test_q_values_on_the_terminal(run: Run, frame: pd.DataFrame) -> None:
    arguments = ["--C", "1", "--task", "classification", "--cutoff", "fdr", "--fdr", "0.1"]
    result = succeeded(run("report", "table.csv", "-t", "sick", *arguments))
    est = ClassificationBounds(C=1.0, cutoff="fdr", fdr=0.1, random_state=0)
    est.fit(frame.drop(columns="sick"), frame["sick"].to_numpy(dtype=object))
    printed = table_rows(result.stdout)
    for name, qvalue in zip(frame.columns, est.qvalue_, strict=False):
        assert printed[name][1] == f"{qvalue:.2g}"
    assert "a q-value of at most 0.1." in " ".join(result.stdout.split())
    fixed = succeeded(run("report", "table.csv", "-t", "sick", *FAST)).stdout
    assert "q-value" not in fixed
    assert "the cutoff of 0.1, set by the user." in fixed


def write_noise() -> None:
    rng = np.random.RandomState(1)
    table = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    table.assign(y=rng.choice(["no", "yes"], 60)).to_csv("noise.csv", index=False)


def test_no_evidence_is_printed_once_and_first(run: Run) -> None:
    write_noise()
    arguments = ["report", "noise.csv", "-t", "y", "--task", "classification"]
    result = succeeded(run(*arguments, "--json", "a.json"))
    lines = result.stdout.splitlines()
    assert lines[2].startswith("There is no evidence that y depends on these 4 features (permut")
    assert result.stdout.count("no evidence") == 1
    assert result.stderr == ""
    before = result.stdout.partition("feature ")[0]
    assert not [name for name in "abcd" if f" {name} " in before.replace("a feature", "")]
    document = json.loads(Path("a.json").read_text())
    assert len(document["warnings"]) == 1
    assert document["features"][0]["qvalue"] is None
    # Without the printed answer, the note is needed.
    assert "no evidence" in succeeded(run(*arguments, "--json")).stderr
    assert "no evidence" in succeeded(run(*arguments, "-q")).stderr


def test_tiny_C_is_noted(run: Run) -> None:
    result = succeeded(run("report", "table.csv", "-t", "sick", *FAST, "--C", "1e-9"))
    assert "Note: No feature improves the prediction" in result.stderr
    assert "5 are irrelevant" in result.stdout


def test_demo(run: Run) -> None:
    result = succeeded(
        run("demo", "-o", "demo.html", "--C", "0.1", "--cutoff", "0.5", "--no-small-set")
    )
    assert "569 rows, 30 features" in result.stdout
    assert "malignant" in Path("demo.html").read_text()
