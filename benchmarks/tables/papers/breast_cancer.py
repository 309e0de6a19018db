"""Relevance profiles of the breast cancer data, as in Göpfert et al. (2017) and (2018).

These are Figures 4 and 5 of the later paper and Figure 2 of the earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from allrelevant import ClassificationBounds

from ...breast_cancer import SUBSETS
from ..table import Column, Figures, Measured, Row

CLASSES = ("strong", "weak", "irrelevant")
CLASS_COLUMNS = tuple(Column(name, name, 0, "") for name in CLASSES)
COLUMNS = (
    Column("F1 of malignant, held out", "F1", 4),
    Column("SD over the folds", "F1 over folds", 4, ""),
    Column("F1 of benign, held out", "F1 of benign", 4, ""),
    Column("F1 of malignant, training rows", "F1 in training", 4, ""),
    Column("F1 of benign, training rows", "F1 of benign in training", 4, ""),
    *CLASS_COLUMNS,
)
WITNESS_COLUMNS = (
    Column("F1 at the bounds, training rows", "F1 at the bounds, training", 4),
    Column("SD over the models", "F1 over models", 4, ""),
    Column("F1 at the bounds, held out", "F1 at the bounds", 4, ""),
    Column("F1 of the baseline, held out", "F1", 4, ""),
    *CLASS_COLUMNS,
)
# The method of ferel18, with a C and delta at which most of its findings are reproduced.
FEREL18_SETTINGS: Mapping[str, Any] = {
    "C": 0.05,
    "norm_slack": 0.1,
    "loss_slack": 0.0,
    "cutoff": 1e-5,
}
N_FOLDS = 10
MALIGNANT = 0


def measure(seed: int, _: Path, *, subset: range, settings: Mapping[str, Any]) -> Figures:
    """Return bounds, relevance classes and the F1 score of the baseline."""
    X, y, bounds, folds = fit(seed, subset, settings)
    # Only the baseline is needed here, so C and the cutoff are fixed.
    baseline = ClassificationBounds(C=float(bounds.baseline_.C_), cutoff=1e-5)
    predicted = cross_val_predict(baseline, X, y, cv=folds)
    by_fold = [f1_score(y[rows], predicted[rows], pos_label=0) for _, rows in folds.split(X, y)]
    fitted = bounds.predict(X)
    numbers = np.array(subset) + 1
    by_class = {name: numbers[bounds.relevance_ == name].tolist() for name in CLASSES}
    return {
        "F1": float(f1_score(y, predicted, pos_label=MALIGNANT)),
        "F1 over folds": float(np.std(by_fold, ddof=1)),
        "F1 of benign": float(f1_score(y, predicted)),
        "F1 in training": float(f1_score(y, fitted, pos_label=MALIGNANT)),
        "F1 of benign in training": float(f1_score(y, fitted)),
        **{name: len(features) for name, features in by_class.items()},
        "strong features": by_class["strong"],
        "features": numbers.tolist(),
        "lower": bounds.interval_[:, 0].tolist(),
        "upper": bounds.interval_[:, 1].tolist(),
        "C": float(bounds.baseline_.C_),
    }


def measure_with_witnesses(
    seed: int, data: Path, *, subset: range, settings: Mapping[str, Any]
) -> Figures:
    """Return the results of ``measure`` and the F1 scores of the witnesses."""
    X, y, bounds, folds = fit(seed, subset, settings)
    in_training = witness_scores(bounds, X, y)
    fixed = dict(settings) | {"C": float(bounds.baseline_.C_), "cutoff": 1e-5}
    held_out = [
        witness_scores(ClassificationBounds(**fixed).fit(X[train], y[train]), X[test], y[test])
        for train, test in folds.split(X, y)
    ]
    return {
        **measure(seed, data, subset=subset, settings=settings),
        "F1 at the bounds, training": float(in_training.mean()),
        "F1 over models": float(in_training.std(ddof=1)),
        "F1 at the bounds": float(np.mean(held_out)),
    }


def witness_scores(bounds: ClassificationBounds, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the F1 score of the malignant class for the witness of each bound."""
    models = [
        bounds.witness(feature, bound)
        for feature in range(bounds.n_features_in_)
        for bound in ("lower", "upper")
    ]
    predicted = [bounds.classes_[(model.decision_function(X) > 0).astype(int)] for model in models]
    return np.array([f1_score(y, classes, pos_label=MALIGNANT) for classes in predicted])


def fit(
    seed: int, subset: range, settings: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray, ClassificationBounds, StratifiedKFold]:
    """Fit bounds to a subset of the features; return the data, the bounds and the folds."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, subset]
    bounds = ClassificationBounds(random_state=seed, **settings).fit(X, y)
    return X, y, bounds, StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)


def rows(
    settings: Mapping[str, Any], label: str, published: Mapping[str, Mapping[str, float]]
) -> list[Row]:
    """Return one table row per subset of the features."""
    return [
        Row(
            f"{name} features{label}",
            partial(measure, subset=subset, settings=settings),
            published.get(name, {}),
            seeds=3,
            quick=1,
            is_ours=True,
        )
        for name, subset in SUBSETS.items()
    ]


def draw_profiles(rows: Mapping[str, Measured]) -> Any:
    """Draw the relevance intervals, one panel per row, features in the order of the table."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        len(rows), 1, figsize=(9.0, 1.5 * len(rows)), sharex=True, layout="constrained"
    )
    for ax, (name, measured) in zip(np.atleast_1d(axes), rows.items(), strict=True):
        figures = measured[min(measured)]
        numbers, lower, upper = (np.array(figures[key]) for key in ("features", "lower", "upper"))
        ax.bar(numbers, upper - lower, bottom=lower, color="#e0913a", width=0.7, label="interval")
        ax.bar(numbers, lower, color="#123f6d", width=0.7, label="lower bound")
        ax.set_title(name, loc="left", fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)
    np.atleast_1d(axes)[0].legend(fontsize="x-small", frameon=False, ncols=2)
    np.atleast_1d(axes)[-1].set_xlabel("feature, counted from 1")
    figure.supylabel("absolute weight", fontsize="medium")
    return figure
