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

import allrelevant
from allrelevant import EBRFE, SVMRFE
from allrelevant.cli.estimators import METHODS

from .outcomes import refused, result, scaled

Run = Callable[..., Result]
SELECT = ["select", "table.csv", "-t", "sick", "-o", "result.json"]


def test_result_matches_the_estimator(run: Run, frame: pd.DataFrame) -> None:
    done = run(*SELECT, "--method", "ebrfe", "--candidates", "3", "--C", "0.1,1", "--nested-cv")
    assert done.exit_code == 0, done.stderr
    expected = EBRFE(n_candidates=3, C=[0.1, 1.0], nested_cv=True)
    expected.fit(scaled(frame), frame["sick"].to_numpy())
    found = result()
    ranks = {feature["name"]: feature["rank"] for feature in found["features"]}
    assert ranks == dict(zip(frame.columns[:-1], expected.ranking_.tolist(), strict=True))
    assert set(found["selected"]) == set(expected.get_feature_names_out())
    assert found["score"]["inner"] == expected.best_score_
    assert found["score"]["nested"]["by_fold"] == expected.nested_score_.scores.tolist()
    assert [row["dropped"] for row in found["history"]] == expected.history_["dropped"].tolist()
    assert found["settings"]["standardize"] is True
    assert f"{expected.best_score_:.3f} inner" in done.stdout
    assert f"{expected.nested_score_.score:.3f} nested" in done.stdout


def test_inner_score_is_called_optimistic(run: Run) -> None:
    done = run(*SELECT)
    assert "optimistic" in done.stdout
    assert "Use --nested-cv" in done.stdout
    assert result()["score"]["nested"] is None


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
    # These differ on purpose: runs are reproducible, and one model per round suffices for an SVM.
    overrides = {"random_state": 0, "n_repeats": 1} if method == "saliency" else {}
    (params,) = seen
    for parameter in inspect.signature(estimator).parameters.values():
        if parameter.default is not parameter.empty:
            expected = overrides.get(parameter.name, parameter.default)
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


def test_checkpoint(run: Run) -> None:
    assert run(*SELECT, "--checkpoint", "run.ckpt").exit_code == 0
    first = result()
    assert run(*SELECT, "--checkpoint", "run.ckpt").exit_code == 0
    assert result()["history"] == first["history"]  # also the times, so no step was repeated
    Path("result.json").unlink()
    refused(run(*SELECT, "--checkpoint", "run.ckpt", "--C", "3"), "different run", "different: C")
    refused(run(*SELECT, "--checkpoint", "table.csv"), "not a checkpoint file")
    refused(run(*SELECT, "--checkpoint", "absent/run.ckpt"), "does not exist")
    refused(run(*SELECT, "--checkpoint", "result.json"), "cannot both be written")


def test_groups_and_scale(run: Run, frame: pd.DataFrame) -> None:
    grouped = frame.assign(patient=[f"p{k // 4}" for k in range(len(frame))])
    grouped.to_csv("table.csv", index=False)
    assert run(*SELECT, "--groups", "patient", "--no-standardize").exit_code == 0
    X, y = frame.drop(columns="sick"), frame["sick"].to_numpy()
    expected = SVMRFE().fit(X, y, groups=grouped["patient"])
    scores = [subset["score"] for subset in result()["subsets"]]
    np.testing.assert_allclose(scores, expected.scores_, atol=1e-12)


def test_bad_input(run: Run, frame: pd.DataFrame) -> None:
    refused(run(*SELECT, "--candidates", "3"), "--candidates requires --method ebrfe")
    refused(run(*SELECT, "--method", "bitflip", "--nested-cv"), "--nested-cv requires")
    refused(run(*SELECT, "--folds", "50"), "fewer than the 50 folds")
    refused(run(*SELECT, "--scoring", "neg_log_loss"), "no probabilities")
    refused(run(*SELECT, "--C", "1,x"), "'x' is not a number")
    refused(run(*SELECT, "--step", "1.5"), "neither an integer")
    refused(run(*SELECT, "--n-features", "0"), "at least 1")
    refused(run(*SELECT, "--groups", "sick"), "is the target")
    frame[["alpha", "sick"]].to_csv("table.csv", index=False)
    refused(run(*SELECT), "1 feature")
    frame.assign(sick=np.linspace(0, 1, len(frame))).to_csv("table.csv", index=False)
    refused(run(*SELECT), "continuous")
