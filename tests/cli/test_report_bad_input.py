"""Tests that invalid input gives a one-line error and leaves an existing report unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from .outcomes import refused_report as refused

Run = Callable[..., Result]
FAST = ["--C", "1", "--cutoff", "0.1", "--task", "classification"]


def write(frame: pd.DataFrame, name: str = "bad.csv") -> None:
    if name.endswith(".parquet"):
        frame.to_parquet(name)
    else:
        frame.to_csv(name, index=False)


def test_missing_file(run: Run) -> None:
    refused(run("report", "absent.csv", "-t", "sick"), "does not exist", "'absent.csv'")


@pytest.mark.parametrize(
    "name", ["x.csv", "x.parquet", "x.csv.gz", "x.csv.bz2", "x.csv.xz", "x.csv.zip", "x.csv.zst"]
)
def test_unreadable_file(run: Run, name: str) -> None:
    Path(name).write_bytes(bytes(range(128, 256)) * 20)
    refused(run("report", name, "-t", "sick"), "Cannot read", name)


def test_unknown_target_suggests_close_names(run: Run) -> None:
    result = run("report", "table.csv", "-t", "Sik")
    refused(result, "'Sik'", "Did you mean 'sick'?", "'alpha'", "'epsilon'")


def test_wrong_separator_is_hinted_at(run: Run, frame: pd.DataFrame) -> None:
    frame.to_csv("bad.csv", index=False, sep="~")
    refused(run("report", "bad.csv", "-t", "sick"), "--sep")


def test_unknown_drop(run: Run) -> None:
    refused(run("report", "table.csv", "-t", "sick", "--drop", "alhpa"), "'alpha'")


def test_one_class(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(sick="yes"))
    refused(run("report", "bad.csv", "-t", "sick"), "'sick'", "single class, 'yes'")


@pytest.mark.parametrize("name", ["bad.csv", "bad.parquet"])
def test_missing_and_infinite_values(run: Run, frame: pd.DataFrame, name: str) -> None:
    bad = frame.copy()
    bad.loc[:1, "alpha"] = np.nan
    bad.loc[5, "beta"] = -np.inf
    write(bad, name)
    refused(run("report", name, "-t", "sick"), "'beta' (1 infinite)", "--drop")
    write(bad.assign(beta=frame["beta"]), name)
    result = run("report", name, "-t", "sick", "--method", "metric")
    refused(result, "'alpha' (2 missing)", "--drop")


def test_text_columns(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(sex="male", age=["41"] * 79 + ["old"]))
    refused(
        run("report", "bad.csv", "-t", "sick", "--method", "metric"),
        "'sex' (such as 'male')",
        "'age' (such as 'old')",
        "get_dummies",
        "--drop",
    )


def test_continuous_target(run: Run, frame: pd.DataFrame) -> None:
    result = run("report", "table.csv", "-t", "alpha", "--drop", "sick", *FAST)
    refused(result, "'alpha'", "continuous", "--task regression")


def test_target_of_identifiers(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(sick=[f"patient {i}" for i in range(80)]))
    refused(run("report", "bad.csv", "-t", "sick"), "80 distinct values in 80 rows")


@pytest.mark.parametrize(
    "option",
    [
        ("--C", "0"),
        ("--C", "-1"),
        ("--C", "nan"),
        ("--C", "best"),
        ("--norm-slack", "-0.1"),
        ("--loss-slack", "inf"),
        ("--loss-tol", "-1"),
        ("--formulation", "both"),
        ("--class-weight", "heavy"),
        ("--epsilon", "-1"),
        ("--epsilon", "auto"),
        ("--task", "clustering"),
        ("--cutoff", "-1"),
        ("--n-probes", "0"),
        ("--fpr", "1"),
        ("--seed", "-1"),
        ("--seed", "x"),
        ("--jobs", "0"),
    ],
)
def test_invalid_values(run: Run, option: tuple[str, str]) -> None:
    result = run("report", "table.csv", "-t", "sick", *option)
    refused(result, option[0], "--help")


def test_validation_error_of_scikit_learn(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from allrelevant.cli import types

    monkeypatch.setattr(types.Number, "accepts", lambda self, number: True)
    refused(
        run("report", "table.csv", "-t", "sick", *FAST, "--norm-slack", "-1"), "'norm_slack'", "-1"
    )
