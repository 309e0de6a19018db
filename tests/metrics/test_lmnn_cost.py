"""The cost is the paper's, its gradient that of the cost, and no impostor is overlooked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.metric_learning import costs as impostors_module
from allrelevant.metric_learning.costs import Impostors, LmnnCost, pair_distances, target_neighbors
from tests.metrics.naive import naive_lmnn, numeric_gradient, random_problem


@pytest.mark.parametrize("push", [0.2, 0.5, 0.9])
@pytest.mark.parametrize(("rank", "n_neighbors", "scale"), [(1, 1, 1.0), (2, 3, 0.3), (5, 4, 3.0)])
def test_cost_is_the_papers(rank, n_neighbors, scale, push):
    for seed in range(2):
        X, codes, rng = random_problem(seed)
        targets = target_neighbors(X, codes, n_neighbors)
        omega = scale * rng.normal(size=(rank, X.shape[1]))
        value, _ = LmnnCost(X, codes, targets, push)(omega)
        naive = naive_lmnn(X, codes, targets, omega, push)
        assert value == pytest.approx(naive, rel=1e-12)


@pytest.mark.parametrize(("rank", "n_neighbors"), [(1, 1), (2, 3), (5, 4)])
def test_gradient_is_that_of_finite_differences(rank, n_neighbors):
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


def test_target_neighbors_are_the_nearest_of_the_own_class():
    X, codes, _ = random_problem(3)
    for i, found in enumerate(target_neighbors(X, codes, 3)):
        others = np.array([j for j in range(len(X)) if codes[j] == codes[i] and j != i])
        nearest = others[np.argsort(np.linalg.norm(X[others] - X[i], axis=1))]
        assert found.tolist() == nearest[:3].tolist()


def pairs_within(mapped, radius, codes):
    distance = np.linalg.norm(mapped[:, np.newaxis] - mapped, axis=2)
    near = (distance < radius[:, np.newaxis]) & (codes[:, np.newaxis] != codes)
    return set(zip(*(place.tolist() for place in np.nonzero(near)), strict=True))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.001, 0.5))
def test_no_impostor_is_overlooked_while_the_mapping_moves(seed, speed):
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


def test_small_moves_and_changes_of_scale_need_no_new_search():
    X, codes, rng = random_problem(0)
    impostors, omega = Impostors(codes), rng.normal(size=(2, 5))
    radius = np.ones(len(X))
    impostors.near(X @ omega.T, radius)
    impostors.near(X @ omega.T + 1e-3, radius)
    impostors.near(5.0 * (X @ omega.T), radius)
    assert impostors.n_searches == 1
    impostors.near(0.5 * (X @ omega.T), radius)
    assert impostors.n_searches == 2


def test_blocks_change_nothing(monkeypatch):
    X, codes, _ = random_problem(0)
    radius = np.full(len(X), 2.0)
    whole = Impostors(codes).near(X, radius)
    monkeypatch.setattr(impostors_module, "_CELLS_PER_BLOCK", 3 * len(X) + 1)
    in_blocks = Impostors(codes).near(X, radius)
    np.testing.assert_array_equal(whole.row, in_blocks.row)
    np.testing.assert_array_equal(whole.other, in_blocks.other)


def test_distances_of_pairs_in_blocks(monkeypatch):
    X, codes, _ = random_problem(0)
    pairs = Impostors(codes).near(X, np.full(len(X), 2.0))
    expected = [np.sum((X[a] - X[b]) ** 2) for a, b in zip(*pairs, strict=True)]
    monkeypatch.setattr("allrelevant.metric_learning.costs._TRIPLETS_PER_BLOCK", 17)
    np.testing.assert_allclose(pair_distances(X, pairs), expected)
