"""Tests of the neighbors of a feature subset, which add, remove or swap features."""

import numpy as np

from allrelevant.elimination.local_search import attribute_flips, bit_flips

SUBSET = np.array([True, True, False])


def test_a_bit_flip_adds_or_removes_one_feature():
    assert [tuple(flip) for flip in bit_flips(SUBSET)] == [(None, 0), (None, 1), (2, None)]


def test_an_attribute_flip_swaps_two_features():
    assert [tuple(flip) for flip in attribute_flips(SUBSET)] == [(2, 0), (2, 1)]
