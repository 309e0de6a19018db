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

from .outcomes import refused, result, scaled

Run = Callable[..., Result]
SELECT = ["select", "table.csv", "-t", "sick", "--method", "saliency", "-o", "result.json"]


def test_result_matches_the_estimator(run: Run, frame: pd.DataFrame) -> None:
    done = run(
        *SELECT, "--kernel", "rbf", "--gamma", "0.3", "--keep-fraction", "0.5", "--n-features", "2"
    )
    assert done.exit_code == 0, done.stderr
    model = SVC(kernel="rbf", gamma=0.3)
    expected = SaliencySelector(
        model, keep_fraction=0.5, n_repeats=1, n_features_to_select=2, random_state=0
    )
    expected.fit(scaled(frame), frame["sick"].to_numpy())
    found = result()
    assert found["selected"] == list(expected.history_["features"].iloc[-1])
    importances = [feature["importance"] for feature in found["features"]]
    np.testing.assert_allclose(importances, expected.importances_)
    assert [row["n_features"] for row in found["history"]] == [5, 2]
    assert found["score"]["inner"] is None
    assert "2 features selected by SaliencySelector" in done.stdout


def test_half_of_the_features_by_default(run: Run) -> None:
    done = run(*SELECT)
    assert "2 features selected by SaliencySelector (half of the features," in done.stdout
    assert result()["n_selected"] == 2
    fraction = run(*SELECT, "--n-features", "0.61")
    assert result()["n_selected"] == 3
    assert "no --n-features" not in fraction.stdout


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_numeric_target(run: Run, frame: pd.DataFrame, unit: float) -> None:
    y = 3 * frame["delta"] - frame["beta"] + np.random.default_rng(0).normal(size=len(frame))
    frame.assign(sick=y * unit + 1 / 3).to_csv("table.csv", index=False)
    done = run(*SELECT, "--n-features", "2")
    assert "Task: regression" in done.stderr
    found = result()
    model = SaliencySelector(SVR(kernel="linear", gamma="auto"), n_repeats=1, random_state=0)
    model.fit(scaled(frame), (y - y.mean()) / y.std(ddof=0))
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
    elimination = ["select", "table.csv", "-t", "sick", "-o", "-"]
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
    refused(run(*SELECT, "--n-features", "one_se"), "requires scores")
    refused(run(*SELECT, "--n-features", "best"), "requires scores", "Pass a number or a fraction")
    refused(run(*SELECT, "--n-features", "9", "-q"), "Cannot select 9 of 5")
    refused(run(*SELECT, "--groups", "alpha"), "cross-validation")
    refused(run(*SELECT, "--class-weight", "cw2"), "Use 'balanced'")
    refused(run(*SELECT, "--keep-fraction", "1"), "below 1")
    refused(run(*SELECT, "--model", "mlp", "--kernel", "rbf"), "--kernel requires --model svm")
    refused(run("select", "table.csv", "-t", "sick", "--keep-fraction", "0.5"), "--method saliency")
