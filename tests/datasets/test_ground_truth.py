"""A table is made as planned."""

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
    plan = TableSpec(30, n_strong, n_weak, n_irrelevant, weak)
    rng = np.random.RandomState(0)
    deciding = plan.deciding(rng)
    X = plan.table(deciding, rng)
    assert X.shape == (30, sum(expected))
    assert deciding.shape == (30, n_strong + n_weak // 2)
    assert counts(plan.relevance) == expected
    assert in_order(plan.relevance)
    np.testing.assert_array_equal(X[:, :n_strong], deciding[:, :n_strong])


@pytest.mark.parametrize("weak", ["copies", "combinations"])
def test_the_weak_features_hold_all_that_is_hidden(weak):
    plan = TableSpec(50, 1, 7, 2, weak=weak)
    rng = np.random.RandomState(1)
    deciding = plan.deciding(rng)
    weak_columns = plan.table(deciding, rng)[:, plan.relevance == "weak"]
    assert np.linalg.matrix_rank(weak_columns) == 3
    assert np.linalg.matrix_rank(np.hstack([weak_columns, deciding[:, 1:]])) == 3


def test_deciding_and_irrelevant_features_take_the_values_asked_for():
    def constant(rng, shape):
        return np.full(shape, 7.0)

    plan, rng = TableSpec(10, 1, 2, 3), np.random.RandomState(0)
    deciding = plan.deciding(rng, constant)
    np.testing.assert_array_equal(plan.table(deciding, rng, constant), 7.0)


def test_noise_leaves_the_deciding_features_alone():
    plan, rng = TableSpec(500, 2, 2, 2, noise=0.5), np.random.RandomState(0)
    deciding = plan.deciding(rng)
    before = deciding.copy()
    X = plan.table(deciding, rng)
    np.testing.assert_array_equal(deciding, before)
    assert np.std(X[:, :2] - deciding[:, :2]) == pytest.approx(0.5, rel=0.1)


def test_messages_use_the_names_of_the_caller():
    plan = TableSpec(10, 1, 2, 0, suffix="_privileged")
    with pytest.raises(InputError, match="n_weak_privileged is 0 or >= 2"):
        replace(plan, n_weak=1)
    with pytest.raises(InputError, match=r"n_strong_privileged \+ n_weak_privileged is 0"):
        replace(plan, n_strong=0, n_weak=0)
