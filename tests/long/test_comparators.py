"""Tests that slow comparison methods select the only informative feature."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.comparators.forests import boruta
from benchmarks.comparators.networks import lassonet


@pytest.mark.parametrize("comparator", [boruta, lassonet])
def test_informative_feature_is_selected(comparator):
    X = np.random.default_rng(0).normal(size=(80, 4))
    chosen = comparator(X, np.where(X[:, 0] > 0, 1, -1), folds=3, seed=0)
    assert chosen.shape == (4,)
    assert chosen.dtype == bool
    assert chosen[0]
