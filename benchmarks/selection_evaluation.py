"""Evaluation of selected features on held-out rows by several models."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

MODELS = {
    "logistic regression": make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=2_000)
    ),
    "RBF SVM": make_pipeline(StandardScaler(), SVC(class_weight="balanced")),
    "random forest": RandomForestClassifier(100, class_weight="balanced", random_state=0),
}


def balanced_accuracies(
    X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, features: np.ndarray
) -> list[float]:
    """Return the balanced accuracy of each model, trained on some features and rows."""
    if len(features) == 0:
        return [1.0 / len(np.unique(y))] * len(MODELS)
    X = X[:, features]
    return [
        float(
            balanced_accuracy_score(y[test], clone(model).fit(X[train], y[train]).predict(X[test]))
        )
        for model in MODELS.values()
    ]
