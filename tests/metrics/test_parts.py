"""Coordinates, starts and rows of a metric."""

import numpy as np
import pytest

from allrelevant.metric_learning import eigen_rows
from allrelevant.metric_learning._base import start_mapping
from allrelevant.metric_learning.gmlvq import start_prototypes
from allrelevant.metric_learning.optimization import PartialWhitening


def correlated(n_samples=30, n_features=6):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features))
    return X - X.mean(axis=0)


@pytest.mark.parametrize("shape", [(30, 6), (4, 6)])
def test_new_coordinates_keep_every_mapping(shape):
    X = correlated(*shape)
    coordinates = PartialWhitening.of(X)
    omega = np.random.RandomState(1).normal(size=(3, shape[1]))
    mapped = coordinates.rows(X) @ coordinates.mapping(omega).T
    np.testing.assert_allclose(mapped, X @ omega.T, atol=1e-10)
    np.testing.assert_allclose(coordinates.original_rows(coordinates.rows(X)), X, atol=1e-10)
    there_and_back = coordinates.original_mapping(coordinates.mapping(omega))
    np.testing.assert_allclose(there_and_back, omega, atol=1e-10)


def test_new_coordinates_have_the_root_of_the_spread():
    X = correlated()
    before = np.linalg.svd(X, compute_uv=False)
    after = np.linalg.svd(PartialWhitening.of(X).rows(X), compute_uv=False)
    np.testing.assert_allclose(after / after[0], np.sqrt(before / before[0]), rtol=1e-8)


def test_directions_of_next_to_no_variance_are_not_blown_up():
    X = correlated() * np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1e-9])
    assert PartialWhitening.of(X).factors.max() == pytest.approx(10.0)


@pytest.mark.parametrize("start", ["principal", "random"])
@pytest.mark.parametrize(("n_samples", "rank"), [(30, 1), (30, 4), (30, 6), (4, 3), (4, 5), (4, 6)])
def test_starts_have_orthonormal_rows(start, n_samples, rank):
    coordinates = PartialWhitening.of(correlated(n_samples))
    omega = start_mapping(start, rank, coordinates, np.random.RandomState(0))
    assert omega.shape == (rank, 6)
    np.testing.assert_allclose(omega @ omega.T, np.eye(rank), atol=1e-10)


def test_the_principal_start_keeps_most_variance():
    X = correlated()
    omega = start_mapping("principal", 2, PartialWhitening.of(X), np.random.RandomState(0))
    kept = np.linalg.norm(X @ omega.T) ** 2
    assert kept == pytest.approx((np.linalg.svd(X, compute_uv=False)[:2] ** 2).sum())


def test_rows_do_not_depend_on_the_rotation():
    rng = np.random.RandomState(0)
    omega = rng.normal(size=(3, 5))
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rows = eigen_rows(omega)
    np.testing.assert_allclose(eigen_rows(rotation @ omega), rows, atol=1e-10)
    np.testing.assert_allclose(rows.T @ rows, omega.T @ omega, atol=1e-10)
    values, vectors = np.linalg.eigh(omega.T @ omega)
    leading = np.sqrt(values[-1]) * np.abs(vectors[:, -1])
    np.testing.assert_allclose(np.abs(rows[0]), leading, atol=1e-10)


def test_prototypes_start_at_the_means_or_at_the_clusters():
    rng = np.random.RandomState(0)
    centres = np.array([[0.0, 0.0], [9.0, 9.0], [9.0, 0.0]])
    X = np.repeat(centres, 20, axis=0) + 0.1 * rng.normal(size=(60, 2))
    codes = np.repeat([0, 0, 1], 20)
    places = start_prototypes(X, codes, [2, 1], rng)
    np.testing.assert_allclose(places[np.argsort(places[:2, 0])], centres[:2], atol=0.2)
    np.testing.assert_allclose(places[2], X[40:].mean(axis=0))
