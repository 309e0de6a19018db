"""Tests of choosing a feature subset by cross-validated scores."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.elimination.history import choose_size

SIZES = [4, 3, 2, 1]
FOLD_SCORES = np.array([[0.9, 0.8], [0.95, 0.85], [0.9, 0.85], [0.5, 0.6]])


def test_best_has_the_highest_mean_and_one_se_is_the_smallest_within_a_standard_error():
    assert choose_size("best", SIZES, FOLD_SCORES) == 3
    assert choose_size("one_se", SIZES, FOLD_SCORES) == 2


def test_a_number_is_returned_unchanged_and_rules_require_scores():
    assert choose_size(2, SIZES, FOLD_SCORES) == 2
    with pytest.raises(InputError, match="requires scores"):
        choose_size("best", SIZES, np.empty((4, 0)))
