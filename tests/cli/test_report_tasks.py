"""Tests of ``allrelevant report`` for every task, and of options a task does not support."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from allrelevant.datasets import (
    make_linear_classification,
    make_linear_regression,
    make_ordinal_classification,
    make_privileged,
    make_ranking,
)
from allrelevant.datasets.privileged import Task

from .outcomes import table_rows

Run = Callable[..., Result]
# Ranking needs a larger C than the other tasks, because its loss is a mean, not a sum.
FAST = ["--C", "30", "--cutoff", "0.1"]
SMALL: Any = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 2, "random_state": 0}
MAKERS: dict[str, Callable[..., Any]] = {
    "classification": make_linear_classification,
    "regression": make_linear_regression,
    "ordinal": make_ordinal_classification,
    "ranking": make_ranking,
}
LATER = ["later 0", "later 1", "later 2"]


def write(task: str) -> None:
    data = MAKERS[task](60, **SMALL)
    pd.DataFrame(data.X, columns=list("abcde")).assign(y=data.y).to_csv("t.csv", index=False)


def write_privileged(task: Task) -> None:
    data = make_privileged(
        task, 60, **SMALL, n_weak_privileged=0, n_irrelevant_privileged=2, n_classes=3
    )
    frame = pd.DataFrame(data.X, columns=list("abcde")).assign(y=data.y)
    frame[LATER] = data.privileged
    frame.to_csv("t.csv", index=False)


def read_summary(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


def refused(result: Result) -> str:
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line


def test_choice_of_C_reaches_the_estimator(run: Run) -> None:
    write("classification")
    tuning = ("--cv", "10", "--Cs", "0.1,1,10", "--scoring", "balanced_accuracy")
    arguments = ("report", "t.csv", "-t", "y", *tuning, "--cutoff", "0.1", "--small-set")
    result = run(*arguments, "-o", "a.html", "--json", "a.json")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(Path("a.json").read_text())
    settings = summary["settings"]
    assert (settings["cv"], settings["Cs"]) == (10, [0.1, 1.0, 10.0])
    assert summary["score"]["name"] == settings["scoring"] == "balanced_accuracy"
    assert summary["subproblems"][0]["baseline"]["C"] in (0.1, 1.0, 10.0)
    score = summary["score"]["cross_validated"]
    page = Path("a.html").read_text()
    assert f"(balanced_accuracy) is {score:.4g} on held-out rows" in page
    assert "balanced_accuracy (cross-validated)" in page
    assert "the balanced_accuracy is" in " ".join(result.stdout.split())


def test_a_list_of_values_of_C_may_have_one_value(run: Run) -> None:
    write("classification")
    summary = read_summary(
        run(
            "report", "t.csv", "-t", "y", "--Cs", "0.5", "--folds", "3", "--cutoff", "0.1", "--json"
        )
    )
    assert summary["subproblems"][0]["baseline"]["C"] == 0.5
    assert summary["settings"]["cv"] == 3


@pytest.mark.parametrize(
    ("option", "value", "fragment"),
    [
        ("--Cs", "1,0", "'0' is not a number above 0"),
        ("--cv", "1", "--cv"),
        ("--scoring", "acc", "scoring='acc' is not a scikit-learn scorer"),
        ("--scoring", "r2_score", "is not a scikit-learn scorer"),
        ("--scoring", "neg_log_loss", "there are no probabilities"),
    ],
)
def test_invalid_choices_of_C(run: Run, option: str, value: str, fragment: str) -> None:
    write("classification")
    result = run("report", "t.csv", "-t", "y", option, value)
    assert result.exit_code == 2
    assert fragment in result.stderr


@pytest.mark.parametrize("task", MAKERS)
def test_every_task(run: Run, task: str) -> None:
    write(task)
    arguments = ("report", "t.csv", "-t", "y", "--task", task, *FAST)
    result = run(*arguments, "--json", "a.json", "-o", "a.html")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("t.csv: 60 rows, 5 features, target y: ")
    assert set(table_rows(result.stdout)) == set("abcde")
    summary = json.loads(Path("a.json").read_text())
    assert summary["task"] == task
    assert summary["task_note"] is None
    assert summary["method"].lower().startswith(task)
    assert summary["privileged"] == []
    assert summary["features"][0]["relevance"] == "strong"
    assert summary["score"]["training"] > summary["score"]["without_features"]
    assert "Which features matter for y" in Path("a.html").read_text()


@pytest.mark.parametrize("task", MAKERS)
def test_privileged_columns(run: Run, task: Task) -> None:
    write_privileged(task)
    privileged = [part for name in LATER for part in ("--privileged", name)]
    arguments = ("report", "t.csv", "-t", "y", "--task", task, *FAST, *privileged)
    result = run(*arguments, "--json", "a.json", "-o", "a.html")
    assert result.exit_code == 0, result.stderr
    assert "privileged: " in result.stdout
    summary = json.loads(Path("a.json").read_text())
    assert [feature["name"] for feature in summary["features"]] == list("abcde")
    assert [feature["name"] for feature in summary["privileged"]] == LATER
    assert "Privileged features</h2>" in Path("a.html").read_text()


@pytest.mark.parametrize(
    ("task", "inferred", "reason"),
    [
        ("classification", "classification", "the target has 2 classes: 0 and 1"),
        ("regression", "regression", "the target has numbers with a fractional part"),
        ("ordinal", "classification", "use --task ordinal"),
        ("ranking", "classification", "the target has 2 classes: 0 and 1"),
    ],
)
def test_inferred_task_is_reported(run: Run, task: str, inferred: str, reason: str) -> None:
    write(task)
    result = run("report", "t.csv", "-t", "y", "--cutoff", "0.1", "--json", "-o", "a.html")
    line = result.stderr.splitlines()[0]
    assert line.startswith(f"Task: {inferred} (")
    assert reason in line
    assert line.endswith("Use --task to choose a different task.")
    summary = read_summary(result)
    assert summary["task"] == inferred
    assert summary["task_note"] == line
    page = Path("a.html").read_text().partition("<script")[0]
    assert "Use --task to choose a different task." in page


def test_quiet_does_not_report_the_inferred_task(run: Run) -> None:
    result = run("report", "table.csv", "-t", "sick", *FAST, "-q", "--json")
    assert result.stderr == ""
    assert read_summary(result)["task_note"].startswith("Task: classification")


def test_epsilon_reaches_the_estimator(run: Run) -> None:
    write("regression")
    summary = read_summary(run("report", "t.csv", "-t", "y", *FAST, "--epsilon", "0.25", "--json"))
    assert summary["settings"]["epsilon"] == 0.25
    assert summary["subproblems"][0]["baseline"]["epsilon"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("task", "option", "value", "home"),
    [
        ("classification", "--epsilon", "cv", "regression"),
        ("ordinal", "--epsilon", "0.1", "regression"),
        ("regression", "--formulation", "separate", "classification"),
        ("ranking", "--class-weight", "balanced", "classification"),
    ],
)
def test_options_of_other_tasks(run: Run, task: str, option: str, value: str, home: str) -> None:
    write(task)
    line = refused(run("report", "t.csv", "-t", "y", "--task", task, option, value))
    assert f"{option} requires --task {home} (got {task})." in line


def test_option_not_supported_by_the_inferred_task(run: Run) -> None:
    line = refused(run("report", "table.csv", "-t", "sick", "--epsilon", "1"))
    assert (
        "(got classification, inferred because the target has 2 classes: 'no' and 'yes')." in line
    )


def test_demo_has_no_options_of_other_tasks(run: Run) -> None:
    assert "--epsilon" in refused(run("demo", "--epsilon", "1"))


@pytest.mark.parametrize(
    ("task", "fragment"),
    [("regression", "requires a numeric target"), ("ordinal", "--order no,yes")],
)
def test_text_target_where_numbers_are_needed(run: Run, task: str, fragment: str) -> None:
    line = refused(run("report", "table.csv", "-t", "sick", "--task", task))
    assert "'sick'" in line
    assert fragment in line


def test_ranking_of_three_classes(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(sick=np.arange(80) % 3).to_csv("t.csv", index=False)
    assert "two classes" in refused(run("report", "t.csv", "-t", "sick", "--task", "ranking"))


@pytest.mark.parametrize("task", [*MAKERS, "auto"])
@pytest.mark.parametrize("value", [2.5, 3])
def test_constant_target(run: Run, frame: pd.DataFrame, task: str, value: float) -> None:
    frame.assign(sick=value).to_csv("t.csv", index=False)
    line = refused(run("report", "t.csv", "-t", "sick", "--task", task))
    assert "single" in line or "continuous" in line


@pytest.mark.parametrize("task", [*MAKERS, "auto"])
def test_infinite_targets(run: Run, frame: pd.DataFrame, task: str) -> None:
    frame.assign(sick=[np.inf, *range(1, 80)]).to_csv("t.csv", index=False)
    line = refused(run("report", "t.csv", "-t", "sick", "--task", task))
    assert "'sick' is infinite in 1 of 80 rows" in line


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["--privileged", "alhpa"], "Did you mean 'alpha'?"),
        (["--privileged", "sick"], "'sick' is the target"),
        (["--privileged", "beta", "--drop", "beta"], "'beta' is both dropped"),
        (
            [f"--privileged={name}" for name in ("alpha", "beta", "gamma", "delta", "epsilon")],
            "All features are privileged",
        ),
    ],
)
def test_invalid_privileged_columns(run: Run, arguments: list[str], fragment: str) -> None:
    assert fragment in refused(run("report", "table.csv", "-t", "sick", *arguments))


def test_repeated_privileged_column_counts_once(run: Run) -> None:
    twice = ["--privileged", "epsilon"] * 2
    summary = read_summary(run("report", "table.csv", "-t", "sick", *FAST, *twice, "--json"))
    assert [feature["name"] for feature in summary["privileged"]] == ["epsilon"]


def test_privileged_columns_need_the_separate_formulation(run: Run) -> None:
    options = ["--task", "classification", "--privileged", "epsilon", "--formulation", "joint"]
    assert "separate" in refused(run("report", "table.csv", "-t", "sick", *FAST, *options))


def test_privileged_categories_and_missing_values(run: Run) -> None:
    write_privileged("classification")
    frame = pd.read_csv("t.csv")
    frame["later 1"] = np.resize(["low", "high", "mid"], len(frame))
    frame.loc[::5, "later 2"] = np.nan
    frame.to_csv("t.csv", index=False)
    privileged = [part for name in LATER for part in ("--privileged", name)]
    arguments = ("report", "t.csv", "-t", "y", "--task", "classification", *FAST, *privileged)
    result = run(*arguments, "--json", "a.json", "-o", "a.html")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(Path("a.json").read_text())
    assert [feature["name"] for feature in summary["privileged"]] == LATER
    assert summary["n_outer"] == 0
