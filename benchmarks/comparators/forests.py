"""Feature selection with Boruta, based on random forests and permuted features."""

from __future__ import annotations

from boruta import BorutaPy
from sklearn.ensemble import RandomForestClassifier

from .interface import Chosen, Classes, Table


def boruta(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Select the features that Boruta confirms, with the random forest of its example."""
    forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=1)
    return BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y).support_
