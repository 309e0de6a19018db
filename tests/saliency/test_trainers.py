"""Tests of model training: seeds, inferred tasks and one-line errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from allrelevant import InputError, SaliencySelector
from allrelevant.exceptions import WorkerDiedError
from allrelevant.saliency.trainers import (
    clone_with_seed,
    derive_seed,
    draw_entropy,
    predicts_classes,
    report_training_errors,
)


def test_seeds_reach_every_step_of_a_pipeline() -> None:
    model = make_pipeline(StandardScaler(), MLPClassifier())
    assert clone_with_seed(model, 7).get_params()["mlpclassifier__random_state"] == 7
    assert model.get_params()["mlpclassifier__random_state"] is None
    assert "random_state" not in clone_with_seed(StandardScaler(), 7).get_params()
    seeds = {derive_seed(0, number, rep) for number in range(20) for rep in range(5)}
    assert len(seeds) == 100


def test_task_depends_on_the_estimator_or_else_on_the_target() -> None:
    numbers, classes = np.array([0.5, 1.5, 2.5]), np.array(["a", "b", "a"])
    assert predicts_classes(SVC(), numbers)
    assert not predicts_classes(Ridge(), np.array([0, 1, 0]))
    assert predicts_classes(make_pipeline(StandardScaler(), LogisticRegression()), numbers)
    assert predicts_classes("mlp", classes)
    assert not predicts_classes("mlp", numbers)


def test_source_of_the_entropy():
    state = np.random.RandomState(0)
    inner = make_pipeline(StandardScaler(), MLPClassifier(random_state=state))
    assert draw_entropy(None, inner) == draw_entropy(None, inner)  # the state is not advanced
    assert draw_entropy(3, inner) == draw_entropy(3, "mlp")
    assert draw_entropy(None, MLPClassifier()) != draw_entropy(None, MLPClassifier())


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("No rows."), "Here: No rows."),
        (RuntimeError("Sizes differ.\nException raised from f"), "Here: Sizes differ."),
        (RuntimeError("CUDA out of memory."), "Here: CUDA out of memory (lower batch_size, or use"),
        (RuntimeError(), "Here: RuntimeError"),
        (ValueError("optimizer got an empty parameter list"), "list (the network has no weights"),
        (
            RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 6x8)"),
            "keep_shape=True",
        ),
    ],
)
def test_error_names_the_step_and_the_cause(error, line):
    with pytest.raises(InputError) as caught, report_training_errors("Here"):
        raise error
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [WorkerDiedError("Task 3 died."), KeyError("a"), TypeError("b")])
def test_worker_crashes_and_bugs_are_not_converted(error):
    with pytest.raises(type(error)) as caught, report_training_errors("Here"):
        raise error
    assert caught.value is error


class FixedWidthModel(LogisticRegression):
    """Model that rejects rows with fewer than four columns, like a PyTorch network."""

    def fit(self, X, y):
        if X.shape[1] < 4:
            raise RuntimeError("shapes cannot be multiplied\nwith more lines")
        return super().fit(X, y)


def test_error_names_the_round_or_the_final_training():
    X, y = [[0.0, 1, 2, 0], [1, 0, 2, 1], [0, 1, 0, 1], [1, 0, 1, 1]], [0, 1, 0, 1]
    with pytest.raises(InputError, match=r"in round 2 of 2 \(2 features\): shapes .*keep_shape"):
        SaliencySelector(FixedWidthModel(), keep_fraction=0.5, n_features_to_select=2).fit(X, y)
    with pytest.raises(InputError, match=r"^Training failed on the 2 selected features: shapes"):
        SaliencySelector(FixedWidthModel(), keep_fraction=0.0, n_features_to_select=2).fit(X, y)
