import numpy as np
import pytest

from allrelevant import InputError, canonical_mapping
from allrelevant.bounds.mapping.linear_mapping import data_space, metric_rows, project


def table(seed=0, n=30, d=6):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d)) * [3.0, 2.0, 1.0, 0.5, 0.1, 0.01] + 5.0
    return np.column_stack([X, X[:, 0] + X[:, 1]])


class TestDataSpace:
    def test_directions_are_eigenvectors_of_the_covariance(self):
        X = table()
        space = data_space(X)
        covariance = np.cov(X.T, bias=True)
        assert space.rank == 6
        np.testing.assert_allclose(
            covariance @ space.directions.T, space.directions.T * space.variance, atol=1e-10
        )
        np.testing.assert_allclose(space.directions @ space.directions.T, np.eye(6), atol=1e-12)

    def test_fraction_of_variance_keeps_the_fewest_directions(self):
        space = data_space(table())
        explained = np.cumsum(space.variance) / space.variance.sum()
        for fraction in (0.5, 0.9, 0.99, 0.9999):
            count = space.count(fraction)
            assert explained[count - 1] >= fraction
            assert count == 1 or explained[count - 2] < fraction
        assert space.count("spectrum") == space.count(0.99)

    def test_dimension_above_the_rank_raises(self):
        with pytest.raises(InputError, match="rank of the data, which is 6"):
            data_space(table()).first(7)

    def test_identical_rows_raise(self):
        with pytest.raises(InputError, match="identical"):
            data_space(np.ones((5, 3)))


class TestCanonicalMapping:
    def test_is_equivalent_on_the_data_and_shortest(self):
        X, rng = table(), np.random.RandomState(1)
        omega = rng.normal(size=(2, 7))
        shortest = canonical_mapping(omega, X)
        centered = X - X.mean(axis=0)
        np.testing.assert_allclose(centered @ shortest.T, centered @ omega.T, atol=1e-10)
        least_squares = np.linalg.lstsq(centered, centered @ omega.T, rcond=1e-12)[0].T
        np.testing.assert_allclose(shortest, least_squares, atol=1e-8)

    @pytest.mark.parametrize(
        ("omega", "X", "message"),
        [
            (np.ones((1, 3)), np.ones((4, 2)), "does not match"),
            ([[1.0, np.nan]], np.eye(2), "omega contains"),
            ([[1.0, 1.0]], [[1.0, np.inf], [0.0, 1.0]], "X contains"),
            ([[1.0, 1.0]], np.ones((4, 2)), "identical"),
        ],
    )
    def test_invalid_input_raises_a_one_line_error(self, omega, X, message):
        with pytest.raises(InputError, match=message) as error:
            canonical_mapping(omega, X)
        assert "\n" not in str(error.value)


class TestMetricRows:
    def test_rows_are_orthogonal_and_preserve_distances(self):
        omega = np.random.RandomState(0).normal(size=(3, 5))
        rows = metric_rows(omega)
        np.testing.assert_allclose(rows.T @ rows, omega.T @ omega, atol=1e-12)
        products = rows @ rows.T
        np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-12)

    def test_very_short_rows_are_omitted(self):
        omega = np.array([[1.0, 0.0, 0.0], [0.0, 1e-5, 0.0]])
        assert metric_rows(omega).shape == (1, 3)

    def test_mapping_to_a_single_point_raises(self):
        directions = np.array([[1.0, 0.0]])
        with pytest.raises(InputError, match="single point"):
            metric_rows(project(np.array([[0.0, 1.0]]), directions))
