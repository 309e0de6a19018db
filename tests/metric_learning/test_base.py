"""Tests of initial mappings and of the components of a metric."""

import numpy as np
import pytest

from allrelevant.metric_learning import eigen_rows
from allrelevant.metric_learning._base import initial_mapping
from allrelevant.metric_learning.optimization import PartialWhitening
from tests.metric_learning.naive import correlated


@pytest.mark.parametrize("start", ["principal", "random"])
@pytest.mark.parametrize(("n_samples", "rank"), [(30, 1), (30, 4), (30, 6), (4, 3), (4, 5), (4, 6)])
def test_initial_mappings_have_orthonormal_rows(start, n_samples, rank):
    coordinates = PartialWhitening.fit(correlated(n_samples))
    omega = initial_mapping(start, rank, coordinates, np.random.RandomState(0))
    assert omega.shape == (rank, 6)
    np.testing.assert_allclose(omega @ omega.T, np.eye(rank), atol=1e-10)


def test_principal_start_keeps_the_most_variance():
    X = correlated()
    omega = initial_mapping("principal", 2, PartialWhitening.fit(X), np.random.RandomState(0))
    kept = np.linalg.norm(X @ omega.T) ** 2
    assert kept == pytest.approx((np.linalg.svd(X, compute_uv=False)[:2] ** 2).sum())


def test_eigen_rows_do_not_depend_on_the_rotation():
    rng = np.random.RandomState(0)
    omega = rng.normal(size=(3, 5))
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rows = eigen_rows(omega)
    np.testing.assert_allclose(eigen_rows(rotation @ omega), rows, atol=1e-10)
    np.testing.assert_allclose(rows.T @ rows, omega.T @ omega, atol=1e-10)
    values, vectors = np.linalg.eigh(omega.T @ omega)
    leading = np.sqrt(values[-1]) * np.abs(vectors[:, -1])
    np.testing.assert_allclose(np.abs(rows[0]), leading, atol=1e-10)
