"""Tests of the comparison methods on a table in which one feature determines the class.

Boruta and LassoNet take longer and are in ``tests/long/test_comparators.py``.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.comparators import linear, relevance_bounds, wrappers

COMPARATORS = {
    "bounds": relevance_bounds.bounds,
    "ridge, mean": linear.ridge(linear.mean),
    "ridge, tiny": linear.ridge(linear.tiny),
    "lasso": linear.lasso(),
    "L1-SVM": linear.l1_svm(),
    "elastic net": linear.elastic_net(linear.mean),
    "RFECV": wrappers.rfecv,
    "forward / backward": wrappers.forward_backward,
    "mutual information": wrappers.mim,
    "ReliefF": wrappers.relief,
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    return X, np.where(X[:, 0] > 0, 1, -1)


@pytest.mark.parametrize("name", COMPARATORS)
def test_feature_that_determines_the_class_is_selected(name, table):
    chosen = COMPARATORS[name](*table, folds=3, seed=0)
    assert chosen.shape == (4,)
    assert chosen.dtype == bool
    assert chosen[0]


def test_tiny_cutoff_selects_all_features_and_mean_cutoff_does_not(table):
    assert linear.ridge(linear.tiny)(*table, folds=3, seed=0).all()
    assert not linear.ridge(linear.mean)(*table, folds=3, seed=0).all()


def test_select_top_prefers_the_fewest_features(table):
    X, y = table
    chosen = wrappers.select_top(X, y, np.array([1, 0, 2, 3]), folds=3, seed=0)
    assert chosen.tolist() == [True, True, False, False]
