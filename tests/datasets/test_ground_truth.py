"""Tests of data generators: shapes, order of the features, distributions and messages."""

from dataclasses import replace

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets._ground_truth import TableSpec
from tests.datasets.truth import counts, in_order


@pytest.mark.parametrize("weak", ["copies", "combinations"])
@pytest.mark.parametrize("expected", [(2, 5, 3), (0, 2, 0), (1, 0, 4)])
def test_shapes_and_order(expected, weak):
    n_strong, n_weak, n_irrelevant = expected
    spec = TableSpec(30, n_strong, n_weak, n_irrelevant, weak)
    rng = np.random.RandomState(0)
    informative = spec.draw_informative(rng)
    X = spec.table(informative, rng)
    assert X.shape == (30, sum(expected))
    assert informative.shape == (30, n_strong + n_weak // 2)
    assert counts(spec.relevance) == expected
    assert in_order(spec.relevance)
    np.testing.assert_array_equal(X[:, :n_strong], informative[:, :n_strong])


@pytest.mark.parametrize("weak", ["copies", "combinations"])
def test_weak_features_span_the_hidden_features(weak):
    spec = TableSpec(50, 1, 7, 2, weak=weak)
    rng = np.random.RandomState(1)
    informative = spec.draw_informative(rng)
    weak_columns = spec.table(informative, rng)[:, spec.relevance == "weak"]
    assert np.linalg.matrix_rank(weak_columns) == 3
    assert np.linalg.matrix_rank(np.hstack([weak_columns, informative[:, 1:]])) == 3


def test_values_can_be_drawn_from_a_custom_distribution():
    def constant(rng, shape):
        return np.full(shape, 7.0)

    spec, rng = TableSpec(10, 1, 2, 3), np.random.RandomState(0)
    informative = spec.draw_informative(rng, constant)
    np.testing.assert_array_equal(spec.table(informative, rng, constant), 7.0)


def test_noise_does_not_change_the_informative_features():
    spec, rng = TableSpec(500, 2, 2, 2, noise=0.5), np.random.RandomState(0)
    informative = spec.draw_informative(rng)
    before = informative.copy()
    X = spec.table(informative, rng)
    np.testing.assert_array_equal(informative, before)
    assert np.std(X[:, :2] - informative[:, :2]) == pytest.approx(0.5, rel=0.1)


def test_messages_contain_the_parameter_names_of_the_caller():
    spec = TableSpec(10, 1, 2, 0, suffix="_privileged")
    with pytest.raises(InputError, match="n_weak_privileged must be 0 or at least 2"):
        replace(spec, n_weak=1)
    with pytest.raises(InputError, match=r"n_strong_privileged \+ n_weak_privileged must"):
        replace(spec, n_strong=0, n_weak=0)
