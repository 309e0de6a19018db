"""Tests of generators of data with a numeric target, ordered classes or a ranking."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import make_linear_regression, make_ordinal_classification, make_ranking
from tests.datasets.truth import copies_of_each, counts, in_order, mean_association


@pytest.mark.parametrize(
    ("make", "label_noise", "dtype"),
    [
        (make_linear_regression, {"target_noise": 0.1}, float),
        (make_ordinal_classification, {"flip": 0.1}, int),
        (make_ranking, {"flip": 0.1}, int),
    ],
)
class TestEveryTask:
    def test_shapes_order_and_copies(self, make, label_noise, dtype):
        data = make(50, n_strong=2, n_weak=4, n_irrelevant=3, random_state=0)
        assert data.X.shape == (50, 9)
        assert data.y.shape == (50,)
        assert data.y.dtype == dtype
        assert counts(data.relevance) == (2, 4, 3)
        assert in_order(data.relevance)
        assert copies_of_each(data.X[:, data.relevance == "weak"]).tolist() == [2, 2, 2, 2]

    def test_same_seed_gives_same_data(self, make, label_noise, dtype):
        one, two = (make(**label_noise, random_state=5) for _ in range(2))
        np.testing.assert_array_equal(one.X, two.X)
        np.testing.assert_array_equal(one.y, two.y)
        assert not np.array_equal(one.X, make(random_state=6).X)

    def test_irrelevant_features_are_independent_of_the_target(self, make, label_noise, dtype):
        assert 0.7 < mean_association(make, "irrelevant") < 1.3
        assert mean_association(make, "weak") > 10


def unexplained(X, y):
    """Return the norm of the least-squares residuals, relative to the norm of the target."""
    return np.linalg.norm(y - X @ np.linalg.lstsq(X, y)[0]) / np.linalg.norm(y)


class TestRegression:
    """Tests that the target is the sum of the informative features."""

    @pytest.mark.parametrize("weak", ["copies", "combinations"])
    def test_strong_features_are_necessary_and_relevant_ones_suffice(self, weak):
        data = make_linear_regression(weak=weak, random_state=1)
        relevant = np.flatnonzero(data.relevance != "irrelevant")
        assert unexplained(data.X[:, relevant], data.y) < 1e-12
        assert unexplained(data.X[:, np.delete(relevant, 5)], data.y) < 1e-12
        for strong in range(4):
            assert unexplained(np.delete(data.X, strong, axis=1), data.y) > 0.2

    def test_noise_of_target_and_features_and_seeds(self):
        clean = make_linear_regression(2000, random_state=3)
        loud = make_linear_regression(2000, target_noise=0.5, random_state=3)
        noisy = make_linear_regression(2000, noise=0.5, random_state=3)
        np.testing.assert_array_equal(clean.X, loud.X)
        np.testing.assert_array_equal(clean.y, noisy.y)
        assert np.std(loud.y - clean.y) == pytest.approx(0.5 * np.std(clean.y), rel=0.05)
        assert np.std(noisy.X - clean.X) == pytest.approx(0.5, rel=0.05)
        again = make_linear_regression(2000, target_noise=0.5, random_state=3)
        np.testing.assert_array_equal(loud.y, again.y)
        assert not np.array_equal(loud.y, make_linear_regression(2000, random_state=4).y)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_weak": 1}, "single weak"),
            ({"n_strong": 0, "n_weak": 0}, "the target depends on"),
            ({"target_noise": -0.1}, "target_noise"),
            ({"target_noise": float("nan")}, "target_noise"),
            ({"n_samples": 1}, "at least 2"),
        ],
    )
    def test_invalid_parameters_raise(self, arguments, message):
        with pytest.raises(InputError, match=message):
            make_linear_regression(**arguments)


class TestOrdinal:
    """Tests that classes are ordered by the sum of the informative features."""

    @pytest.mark.parametrize(("n_samples", "n_classes"), [(400, 4), (101, 5), (7, 7), (20, 2)])
    def test_classes_are_of_equal_size(self, n_samples, n_classes):
        y = make_ordinal_classification(n_samples, n_classes=n_classes, random_state=0).y
        sizes = np.bincount(y)
        assert len(sizes) == n_classes
        assert np.ptp(sizes) <= 1

    def test_classes_are_intervals_of_the_sum(self):
        data = make_ordinal_classification(n_strong=3, n_weak=0, random_state=0)
        total = data.X[:, :3].sum(axis=1)
        for k in range(3):
            assert total[data.y == k].max() < total[data.y == k + 1].min()

    @pytest.mark.parametrize("n_classes", [2, 3, 6])
    def test_flip_moves_a_fraction_of_rows_to_neighboring_classes(self, n_classes):
        clean = make_ordinal_classification(300, n_classes=n_classes, random_state=3)
        flipped = make_ordinal_classification(300, n_classes=n_classes, flip=0.2, random_state=3)
        step = flipped.y - clean.y
        np.testing.assert_array_equal(clean.X, flipped.X)
        assert np.abs(step).sum() == (step != 0).sum() == 60
        assert {-1, 1} <= set(step)
        assert set(flipped.y) == set(range(n_classes))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_weak": 1}, "single weak"),
            ({"n_classes": 1}, "n_classes must be at least 2"),
            ({"n_samples": 3}, r"at most n_samples = 3 \(got 4\)"),
            ({"flip": 0.5}, "below 0.5"),
            ({"flip": -0.1}, "at least 0"),
        ],
    )
    def test_invalid_parameters_raise(self, arguments, message):
        with pytest.raises(InputError, match=message):
            make_ordinal_classification(**arguments)


class TestRanking:
    """Tests that the rows with the largest sums are positive."""

    @pytest.mark.parametrize("positive", [0.01, 0.2, 0.9])
    def test_positives_rank_above_negatives(self, positive):
        data = make_ranking(300, n_strong=3, n_weak=0, positive=positive, random_state=0)
        total = data.X[:, :3].sum(axis=1)
        assert data.y.sum() == round(positive * 300)
        assert total[data.y == 1].min() > total[data.y == 0].max()

    @pytest.mark.parametrize(("flip", "expected"), [(0.0, 0), (0.1, 30), (0.15, 44), (0.3, 90)])
    def test_flip_swaps_labels_in_pairs(self, flip, expected):
        clean = make_ranking(300, random_state=3)
        flipped = make_ranking(300, flip=flip, random_state=3)
        np.testing.assert_array_equal(clean.X, flipped.X)
        assert (clean.y != flipped.y).sum() == expected
        assert clean.y.sum() == flipped.y.sum() == 60

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_weak": 1}, "single weak"),
            ({"positive": 0.0}, "both classes"),
            ({"positive": 1.0}, "both classes"),
            ({"positive": 0.001}, r"positive=0.001 .*n_samples=400.* both classes"),
            ({"flip": 0.32}, r"below .* = 0.32 \(got 0.32\)"),
            ({"positive": 0.5, "flip": 0.5}, "below .* = 0.5"),
            ({"flip": -0.1}, "at least 0"),
        ],
    )
    def test_invalid_parameters_raise(self, arguments, message):
        with pytest.raises(InputError, match=message):
            make_ranking(**arguments)
