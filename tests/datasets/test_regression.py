"""The target of a regression is what its deciding features add up to."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import make_linear_regression
from tests.datasets.truth import copies_of_each, counts, in_order, mean_association


def unexplained(X, y):
    """What is left of the target after least squares, as a share of its norm."""
    return np.linalg.norm(y - X @ np.linalg.lstsq(X, y)[0]) / np.linalg.norm(y)


def test_shapes_order_and_copies():
    data = make_linear_regression(50, n_strong=2, n_weak=4, n_irrelevant=3, random_state=0)
    assert data.X.shape == (50, 9)
    assert data.y.shape == (50,)
    assert data.y.dtype == float
    assert counts(data.relevance) == (2, 4, 3)
    assert in_order(data.relevance)
    assert copies_of_each(data.X[:, data.relevance == "weak"]).tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("weak", ["copies", "combinations"])
def test_strong_features_are_needed_and_relevant_ones_suffice(weak):
    data = make_linear_regression(weak=weak, random_state=1)
    relevant = np.flatnonzero(data.relevance != "irrelevant")
    assert unexplained(data.X[:, relevant], data.y) < 1e-12
    assert unexplained(data.X[:, np.delete(relevant, 5)], data.y) < 1e-12
    for strong in range(4):
        assert unexplained(np.delete(data.X, strong, axis=1), data.y) > 0.2


def test_noise_of_target_and_features_and_seeds():
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


def test_irrelevant_features_tell_nothing_of_the_target():
    assert 0.7 < mean_association(make_linear_regression, "irrelevant") < 1.3
    assert mean_association(make_linear_regression, "weak") > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_weak": 1}, "single weak"),
        ({"n_strong": 0, "n_weak": 0}, "decide the target"),
        ({"target_noise": -0.1}, "target_noise"),
        ({"target_noise": float("nan")}, "target_noise"),
        ({"n_samples": 1}, "at least 2"),
    ],
)
def test_impossible_tables_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        make_linear_regression(**arguments)
