"""Tests of ``allrelevant select``: results, methods and errors."""

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
from sklearn.svm import SVC

import allrelevant
from allrelevant import EBRFE, SVMRFE, ClassificationBounds, SaliencySelector
from allrelevant.cli.estimators import METHODS

from .outcomes import refused, result

Run = Callable[..., Result]
SELECT = ["select", "table.csv", "-t", "sick", "--no-bounds", "--json", "result.json"]


def words(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())


def test_result_matches_the_estimator(run: Run, frame: pd.DataFrame) -> None:
    done = run(*SELECT, "--method", "ebrfe", "--candidates", "3", "--C", "0.1,1", "--nested-cv")
    assert done.exit_code == 0, done.stderr
    expected = EBRFE(n_candidates=3, C=[0.1, 1.0], nested_cv=True, random_state=0)
    expected.fit(frame.drop(columns="sick"), frame["sick"].to_numpy())
    found = result()
    ranks = {feature["name"]: feature["rank"] for feature in found["features"]}
    assert ranks == dict(zip(frame.columns[:-1], expected.ranking_.tolist(), strict=True))
    assert set(found["selected"]) == set(expected.get_feature_names_out())
    held_out = expected.held_out_score_
    score = found["score"]["held_out"]
    assert score["by_fold"] == held_out.scores.tolist()
    assert score["nested"] is True
    frequencies = [feature["frequency"] for feature in found["features"]]
    assert frequencies == held_out.stability.frequency.tolist()
    assert score["stability"] == held_out.stability.nogueira
    assert [row["dropped"] for row in found["history"]] == expected.history_["dropped"].tolist()
    subsets = [(subset["score"], subset["standard_error"]) for subset in found["subsets"]]
    assert subsets == list(zip(expected.scores_, expected.score_errors_, strict=True))
    assert found["settings"]["standardize"] is True
    sentence = (
        f"the balanced accuracy is {held_out.score:.3f} ± {held_out.standard_error:.3f}, compared "
        f"with {held_out.all_features:.3f} ± {held_out.all_features_error:.3f} with all 5 features "
        f"and {held_out.constant:.3f} with a constant prediction"
    )
    assert sentence in words(done.stdout)


def test_number_of_features_is_scored(run: Run, frame: pd.DataFrame) -> None:
    done = run(*SELECT, "--n-features", "2")
    expected = SVMRFE(random_state=0).fit(frame.drop(columns="sick"), frame["sick"].to_numpy())
    held_out = expected.select(2).held_out_score_
    found = result()
    assert set(found["selected"]) == set(expected.get_feature_names_out())
    assert found["score"]["held_out"]["by_fold"] == held_out.scores.tolist()
    assert found["score"]["held_out"]["n_selected_by_fold"] == [2] * 5
    assert found["settings"]["n_features_to_select"] == 2
    assert "2 of 5 features were selected: " in done.stdout


def test_without_a_score(run: Run, frame: pd.DataFrame) -> None:
    done = run(*SELECT, "--n-features", "2", "--no-score")
    found = result()
    assert found["score"]["held_out"] is None
    assert found["subsets"] == []
    assert "The score of the selected features was not estimated." in done.stdout
    Path("result.json").unlink()
    refused(run(*SELECT, "--no-score"), "--no-score requires a fixed number of features")


def test_ranking_once_is_called_optimistic(run: Run) -> None:
    done = run(*SELECT, "--rank-once")
    found = result()
    assert found["score"]["optimistic"] is True
    assert found["score"]["held_out"] is None
    assert "optimistic, because the features were ranked on all rows" in words(done.stdout)


@pytest.mark.parametrize("method", METHODS)
def test_every_method(run: Run, method: str) -> None:
    done = run(*SELECT[:-1], "-", "--method", method, "--n-features", "2", "-q")
    found = json.loads(done.stdout)
    assert found["method"] == METHODS[method].estimator
    assert 1 <= found["n_selected"] <= 3
    assert done.stderr == ""


@pytest.mark.parametrize("method", METHODS)
def test_defaults_are_those_of_the_estimator(
    run: Run, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    estimator = getattr(allrelevant, METHODS[method].estimator)
    seen: list[dict[str, Any]] = []

    def recording(self: Any, *arguments: Any, **named: Any) -> None:
        seen.append(self.get_params(deep=False))
        raise KeyboardInterrupt

    monkeypatch.setattr(estimator, "fit", recording)
    run(*SELECT, "--method", method)
    (params,) = seen
    for parameter in inspect.signature(estimator).parameters.values():
        if parameter.default is not parameter.empty:
            # Runs of the command are reproducible.
            expected = 0 if parameter.name == "random_state" else parameter.default
            assert params[parameter.name] == expected, parameter.name


def test_flips_start_from_the_same_options(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def recording(self: Any, *arguments: Any, **named: Any) -> None:
        seen.append(self.get_params())
        raise KeyboardInterrupt

    monkeypatch.setattr(allrelevant.BitFlip, "fit", recording)
    options = ["--C", "3", "--step", "2", "--rounds", "4", "--checkpoint", "run.ckpt"]
    run(*SELECT, "--method", "bitflip", *options)
    expected: dict[str, Any] = {"C": 3.0, "selector__C": 3.0, "selector__step": 2, "max_rounds": 4}
    expected |= {"checkpoint": "run.ckpt", "selector__checkpoint": None}
    (params,) = seen
    assert {name: params[name] for name in expected} == expected


@pytest.mark.parametrize(("option", "expected"), [("cw2", "cw2"), ("none", {})])
def test_class_weights(
    run: Run, monkeypatch: pytest.MonkeyPatch, option: str, expected: Any
) -> None:
    seen: list[Any] = []

    def recording(self: Any, *arguments: Any, **named: Any) -> None:
        seen.append(self.class_weight)
        raise KeyboardInterrupt

    monkeypatch.setattr(SVMRFE, "fit", recording)
    run(*SELECT, "--class-weight", option)
    assert seen == [expected]


def test_checkpoint(run: Run) -> None:
    assert run(*SELECT, "--checkpoint", "run.ckpt").exit_code == 0
    first = result()
    assert run(*SELECT, "--checkpoint", "run.ckpt").exit_code == 0
    assert result()["history"] == first["history"]  # also the times, so no step was repeated
    Path("result.json").unlink()
    changed = run(*SELECT, "--checkpoint", "run.ckpt", "--C", "3", "-q")
    refused(changed, "different run", "different: C")
    refused(run(*SELECT, "--checkpoint", "table.csv", "-q"), "not a checkpoint file")
    refused(run(*SELECT, "--checkpoint", "absent/run.ckpt", "-q"), "does not exist")
    refused(run(*SELECT, "--checkpoint", "result.json"), "cannot both be written")
    page = ["select", "table.csv", "-t", "sick", "-o", "page.html"]
    refused(run(*page, "--checkpoint", "page.html"), "cannot both be written")


def test_groups_and_scale(run: Run, frame: pd.DataFrame) -> None:
    grouped = frame.assign(patient=[f"p{k // 4}" for k in range(len(frame))])
    grouped.to_csv("table.csv", index=False)
    assert run(*SELECT, "--groups", "patient", "--no-standardize").exit_code == 0
    X, y = frame.drop(columns="sick"), frame["sick"].to_numpy()
    expected = SVMRFE(standardize=False, random_state=0).fit(X, y, groups=grouped["patient"])
    scores = [subset["score"] for subset in result()["subsets"]]
    np.testing.assert_allclose(scores, expected.scores_, atol=1e-12)


def test_bounds_next_to_the_selection(run: Run, frame: pd.DataFrame) -> None:
    options = ["-t", "sick", "--n-features", "3", "--json", "result.json", "-o", "out.html"]
    done = run("select", "table.csv", *options)
    assert done.exit_code == 0, done.stderr
    X, y = frame.drop(columns="sick"), frame["sick"].to_numpy()
    bounds = ClassificationBounds(random_state=0).fit(X, y)
    found = result()
    by_name = {feature["name"]: feature for feature in found["features"]}
    for name, relevance in zip(X, bounds.relevance_, strict=True):
        assert by_name[name]["relevance"] == relevance
    assert by_name["alpha"]["relevance"] == "strong"
    assert by_name["beta"]["substitutes"] == ["gamma"]
    design = bounds.cheapest()
    in_small_set = [feature["in_small_set"] for feature in found["features"]]
    assert in_small_set == design.get_support().tolist()
    assert found["bounds"]["small_set"]["held_out_score"] == design.held_out_score
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line}
    assert rows["alpha"][-2:] == ["strong", "nothing"]
    assert rows["beta"][-4:] == ["weak", "gamma", "(also", "selected)"]
    assert f"Small set: {len(design[0].features)} features suffice" in done.stdout
    page = Path("out.html").read_text()
    assert "The answers side by side" in page
    assert "What can replace these features" in page


def test_bounds_of_large_tables_are_optional(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allrelevant.cli.effort.MAX_CELLS_FOR_BOUNDS", 10)
    options = ["-t", "sick", "--json", "result.json", "-o", "out.html"]
    done = run("select", "table.csv", *options)
    assert result()["bounds"] is None
    assert "add --bounds" in done.stdout
    assert "add the option <code>--bounds</code>" in Path("out.html").read_text()
    assert run("select", "table.csv", *options, "--bounds").exit_code == 0
    assert result()["bounds"] is not None


def test_many_selected_features(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allrelevant.cli.effort.MAX_RELATED_FEATURES", 1)
    options = ["-t", "sick", "--n-features", "3", "--json", "result.json", "-o", "out.html"]
    done = run("select", "table.csv", *options)
    found = result()
    assert found["bounds"]["has_substitutes"] is False
    assert "can be replaced by" not in done.stdout
    assert "Too many features were selected" in Path("out.html").read_text()


def test_page_is_written_by_default(run: Run) -> None:
    done = run("select", "table.csv", "-t", "sick", "--no-bounds")
    assert done.stdout.endswith("Report written to selection.html\n")
    assert "Few features that predict sick" in Path("selection.html").read_text()


def test_bad_input(run: Run, frame: pd.DataFrame) -> None:
    refused(run(*SELECT, "--candidates", "3"), "--candidates requires --method ebrfe")
    refused(run(*SELECT, "--method", "bitflip", "--nested-cv"), "--nested-cv requires")
    refused(run(*SELECT, "--scoring", "neg_log_loss", "-q"), "no probabilities")
    refused(run(*SELECT, "--C", "1,x"), "'x' is not a number")
    refused(run(*SELECT, "--step", "1.5"), "neither an integer")
    refused(run(*SELECT, "--n-features", "0"), "from 1 to")
    refused(run(*SELECT, "--n-features", "9", "-q"), "exceeds the number of features (5)")
    refused(run(*SELECT, "--groups", "sick"), "is the target")
    refused(run("select", "table.csv", "-t", "sick", "-o", "x.json"), "Use --json x.json")
    frame[["alpha", "sick"]].to_csv("table.csv", index=False)
    refused(run(*SELECT, "-q"), "1 feature")
    frame.assign(sick=np.linspace(0, 1, len(frame))).to_csv("table.csv", index=False)
    refused(run(*SELECT, "--method", "svmrfe"), "continuous")


@pytest.fixture
def mixed(run: Run, frame: pd.DataFrame) -> pd.DataFrame:
    """Table with words, missing values and weights, also written to ``mixed.csv``."""
    rng = np.random.default_rng(0)
    table = frame.assign(
        site=np.where(frame["sick"] == "yes", "north", rng.choice(["a", "b", "c"], len(frame))),
        color=rng.choice(["red", "green", "blue"], len(frame)),
        weight=rng.integers(1, 4, len(frame)),
    )
    table.loc[::7, frame.columns[0]] = np.nan
    table.to_csv("mixed.csv", index=False)
    return table


@pytest.mark.parametrize("method", METHODS)
def test_words_and_missing_values(run: Run, mixed: pd.DataFrame, method: str) -> None:
    options = ["--method", method, "--drop", "weight", "--no-bounds", "--json", "result.json"]
    done = run("select", "mixed.csv", "-t", "sick", "--n-features", "2", *options)
    assert done.exit_code == 0, done.stderr
    found = result()
    assert [f["name"] for f in found["features"]] == mixed.columns.drop(["sick", "weight"]).tolist()
    assert "site" in found["selected"]


def test_weights(run: Run, mixed: pd.DataFrame) -> None:
    options = ["-t", "sick", "--weights", "weight", "--no-bounds", "--json", "result.json"]
    done = run("select", "mixed.csv", *options)
    assert done.exit_code == 0, done.stderr
    expected = SVMRFE(random_state=0).fit(
        mixed.drop(columns=["sick", "weight"]),
        mixed["sick"].to_numpy(),
        sample_weight=mixed["weight"],
    )
    assert [f["rank"] for f in result()["features"]] == expected.ranking_.tolist()


def test_weights_of_saliency(run: Run, mixed: pd.DataFrame) -> None:
    options = ["--weights", "weight", "--method", "saliency", "--n-features", "2", "--no-score"]
    options += ["--no-bounds", "--json", "result.json"]
    done = run("select", "mixed.csv", "-t", "sick", *options)
    assert done.exit_code == 0, done.stderr
    expected = SaliencySelector(
        SVC(kernel="linear", gamma="auto", class_weight="balanced"),
        n_features_to_select=2,
        random_state=0,
    ).fit(
        mixed.drop(columns=["sick", "weight"]),
        mixed["sick"].to_numpy(),
        sample_weight=mixed["weight"],
    )
    assert [f["rank"] for f in result()["features"]] == expected.ranking_.tolist()


def test_weights_are_refused_by_networks(run: Run, mixed: pd.DataFrame) -> None:
    options = ["--weights", "weight", "--method", "saliency", "--model", "mlp"]
    done = run("select", "mixed.csv", "-t", "sick", "--task", "classification", *options)
    refused(done, "sample_weight requires an estimator whose fit method accepts it")
