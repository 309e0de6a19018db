"""The positives are the rows of the largest sum."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import make_ranking
from tests.datasets.truth import copies_of_each, counts, in_order, mean_association


def test_shapes_order_and_copies():
    data = make_ranking(50, n_strong=2, n_weak=4, n_irrelevant=3, random_state=0)
    assert data.X.shape == (50, 9)
    assert counts(data.relevance) == (2, 4, 3)
    assert in_order(data.relevance)
    assert copies_of_each(data.X[:, data.relevance == "weak"]).tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("positive", [0.01, 0.2, 0.9])
def test_positives_rank_above_negatives(positive):
    data = make_ranking(300, n_strong=3, n_weak=0, positive=positive, random_state=0)
    total = data.X[:, :3].sum(axis=1)
    assert data.y.sum() == round(positive * 300)
    assert total[data.y == 1].min() > total[data.y == 0].max()


@pytest.mark.parametrize(("flip", "expected"), [(0.0, 0), (0.1, 30), (0.15, 44), (0.3, 90)])
def test_flipping_exchanges_labels_in_pairs(flip, expected):
    clean = make_ranking(300, random_state=3)
    flipped = make_ranking(300, flip=flip, random_state=3)
    np.testing.assert_array_equal(clean.X, flipped.X)
    assert (clean.y != flipped.y).sum() == expected
    assert clean.y.sum() == flipped.y.sum() == 60


def test_seeds_repeat():
    one, two = (make_ranking(flip=0.1, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert not np.array_equal(one.X, make_ranking(random_state=6).X)


def test_irrelevant_features_tell_nothing_of_the_rank():
    assert 0.7 < mean_association(make_ranking, "irrelevant") < 1.3
    assert mean_association(make_ranking, "weak") > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_weak": 1}, "single weak"),
        ({"positive": 0.0}, "both classes"),
        ({"positive": 1.0}, "both classes"),
        ({"positive": 0.001}, "both classes: 0.001 of 400 rows"),
        ({"flip": 0.32}, "below .* = 0.32, got 0.32"),
        ({"positive": 0.5, "flip": 0.5}, "below .* = 0.5"),
        ({"flip": -0.1}, "at least 0"),
    ],
)
def test_impossible_tables_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        make_ranking(**arguments)
