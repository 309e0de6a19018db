"""Tests that a resumed run gives exactly the same ranking, history and scores."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from allrelevant import EBRFE, SVMRFE, CheckpointError
from allrelevant.elimination.engine import Elimination
from tests.elimination.killing import assert_same, model, run_and_kill
from tests.elimination.killing import table as killed_table

SETTINGS: dict[str, Any] = {
    "n_candidates": 3,
    "cv": 3,
    "C": (0.5, 4.0),
    "kernel": "rbf",
    "nested_cv": 2,
    "step": 2,
    "random_state": 0,
}


def table(seed=0):
    return make_classification(48, 30, n_informative=4, flip_y=0.1, random_state=seed)


def assert_identical(one, other):
    assert (one.ranking_ == other.ranking_).all()
    assert one.fold_scores_.tobytes() == other.fold_scores_.tobytes()
    first, second = (model.history_.drop(columns="seconds") for model in (one, other))
    assert first.equals(second)
    assert (one.held_out_score_.scores == other.held_out_score_.scores).all()


class Interrupted(BaseException):
    """Simulated interrupt; like KeyboardInterrupt, not a subclass of Exception."""


def interrupt_after(n_steps, monkeypatch):
    n_remaining = [n_steps]
    step = Elimination._next

    def limited_step(self):
        if n_remaining[0] == 0:
            raise Interrupted
        n_remaining[0] -= 1
        return step(self)

    monkeypatch.setattr(Elimination, "_next", limited_step)


@pytest.mark.parametrize("n_steps", [0, 9, 37])
def test_resumed_run_gives_the_same_result(n_steps, tmp_path, monkeypatch):
    X, y = table()
    whole = EBRFE(**SETTINGS).fit(X, y)
    path = tmp_path / "run.ckpt"
    with monkeypatch.context() as patch:
        interrupt_after(n_steps, patch)
        with pytest.raises(Interrupted):
            EBRFE(**SETTINGS, checkpoint=path).fit(X, y)
    resumed = EBRFE(**SETTINGS, checkpoint=path).fit(X, y)
    assert_identical(resumed, whole)
    repeated = EBRFE(**SETTINGS, checkpoint=path).fit(X, y)
    assert_identical(repeated, whole)
    assert (repeated.history_["seconds"] == resumed.history_["seconds"]).all()


def test_finished_run_is_read_from_the_checkpoint(tmp_path, monkeypatch):
    X, y = table()
    path = tmp_path / "run.ckpt"
    whole = EBRFE(**SETTINGS, checkpoint=path).fit(X, y)
    monkeypatch.setattr("allrelevant.elimination.svm.PairwiseSVMs.solve", None)
    assert_identical(EBRFE(**SETTINGS, checkpoint=path).fit(X, y), whole)
    # Selection rule and n_jobs do not identify the run.
    other = EBRFE(**SETTINGS, checkpoint=path, n_features_to_select=4, n_jobs=2).fit(X, y)
    assert other.n_features_ == 4


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"C": (0.5, 4.1)}, "C"),
        ({"n_candidates": 4}, "n_candidates"),
        ({"kernel": "linear"}, "kernel"),
        ({"cv": 4}, "folds"),
        ({"nested_cv": 3}, "folds"),
        ({"scoring": "balanced_accuracy"}, "scoring"),
    ],
)
def test_different_settings_raise(change, named, tmp_path):
    X, y = table()
    path = tmp_path / "run.ckpt"
    EBRFE(**SETTINGS, checkpoint=path, min_features_to_select=28).fit(X, y)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=rf"different run \(different: {named}"):
        EBRFE(**{**SETTINGS, **change}, checkpoint=path, min_features_to_select=28).fit(X, y)
    assert path.read_bytes() == before


def test_different_data_or_method_raises(tmp_path):
    X, y = table()
    path = tmp_path / "run.ckpt"
    SVMRFE(checkpoint=path, min_features_to_select=28).fit(X, y)
    changed = X.copy()
    changed[3, 4] += 1e-12
    for other, message in ((changed, "data"), (X[:, ::-1], "data")):
        with pytest.raises(CheckpointError, match=message):
            SVMRFE(checkpoint=path, min_features_to_select=28).fit(other, y)
    with pytest.raises(CheckpointError, match="method"):
        EBRFE(checkpoint=path, min_features_to_select=28).fit(X, y)


def test_folds_shuffled_without_seed_raise(tmp_path):
    X, y = table()
    path = tmp_path / "run.ckpt"
    folds = StratifiedKFold(3, shuffle=True)
    SVMRFE(cv=folds, checkpoint=path, min_features_to_select=28).fit(X, y)
    with pytest.raises(CheckpointError, match="random_state"):
        SVMRFE(cv=folds, checkpoint=path, min_features_to_select=28).fit(X, y)


def test_copies_made_during_the_run_can_be_resumed(tmp_path, monkeypatch):
    """A run can be resumed from copies of the checkpoint database and its log."""
    X, y = table(1)
    whole = EBRFE(**SETTINGS).fit(X, y)
    rng = np.random.RandomState(0)
    path = tmp_path / "run.ckpt"
    copies: list[Path] = []
    step = Elimination._next

    def copying_step(self):
        if rng.rand() < 0.08:
            folder = tmp_path / f"copy{len(copies)}"
            folder.mkdir()
            for name in (path.name, f"{path.name}-wal"):
                if (tmp_path / name).exists():
                    shutil.copy(tmp_path / name, folder / name)
            copies.append(folder / path.name)
        return step(self)

    with monkeypatch.context() as patch:
        patch.setattr(Elimination, "_next", copying_step)
        EBRFE(**SETTINGS, checkpoint=path).fit(X, y)
    assert len(copies) > 3
    lengths = set()
    for copy in copies:
        assert_identical(EBRFE(**SETTINGS, checkpoint=copy).fit(X, y), whole)
        with sqlite3.connect(copy) as database:
            lengths.add(database.execute("SELECT count(*) FROM results").fetchone()[0])
        database.close()
    assert len(lengths) == 1


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX signals")
def test_killed_run_can_be_resumed(tmp_path):
    path = tmp_path / "run.ckpt"
    assert run_and_kill(path, 23) == 23
    resumed = model(path).fit(*killed_table())
    assert_same(resumed, model().fit(*killed_table()))


def test_missing_state_raises(tmp_path):
    X, y = killed_table()
    path = tmp_path / "run.ckpt"
    SVMRFE(n_features_to_select=5, checkpoint=path).fit(X, y)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM states")
    connection.close()
    with pytest.raises(CheckpointError, match="the state of an elimination is missing"):
        SVMRFE(n_features_to_select=5, checkpoint=path).fit(X, y)
