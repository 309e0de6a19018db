"""Tests of ReliefF against skrebate, and of mutual information against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.metrics import mutual_info_score
from skrebate import ReliefF

from benchmarks.comparators.filters import N_NEIGHBORS, mutual_information, relieff


@pytest.mark.parametrize("seed", range(3))
def test_relieff_weights_equal_those_of_skrebate(seed):
    X, y = make_classification(n_samples=260, n_features=25, random_state=seed)
    oracle = ReliefF(n_neighbors=N_NEIGHBORS).fit(X, y)
    weights = relieff(X, y)
    # skrebate divides by the number of rows.
    np.testing.assert_allclose(weights / len(y), oracle.feature_importances_, atol=1e-9)


def test_sparse_relieff_equals_dense():
    rng = np.random.default_rng(0)
    X = rng.random((220, 30)) * (rng.random((220, 30)) < 0.2)
    y = rng.integers(0, 2, 220)
    np.testing.assert_allclose(relieff(sp.csr_array(X), y), relieff(X, y))


def test_sparse_mutual_information_uses_only_whether_values_are_zero():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = (rng.random((200, 8)) < 0.2 + 0.3 * (y[:, None] == np.arange(8) % 3)).astype(float)
    expected = [mutual_info_score(y, column) for column in X.T]
    np.testing.assert_allclose(mutual_information(sp.csr_array(X), y), expected)
