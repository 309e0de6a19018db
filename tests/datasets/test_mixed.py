"""Tests of generated tables with categories and missing values."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import make_mixed_classification
from tests.datasets.truth import counts, in_order


def codes(words):
    return np.unique(words, return_inverse=True)[1]


def test_table_has_the_documented_columns():
    data = make_mixed_classification(400, random_state=0)
    assert counts(data.relevance) == (3, 4, 8)
    assert in_order(data.relevance)
    n_levels = [len(set(c)) for c in data.columns.values() if c.dtype == object]
    assert n_levels == [3, 4, 4, 2, 3, 5, 6]


def test_twins_determine_each_other():
    columns = make_mixed_classification(random_state=1).columns
    np.testing.assert_allclose(20.0 - 3.0 * columns["twin a"], columns["twin b"])
    pairs = set(zip(codes(columns["words a"]), codes(columns["words b"]), strict=True))
    assert len(pairs) == 4


def test_only_the_columns_with_gaps_have_missing_values():
    columns = make_mixed_classification(2000, missing=0.3, random_state=0).columns
    missing = {
        name: np.isnan(values).mean() for name, values in columns.items() if values.dtype == float
    }
    for name, fraction in missing.items():
        assert fraction == pytest.approx(0.3 if "gaps" in name else 0.0, abs=0.05)


def test_the_class_is_the_sign_of_the_sum_of_the_effects():
    """The level of each category adds an equally spaced effect of variance 1."""
    data = make_mixed_classification(500, missing=0.0, random_state=2)
    columns = data.columns
    total = columns["number"] + columns["gaps"] + columns["twin a"]
    for name, n_levels in (("category", 3), ("words a", 4)):
        values = np.arange(n_levels) - np.arange(n_levels).mean()
        total = total + (values / values.std())[codes(columns[name])]
    np.testing.assert_array_equal(data.y, total > 0)


def test_a_fraction_of_the_labels_is_flipped():
    clean, flipped = (make_mixed_classification(200, flip=f, random_state=3).y for f in (0, 0.1))
    assert (clean != flipped).sum() == 20


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_samples": 1}, "n_samples must be at least 2"),
        ({"missing": 1.0}, "missing must be"),
        ({"noise": -1.0}, "noise must be"),
        ({"flip": 0.5}, "flip must be"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        make_mixed_classification(**settings)
