"""Tests of the public interface of `RegressionBounds`."""

from typing import Any

import numpy as np
import pytest

from allrelevant import (
    RegressionBounds,
    RelevanceWarning,
)
from allrelevant.datasets import (
    make_linear_regression,
)

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 2}
EXPECTED = ["strong", "weak", "weak", "irrelevant", "irrelevant"]


@pytest.fixture(scope="module")
def regression_data():
    return make_linear_regression(100, target_noise=0.1, random_state=0, **COUNTS)


class TestRegression:
    def test_classes_and_predictions(self, regression_data):
        X, y, _ = regression_data
        bounds = RegressionBounds(random_state=0).fit(X, 100.0 + 7.0 * y)
        assert bounds.relevance_.tolist() == EXPECTED
        assert bounds.score(X, 100.0 + 7.0 * y) > 0.9
        assert 0 < bounds.cv_score_ < 1
        assert bounds.gap_.max() <= 1e-7

    def test_scale_of_the_target_does_not_change_intervals(self, regression_data):
        X, y, _ = regression_data
        plain = RegressionBounds(C=0.1, epsilon=0.1, cutoff=0.1).fit(X, y)
        scaled = RegressionBounds(C=0.1, epsilon=1.0, cutoff=0.1).fit(X, 10.0 * y - 3.0)
        np.testing.assert_allclose(scaled.interval_, plain.interval_, atol=1e-7)
        np.testing.assert_allclose(scaled.predict(X), 10.0 * plain.predict(X) - 3.0, atol=1e-6)
        assert scaled.epsilon_ == pytest.approx(1.0)

    def test_epsilon_larger_than_all_errors_makes_all_irrelevant(self, regression_data):
        X, y, _ = regression_data
        wide = RegressionBounds(C=1.0, epsilon=100.0, cutoff=0.1)
        with pytest.warns(RelevanceWarning, match="all features are irrelevant"):
            wide.fit(X, y)
        assert (wide.relevance_ == "irrelevant").all()

    def test_weights_are_in_raw_units_without_standardizing(self, regression_data):
        X, y, _ = regression_data
        bounds = RegressionBounds(standardize=False, random_state=0, cutoff=0.2).fit(X, y)
        assert bounds.interval_[0] == pytest.approx([1.0, 1.0], abs=0.3)
        assert bounds.score(X, y) > 0.9

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.full(100, 3.0), "single value, 3"),
            (np.array(["low", "high"] * 50), "could not convert string"),
            (np.r_[np.nan, np.zeros(99)], "NaN"),
        ],
    )
    def test_bad_targets(self, regression_data, y, message):
        with pytest.raises(ValueError, match=message):
            RegressionBounds().fit(regression_data.X, y)
