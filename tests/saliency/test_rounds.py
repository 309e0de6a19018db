"""Tests of the rounds of a selection: schedule, balanced rows, weighted repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from allrelevant import SaliencySelector
from allrelevant.checkpoints import Checkpoint
from allrelevant.saliency import OutputGain
from allrelevant.saliency.backends.sklearn_models import LinearForm
from allrelevant.saliency.rounds import Rounds, TrainingTask, balanced_rows, schedule
from allrelevant.terms.layout import WeightLayout


@pytest.mark.parametrize("seed", range(5))
def test_balanced_rows(seed: int) -> None:
    codes = np.random.default_rng(seed).choice(3, 100, p=[0.7, 0.2, 0.1])
    rows = balanced_rows(codes, seed)
    counts = np.bincount(codes[rows])
    assert counts.tolist() == [np.bincount(codes).max()] * 3
    times = np.bincount(rows, minlength=100)
    for code in range(3):
        class_times = times[codes == code]
        assert class_times.min() >= 1
        assert class_times.max() - class_times.min() <= 1
    np.testing.assert_array_equal(rows, balanced_rows(codes, seed))


def test_schedule_of_the_paper() -> None:
    """Each round keeps int(gamma * n) of n features, while more than ``stop`` are active."""
    for n_features, gamma, stop in ((500, 0.975, 1), (37, 0.9, 5), (8, 0.3, 1), (5, 0.0, 1)):
        expected, active = [], n_features
        while active > stop:
            expected.append(active)
            active = int(active * gamma)
        assert schedule(n_features, gamma, stop) == expected


def test_at_least_one_round() -> None:
    """A table with at most ``stop`` features is ranked in a single round."""
    assert schedule(3, 0.9, 10) == [3]


def test_repetitions_are_weighted_by_their_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repetition whose model misclassifies every row has weight zero."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    weights = {1: np.array([3.0, 2.0, 1.0]), 2: np.array([-3.0, -2.0, -1.0])}
    y = (X @ weights[1] > 0).astype(int)
    gain = OutputGain()

    def train(self: TrainingTask, X: Any, seed: int) -> LinearForm:
        return LinearForm(np.outer([0.0, 1.0], weights[seed]), np.zeros(2), gain)

    monkeypatch.setattr(TrainingTask, "train", train)
    monkeypatch.setattr(
        "allrelevant.saliency.rounds.derive_seed", lambda entropy, number, rep: rep + 1
    )
    task = SaliencySelector(LogisticRegression())._training_task(y, WeightLayout(3))
    series = Checkpoint(None).series("rounds")
    both = Rounds(task, X, [3], 2, 0, None).run(np.arange(3), series, lambda: None)[0]
    first = Rounds(task, X, [3], 1, 0, None).run(np.arange(3), series, lambda: None)[0]
    assert both.scores == [1.0, 0.0]
    np.testing.assert_array_equal(both.saliency, first.saliency)
