import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

from allrelevant import GMLVQ
from allrelevant.bounds.mapping.dimension import (
    DimensionCurve,
    NearestNeighbors,
    classifier_for,
    dimension_curve,
)
from allrelevant.bounds.mapping.linear_mapping import data_space
from allrelevant.bounds.mapping.row_bounds import bound_mapping
from allrelevant.datasets import make_xor


def make_curve(test_error):
    error = np.asarray(test_error, dtype=float)
    n_dimensions, n_splits = error.shape
    return DimensionCurve(
        dimensions=np.arange(1, n_dimensions + 1),
        train_error=np.zeros_like(error),
        test_error=error,
        averaged_error=error,
        raw_train_error=np.zeros(n_splits),
        raw_test_error=np.zeros(n_splits),
    )


class TestBestDimension:
    def test_smallest_dimension_without_error(self):
        assert make_curve([[0.5, 0.4], [0.1, 0.0], [0.0, 0.0], [0.0, 0.0]]).best() == 3

    def test_smallest_dimension_within_one_standard_error(self):
        assert make_curve([[0.5, 0.4], [0.12, 0.2], [0.1, 0.2], [0.3, 0.2]]).best() == 2

    def test_single_split_has_zero_standard_error(self):
        assert make_curve([[0.3], [0.2], [0.1], [0.1]]).best() == 3

    def test_frame(self):
        frame = make_curve([[0.5, 0.4], [0.1, 0.3]]).to_frame()
        assert frame.index.tolist() == [1, 2]
        assert frame.loc[2, "test_error"] == pytest.approx(0.2)
        assert frame.loc[2, "standard_error"] == pytest.approx(0.1)


@pytest.fixture(scope="module")
def xor():
    data = make_xor(n_samples=60, random_state=0)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    return X, np.unique(data.y, return_inverse=True)[1]


class TestCurve:
    def test_errors_equal_those_of_the_mappings_at_the_bounds(self, xor):
        X, y = xor
        splits = [(np.arange(40), np.arange(40, 60))]
        learner = GMLVQ(prototypes_per_class=2, max_iter=60, random_state=0)
        curve = dimension_curve(learner, X, y, splits, 0.01, max_dimension=3)
        fitted = GMLVQ(**learner.get_params()).fit(X[:40], y[:40])
        for k, dimension in enumerate([1, 2, 3]):
            directions = data_space(X[:40]).first(dimension)
            mappings = bound_mapping(fitted.omega_, directions, 0.01).at_bounds()
            errors = []
            for omega in mappings:
                rows, prototypes = X[40:] @ omega.T, fitted.prototypes_ @ omega.T
                distances = ((rows[:, None] - prototypes) ** 2).sum(axis=2)
                predicted = fitted.prototype_labels_[distances.argmin(axis=1)]
                errors.append(np.mean(predicted != y[40:]))
            assert len(errors) == 12
            assert curve.test_error[k, 0] == pytest.approx(np.mean(errors))
        assert curve.raw_test_error[0] == np.mean(fitted.predict(X[40:]) != y[40:])

    def test_result_does_not_depend_on_n_jobs(self, xor):
        X, y = xor
        splits = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
        learner = GMLVQ(prototypes_per_class=2, max_iter=30, tol=1e-3, random_state=0)
        one, two = (
            dimension_curve(learner, X, y, splits, 0.01, max_dimension=3, n_jobs=n) for n in (1, 2)
        )
        np.testing.assert_array_equal(one.test_error, two.test_error)
        np.testing.assert_array_equal(one.train_error, two.train_error)


class TestNearestNeighbors:
    def test_learner_without_prototypes_uses_nearest_neighbors(self, xor):
        X, y = xor
        classifier = classifier_for(NeighborhoodComponentsAnalysis(random_state=0), X, y)
        assert isinstance(classifier, NearestNeighbors)
        omega = np.eye(6)[[0, 3]]
        expected = KNeighborsClassifier(3).fit(X @ omega.T, y).predict(X @ omega.T)
        np.testing.assert_array_equal(classifier.predict(omega, X), expected)

    def test_training_row_is_not_its_own_neighbor(self):
        X = np.array([[0.0], [0.1], [5.0], [5.1]])
        classifier = NearestNeighbors(1, X, np.array([0, 1, 0, 1]))
        assert classifier.training_error(np.eye(1)) == 1.0
