"""The cost is the paper's, and its gradient is that of the cost."""

import numpy as np
import pytest

from allrelevant.metric_learning.costs import GmlvqCost, lost_directions, squared_distances
from tests.metrics.naive import naive_gmlvq, numeric_gradient, random_problem


def problem(seed, rank, per_class):
    X, codes, rng = random_problem(seed)
    labels = np.repeat(np.arange(3), per_class)
    prototypes = X[rng.permutation(len(X))[: len(labels)]] + 0.1
    return X, codes, labels, prototypes, rng.normal(size=(rank, X.shape[1]))


@pytest.mark.parametrize("beta", [0.3, 2.0, 10.0])
@pytest.mark.parametrize(("rank", "per_class"), [(1, 1), (2, [1, 3, 2]), (5, 2)])
def test_cost_is_the_papers(rank, per_class, beta):
    for seed in range(3):
        X, codes, labels, prototypes, omega = problem(seed, rank, per_class)
        value, _ = GmlvqCost(X, codes, labels, beta)(prototypes, omega)
        naive = naive_gmlvq(X, codes, prototypes, labels, omega, beta)
        assert value == pytest.approx(naive, abs=1e-12)


@pytest.mark.parametrize(("rank", "per_class"), [(1, 1), (2, [1, 3, 2]), (5, 2)])
def test_gradient_is_that_of_finite_differences(rank, per_class):
    for seed in range(3):
        X, codes, labels, prototypes, omega = problem(seed, rank, per_class)
        cost = GmlvqCost(X, codes, labels, 2.0)
        _, (to_prototypes, to_omega) = cost(prototypes, omega)
        by_prototypes = numeric_gradient(lambda p, c=cost, o=omega: c(p, o)[0], prototypes)
        by_omega = numeric_gradient(lambda o, c=cost, p=prototypes: c(p, o)[0], omega)
        np.testing.assert_allclose(to_prototypes, by_prototypes, atol=1e-8)
        np.testing.assert_allclose(to_omega, by_omega, atol=1e-8)


def test_a_row_on_prototypes_of_two_classes_is_undecided():
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    cost = GmlvqCost(X, np.array([0, 1]), np.array([0, 1]), 2.0)
    value, gradients = cost(np.zeros((2, 2)), np.eye(2))
    assert value == 0.5
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_rounding_makes_no_distance_negative():
    rows = np.random.RandomState(0).normal(size=(50, 3)) + 1e6
    assert squared_distances(rows, rows).min() >= 0


@pytest.mark.parametrize("shape", [(1, 4), (3, 4), (4, 4)])
def test_penalty_is_the_log_determinant_at_a_fixed_trace(shape):
    rng = np.random.RandomState(0)
    for _ in range(3):
        omega = rng.normal(size=shape)
        rank = len(omega)
        unit = omega / np.linalg.norm(omega)
        expected = -0.5 * np.linalg.slogdet(unit @ unit.T)[1] - 0.5 * rank * np.log(rank)
        value, gradient = lost_directions(omega)
        assert value == pytest.approx(expected, abs=1e-10)
        assert value >= -1e-12
        numeric = numeric_gradient(lambda o: lost_directions(o)[0], omega)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


def test_penalty_does_not_depend_on_scale_and_survives_a_lost_direction():
    omega = np.random.RandomState(0).normal(size=(2, 3))
    assert lost_directions(1e5 * omega)[0] == pytest.approx(lost_directions(omega)[0])
    value, gradient = lost_directions(np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert value > 100
    assert np.isfinite(gradient).all()
