"""Tests of ``allrelevant explain``: saliency of rows, and the score of the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from sklearn.svm import SVC, SVR

from allrelevant import explain

from .outcomes import refused, result, scaled

Run = Callable[..., Result]
EXPLAIN = ["explain", "table.csv", "-t", "sick"]


def explained(done: Result) -> dict:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_explanation_of_a_row(run: Run, frame: pd.DataFrame) -> None:
    done = run(*EXPLAIN, "--row", "17", "--row", "2", "--json", "result.json")
    assert done.exit_code == 0, done.stderr
    X, y = scaled(frame).to_numpy(), frame["sick"].to_numpy()
    others = np.setdiff1d(np.arange(len(X)), [16, 1])
    model = SVC(gamma="auto").fit(X[others], y[others])
    expected = explain(model, X[[16, 1]])
    found = result()
    assert [row["row"] for row in found["rows"]] == [17, 2]
    for place, row in enumerate(found["rows"]):
        order = np.argsort(-expected.absolute[place])
        assert [feature["name"] for feature in row["features"]] == list(frame.columns[order])
        np.testing.assert_allclose(
            [feature["saliency"] for feature in row["features"]], expected.saliency[place, order]
        )
        percent = [feature["percent"] for feature in row["features"]]
        np.testing.assert_allclose(percent, expected.percent[place, order])
        assert row["features"][0]["value"] == frame.iloc[row["row"] - 1, order[0]]
        assert row["actual"] == frame["sick"][row["row"] - 1]
        assert row["note"] == expected.note(place)
        assert f"Row {row['row']}: sick is predicted to be {row['predicted']}." in done.stdout


def test_groups_and_weights(run: Run, frame: pd.DataFrame) -> None:
    """Rows of the group of the explained row and rows of weight zero are not used for training."""
    weight, group = np.arange(80) % 4, np.arange(80) // 2
    frame.assign(w=weight, patient=group).to_csv("table.csv", index=False)
    options = ["--row", "17", "--groups", "patient", "--weights", "w", "--json", "result.json"]
    done = run(*EXPLAIN, *options)
    assert done.exit_code == 0, done.stderr
    X, y = scaled(frame).to_numpy(), frame["sick"].to_numpy()
    others = (group != group[16]) & (weight > 0)
    model = SVC(gamma="auto").fit(X[others], y[others], sample_weight=weight[others])
    expected = explain(model, X[[16]])
    (row,) = result()["rows"]
    order = np.argsort(-expected.absolute[0])
    np.testing.assert_allclose(
        [feature["saliency"] for feature in row["features"]], expected.saliency[0, order]
    )
    n_rows = result()["quality"]["n_rows"]
    assert n_rows == others.sum()
    assert f"trained on the {n_rows} rows of the other groups" in " ".join(done.stdout.split())


def test_too_few_groups(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(clinic=np.arange(80) % 2, few=np.arange(80) < 78).to_csv("table.csv", index=False)
    refused(run(*EXPLAIN, "--row", "17", "--groups", "clinic", "-q"), "Only one group remains")
    refused(run(*EXPLAIN, "--row", "1", "--groups", "few", "-q"), "Only 2 of 80 rows remain")
    clinic = np.where(frame["sick"] == "yes", 1, np.arange(80) % 2 + 2)
    frame.assign(clinic=clinic).to_csv("table.csv", index=False)
    row = str(frame.index[frame["sick"] == "yes"][0] + 1)
    refused(
        run(*EXPLAIN, "--row", row, "--groups", "clinic", "-q"), "No row of class 'yes' remains"
    )


def test_usual_range_is_that_of_the_other_rows(run: Run, frame: pd.DataFrame) -> None:
    frame = frame.copy()
    frame.loc[[4, 9], "alpha"] = [1000.0, -1000.0]
    frame.to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "5", "--row", "10", "--json", "result.json")
    others = frame.drop(index=[4, 9])
    for row, word in zip(result()["rows"], ("high", "low"), strict=True):
        for feature in row["features"]:
            expected = others[feature["name"]].quantile([0.05, 0.95])
            np.testing.assert_allclose(feature["usual"], expected)
        (line,) = (
            line
            for line in done.stdout.partition(f"Row {row['row']}:")[2].splitlines()[:14]
            if line.startswith("alpha ")
        )
        assert line.endswith(f" {word}")


def test_misclassified_row_is_noted(run: Run, frame: pd.DataFrame) -> None:
    label = frame["sick"][4]
    other = "yes" if label == "no" else "no"
    frame.assign(sick=frame["sick"].where(frame.index != 4, other)).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "5", "--C", "10", "--json", "result.json")
    (row,) = result()["rows"]
    assert (row["predicted"], row["target"], row["actual"]) == (label, label, other)
    assert f"wrong according to the table, which contains {other}." in " ".join(done.stdout.split())
    done = run(*EXPLAIN, "--row", "5", "--C", "10", "--class", other, "--json", "result.json")
    (row,) = result()["rows"]
    assert row["target"] == other
    assert "few or no features support" in row["note"]
    assert f"larger values support {other}" in done.stdout


def test_certainty_is_reported(run: Run) -> None:
    done = run(*EXPLAIN, "--row", "17", "--json", "result.json")
    (row,) = result()["rows"]
    certainty = row["certainty"]
    assert certainty["n_correct"] <= certainty["n_similar"] <= 30
    expected = (
        f"Of the {certainty['n_similar']} held-out rows predicted as {row['predicted']} with the "
        f"most similar margin, {certainty['n_correct']} were classified correctly"
    )
    assert expected in " ".join(done.stdout.split())


def test_raw_gradients(run: Run) -> None:
    done = run(*EXPLAIN, "--row", "17", "--raw", "--json", "result.json")
    (row,) = result()["rows"]
    assert f"{row['features'][0]['saliency']:+.3g}" in done.stdout
    assert f"{row['features'][0]['percent']:+.1f}%" not in done.stdout
    assert "gradient of the gain function" in " ".join(done.stdout.split())
    run(*EXPLAIN, "--row", "17", "--raw", "-o", "raw.html")
    assert f"{row['features'][0]['saliency']:+.3g}" in Path("raw.html").read_text()


def test_page_is_written_by_default(run: Run) -> None:
    done = run(*EXPLAIN, "--row", "17")
    assert done.stdout.endswith("Report written to explanation.html\n")
    page = Path("explanation.html").read_text()
    assert "Row 17: sick is predicted to be" in page
    assert not Path("result.json").exists()


def test_explanation_of_a_given_class(run: Run) -> None:
    for label in ("yes", "no"):
        done = run(*EXPLAIN, "--row", "5", "--class", label, "--json", "-q")
        (row,) = json.loads(done.stdout)["rows"]
        assert row["target"] == label
        assert done.stderr == ""


def test_explanation_of_a_numeric_target(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(sick=frame["alpha"] * 2 + 0.1).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "1", "--kernel", "linear", "--json")
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
        found = explained(run(*EXPLAIN, "--row", "3", "--json"))
        assert found["quality"]["score"] > 0.5
        (rows[unit],) = found["rows"]
    small, large = rows[1.0], rows[1000.0]
    assert small["actual"] == pytest.approx(price[2])
    assert [f["name"] for f in small["features"]] == [f["name"] for f in large["features"]]
    # The results are equal up to the tolerance of the solver, in standard deviations.
    tolerance = 2e-3 * price.std()
    assert large["predicted"] / 1000 == pytest.approx(small["predicted"], abs=tolerance)
    values = np.array([[f["saliency"] for f in row["features"]] for row in rows.values()])
    relative = values / np.abs(values).max(axis=1, keepdims=True)
    np.testing.assert_allclose(relative[0], relative[1], atol=0.02)


def test_model_score_is_reported(run: Run, frame: pd.DataFrame) -> None:
    done = run(*EXPLAIN, "--row", "17", "--json", "result.json")
    quality = result()["quality"]
    assert quality["name"] == "accuracy"
    assert (quality["n_folds"], quality["n_rows"]) == (5, 79)
    others = frame["sick"].drop(index=16)
    assert quality["dummy_score"] == others.value_counts().max() / 79
    line = (
        f"The model was trained on the other 79 rows. Its accuracy is {quality['score']:.3f} "
        f"(5-fold cross-validation); a constant prediction reaches {quality['dummy_score']:.3f}."
    )
    assert line in " ".join(done.stdout.split())
    assert result()["warnings"] == []
    assert "no better" not in done.stderr


@pytest.mark.parametrize("numbers", [True, False])
def test_model_no_better_than_a_constant_is_noted(
    run: Run, frame: pd.DataFrame, numbers: bool
) -> None:
    noise = np.random.default_rng(1).normal(size=len(frame))
    sick = noise if numbers else np.where(np.arange(len(frame)) % 8, "no", "yes")
    frame.assign(sick=sick).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "17", "--json", "result.json", "-q")
    assert "Note: The model does no better than a constant prediction" in done.stderr
    found = result()
    assert found["quality"]["score"] <= found["quality"]["dummy_score"]
    assert "no better" in found["warnings"][0]


def test_the_only_row_of_a_class(run: Run, frame: pd.DataFrame) -> None:
    labels = np.repeat([0, 1], [79, 1])
    frame.assign(sick=labels).to_csv("table.csv", index=False)
    refused(run(*EXPLAIN, "--row", "80", "-q"), "Row 80 is the only row of class '1'")
    refused(run(*EXPLAIN, "--row", "80", "--class", "0", "-q"), "Row 80 is the only row")
    labels[:30] = 2
    frame.assign(sick=labels).to_csv("table.csv", index=False)
    refused(run(*EXPLAIN, "--row", "2", "--row", "80", "-q"), "Row 80 is the only row")
    (row,) = explained(run(*EXPLAIN, "--row", "80", "--class", "2", "--json"))["rows"]
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
            done = run(*EXPLAIN, "--row", "5", "--class", name, "--json")
            assert explained(done)["rows"][0]["target"] == 1
        refused(
            run(*EXPLAIN, "--row", "5", "--class", "x", "-q"), "'x' is not a class of the model"
        )
    large = 2**53 + 1  # not representable as a float
    frame.assign(sick=(frame["sick"] == "yes") + large - 1).to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "5", "--class", str(large), "--json")
    assert explained(done)["rows"][0]["target"] == str(large)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_too_large_or_small_target(run: Run, frame: pd.DataFrame, factor: float) -> None:
    frame.assign(sick=factor * frame.iloc[:, 0]).to_csv("table.csv", index=False)
    refused(run(*EXPLAIN, "--row", "5", "-q"), "The numbers in the target 'sick' are too")


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
    found = explained(run(*EXPLAIN, "--row", "1", "--model", "mlp", "--json"))
    assert found["quality"]["name"] == "balanced accuracy"  # its class weights are balanced
    assert found["quality"]["score"] > found["quality"]["dummy_score"]
    assert found["versions"]["torch"] == version("torch")
    by_svm = explained(run(*EXPLAIN, "--row", "1", "--json"))
    assert "torch" not in by_svm["versions"]  # although torch is imported


def test_bad_input(run: Run) -> None:
    refused(run(*EXPLAIN, "--row", "81", "-q"), "Row 81 is out of range: the table has 80")
    refused(run(*EXPLAIN, "--row", "0"), "0 is not in the range")
    refused(run(*EXPLAIN, "-q"), "Missing option '--row'")
    refused(
        run(*EXPLAIN, "--row", "3", "--class", "maybe", "-q"), "'maybe' is not a class of the model"
    )
    refused(run(*EXPLAIN, "--row", "3", "-o", "table.csv", "-q"), "the table itself")
    refused(run(*EXPLAIN, "--row", "3", "-o", "x.json", "-q"), "Use --json x.json to write JSON")


def mixed_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a category that matters, a rare level and missing values."""
    rng = np.random.default_rng(0)
    sick = frame["sick"] == "yes"
    site = np.where(rng.random(len(frame)) < 0.9, np.where(sick, "Bern", "Oslo"), "Rome")
    site[3] = "Kyiv"
    beta = frame["beta"].where(rng.random(len(frame)) > 0.2)
    beta[3] = np.nan
    return frame.assign(site=site, beta=beta)


def test_mixed_tables(run: Run, frame: pd.DataFrame) -> None:
    table = mixed_frame(frame)
    table.to_csv("table.csv", index=False)
    done = run(*EXPLAIN, "--row", "4", "--row", "1", "--json", "a.json", "-o", "a.html")
    assert done.exit_code == 0, done.stderr
    rare, usual = json.loads(Path("a.json").read_text())["rows"]
    by_name = {feature["name"]: feature for feature in rare["features"]}
    assert set(by_name) == set(table.columns) - {"sick"}
    assert by_name["beta"]["value"] is None
    others = table.drop(index=[3, 0])
    expected = others["beta"].quantile([0.05, 0.95])
    np.testing.assert_allclose(by_name["beta"]["usual"], expected)
    counts = others["site"].value_counts()
    site = by_name["site"]
    assert (site["value"], site["most_frequent"]) == ("Kyiv", counts.index[0])
    assert site["fraction_of_value"] == 0
    assert site["fraction_of_most_frequent"] == pytest.approx(counts.iloc[0] / len(others))
    own = next(feature for feature in usual["features"] if feature["name"] == "site")
    assert own["saliency"] > 0
    text = " ".join(done.stdout.split())
    assert f"Compared with the average row, site = {own['value']} supports" in text
    assert "(or this level) support" in text
    assert "missing" in done.stdout
    page = Path("a.html").read_text()
    assert f"<bdi>{counts.index[0]} ({counts.iloc[0] / len(others):.0%})</bdi>" in page


def test_mixed_regression_with_a_result_table(run: Run, frame: pd.DataFrame) -> None:
    table = mixed_frame(frame)
    price = 3.0 * (table["site"] == "Bern") + 0.1 * frame["alpha"]
    table.assign(price=price).drop(columns="sick").to_csv("table.csv", index=False)
    options = ("--row", "1", "--kernel", "linear", "--no-standardize", "--table", "t.csv", "-q")
    done = run("explain", "table.csv", "-t", "price", *options)
    assert done.exit_code == 0, done.stderr
    cells = pd.read_csv("t.csv").set_index("feature")
    assert cells.index[0] == "site"
    assert cells["value"]["site"] == table["site"][0]
