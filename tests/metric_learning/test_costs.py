"""Tests of metric learning costs, their gradients, and the search for impostors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.metric_learning import costs
from allrelevant.metric_learning.costs import (
    GmlvqCost,
    Impostors,
    LmnnCost,
    pair_distances,
    rank_penalty,
    squared_distances,
    target_neighbors,
)
from tests.metric_learning.naive import naive_gmlvq, naive_lmnn, numeric_gradient, random_problem


def problem(seed, rank, per_class):
    X, codes, rng = random_problem(seed)
    labels = np.repeat(np.arange(3), per_class)
    prototypes = X[rng.permutation(len(X))[: len(labels)]] + 0.1
    return X, codes, labels, prototypes, rng.normal(size=(rank, X.shape[1]))


@pytest.mark.parametrize("beta", [0.3, 2.0, 10.0])
@pytest.mark.parametrize(("rank", "per_class"), [(1, 1), (2, [1, 3, 2]), (5, 2)])
def test_gmlvq_cost_equals_the_naive_cost(rank, per_class, beta):
    for seed in range(3):
        X, codes, labels, prototypes, omega = problem(seed, rank, per_class)
        value, _ = GmlvqCost(X, codes, labels, beta)(prototypes, omega)
        naive = naive_gmlvq(X, codes, prototypes, labels, omega, beta)
        assert value == pytest.approx(naive, abs=1e-12)


@pytest.mark.parametrize(("rank", "per_class"), [(1, 1), (2, [1, 3, 2]), (5, 2)])
def test_gmlvq_gradient_equals_finite_differences(rank, per_class):
    for seed in range(3):
        X, codes, labels, prototypes, omega = problem(seed, rank, per_class)
        cost = GmlvqCost(X, codes, labels, 2.0)
        _, (prototype_gradient, omega_gradient) = cost(prototypes, omega)
        numeric = numeric_gradient(lambda p, c=cost, o=omega: c(p, o)[0], prototypes)
        np.testing.assert_allclose(prototype_gradient, numeric, atol=1e-8)
        numeric = numeric_gradient(lambda o, c=cost, p=prototypes: c(p, o)[0], omega)
        np.testing.assert_allclose(omega_gradient, numeric, atol=1e-8)


@pytest.mark.parametrize("cost", ["gmlvq", "lmnn"])
def test_weights_count_samples(cost):
    """The cost of weights 1 and 2 is between those of the samples and of the samples of weight 2.

    The gradient is that of the weighted cost.
    """
    X, codes, labels, prototypes, omega = problem(0, 2, 1)
    is_double = np.arange(len(X)) % 3 == 0
    targets = target_neighbors(X, codes, 2)

    def evaluate(mapping, weight):
        if cost == "gmlvq":
            part = GmlvqCost(X, codes, labels, 2.0, weight)
            value, (_, gradient) = part(prototypes, mapping)
        else:
            value, (gradient,) = LmnnCost(X, codes, targets, 0.5, weight)(mapping)
        return value, gradient

    n, n_double = len(X), is_double.sum()
    weight = (1.0 + is_double) * n / (n + n_double)  # of mean 1
    value, gradient = evaluate(omega, weight)
    every, _ = evaluate(omega, None)
    # Weights of mean 1 that are zero for all other samples.
    double, _ = evaluate(omega, is_double * n / n_double)
    assert value == pytest.approx((n * every + n_double * double) / (n + n_double))
    assert value != pytest.approx(every)
    numeric = numeric_gradient(lambda mapping: evaluate(mapping, weight)[0], omega)
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)


def test_row_on_prototypes_of_two_classes_has_finite_gradients():
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    cost = GmlvqCost(X, np.array([0, 1]), np.array([0, 1]), 2.0)
    value, gradients = cost(np.zeros((2, 2)), np.eye(2))
    assert value == 0.5
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_rounding_does_not_make_distances_negative():
    rows = np.random.RandomState(0).normal(size=(50, 3)) + 1e6
    assert squared_distances(rows, rows).min() >= 0


@pytest.mark.parametrize("shape", [(1, 4), (3, 4), (4, 4)])
def test_penalty_equals_the_log_determinant_at_a_fixed_trace(shape):
    rng = np.random.RandomState(0)
    for _ in range(3):
        omega = rng.normal(size=shape)
        rank = len(omega)
        unit = omega / np.linalg.norm(omega)
        expected = -0.5 * np.linalg.slogdet(unit @ unit.T)[1] - 0.5 * rank * np.log(rank)
        value, gradient = rank_penalty(omega)
        assert value == pytest.approx(expected, abs=1e-10)
        assert value >= -1e-12
        numeric = numeric_gradient(lambda o: rank_penalty(o)[0], omega)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


def test_penalty_is_scale_invariant_and_finite_for_singular_mappings():
    omega = np.random.RandomState(0).normal(size=(2, 3))
    assert rank_penalty(1e5 * omega)[0] == pytest.approx(rank_penalty(omega)[0])
    value, gradient = rank_penalty(np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert value > 100
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("push", [0.2, 0.5, 0.9])
@pytest.mark.parametrize(("rank", "n_neighbors", "scale"), [(1, 1, 1.0), (2, 3, 0.3), (5, 4, 3.0)])
def test_lmnn_cost_equals_the_naive_cost(rank, n_neighbors, scale, push):
    for seed in range(2):
        X, codes, rng = random_problem(seed)
        targets = target_neighbors(X, codes, n_neighbors)
        omega = scale * rng.normal(size=(rank, X.shape[1]))
        value, _ = LmnnCost(X, codes, targets, push)(omega)
        naive = naive_lmnn(X, codes, targets, omega, push)
        assert value == pytest.approx(naive, rel=1e-12)


@pytest.mark.parametrize(("rank", "n_neighbors"), [(1, 1), (2, 3), (5, 4)])
def test_lmnn_gradient_equals_finite_differences(rank, n_neighbors):
    for seed in range(3):
        X, codes, rng = random_problem(seed)
        cost = LmnnCost(X, codes, target_neighbors(X, codes, n_neighbors), 0.5)
        omega = 0.5 * rng.normal(size=(rank, X.shape[1]))
        _, (gradient,) = cost(omega)
        numeric = numeric_gradient(lambda o, c=cost: c(o)[0], omega)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7)


def test_small_classes_have_fewer_target_neighbors():
    X, _, _ = random_problem(0, n_samples=10)
    codes = np.array([0] * 6 + [1] * 3 + [2])
    targets = target_neighbors(X, codes, 4)
    assert (targets >= 0).sum(axis=1).tolist() == [4] * 6 + [2] * 3 + [0]
    omega = np.random.RandomState(1).normal(size=(2, 5))
    value, (gradient,) = LmnnCost(X, codes, targets, 0.5)(omega)
    assert value == pytest.approx(naive_lmnn(X, codes, targets, omega, 0.5), rel=1e-12)
    assert np.isfinite(gradient).all()


def test_target_neighbors_are_the_nearest_of_the_same_class():
    X, codes, _ = random_problem(3)
    for i, found in enumerate(target_neighbors(X, codes, 3)):
        others = np.array([j for j in range(len(X)) if codes[j] == codes[i] and j != i])
        nearest = others[np.argsort(np.linalg.norm(X[others] - X[i], axis=1))]
        assert found.tolist() == nearest[:3].tolist()


def pairs_within(mapped, radius, codes):
    distance = np.linalg.norm(mapped[:, np.newaxis] - mapped, axis=2)
    near = (distance < radius[:, np.newaxis]) & (codes[:, np.newaxis] != codes)
    return set(zip(*(indices.tolist() for indices in np.nonzero(near)), strict=True))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.001, 0.5))
def test_no_impostor_is_missed_while_the_mapping_changes(seed, speed):
    X, codes, rng = random_problem(seed)
    impostors = Impostors(codes)
    omega = rng.normal(size=(2, X.shape[1]))
    for _ in range(12):
        omega = omega * rng.uniform(1 - speed, 1 + speed) + 0.1 * speed * rng.normal(size=(2, 5))
        mapped = X @ omega.T
        radius = rng.uniform(0.9, 1.1, size=len(X))
        pairs = impostors.near(mapped, radius)
        found = set(zip(pairs.row.tolist(), pairs.other.tolist(), strict=True))
        assert pairs_within(mapped, radius, codes) <= found
        assert all(codes[a] != codes[b] for a, b in found)


def test_small_moves_and_larger_scales_need_no_new_search():
    X, codes, rng = random_problem(0)
    impostors, omega = Impostors(codes), rng.normal(size=(2, 5))
    radius = np.ones(len(X))
    impostors.near(X @ omega.T, radius)
    impostors.near(X @ omega.T + 1e-3, radius)
    impostors.near(5.0 * (X @ omega.T), radius)
    assert impostors.n_searches == 1
    impostors.near(0.5 * (X @ omega.T), radius)
    assert impostors.n_searches == 2


def test_block_size_does_not_change_the_impostors(monkeypatch):
    X, codes, _ = random_problem(0)
    radius = np.full(len(X), 2.0)
    whole = Impostors(codes).near(X, radius)
    monkeypatch.setattr(costs, "DISTANCES_PER_BLOCK", 3 * len(X) + 1)
    in_blocks = Impostors(codes).near(X, radius)
    np.testing.assert_array_equal(whole.row, in_blocks.row)
    np.testing.assert_array_equal(whole.other, in_blocks.other)


def test_block_size_does_not_change_the_distances(monkeypatch):
    X, codes, _ = random_problem(0)
    pairs = Impostors(codes).near(X, np.full(len(X), 2.0))
    expected = [np.sum((X[a] - X[b]) ** 2) for a, b in zip(*pairs, strict=True)]
    monkeypatch.setattr(costs, "DIFFERENCES_PER_BLOCK", 17)
    np.testing.assert_allclose(pair_distances(X, pairs), expected)
