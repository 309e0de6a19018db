"""Tests of ``allrelevant explain``: saliency of rows, and the score of the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVC, SVR

from allrelevant import explain
from allrelevant.cli.explain import cross_validate

from .outcomes import refused, result, scaled

Run = Callable[..., Result]
EXPLAIN = ["explain", "table.csv", "-t", "sick"]


def explained(done: Result) -> dict:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


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


def test_misclassified_row_is_noted(run: Run, frame: pd.DataFrame) -> None:
    label = frame["sick"][4]
    frame.assign(
        sick=frame["sick"].where(frame.index != 4, "yes" if label == "no" else "no")
    ).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "5", "--C", "10", "-o", "-")
    (row,) = json.loads(done.stdout)["rows"]
    assert row["wrong"]
    assert "few or no features support" in row["note"]


def test_explanation_of_a_given_class(run: Run) -> None:
    for label in ("yes", "no"):
        done = run(*EXPLAIN, "--row", "5", "--class", label, "-o", "-", "-q")
        (row,) = json.loads(done.stdout)["rows"]
        assert row["target"] == label
        assert done.stderr == ""


def test_explanation_of_a_numeric_target(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(sick=frame["alpha"] * 2 + 0.1).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "1", "--kernel", "linear", "-o", "-")
    assert "Task: regression" in done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["features"][0]["name"] == "alpha"
    X, y = scaled(frame).to_numpy(), frame["alpha"].to_numpy() * 2 + 0.1
    s = y[1:].std()  # scaling C, epsilon and tol by s gives the same SVM as for y / s
    model = SVR(kernel="linear", C=s, epsilon=0.1 * s, tol=1e-3 * s).fit(X[1:], y[1:])
    np.testing.assert_allclose(row["predicted"], model.predict(X[:1])[0])


def test_unit_of_a_numeric_target_does_not_matter(run: Run, frame: pd.DataFrame) -> None:
    X = scaled(frame)
    price = 3e5 + 5e4 * X["alpha"] - 2e4 * X["delta"] * X["beta"]
    rows = {}
    for unit in (1.0, 1000.0):
        frame.assign(sick=price * unit).to_csv("table.csv", index=False)
        found = explained(run(*EXPLAIN, "--row", "3", "-o", "-"))
        assert found["quality"]["score"] > 0.5
        (rows[unit],) = found["rows"]
    small, large = rows[1.0], rows[1000.0]
    assert small["target"] == pytest.approx(price[2])
    assert [f["name"] for f in small["features"]] == [f["name"] for f in large["features"]]
    # The results are equal up to the tolerance of the solver, in standard deviations.
    tolerance = 2e-3 * price.std()
    assert large["predicted"] / 1000 == pytest.approx(small["predicted"], abs=tolerance)
    values = np.array([[f["saliency"] for f in row["features"]] for row in rows.values()])
    relative = values / np.abs(values).max(axis=1, keepdims=True)
    np.testing.assert_allclose(relative[0], relative[1], atol=0.02)


def test_model_score_is_reported(run: Run, frame: pd.DataFrame) -> None:
    done = run(*EXPLAIN, "--row", "17", "-o", "result.json")
    quality = result()["quality"]
    assert quality["name"] == "accuracy"
    assert (quality["n_folds"], quality["n_rows"]) == (5, 79)
    others = frame["sick"].drop(index=16)
    assert quality["dummy_score"] == others.value_counts().max() / 79
    line = f"Model: accuracy {quality['score']:.3f} on the other 79 rows (5-fold cross-validation)"
    assert done.stdout.startswith(line)
    assert result()["warnings"] == []
    assert "no better" not in done.stderr


@pytest.mark.parametrize("numbers", [True, False])
def test_model_no_better_than_a_constant_is_noted(
    run: Run, frame: pd.DataFrame, numbers: bool
) -> None:
    noise = np.random.default_rng(1).normal(size=len(frame))
    sick = noise if numbers else np.where(np.arange(len(frame)) % 8, "no", "yes")
    frame.assign(sick=sick).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "17", "-o", "result.json", "-q")
    assert "Note: The model does no better than a constant prediction" in done.stderr
    found = result()
    assert found["quality"]["score"] <= found["quality"]["dummy_score"]
    assert "no better" in found["warnings"][0]


def test_scores_are_computed_on_held_out_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), np.repeat(["a", "b"], 100)  # sorted labels, no signal
    overfitting = SVC(gamma=100.0)
    assert overfitting.fit(X, y).score(X, y) == 1.0
    found = cross_validate(overfitting, X, y, seed=0)
    assert found.score < 0.65
    assert found.dummy_score == 0.5
    assert cross_validate(overfitting, X, y, seed=0) == found
    numbers = cross_validate(SVR(gamma=100.0), X, X[:, 0], seed=0)
    assert (numbers.name, numbers.dummy_score) == ("R2", 0.0)
    assert numbers.score < 0.2
    assert cross_validate(SVR(kernel="linear"), X, X[:, 0], seed=0).score > 0.9


def test_scores_of_rare_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [95, 5])
    X = rng.normal(size=(100, 1)) + 2.0 * y[:, None]
    balanced = cross_validate(SVC(class_weight="balanced"), X, y, seed=0)
    assert (balanced.name, balanced.dummy_score) == ("balanced accuracy", 0.5)
    assert not balanced.is_poor
    # Each held-out fold has one row of the rare class; the other four are used for training.
    assert balanced.score in {
        balanced_accuracy_score(y, np.repeat([0, 1, 0, 1], [95 - m, m, 5 - r, r]))
        for m in range(96)
        for r in range(1, 6)
    }
    alone = cross_validate(SVC(), X[:96], y[:96], seed=0)
    # Without the only row of the rare class, the training fold has a single class.
    assert alone.score == alone.dummy_score == 95 / 96
    assert alone.is_poor


def test_the_only_row_of_a_class(run: Run, frame: pd.DataFrame) -> None:
    labels = np.repeat([0, 1], [79, 1])
    frame.assign(sick=labels).to_csv("table.csv", index=False)
    refused(run(*EXPLAIN, "--row", "80", "-q"), "Row 80 is the only row of class '1'")
    refused(run(*EXPLAIN, "--row", "80", "--class", "0", "-q"), "Row 80 is the only row")
    labels[:30] = 2
    frame.assign(sick=labels).to_csv("table.csv", index=False)
    refused(run(*EXPLAIN, "--row", "2", "--row", "80", "-q"), "Row 80 is the only row")
    (row,) = explained(run(*EXPLAIN, "--row", "80", "--class", "2", "-o", "-"))["rows"]
    assert row["target"] == 2  # a different class can be explained
    labels[70:] = 1
    frame.assign(sick=labels).to_csv("table.csv", index=False)
    all_ten = [part for row in range(71, 81) for part in ("--row", str(row))]
    refused(run(*EXPLAIN, *all_ten, "-q"), "all 10 rows of class '1'", "fewer")
    frame.assign(sick=np.where(labels == 1, 2.5, 1.5)).to_csv("table.csv", index=False)
    refused(run(*EXPLAIN, *all_ten, "-q"), "The target is 1.5 in all training rows")


def test_classes_by_their_values(run: Run, frame: pd.DataFrame) -> None:
    for sick, names in (
        (frame["sick"] == "yes", ["True", "true"]),
        ((frame["sick"] == "yes").astype(int), ["1", "1.0"]),
    ):
        frame.assign(sick=sick).to_csv("table.csv", index=False)
        for name in names:
            done = run(*EXPLAIN, "--row", "5", "--class", name, "-o", "-")
            assert explained(done)["rows"][0]["target"] == 1
        refused(
            run(*EXPLAIN, "--row", "5", "--class", "x", "-q"), "'x' is not a class of the model"
        )
    large = 2**53 + 1  # not representable as a float
    frame.assign(sick=(frame["sick"] == "yes") + large - 1).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "5", "--class", str(large), "-o", "-")
    assert explained(done)["rows"][0]["target"] == large


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_too_large_or_small_target(run: Run, frame: pd.DataFrame, factor: float) -> None:
    frame.assign(sick=factor * frame.iloc[:, 0]).to_csv("table.csv", index=False)
    refused(run(*EXPLAIN, "--row", "5", "-q"), "too large or too small")


def test_help_lists_only_valid_values(run: Run, frame: pd.DataFrame) -> None:
    text = " ".join(run("explain", "--help").stdout.split())
    for unsupported in ("NUMBER[,NUMBER...]", "cw2", "at each step", "Saliency only"):
        assert unsupported not in text
    assert "standard deviations of the target" in text
    refused(run(*EXPLAIN, "--row", "3", "--C", "1,2"), "'1,2' is not a number above 0")
    for option, value in (("--kernel", "rbf"), ("--C", "1"), ("--class-weight", "balanced")):
        done = run(*EXPLAIN, "--row", "3", "--model", "mlp", option, value, "-q")
        refused(done, f"{option} requires --model svm")
    frame.assign(sick=[1, 2, 3, 4] * 20).to_csv("table.csv", index=False)
    assert "ordinal" not in run(*EXPLAIN, "--row", "3").stderr


def test_network(run: Run) -> None:
    pytest.importorskip("torch")
    found = explained(run(*EXPLAIN, "--row", "1", "--model", "mlp", "-o", "-"))
    assert found["quality"]["name"] == "balanced accuracy"  # its class weights are balanced
    assert found["quality"]["score"] > found["quality"]["dummy_score"]
    assert found["versions"]["torch"] == version("torch")
    by_svm = explained(run(*EXPLAIN, "--row", "1", "-o", "-"))
    assert "torch" not in by_svm["versions"]  # although torch is imported


def test_bad_input(run: Run) -> None:
    refused(run(*EXPLAIN, "--row", "81", "-q"), "Row 81 is out of range: the table has 80")
    refused(run(*EXPLAIN, "--row", "0"), "0 is not in the range")
    refused(run(*EXPLAIN, "-q"), "Missing option '--row'")
    refused(
        run(*EXPLAIN, "--row", "3", "--class", "maybe", "-q"), "'maybe' is not a class of the model"
    )
    refused(run(*EXPLAIN, "--row", "3", "-o", "table.csv", "-q"), "the table itself")
