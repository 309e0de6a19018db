"""The small parts: what is imported when, balanced rows, schedules, names of networks."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from allrelevant.saliency.rounds import balanced_rows, schedule
from allrelevant.saliency.trainers import clone_with_seed, derive_seed, predicts_classes


def test_imports_are_late() -> None:
    code = (
        "import sys, allrelevant\n"
        "print(sorted({'sklearn', 'torch', 'matplotlib'} & set(sys.modules)))\n"
        "from allrelevant import SaliencySelector, explain\n"
        "print(sorted({'torch', 'matplotlib', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines() == ["[]", "[]"]


@pytest.mark.parametrize("seed", range(5))
def test_balanced_rows(seed: int) -> None:
    codes = np.random.default_rng(seed).choice(3, 100, p=[0.7, 0.2, 0.1])
    rows = balanced_rows(codes, seed)
    counts = np.bincount(codes[rows])
    assert counts.tolist() == [np.bincount(codes).max()] * 3
    times = np.bincount(rows, minlength=100)
    for code in range(3):
        own = times[codes == code]
        assert own.min() >= 1
        assert own.max() - own.min() <= 1
    np.testing.assert_array_equal(rows, balanced_rows(codes, seed))


def test_schedule_of_the_paper() -> None:
    """While more than the stop are alive, of n the integer part of gamma n goes on."""
    for n_features, gamma, stop in ((500, 0.975, 1), (37, 0.9, 5), (8, 0.3, 1), (5, 0.0, 1)):
        expected, alive = [], n_features
        while alive > stop:
            expected.append(alive)
            alive = int(alive * gamma)
        assert schedule(n_features, gamma, stop) == expected


def test_one_round_at_least() -> None:
    """A table with no more features than the stop is ranked as well."""
    assert schedule(3, 0.9, 10) == [3]


def test_seeds_reach_every_step_of_a_pipeline() -> None:
    model = make_pipeline(StandardScaler(), MLPClassifier())
    assert clone_with_seed(model, 7).get_params()["mlpclassifier__random_state"] == 7
    assert model.get_params()["mlpclassifier__random_state"] is None
    assert "random_state" not in clone_with_seed(StandardScaler(), 7).get_params()
    seeds = {derive_seed(0, number, rep) for number in range(20) for rep in range(5)}
    assert len(seeds) == 100


def test_task_is_what_the_estimator_says_or_else_the_target() -> None:
    numbers, classes = np.array([0.5, 1.5, 2.5]), np.array(["a", "b", "a"])
    assert predicts_classes(SVC(), numbers)
    assert not predicts_classes(Ridge(), np.array([0, 1, 0]))
    assert predicts_classes(make_pipeline(StandardScaler(), LogisticRegression()), numbers)
    assert predicts_classes("mlp", classes)
    assert not predicts_classes("mlp", numbers)
