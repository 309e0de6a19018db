"""Tests of the choice of a subset, of held-out scores and of the stability of a selection."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.subsets import PathScores, SelectionStability, choose_size, standard_errors

SIZES = np.array([4, 3, 2, 1])
FOLD_SCORES = np.array([[0.9, 0.8], [0.95, 0.85], [0.9, 0.85], [0.5, 0.6]])
NO_MARGINS = np.zeros((4, 2))


def test_best_has_the_highest_mean_and_one_se_is_the_smallest_within_a_standard_error():
    assert choose_size("best", SIZES, FOLD_SCORES, NO_MARGINS) == 3
    assert choose_size("one_se", SIZES, FOLD_SCORES, NO_MARGINS) == 2


def test_ties_go_to_the_margin_and_then_to_the_smallest_subset():
    perfect = np.ones((4, 2))
    margins = np.array([[0.8, 0.9], [0.9, 0.9], [0.9, 0.9], [0.2, 0.3]])
    assert choose_size("best", SIZES, perfect, margins) == 2
    assert choose_size("smallest_best", SIZES, perfect, margins) == 1
    assert choose_size("best", SIZES, perfect, NO_MARGINS) == 1


def test_a_number_is_returned_unchanged_and_rules_require_scores():
    assert choose_size(2, SIZES, FOLD_SCORES, NO_MARGINS) == 2
    with pytest.raises(InputError, match="requires scores"):
        choose_size("best", SIZES, np.empty((4, 0)), np.empty((4, 0)))
    with pytest.raises(InputError, match="must be 'best', 'smallest_best', 'one_se' or a number"):
        choose_size("worst", SIZES, FOLD_SCORES, NO_MARGINS)  # type: ignore[arg-type]


def path(scores: np.ndarray, rankings: np.ndarray) -> PathScores:
    return PathScores(SIZES, scores, np.zeros_like(scores), rankings, 0.5)


def test_size_of_a_fold_is_chosen_on_the_other_folds():
    scores = np.array([[0.5, 0.9, 0.9], [0.9, 0.6, 0.6], [0.1, 0.2, 0.3], [0.0, 0.0, 0.0]])
    rankings = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [2, 1, 4, 3]])
    held_out = path(scores, rankings).held_out("best")
    assert held_out is not None
    assert held_out.n_features.tolist() == [4, 3, 3]
    assert held_out.scores.tolist() == [0.5, 0.6, 0.6]
    assert held_out.support.sum(axis=1).tolist() == [4, 3, 3]
    assert held_out.support[1].tolist() == [False, True, True, True]
    assert held_out.all_features == pytest.approx(2.3 / 3)
    assert held_out.standard_error == pytest.approx(np.std([0.5, 0.6, 0.6], ddof=1) / np.sqrt(3))
    assert held_out.constant == 0.5
    assert not held_out.nested
    fixed = path(scores, rankings).held_out(2)
    assert fixed is not None
    assert fixed.scores.tolist() == [0.1, 0.2, 0.3]


def test_choosing_the_best_of_many_noise_scores_is_not_rewarded():
    """The best of many subsets exceeds chance; the held-out score does not."""
    best, held_out = [], []
    for seed in range(200):
        scores = np.random.default_rng(seed).normal(0.5, 0.1, size=(30, 5))
        sizes = np.arange(30, 0, -1)
        noise = PathScores(sizes, scores, np.zeros_like(scores), np.ones((5, 30), int), 0.5)
        best.append(scores.mean(axis=1).max())
        held_out.append(noise.held_out("best").score)  # type: ignore[union-attr]
    assert np.mean(best) > 0.55
    assert np.mean(held_out) == pytest.approx(0.5, abs=0.01)


def test_rankings_on_all_rows_or_a_single_fold_have_no_held_out_score():
    assert path(FOLD_SCORES, np.empty((0, 4), dtype=int)).held_out("best") is None
    assert path(FOLD_SCORES[:, :1], np.ones((1, 4), dtype=int)).held_out("best") is None
    assert standard_errors(FOLD_SCORES[:, :1]).tolist() == [0, 0, 0, 0]


def test_stability_of_equal_random_and_trivial_selections():
    same = SelectionStability(np.tile([True, True, False, False, False], (6, 1)))
    assert same.nogueira == 1.0
    assert same.frequency.tolist() == [1, 1, 0, 0, 0]
    rng = np.random.default_rng(0)
    random = SelectionStability(rng.random((2_000, 30)) < 0.3)
    assert random.nogueira == pytest.approx(0, abs=0.01)
    assert SelectionStability(np.ones((3, 4), dtype=bool)).nogueira == 1.0
    assert np.isnan(SelectionStability(np.ones((1, 4), dtype=bool)).nogueira)


def test_stability_of_a_worked_example():
    """Variances of the definition, by hand: p = (1, 2/3, 1/3, 0) in three samples."""
    support = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    variance = (3 / 2) * (2 / 9 + 2 / 9) / 4
    assert SelectionStability(support).nogueira == pytest.approx(1 - variance / 0.25)
    assert SelectionStability(support).n_features.tolist() == [2, 2, 2]
