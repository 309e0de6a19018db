"""Feature selection by the cross-validated accuracy of a linear SVM."""

from __future__ import annotations

import numpy as np
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from .filters import mutual_information, relieff
from .interface import Chosen, Classes, Table

# Smallest gain in accuracy of a forward step, and largest loss of a backward step.
TOLERANCE = 1e-3


def linear_svm() -> LinearSVC:
    return LinearSVC(dual=False, random_state=0)


def splits(folds: int, seed: int) -> StratifiedKFold:
    return StratifiedKFold(folds, shuffle=True, random_state=seed)


def rfecv(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Select features by recursive elimination, with a cross-validated number of features."""
    scaled = StandardScaler().fit_transform(X)
    return RFECV(linear_svm(), cv=splits(folds, seed)).fit(scaled, y).support_


def forward_backward(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Select the union of the features from forward and backward selection."""
    scaled = StandardScaler().fit_transform(X)
    chosen = np.zeros(X.shape[1], dtype=bool)
    for direction, tolerance in (("forward", TOLERANCE), ("backward", -TOLERANCE)):
        steps = SequentialFeatureSelector(
            linear_svm(),
            n_features_to_select="auto",
            direction=direction,
            tol=tolerance,
            cv=splits(folds, seed),
        )
        chosen |= steps.fit(scaled, y).get_support()
    return chosen


def select_top(X: Table, y: Classes, order: np.ndarray, *, folds: int, seed: int) -> Chosen:
    """Select the number of top-ranked features with the best cross-validated accuracy."""
    scaled = StandardScaler().fit_transform(X)
    cv = splits(folds, seed)
    scores = [
        cross_val_score(linear_svm(), scaled[:, order[:size]], y, cv=cv).mean()
        for size in range(1, len(order) + 1)
    ]
    return np.isin(np.arange(len(order)), order[: int(np.argmax(scores)) + 1])


def mim(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Select the features with the largest mutual information with the class."""
    order = np.argsort(-mutual_information(X, y), kind="stable")
    return select_top(X, y, order, folds=folds, seed=seed)


def relief(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Select the features with the largest ReliefF weights."""
    order = np.argsort(-relieff(X, y), kind="stable")
    return select_top(X, y, order, folds=folds, seed=seed)
