"""Tests of the choice of a subset, of held-out scores and of the stability of a selection."""

import numpy as np
import pytest
from scipy import stats

from allrelevant import InputError
from allrelevant.subsets import (
    FoldOverlap,
    HeldOutScore,
    PathScores,
    SelectionStability,
    choose_size,
    standard_errors,
)

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


def k_folds(n_folds: int) -> FoldOverlap:
    """Return the overlap of folds that hold out one row each."""
    rows = np.arange(n_folds)
    return FoldOverlap.from_folds([(np.delete(rows, k), rows[k : k + 1]) for k in rows])


def path(scores: np.ndarray, rankings: np.ndarray) -> PathScores:
    margins = np.zeros_like(scores)
    return PathScores(SIZES, scores, margins, rankings, 0.5, k_folds(scores.shape[1]))


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
    deviation = np.std([0.5, 0.6, 0.6], ddof=1)
    assert held_out.standard_error == pytest.approx(deviation * np.sqrt(1 / 3 + 1 / 2))
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
        margins, rankings = np.zeros_like(scores), np.ones((5, 30), int)
        noise = PathScores(sizes, scores, margins, rankings, 0.5, k_folds(5))
        best.append(scores.mean(axis=1).max())
        held_out.append(noise.held_out("best").score)  # type: ignore[union-attr]
    assert np.mean(best) > 0.55
    assert np.mean(held_out) == pytest.approx(0.5, abs=0.01)


def test_folds_that_share_held_out_rows_do_not_choose_the_size():
    """Two repetitions of two folds: the size of a fold is chosen on one other fold only."""
    rows = np.arange(8)
    halves = [rows[:4], rows[4:], rows[::2], rows[1::2]]
    overlap = FoldOverlap.from_folds([(np.setdiff1d(rows, half), half) for half in halves])
    other = np.array([1, 0, 3, 2])
    assert overlap.disjoint.tolist() == (np.arange(4) == other[:, None]).tolist()
    assert overlap.test_ratio == 1.0
    scores = np.array([[0.9, 0.1, 0.2, 0.3], [0.0, 0.8, 0.1, 0.1]] * 2)[:, :4]
    scores[2:] = -1.0
    repeated = PathScores(
        SIZES, scores, np.zeros_like(scores), np.ones((4, 4), dtype=int), 0.5, overlap
    )
    held_out = repeated.held_out("best")
    assert held_out is not None
    assert held_out.n_features.tolist() == [3, 4, 4, 4]
    without = FoldOverlap(np.zeros((4, 4), dtype=bool), 1.0)
    shared = PathScores(SIZES, scores, scores, np.ones((4, 4), dtype=int), 0.5, without)
    assert shared.held_out("best") is None


def test_standard_error_is_that_of_repeated_samples():
    """Fold scores with correlation test / (train + test), as Nadeau and Bengio (2003) assume."""
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=(20_000, 1)), rng.normal(size=(20_000, 5))
    scores = np.sqrt(0.2) * shared + np.sqrt(0.8) * own
    support = np.ones((5, 2), dtype=bool)
    errors = [
        HeldOutScore(row, support.sum(axis=1), support, row, 0.5, 1 / 4, nested=True).standard_error
        for row in scores[:5_000]
    ]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(scores.mean(axis=1).std(), rel=0.03)


def test_difference_of_scores():
    def pvalue(differences: np.ndarray) -> float:
        n_folds = len(differences)
        support = np.ones((n_folds, 2), dtype=bool)
        return HeldOutScore(
            0.5 + differences,
            support.sum(axis=1),
            support,
            np.full(n_folds, 0.5),
            0.5,
            1 / max(1, n_folds - 1),
            nested=False,
        ).difference_pvalue

    differences = np.random.default_rng(0).normal(0.02, 0.03, size=10)
    assert 0.001 < pvalue(differences) < 0.5
    assert pvalue(-differences) == pytest.approx(pvalue(differences))
    plain = stats.ttest_1samp(differences, 0.0)
    # The correction multiplies the standard error by a constant.
    corrected = plain.statistic / np.sqrt(10 * (1 / 10 + 1 / 9))
    assert pvalue(differences) == pytest.approx(2 * stats.t.sf(corrected, 9))
    assert pvalue(np.zeros(5)) == 1.0
    assert pvalue(np.array([0.5])) == 1.0
    assert pvalue(np.full(4, 0.25)) == 0.0


def test_rankings_on_all_rows_or_a_single_fold_have_no_held_out_score():
    assert path(FOLD_SCORES, np.empty((0, 4), dtype=int)).held_out("best") is None
    rows = np.arange(2)
    one_fold = FoldOverlap.from_folds([(rows[:1], rows[1:])])
    single = PathScores(SIZES, FOLD_SCORES[:, :1], NO_MARGINS[:, :1], SIZES[None], 0.5, one_fold)
    assert single.held_out("best") is None
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
