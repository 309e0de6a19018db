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

    def test_a_share_of_the_variance_takes_as_few_as_carry_it(self):
        space = data_space(table())
        share = np.cumsum(space.variance) / space.variance.sum()
        for wanted in (0.5, 0.9, 0.99, 0.9999):
            count = space.count(wanted)
            assert share[count - 1] >= wanted
            assert count == 1 or share[count - 2] < wanted
        assert space.count("spectrum") == space.count(0.99)

    def test_more_directions_than_there_are_is_an_error(self):
        with pytest.raises(InputError, match="their rank is 6"):
            data_space(table()).first(7)

    def test_rows_that_are_all_the_same_are_an_error(self):
        with pytest.raises(InputError, match="the same"):
            data_space(np.ones((5, 3)))


class TestCanonicalMapping:
    def test_it_does_the_same_to_the_data_and_is_the_shortest(self):
        X, rng = table(), np.random.RandomState(1)
        omega = rng.normal(size=(2, 7))
        shortest = canonical_mapping(omega, X)
        centred = X - X.mean(axis=0)
        np.testing.assert_allclose(centred @ shortest.T, centred @ omega.T, atol=1e-10)
        least_squares = np.linalg.lstsq(centred, centred @ omega.T, rcond=1e-12)[0].T
        np.testing.assert_allclose(shortest, least_squares, atol=1e-8)

    @pytest.mark.parametrize(
        ("omega", "X", "words"),
        [
            (np.ones((1, 3)), np.ones((4, 2)), "does not fit"),
            ([[1.0, np.nan]], np.eye(2), "omega holds"),
            ([[1.0, 1.0]], [[1.0, np.inf], [0.0, 1.0]], "X holds"),
            ([[1.0, 1.0]], np.ones((4, 2)), "the same"),
        ],
    )
    def test_bad_input_is_one_clear_line(self, omega, X, words):
        with pytest.raises(InputError, match=words) as error:
            canonical_mapping(omega, X)
        assert "\n" not in str(error.value)


class TestMetricRows:
    def test_distances_stay_and_rows_are_perpendicular(self):
        omega = np.random.RandomState(0).normal(size=(3, 5))
        rows = metric_rows(omega)
        np.testing.assert_allclose(rows.T @ rows, omega.T @ omega, atol=1e-12)
        products = rows @ rows.T
        np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-12)

    def test_rows_that_are_next_to_nothing_go(self):
        omega = np.array([[1.0, 0.0, 0.0], [0.0, 1e-5, 0.0]])
        assert metric_rows(omega).shape == (1, 3)

    def test_a_mapping_to_a_point_is_an_error(self):
        directions = np.array([[1.0, 0.0]])
        with pytest.raises(InputError, match="single point"):
            metric_rows(project(np.array([[0.0, 1.0]]), directions))
