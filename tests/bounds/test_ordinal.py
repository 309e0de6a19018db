"""Tests of the public interface of `OrdinalBounds`."""

from typing import Any

import numpy as np
import pytest

from allrelevant import (
    ClassificationBounds,
    InputError,
    OrdinalBounds,
)
from allrelevant.datasets import (
    make_linear_classification,
    make_ordinal_classification,
)

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 2}
EXPECTED = ["strong", "weak", "weak", "irrelevant", "irrelevant"]


@pytest.fixture(scope="module")
def ordinal_data():
    return make_ordinal_classification(120, n_classes=4, random_state=0, **COUNTS)


class TestOrdinal:
    def test_classes_and_predictions(self, ordinal_data):
        X, y, _ = ordinal_data
        bounds = OrdinalBounds(random_state=0).fit(X, y)
        assert bounds.relevance_.tolist() == EXPECTED
        assert bounds.score(X, y) > 0.9
        thresholds = bounds.baseline_.thresholds_  # type: ignore[union-attr]
        assert thresholds is not None
        assert (np.diff(thresholds) >= -1e-9).all()
        np.testing.assert_array_equal(bounds.decision_function(X).argmax(axis=1), bounds.predict(X))

    def test_two_classes_match_classification(self):
        """`OrdinalBounds` with two classes has the intervals of `ClassificationBounds`.

        A single threshold is a negated offset, so the set of models is the same.
        """
        X, y, _ = make_linear_classification(80, flip=0.1, random_state=0, **COUNTS)
        settings: dict[str, Any] = {"C": 1.0, "cutoff": 0.1}
        np.testing.assert_allclose(
            OrdinalBounds(**settings).fit(X, y).interval_,
            ClassificationBounds(**settings).fit(X, y).interval_,
            atol=1e-7,
        )

    def test_class_labels_are_kept_in_ascending_order(self, ordinal_data):
        X, y, _ = ordinal_data
        grades = np.array([10, 20, 30, 40])[y]
        bounds = OrdinalBounds(C=1.0, cutoff=0.1).fit(X, grades)
        assert set(bounds.predict(X)) <= {10, 20, 30, 40}
        assert bounds.classes_.tolist() == [10, 20, 30, 40]

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.zeros(120, dtype=int), "single class"),
            (np.linspace(0, 1, 120), "continuous"),
            (np.r_[np.nan, np.zeros(119)], "NaN"),
        ],
    )
    def test_bad_targets(self, ordinal_data, y, message):
        with pytest.raises(ValueError, match=message):
            OrdinalBounds().fit(ordinal_data.X, y)

    def test_class_with_a_single_row_cannot_be_cross_validated(self, ordinal_data):
        y = np.r_[7, ordinal_data.y[1:]]
        with pytest.raises(InputError, match="single row"):
            OrdinalBounds().fit(ordinal_data.X, y)
