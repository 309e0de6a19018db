"""The xor data: what each feature says of the class, alone and together."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import make_xor
from tests.datasets.truth import association


def test_clusters_are_of_equal_size_and_classes_too():
    data = make_xor(101, noise=0.0, spread=0.0, random_state=0)
    _, sizes = np.unique(data.X[:, [0, 3]], axis=0, return_counts=True)
    assert sorted(sizes) == [25, 25, 25, 26]
    assert abs(2 * data.y.sum() - 101) == 1


def test_the_class_is_the_xor_of_two_coordinates():
    data = make_xor(random_state=0)
    for copy in range(3):
        np.testing.assert_array_equal(data.y, (data.X[:, copy] > 0) ^ (data.X[:, 3] > 0))


def test_no_feature_alone_tells_the_class():
    tables = [make_xor(random_state=seed) for seed in range(30)]
    for feature in range(6):
        assert np.mean([association(t.X, t.y)[feature] for t in tables]) < 2


def test_copies_differ_by_noise_and_irrelevant_features_are_equal():
    data = make_xor(20_000, noise=0.3, random_state=0)
    assert np.std(data.X[:, 0] - data.X[:, 1]) == pytest.approx(0.3 * np.sqrt(2), rel=0.03)
    np.testing.assert_array_equal(data.X[:, 4], data.X[:, 5])
    assert np.abs(np.corrcoef(data.X[:, [0, 3, 4]].T) - np.eye(3)).max() < 0.03


def test_seeds_repeat():
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
def test_impossible_tables_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        make_xor(**arguments)
