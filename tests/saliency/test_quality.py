"""Tests of scores on held-out rows and of the certainty of predictions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVC, SVR

from allrelevant.resampling import fold_numbers
from allrelevant.saliency.quality import (
    COVERAGE,
    N_SIMILAR,
    HeldOutPredictions,
    Quality,
    decision_margins,
    predict_held_out,
)


def cross_validate(model: SVC | SVR, X: np.ndarray, y: np.ndarray) -> Quality:
    return predict_held_out(model, X, y, seed=0).quality()


def test_scores_are_computed_on_held_out_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), np.repeat(["a", "b"], 100)  # sorted labels, no signal
    overfitting = SVC(gamma=100.0)
    assert overfitting.fit(X, y).score(X, y) == 1.0
    found = cross_validate(overfitting, X, y)
    assert found.score < 0.65
    assert found.dummy_score == pytest.approx(0.5)
    assert cross_validate(overfitting, X, y) == found
    numbers = cross_validate(SVR(gamma=100.0), X, X[:, 0])
    assert (numbers.name, numbers.dummy_score) == ("R2", 0.0)
    assert numbers.score < 0.2
    assert cross_validate(SVR(kernel="linear"), X, X[:, 0]).score > 0.9


def test_folds_do_not_split_groups() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 4)
    X, y = rng.normal(size=(50, 5))[groups], np.repeat(["a", "b"], 100)
    assert cross_validate(SVC(gamma=100.0), X, y).score > 0.95
    found = predict_held_out(SVC(gamma=100.0), X, y, seed=0, row_groups=groups).quality()
    assert found.score < 0.7


def test_scores_are_weighted() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X, weight = rng.normal(size=(100, 2)), 1.0 + 9.0 * y
    held_out = predict_held_out(SVC(C=1e-3), X, y, seed=0, weight=weight)
    assert (held_out.predicted == 1).all()  # the class with the larger total weight
    found = held_out.quality()
    assert found.score == found.dummy_score == pytest.approx(10 / 11)


def test_scores_of_rare_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [95, 5])
    X = rng.normal(size=(100, 1)) + 2.0 * y[:, None]
    balanced = cross_validate(SVC(class_weight="balanced"), X, y)
    assert (balanced.name, balanced.dummy_score) == ("balanced accuracy", 0.5)
    assert not balanced.is_poor
    # Each held-out fold has one row of the rare class; the other four are used for training.
    assert balanced.score in {
        balanced_accuracy_score(y, np.repeat([0, 1, 0, 1], [95 - m, m, 5 - r, r]))
        for m in range(96)
        for r in range(1, 6)
    }
    alone = cross_validate(SVC(), X[:96], y[:96])
    # Without the only row of the rare class, the training fold has a single class.
    assert alone.score == pytest.approx(95 / 96)
    assert alone.dummy_score == pytest.approx(95 / 96)
    assert alone.is_poor


def test_margins_of_two_classes_are_absolute_decisions() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, "yes", "no")
    model = SVC().fit(X, y)
    margins = decision_margins(model, X)
    # Outputs are the decision value and its negative, so they differ by twice this value.
    np.testing.assert_allclose(margins, 2 * np.abs(model.decision_function(X)))


def test_margins_come_from_models_trained_without_the_fold() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    found = predict_held_out(SVC(), X, y, seed=3)
    folds = fold_numbers(y, 5, 3)
    assert found.margins is not None
    for fold in range(5):
        out = folds == fold
        model = SVC().fit(X[~out], y[~out])
        np.testing.assert_array_equal(found.predicted[out], model.predict(X[out]))
        np.testing.assert_allclose(found.margins[out], 2 * np.abs(model.decision_function(X[out])))


def test_certainty_counts_rows_with_similar_margins() -> None:
    margins = np.arange(100) / 100.0
    predicted = np.repeat("a", 100)
    predicted[::2] = "b"
    y = np.where(margins < 0.5, "b", predicted)  # predictions of "a" are wrong for small margins
    held_out = HeldOutPredictions(y, predicted, margins, 5, balanced=False)
    for margin in (0.1, 0.5, 0.9):
        found = held_out.class_certainty("a", margin)
        same = np.flatnonzero(predicted == "a")
        nearest = sorted(same, key=lambda row: abs(margins[row] - margin))[:N_SIMILAR]
        assert found.n_similar == N_SIMILAR
        assert found.n_correct == sum(y[row] == "a" for row in nearest)
    assert held_out.class_certainty("a", 0.1).n_correct < 10
    assert held_out.class_certainty("a", 0.9).n_correct > 20
    assert held_out.class_certainty("c", 0.5).n_similar == 0


def test_certainty_of_few_rows() -> None:
    held_out = HeldOutPredictions(
        np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), 3, balanced=False
    )
    found = held_out.class_certainty(1, 0.0)
    assert (found.n_correct, found.n_similar) == (1, 2)


@pytest.mark.parametrize("n_rows", [1, 9, 10, 101])
def test_error_of_numeric_predictions(n_rows: int) -> None:
    errors = np.random.default_rng(0).permutation(np.arange(1, n_rows + 1)) * 1.0
    held_out = HeldOutPredictions(np.zeros(n_rows), errors, None, 5, balanced=False)
    found = held_out.error_certainty()
    assert (np.abs(errors) <= found.error).mean() >= COVERAGE
    assert (np.abs(errors) < found.error).mean() < COVERAGE
    assert (found.fraction, found.n_rows) == (COVERAGE, n_rows)
