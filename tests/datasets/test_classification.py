"""Tests of generators of two-class data."""

import numpy as np
import pytest
from scipy.optimize import linprog

from allrelevant import InputError
from allrelevant.datasets import (
    make_esann17,
    make_ferel18,
    make_linear_classification,
    make_planted_groups,
    make_xor,
)
from tests.datasets.truth import association, copies_of_each, counts, mean_association


class TestLinear:
    """Tests of generated linearly separable classes."""

    @pytest.mark.parametrize(
        ("setting", "n_samples", "expected"), [("A", 512, (1, 2, 11)), ("B", 256, (6, 6, 6))]
    )
    def test_ferel18_settings(self, setting, n_samples, expected):
        data = make_ferel18(setting, random_state=0)
        assert len(data.X) == n_samples
        assert counts(data.relevance) == expected

    @pytest.mark.parametrize(
        ("name", "expected"), [("I", (6, 0, 6)), ("II", (0, 6, 6)), ("III", (3, 4, 3))]
    )
    def test_esann17_data(self, name, expected):
        data = make_esann17(name, random_state=0)
        assert len(data.X) == 150
        assert counts(data.relevance) == expected

    def test_weak_copies_are_equal(self):
        data = make_linear_classification(n_strong=1, n_weak=5, n_irrelevant=1, random_state=0)
        weak = data.X[:, data.relevance == "weak"]
        assert sorted(copies_of_each(weak)) == [2, 2, 3, 3, 3]

    @pytest.mark.parametrize("n_weak", [2, 5, 6])
    def test_each_combination_is_a_linear_combination_of_the_others(self, n_weak):
        data = make_linear_classification(n_weak=n_weak, weak="combinations", random_state=0)
        weak = data.X[:, data.relevance == "weak"]
        for j in range(n_weak):
            others = np.delete(weak, j, axis=1)
            fitted = others @ np.linalg.lstsq(others, weak[:, j])[0]
            np.testing.assert_allclose(fitted, weak[:, j], atol=1e-10)
        assert len(np.unique(weak.round(12), axis=1).T) == (n_weak if n_weak > 3 else 1)

    @pytest.mark.parametrize("weak", ["copies", "combinations"])
    def test_strong_features_are_necessary_and_relevant_ones_suffice(self, weak):
        """The relevant features separate the classes linearly, but not without a strong one."""
        data = make_linear_classification(
            300, n_strong=2, n_weak=4, n_irrelevant=3, weak=weak, random_state=1
        )

        def separable(columns):
            sign = 2.0 * data.y[:, None] - 1.0
            rows = -sign * np.column_stack([data.X[:, columns], np.ones(len(data.y))])
            cost, limits = np.zeros(rows.shape[1]), -np.ones(len(rows))
            return linprog(cost, A_ub=rows, b_ub=limits, bounds=(None, None)).status == 0

        relevant = np.flatnonzero(data.relevance != "irrelevant")
        assert separable(relevant)
        assert not separable(relevant[1:])
        assert separable(np.delete(relevant, 2))

    def test_flipping_and_noise_and_seeds(self):
        clean = make_linear_classification(200, random_state=3)
        flipped = make_linear_classification(200, flip=0.1, random_state=3)
        noisy = make_linear_classification(200, noise=0.5, random_state=3)
        np.testing.assert_array_equal(clean.X, flipped.X)
        assert (clean.y != flipped.y).sum() == 20
        assert np.std(noisy.X - clean.X) == pytest.approx(0.5, rel=0.05)
        np.testing.assert_array_equal(clean.X, make_linear_classification(200, random_state=3).X)

    def test_irrelevant_features_are_independent_of_the_class(self):
        assert 0.7 < mean_association(make_linear_classification, "irrelevant") < 1.3
        assert mean_association(make_linear_classification, "strong") > 10

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_weak": 1}, "single weak"),
            ({"n_strong": 0, "n_weak": 0}, "must be positive"),
            ({"flip": 0.5}, "below 0.5"),
            ({"n_irrelevant": -1}, "negative"),
            ({"n_samples": 1}, "at least 2"),
            ({"weak": "shadows"}, "combinations"),
            ({"noise": -1.0}, "noise"),
        ],
    )
    def test_invalid_parameters_raise(self, arguments, message):
        with pytest.raises(InputError, match=message):
            make_linear_classification(**arguments)

    @pytest.mark.parametrize(("make", "name"), [(make_ferel18, "C"), (make_esann17, "IV")])
    def test_unknown_settings_raise(self, make, name):
        with pytest.raises(InputError, match=f"got '{name}'"):
            make(name)


class TestPlantedGroups:
    """Tests that the returned groups of features are substitution groups."""

    def test_members_of_a_group_replace_each_other(self):
        data = make_planted_groups(200, n_alone=2, n_pairs=2, n_triples=1, n_sums=2, random_state=0)
        for label in range(data.group.max() + 1):
            members = data.X[:, data.group == label]
            others = data.X[:, data.group != label]
            rank = np.linalg.matrix_rank(members)
            assert rank == (1 if label < 5 else 2)  # groups with sums are last
            assert np.linalg.matrix_rank(
                np.hstack([others, members])
            ) == rank + np.linalg.matrix_rank(others)
        assert (data.group == -1).sum() == 10

    def test_class_is_a_function_of_one_feature_per_group(self):
        data = make_planted_groups(200, random_state=1)
        first = [data.X[:, np.flatnonzero(data.group == label)[0]] for label in range(3)]
        total = np.sum(first, axis=0) + np.sqrt(2.0) * data.X[:, 8]
        np.testing.assert_array_equal(data.y, (total > 0).astype(int))

    def test_flipped_labels_and_invalid_parameters(self):
        clean, noisy = (make_planted_groups(100, flip=flip, random_state=0) for flip in (0.0, 0.2))
        assert (clean.y != noisy.y).sum() == 20
        with pytest.raises(InputError, match="must not be negative"):
            make_planted_groups(n_pairs=-1)
        with pytest.raises(InputError, match="flip"):
            make_planted_groups(flip=0.7)


class TestXor:
    """Tests of the generator of XOR data."""

    def test_clusters_and_classes_have_equal_sizes(self):
        data = make_xor(101, noise=0.0, spread=0.0, random_state=0)
        _, sizes = np.unique(data.X[:, [0, 3]], axis=0, return_counts=True)
        assert sorted(sizes) == [25, 25, 25, 26]
        assert abs(2 * data.y.sum() - 101) == 1

    def test_the_class_is_the_xor_of_two_coordinates(self):
        data = make_xor(random_state=0)
        for copy in range(3):
            np.testing.assert_array_equal(data.y, (data.X[:, copy] > 0) ^ (data.X[:, 3] > 0))

    def test_no_single_feature_is_correlated_with_the_class(self):
        tables = [make_xor(random_state=seed) for seed in range(30)]
        for feature in range(6):
            assert np.mean([association(t.X, t.y)[feature] for t in tables]) < 2

    def test_copies_differ_by_noise_and_irrelevant_features_are_equal(self):
        data = make_xor(20_000, noise=0.3, random_state=0)
        assert np.std(data.X[:, 0] - data.X[:, 1]) == pytest.approx(0.3 * np.sqrt(2), rel=0.03)
        np.testing.assert_array_equal(data.X[:, 4], data.X[:, 5])
        assert np.abs(np.corrcoef(data.X[:, [0, 3, 4]].T) - np.eye(3)).max() < 0.03

    def test_same_seed_gives_same_data(self):
        one, two = (make_xor(random_state=5) for _ in range(2))
        np.testing.assert_array_equal(one.X, two.X)
        np.testing.assert_array_equal(one.y, two.y)
        assert not np.array_equal(one.X, make_xor(random_state=6).X)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_samples": 3}, "at least 4"),
            ({"noise": -0.1}, "noise must be"),
            ({"spread": float("nan")}, "spread must be"),
        ],
    )
    def test_invalid_parameters_raise(self, arguments, message):
        with pytest.raises(InputError, match=message):
            make_xor(**arguments)
