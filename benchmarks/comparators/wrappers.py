"""Selection by how well a linear SVM does: recursive elimination, forward and backward steps."""

from __future__ import annotations

import numpy as np
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from .filters import mutual_information, relieff
from .interface import Chosen, Classes, Table

# A step of forward or backward selection must gain, or may lose, this much accuracy.
TOLERANCE = 1e-3


def judge() -> LinearSVC:
    return LinearSVC(dual=False, random_state=0)


def splits(folds: int, seed: int) -> StratifiedKFold:
    return StratifiedKFold(folds, shuffle=True, random_state=seed)


def rfecv(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """RFE, its number of features by cross-validation."""
    scaled = StandardScaler().fit_transform(X)
    return RFECV(judge(), cv=splits(folds, seed)).fit(scaled, y).support_


def forward_backward(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """What is taken on the way up, or kept on the way down."""
    scaled = StandardScaler().fit_transform(X)
    chosen = np.zeros(X.shape[1], dtype=bool)
    for direction, tolerance in (("forward", TOLERANCE), ("backward", -TOLERANCE)):
        steps = SequentialFeatureSelector(
            judge(),
            n_features_to_select="auto",
            direction=direction,
            tol=tolerance,
            cv=splits(folds, seed),
        )
        chosen |= steps.fit(scaled, y).get_support()
    return chosen


def best_first(X: Table, y: Classes, order: np.ndarray, *, folds: int, seed: int) -> Chosen:
    """The first features of a ranking, as many as serve the SVM best; the fewest of equals."""
    scaled = StandardScaler().fit_transform(X)
    cv = splits(folds, seed)
    scores = [
        cross_val_score(judge(), scaled[:, order[:size]], y, cv=cv).mean()
        for size in range(1, len(order) + 1)
    ]
    return np.isin(np.arange(len(order)), order[: int(np.argmax(scores)) + 1])


def mim(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Ranked by mutual information with the class."""
    order = np.argsort(-mutual_information(X, y), kind="stable")
    return best_first(X, y, order, folds=folds, seed=seed)


def relief(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Ranked by ReliefF."""
    order = np.argsort(-relieff(X, y), kind="stable")
    return best_first(X, y, order, folds=folds, seed=seed)
