"""Tests of the public interface of `OrdinalBounds`."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
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


WORDS = np.array(["low", "fair", "good", "high"])


class TestOrderOfWords:
    """Words give the result of the numbers that they stand for, if their order is known."""

    @pytest.fixture
    def words(self, ordinal_data):
        return WORDS[np.unique(ordinal_data.y, return_inverse=True)[1]]

    @pytest.fixture
    def numbers(self, ordinal_data):
        return OrdinalBounds(C=1.0, cutoff=0.1).fit(ordinal_data.X, ordinal_data.y)

    def check(self, bounds, numbers, X):
        assert bounds.classes_.tolist() == WORDS.tolist()
        np.testing.assert_allclose(bounds.interval_, numbers.interval_, atol=1e-8)
        codes = np.searchsorted(numbers.classes_, numbers.predict(X))
        assert bounds.predict(X).tolist() == WORDS[codes].tolist()

    def test_stated_order(self, ordinal_data, words, numbers):
        order = [*WORDS, "perfect"]  # a class that does not occur
        bounds = OrdinalBounds(classes=order, C=1.0, cutoff=0.1).fit(ordinal_data.X, words)
        self.check(bounds, numbers, ordinal_data.X)

    def test_ordered_categoricals(self, ordinal_data, words, numbers):
        codes = pa.array([WORDS.tolist().index(word) for word in words])
        for y in (
            pd.Categorical(words, WORDS, ordered=True),
            pd.Series(pd.Categorical(words, WORDS, ordered=True)),
            pl.Series(words.tolist(), dtype=pl.Enum(WORDS.tolist())),
            pa.chunked_array([pa.DictionaryArray.from_arrays(codes, WORDS.tolist(), ordered=True)]),
        ):
            bounds = OrdinalBounds(C=1.0, cutoff=0.1).fit(ordinal_data.X, y)
            self.check(bounds, numbers, ordinal_data.X)

    def test_unknown_order_is_refused(self, ordinal_data, words):
        for y in (words, words.astype(object), pd.Categorical(words)):
            with pytest.raises(InputError, match=r"order is unknown.*OrdinalBounds\(classes="):
                OrdinalBounds(C=1.0, cutoff=0.1).fit(ordinal_data.X, y)

    def test_incomplete_order(self, ordinal_data, words):
        with pytest.raises(InputError, match="does not contain the class 'low'"):
            OrdinalBounds(classes=["fair", "good", "high"]).fit(ordinal_data.X, words)
