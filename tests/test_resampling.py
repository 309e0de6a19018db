"""Tests of folds, random splits, permutations and seeds."""

import numpy as np
import pytest

from allrelevant import InputError, RelevanceWarning
from allrelevant.resampling import (
    Labels,
    cv_splits,
    draw_seeds,
    fold_numbers,
    grouped_folds,
    permuted_copies,
    random_splits,
    shuffled_folds,
    stratified_folds,
    warn_rare_class,
)


def test_seeds_are_those_of_the_generator():
    rng = np.random.RandomState(3)
    assert draw_seeds(3, 2) + draw_seeds(rng, 1) == [*draw_seeds(3, 2), draw_seeds(3, 1)[0]]
    assert draw_seeds(3, 1)[0] == np.random.RandomState(3).randint(np.iinfo(np.int32).max)


@pytest.mark.parametrize(("n_samples", "expected"), [(20, 5), (6, 3), (5, 2)])
def test_shuffled_folds_have_two_rows_or_more(n_samples, expected):
    folds = shuffled_folds(n_samples, 5, seed=0)
    assert len(folds) == expected
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(n_samples))
    assert min(len(test) for _, test in folds) >= 2


def test_stratified_folds_are_limited_by_the_smallest_class():
    y = np.repeat([0, 1], [30, 3])
    folds = stratified_folds(y, 5, seed=0)
    assert [int(y[test].sum()) for _, test in folds] == [1, 1, 1]
    with pytest.raises(InputError, match="Pass a number instead of 'cv'"):
        stratified_folds(np.array([0, 0, 1]), 5, 0, "a number")


class TestGroupedFolds:
    row_groups = np.repeat(np.arange(12), [3, 5, 2, 4, 3, 6, 1, 3, 4, 2, 5, 2])

    def check(self, folds, n_folds):
        assert len(folds) == n_folds
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(40))
        for train, test in folds:
            assert sorted(np.r_[train, test]) == list(range(40))
            assert not set(self.row_groups[train]) & set(self.row_groups[test])

    def test_groups_stay_together(self):
        folds = grouped_folds(self.row_groups, 5, seed=0)
        self.check(folds, 5)
        other = grouped_folds(self.row_groups, 5, seed=1)
        assert not all(np.array_equal(a, b) for (_, a), (_, b) in zip(folds, other, strict=True))

    def test_classes_are_spread_over_the_folds(self):
        y = np.where(self.row_groups % 3 == 0, "yes", "no")
        folds = grouped_folds(self.row_groups, 5, seed=0, strata=y)
        self.check(folds, 4)  # four groups are of class "yes"
        assert all({*y[test]} == {"yes", "no"} for _, test in folds)

    def test_one_fold_per_group_at_most(self):
        folds = grouped_folds(np.repeat(["a", "b", "c"], 4), 5, seed=0)
        assert sorted(len(test) for _, test in folds) == [4, 4, 4]

    @pytest.mark.parametrize("strata", [None, np.repeat([0, 1], [3, 3])])
    def test_too_few_groups_raise(self, strata):
        groups = np.zeros(6) if strata is None else np.array([0, 0, 1, 2, 2, 2])
        with pytest.raises(InputError, match="requires at least two groups"):
            grouped_folds(groups, 5, seed=0, strata=strata)


def test_strata_are_spread_evenly_even_with_single_rows():
    strata = np.repeat(["a", "b", "c"], [12, 7, 1])
    folds = fold_numbers(strata, 5, seed=0)
    for stratum in "abc":
        counts = np.bincount(folds[strata == stratum], minlength=5)
        assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(folds, fold_numbers(strata, 5, seed=0))


def test_fold_numbers_keep_groups_together():
    groups = np.random.RandomState(0).randint(20, size=100)
    folds = fold_numbers(groups % 2, 5, 0, groups)
    for group in range(20):
        assert len(set(folds[groups == group])) == 1
    by_group = [folds[groups == group][0] for group in range(20)]
    assert np.bincount(by_group).tolist() == [4] * 5
    assert all(np.bincount(by_group[parity::2]).tolist() == [2] * 5 for parity in (0, 1))


def test_random_splits_keep_groups_together_and_classes_in_proportion():
    y = np.repeat([0, 1], [30, 10])
    for _, test in random_splits(y, 3, 0.2, seed=0, stratify=True):
        assert (len(test), int(y[test].sum())) == (8, 2)
    row_groups = np.arange(40) // 4
    for train, test in random_splits(y, 3, 0.2, seed=0, stratify=True, row_groups=row_groups):
        assert not set(row_groups[train]) & set(row_groups[test])
    with pytest.raises(InputError, match="cannot be split"):
        random_splits(np.arange(40), 3, 0.2, seed=0, stratify=True)


class TestCvSplits:
    labels = Labels(np.array(["a", "b"]), np.repeat([0, 1], 10))
    rows = np.arange(0, 20, 2)

    def test_folds_contain_row_numbers_of_the_whole_table(self):
        folds = cv_splits(5, self.labels, self.rows, seed=0)
        assert len(folds) == 5
        assert sorted(np.concatenate([test for _, test in folds])) == self.rows.tolist()
        for train, test in folds:
            assert sorted([*train, *test]) == self.rows.tolist()

    def test_groups_stay_together(self):
        row_groups = np.arange(20) // 4
        labels = Labels(self.labels.classes, self.labels.codes, row_groups)
        for train, test in cv_splits(2, labels, self.rows, seed=0):
            assert not set(row_groups[train]) & set(row_groups[test])

    def test_folds_are_shuffled_and_limited_by_the_smallest_class(self):
        folds = [cv_splits(9, self.labels, self.rows, seed=seed) for seed in (0, 0, 1)]
        assert [len(split) for split in folds] == [5, 5, 5]
        tests = [np.concatenate([test for _, test in split]).tolist() for split in folds]
        assert tests[0] == tests[1] != tests[2]
        with pytest.raises(InputError, match="Class 'b' has only one row \\(cv\\), but 5-fold"):
            cv_splits(5, self.labels, np.arange(11), seed=0)

    def test_numeric_targets_are_not_stratified(self):
        targets = Labels(np.empty(0), np.linspace(0, 1, 20), np.arange(20) // 4)
        for train, test in cv_splits(5, targets, targets.rows, seed=0):
            assert not set(train // 4) & set(test // 4)
        numbers = Labels(np.empty(0), np.arange(7.0))
        folds = cv_splits(5, numbers, numbers.rows, seed=0)
        assert [len(test) for _, test in folds] == [3, 2, 2]

    def test_rare_classes_are_reported(self):
        labels = Labels(np.array(["a", "b"]), np.repeat([0, 1], [10, 3]))
        with pytest.warns(RelevanceWarning, match="'b' has only 3 rows, so there are 3 folds"):
            warn_rare_class(labels, 5)
        warn_rare_class(labels, 3)

    @pytest.mark.parametrize(
        ("cv", "message"),
        [
            ([], "cv yields no folds"),
            ([([0, 1], [2])], "In fold 0 of cv, the training rows have a single class"),
            ([([0, 9], np.array([], dtype=int))], "Fold 0 of cv has no test rows"),
        ],
    )
    def test_invalid_folds_raise(self, cv, message):
        with pytest.raises(InputError, match=message):
            cv_splits(cv, self.labels, self.rows, seed=0)


def test_permuted_copies_have_the_same_values_in_a_different_order():
    columns = [np.arange(10.0), np.full(10, 3.0)]
    (copy,) = permuted_copies(columns, np.random.RandomState(0))
    assert sorted(copy) == columns[0].tolist()
    assert not np.array_equal(copy, columns[0])
