"""Tests of ``allrelevant select --method saliency``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from sklearn.svm import SVC, SVR

from allrelevant import SaliencySelector

from .outcomes import refused, result

Run = Callable[..., Result]
SELECT = ["select", "table.csv", "-t", "sick", "--no-bounds", "--json", "result.json"]
SELECT += ["--method", "saliency"]


def test_result_matches_the_estimator(run: Run, frame: pd.DataFrame) -> None:
    done = run(
        *SELECT, "--kernel", "rbf", "--gamma", "0.3", "--keep-fraction", "0.5", "--n-features", "2"
    )
    assert done.exit_code == 0, done.stderr
    model = SVC(kernel="rbf", gamma=0.3, class_weight="balanced")
    expected = SaliencySelector(model, keep_fraction=0.5, random_state=0)
    expected.fit(frame.drop(columns="sick"), frame["sick"].to_numpy()).select(2)
    found = result()
    assert set(found["selected"]) == set(expected.get_feature_names_out())
    importances = [feature["importance"] for feature in found["features"]]
    np.testing.assert_allclose(importances, expected.importances_)
    assert found["score"]["held_out"]["mean"] == expected.held_out_score_.score
    assert "2 of 5 features were selected: " in done.stdout


def test_number_of_features(run: Run) -> None:
    run(*SELECT)
    assert result()["settings"]["n_features_to_select"] == "best"
    run(*SELECT, "--n-features", "0.61")
    assert result()["n_selected"] == 3
    assert result()["settings"]["n_features_to_select"] == 0.61


def test_default_method_for_numbers(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(sick=3 * frame["delta"] - frame["beta"]).to_csv("table.csv", index=False)
    done = run("select", "table.csv", "-t", "sick", "--json", "result.json", "--n-features", "2")
    assert done.exit_code == 0, done.stderr
    found = result()
    assert found["method"] == "SaliencySelector"
    assert found["bounds"]["method"] == "RegressionBounds"
    assert set(found["selected"]) == {"beta", "delta"}
    assert "the R2 is" in done.stdout


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_numeric_target(run: Run, frame: pd.DataFrame, unit: float) -> None:
    y = 3 * frame["delta"] - frame["beta"] + np.random.default_rng(0).normal(size=len(frame))
    frame.assign(sick=y * unit + 1 / 3).to_csv("table.csv", index=False)
    done = run(*SELECT, "--n-features", "2")
    assert "Task: regression" in done.stderr
    found = result()
    model = SaliencySelector(SVR(kernel="linear", gamma="auto"), random_state=0)
    model.fit(frame.drop(columns="sick"), (y - y.mean()) / y.std(ddof=0))
    assert set(found["selected"]) == {"beta", "delta"}
    # Without scaling, the unit of the target would change the cost of errors.
    np.testing.assert_allclose(
        [feature["importance"] for feature in found["features"]], model.importances_, rtol=0.05
    )
    np.testing.assert_allclose(found["values"]["mean"], (y * unit + 1 / 3).mean())
    assert found["classes"] == []
    assert found["settings"]["task"] == "regression"


def test_supported_tasks(run: Run, frame: pd.DataFrame) -> None:
    frame.assign(sick=[1, 2, 3, 4] * 20).to_csv("table.csv", index=False)
    done = run(*SELECT)
    assert "Task: classification (the target has 4 classes" in done.stderr
    assert "ordinal" not in done.stderr  # not available in this command
    assert run(*SELECT, "--task", "regression").stderr == ""
    assert result()["settings"]["task"] == "regression"
    Path("result.json").unlink()
    elimination = ["select", "table.csv", "-t", "sick", "--method", "svmrfe", "--json", "-"]
    refused(run(*elimination, "--task", "regression"), "requires --method saliency (got svmrfe)")
    refused(run(*elimination, "--n-features", "0.5"), "fraction", "--method saliency")
    refused(run(*SELECT, "--task", "regression", "--class-weight", "balanced"), "numeric")
    frame.assign(sick=np.linspace(0, 1, len(frame))).to_csv("table.csv", index=False)
    done = run(*elimination)
    refused(done, "continuous", "To predict numbers, use --method saliency")
    assert "--task" not in done.stderr
    frame.assign(sick=np.arange(len(frame))).to_csv("table.csv", index=False)
    refused(run(*elimination), "distinct values", "To predict numbers, use --method saliency")


def test_network(run: Run, frame: pd.DataFrame) -> None:
    pytest.importorskip("torch")
    frame.assign(sick=100 * frame["alpha"]).to_csv("table.csv", index=False)
    assert (
        run(*SELECT, "--model", "mlp", "--keep-fraction", "0", "--n-features", "1").exit_code == 0
    )
    found = result()
    assert found["selected"] == ["alpha"]
    assert "NetworkRegressor" in found["settings"]["estimator"]
    assert found["versions"]["torch"] == version("torch")


def test_checkpoint(run: Run) -> None:
    assert run(*SELECT, "--checkpoint", "run.ckpt").exit_code == 0
    first = result()
    assert run(*SELECT, "--checkpoint", "run.ckpt").exit_code == 0
    assert result()["history"] == first["history"]  # also the times, so no step was repeated
    Path("result.json").unlink()
    changed = [*SELECT, "--checkpoint", "run.ckpt", "--C", "3", "-q"]
    refused(run(*changed), "different: estimator__C")


def test_bad_input(run: Run) -> None:
    refused(run(*SELECT, "--candidates", "3"), "--candidates requires --method ebrfe")
    refused(run(*SELECT, "--nested-cv"), "--nested-cv requires --method svmrfe or ebrfe")
    refused(run(*SELECT, "--C", "1,2"), "several values of C")
    refused(run(*SELECT, "--n-features", "9", "-q"), "exceeds the number of features (5)")
    refused(run(*SELECT, "--class-weight", "cw2"), "Use 'balanced'")
    refused(run(*SELECT, "--keep-fraction", "1"), "below 1")
    refused(run(*SELECT, "--model", "mlp", "--kernel", "rbf"), "--kernel requires --model svm")
    refused(run("select", "table.csv", "-t", "sick", "--keep-fraction", "0.5"), "--method saliency")
