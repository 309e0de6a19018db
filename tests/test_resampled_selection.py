"""Tests of the stability of selectors over subsamples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import SelectKBest, f_regression

from allrelevant import SVMRFE, InputError, selection_stability
from allrelevant.resampling import draw_seeds, random_splits


def test_frequency_equals_that_of_fits_to_the_subsamples():
    X, y = load_wine(return_X_y=True)
    frame = pd.DataFrame(X).add_prefix("f")
    selector = SVMRFE(n_features_to_select=3)
    found = selection_stability(selector, frame, y, n_splits=4, random_state=0)
    splits = random_splits(y, 4, 0.2, draw_seeds(0, 1)[0], stratify=True)
    expected = [selector.fit(X[train], y[train]).get_support() for train, _ in splits]
    np.testing.assert_array_equal(found.support, expected)
    assert found.n_features.tolist() == [3, 3, 3, 3]
    two = selection_stability(selector, frame, y, n_splits=4, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(two.support, expected)


def test_groups_stay_together_and_numeric_targets_are_not_stratified():
    X, y = load_diabetes(return_X_y=True)
    seen = []

    class Recording(SelectKBest):
        def fit(self, X, y, groups=None):
            seen.append(np.unique(groups))
            return super().fit(X, y)

    groups = np.arange(len(y)) // 10
    found = selection_stability(
        Recording(f_regression, k=2), X, y, n_splits=3, groups=groups, random_state=0
    )
    assert found.support.sum(axis=1).tolist() == [2, 2, 2]
    assert all(len(kept) < len(np.unique(groups)) for kept in seen)
    with pytest.raises(InputError, match="n_splits must be from 2 to"):
        selection_stability(SelectKBest(f_regression, k=2), X, y, n_splits=1)
