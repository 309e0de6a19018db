"""Tests of the assignment of weights to features."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.terms.layout import WeightLayout, largest_weights

LAYOUT = WeightLayout(3, 2, ("a", "b", "c", "later", "last"))


def test_weights_of_privileged_features_come_last():
    layout = WeightLayout.from_tables([np.zeros((4, 3)), np.zeros((4, 2))])
    assert (layout.n_weights, layout.n_tables, layout.table_sizes) == (5, 2, (3, 2))
    assert layout.table_weights(0).tolist() == [0, 1, 2]
    assert layout.table_weights(1).tolist() == [3, 4]
    assert [layout.is_privileged(j) for j in range(5)] == [False] * 3 + [True] * 2
    assert LAYOUT.table_names(1) == ["later", "last"]


def test_values_of_tables_are_repeated_for_their_features():
    cutoffs = np.array([[0.1, 0.2], [0.3, 0.4]])
    assert LAYOUT.per_feature(cutoffs)[:, 1].tolist() == [0.2, 0.2, 0.2, 0.4, 0.4]


def test_features_are_found_by_name_and_by_index():
    assert LAYOUT.index("later") == 3
    assert LAYOUT.index(-1) == 4
    with pytest.raises(InputError, match="No feature is called 'nobody'"):
        LAYOUT.index("nobody")
    with pytest.raises(InputError, match="Feature index 5 is out of range: there are 5 features"):
        LAYOUT.index(5)


def test_largest_weights_are_largest_in_absolute_value_over_models():
    assert largest_weights(np.array([[1.0, -2.0], [-3.0, 0.5]])).tolist() == [-3.0, -2.0]
    assert largest_weights(np.array([1.0, -2.0])).tolist() == [1.0, -2.0]
