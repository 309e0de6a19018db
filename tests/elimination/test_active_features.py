"""Tests of removal criteria and downdated kernel matrices against recomputed matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from allrelevant.elimination.active_features import ActiveFeatures, feature_matrix
from allrelevant.elimination.kernels import KERNELS
from tests.elimination.naive import naive_cost_changes, naive_kernel


def problem(seed=0, n_samples=30, n_features=12, n_pairs=3):
    rng = np.random.RandomState(seed)
    coefficients = rng.randn(n_samples, n_pairs) * (rng.rand(n_samples, 1) < 0.7)
    return rng.randn(n_samples, n_features), coefficients


def active_features(X, kernel, table=None):
    centered = kernel.shift_invariant and table is None
    columns = feature_matrix(X if table is None else table, centered=centered)
    return ActiveFeatures(columns, np.arange(X.shape[1]), kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("gamma", [None, 0.05, 3.0, 40.0])
def test_cost_changes(kernel, gamma):
    X, coefficients = problem()
    if kernel == "linear":
        coefficients -= coefficients.mean(axis=0)  # as for any SVM; makes shifts irrelevant
    ours = KERNELS[kernel](gamma, 3, 0.4)
    active = active_features(X, ours)
    expected = naive_cost_changes(
        kernel, X, coefficients, ours.gamma_for(X.shape[1]), degree=3, coef0=0.4
    )
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        active.cost_changes(coefficients), expected, atol=1e-11 * max(scale, 1), rtol=1e-9
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_downdated_kernel_equals_recomputed_kernel(kernel, make):
    X, _ = problem(n_features=40)
    X *= 10.0 ** np.random.RandomState(1).uniform(-4, 4, 40)  # very different scales
    ours = KERNELS[kernel]()
    active = active_features(X, ours, make(X))
    order = np.argsort(-X.var(axis=0))  # largest variance first, the worst case for rounding
    for block in np.split(order[:37], [1, 9, *range(10, 37)]):
        active.drop(block.tolist())
        remaining = active.features
        assert active.n_active == len(remaining)
        assert not np.isin(block, remaining).any()
        expected = naive_kernel(kernel, X[:, remaining], 1.0 / len(remaining))
        np.testing.assert_allclose(
            active.kernel_matrix(), expected, rtol=1e-7, atol=1e-10 * np.abs(expected).max()
        )


def test_weight_norms_are_norms_of_weighted_row_sums():
    X, coefficients = problem()
    coefficients -= coefficients.mean(axis=0)
    active = active_features(X, KERNELS["linear"]())
    active.drop([3, 5])
    expected = np.linalg.norm(np.delete(X, [3, 5], axis=1).T @ coefficients, axis=1)
    np.testing.assert_allclose(active.weight_norms(coefficients), expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_features_with_several_columns(kernel):
    """Criteria and kernel matrices treat all columns of a feature together."""
    X, coefficients = problem()
    X -= X.mean(axis=0)
    coefficients -= coefficients.mean(axis=0)
    owner = np.repeat([1, 4, 5, 8], [3, 1, 6, 2])
    ours = KERNELS[kernel](0.05, 3, 0.4)
    active = ActiveFeatures(feature_matrix(X, centered=ours.shift_invariant), owner, ours)
    total = naive_kernel(kernel, X, 0.05, 3, 0.4)
    expected = [
        0.5 * np.sum((coefficients @ coefficients.T) * (total - without))
        for without in (naive_kernel(kernel, X[:, owner != j], 0.05, 3, 0.4) for j in (1, 4, 5, 8))
    ]
    np.testing.assert_allclose(active.cost_changes(coefficients), expected, rtol=1e-8)
    weights = [np.linalg.norm(X[:, owner == j].T @ coefficients) for j in (1, 4, 5, 8)]
    np.testing.assert_allclose(active.weight_norms(coefficients), weights)
    for dropped in (5, 1):
        assert active.columns(dropped).shape == ((owner == dropped).sum(), len(X))
        active.drop([dropped])
        X, owner = X[:, owner != dropped], owner[owner != dropped]
        assert active.features.tolist() == np.unique(owner).tolist()
        assert active.n_active == len(np.unique(owner))
        np.testing.assert_allclose(
            active.kernel_matrix(), naive_kernel(kernel, X, 0.05, 3, 0.4), rtol=1e-7, atol=1e-10
        )
