"""Boruta: features that a random forest finds more important than shuffled ones."""

from __future__ import annotations

from boruta import BorutaPy
from sklearn.ensemble import RandomForestClassifier

from .interface import Chosen, Classes, Table


def boruta(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """With the forest of its own example; what stays undecided is not selected."""
    forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=1)
    return BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y).support_
