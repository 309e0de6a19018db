"""Ordered classes follow the order of the sum of their deciding features."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import make_ordinal_classification
from tests.datasets.truth import copies_of_each, counts, in_order, mean_association


def test_shapes_order_and_copies():
    data = make_ordinal_classification(50, n_strong=2, n_weak=4, n_irrelevant=3, random_state=0)
    assert data.X.shape == (50, 9)
    assert counts(data.relevance) == (2, 4, 3)
    assert in_order(data.relevance)
    assert copies_of_each(data.X[:, data.relevance == "weak"]).tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(("n_samples", "n_classes"), [(400, 4), (101, 5), (7, 7), (20, 2)])
def test_classes_are_of_equal_size(n_samples, n_classes):
    y = make_ordinal_classification(n_samples, n_classes=n_classes, random_state=0).y
    sizes = np.bincount(y)
    assert len(sizes) == n_classes
    assert np.ptp(sizes) <= 1


def test_classes_are_slices_of_the_sum():
    data = make_ordinal_classification(n_strong=3, n_weak=0, random_state=0)
    total = data.X[:, :3].sum(axis=1)
    for k in range(3):
        assert total[data.y == k].max() < total[data.y == k + 1].min()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_flipping_moves_as_many_rows_as_promised_to_a_neighbour(n_classes):
    clean = make_ordinal_classification(300, n_classes=n_classes, random_state=3)
    flipped = make_ordinal_classification(300, n_classes=n_classes, flip=0.2, random_state=3)
    step = flipped.y - clean.y
    np.testing.assert_array_equal(clean.X, flipped.X)
    assert np.abs(step).sum() == (step != 0).sum() == 60
    assert {-1, 1} <= set(step)
    assert set(flipped.y) == set(range(n_classes))


def test_seeds_repeat():
    one, two = (make_ordinal_classification(flip=0.1, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert not np.array_equal(one.X, make_ordinal_classification(random_state=6).X)


def test_irrelevant_features_tell_nothing_of_the_class():
    assert 0.7 < mean_association(make_ordinal_classification, "irrelevant") < 1.3
    assert mean_association(make_ordinal_classification, "weak") > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_weak": 1}, "single weak"),
        ({"n_classes": 1}, "n_classes must be at least 2"),
        ({"n_samples": 3}, r"at most n_samples \(3\), got 4"),
        ({"flip": 0.5}, "below 0.5"),
        ({"flip": -0.1}, "at least 0"),
    ],
)
def test_impossible_tables_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        make_ordinal_classification(**arguments)
