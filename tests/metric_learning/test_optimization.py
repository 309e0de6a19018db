"""Tests of partial whitening, the change of coordinates used in metric learning."""

import numpy as np
import pytest

from allrelevant.metric_learning.optimization import PartialWhitening
from tests.metric_learning.naive import correlated


@pytest.mark.parametrize("shape", [(30, 6), (4, 6)])
def test_new_coordinates_preserve_mappings(shape):
    X = correlated(*shape)
    coordinates = PartialWhitening.fit(X)
    omega = np.random.RandomState(1).normal(size=(3, shape[1]))
    mapped = coordinates.rows(X) @ coordinates.mapping(omega).T
    np.testing.assert_allclose(mapped, X @ omega.T, atol=1e-10)
    np.testing.assert_allclose(coordinates.original_rows(coordinates.rows(X)), X, atol=1e-10)
    round_trip = coordinates.original_mapping(coordinates.mapping(omega))
    np.testing.assert_allclose(round_trip, omega, atol=1e-10)


def test_new_coordinates_have_the_square_root_of_the_standard_deviations():
    X = correlated()
    before = np.linalg.svd(X, compute_uv=False)
    after = np.linalg.svd(PartialWhitening.fit(X).rows(X), compute_uv=False)
    np.testing.assert_allclose(after / after[0], np.sqrt(before / before[0]), rtol=1e-8)


def test_directions_with_almost_no_variance_are_not_scaled_up_further():
    X = correlated() * np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1e-9])
    assert PartialWhitening.fit(X).factors.max() == pytest.approx(10.0)
