"""``allrelevant select --method saliency`` and ``allrelevant explain``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import Result
from sklearn.svm import SVC, SVR

from allrelevant import SaliencySelector, explain

Run = Callable[..., Result]
SELECT = ["select", "table.csv", "-t", "sick", "--method", "saliency", "-o", "result.json"]
EXPLAIN = ["explain", "table.csv", "-t", "sick"]


def result() -> dict:
    return json.loads(Path("result.json").read_text())


def scaled(frame: pd.DataFrame) -> pd.DataFrame:
    X = frame.drop(columns="sick")
    return (X - X.mean()) / X.std(ddof=0)


def refused(done: Result, *fragments: str) -> None:
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert done.exit_code == 2
    assert done.stdout == ""
    for fragment in ("Error: ", *fragments):
        assert fragment in lines[0]


def test_selection_is_the_estimators(run: Run, frame: pd.DataFrame) -> None:
    done = run(*SELECT, "--kernel", "rbf", "--gamma", "0.3", "--keep", "0.5", "--rule", "2")
    assert done.exit_code == 0, done.stderr
    model = SVC(kernel="rbf", gamma=0.3)
    expected = SaliencySelector(model, gamma=0.5, reps=1, n_features_to_select=2, random_state=0)
    expected.fit(scaled(frame), frame["sick"].to_numpy())
    found = result()
    assert found["selected"] == list(expected.history_["features"].iloc[-1])
    importances = [feature["importance"] for feature in found["features"]]
    np.testing.assert_allclose(importances, expected.importances_)
    assert [row["n_features"] for row in found["history"]] == [5, 2]
    assert found["score"]["inner"] is None
    assert "2 features selected by SaliencySelector" in done.stdout


def test_checkpoint(run: Run) -> None:
    assert run(*SELECT, "--checkpoint", "run.ckpt").exit_code == 0
    first = result()
    assert run(*SELECT, "--checkpoint", "run.ckpt").exit_code == 0
    assert result()["history"] == first["history"]  # the times too: nothing was done again
    refused(run(*SELECT, "--checkpoint", "run.ckpt", "--C", "3"), "different estimator__C")


def test_explanation_of_a_row(run: Run, frame: pd.DataFrame) -> None:
    done = run(*EXPLAIN, "--row", "17", "--row", "2", "-o", "result.json")
    assert done.exit_code == 0, done.stderr
    X, y = scaled(frame).to_numpy(), frame["sick"].to_numpy()
    others = np.setdiff1d(np.arange(len(X)), [16, 1])
    model = SVC(gamma="auto").fit(X[others], y[others])
    expected = explain(model, X[[16, 1]], y[[16, 1]])
    found = result()
    assert [row["row"] for row in found["rows"]] == [17, 2]
    for place, row in enumerate(found["rows"]):
        order = np.argsort(-expected.absolute[place])
        assert [feature["name"] for feature in row["features"]] == list(frame.columns[order])
        np.testing.assert_allclose(
            [feature["saliency"] for feature in row["features"]], expected.saliency[place, order]
        )
        assert row["features"][0]["value"] == frame.iloc[row["row"] - 1, order[0]]
        assert row["note"] == expected.note(place)
        assert f"Row {row['row']}: {expected.note(place)}" in done.stdout


def test_explanation_of_a_row_that_is_wrong(run: Run, frame: pd.DataFrame) -> None:
    label = frame["sick"][4]
    frame.assign(
        sick=frame["sick"].where(frame.index != 4, "yes" if label == "no" else "no")
    ).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "5", "--C", "10", "-o", "-")
    (row,) = json.loads(done.stdout)["rows"]
    assert row["wrong"]
    assert "little or nothing in the row speaks" in row["note"]


def test_explanation_towards_a_class(run: Run) -> None:
    for label in ("yes", "no"):
        done = run(*EXPLAIN, "--row", "5", "--class", label, "-o", "-", "-q")
        (row,) = json.loads(done.stdout)["rows"]
        assert row["explained"] == label
        assert done.stderr == ""


def test_explanation_of_a_number(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(sick=frame["alpha"] * 2 + 0.1).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "1", "--kernel", "linear", "-o", "-")
    assert "Task: regression" in done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["features"][0]["name"] == "alpha"
    X, y = scaled(frame).to_numpy(), frame["alpha"].to_numpy() * 2 + 0.1
    assert row["predicted"] == SVR(kernel="linear").fit(X[1:], y[1:]).predict(X[:1])[0]


def test_bad_input(run: Run) -> None:
    refused(run(*SELECT, "--candidates", "3"), "--candidates goes with --method ebrfe")
    refused(run(*SELECT, "--nested"), "--nested goes with --method svmrfe or ebrfe")
    refused(run(*SELECT, "--C", "1,2"), "one value of C")
    refused(run(*SELECT, "--rule", "one_se"), "needs scores")
    refused(run(*SELECT, "--rule", "9"), "Cannot select 9 of 5")
    refused(run(*SELECT, "--groups", "alpha"), "cross-validate")
    refused(run(*SELECT, "--class-weight", "cw2"), "goes with elimination")
    refused(run(*SELECT, "--keep", "1"), "below 1")
    refused(run("select", "table.csv", "-t", "sick", "--keep", "0.5"), "--method saliency")
    refused(run(*EXPLAIN, "--row", "81", "-q"), "no row 81: the table has 80")
    refused(run(*EXPLAIN, "--row", "0"), "0 is not in the range")
    refused(run(*EXPLAIN, "-q"), "Missing option '--row'")
    refused(run(*EXPLAIN, "--row", "3", "--class", "maybe", "-q"), "never seen the class 'maybe'")
    refused(run(*EXPLAIN, "--row", "3", "-o", "table.csv", "-q"), "the table itself")
