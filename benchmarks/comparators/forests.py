"""Boruta, which selects features that are more important to a random forest than permuted ones."""

from __future__ import annotations

from boruta import BorutaPy
from sklearn.ensemble import RandomForestClassifier

from .interface import Chosen, Classes, Table


def boruta(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Select the confirmed features, with the random forest of the package's example."""
    forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=1)
    return BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y).support_
