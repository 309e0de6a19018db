"""Breast cancer (diagnostic): profiles as in Figures 4 and 5 of ferel18, Figure 2 of esann17."""

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

COLUMNS = (
    Column("F1 of malignant, held out", "F1", 4),
    Column("strong", "strong", 0, ""),
    Column("weak", "weak", 0, ""),
    Column("irrelevant", "irrelevant", 0, ""),
)
# The rule of ferel18, with a C and delta at which most of its findings come out.
RULE_OF_FEREL18: Mapping[str, Any] = {
    "C": 0.05,
    "norm_slack": 0.1,
    "loss_slack": 0.0,
    "cutoff": 1e-5,
}
FOLDS = 10


def measure(seed: int, _: Path, *, subset: range, settings: Mapping[str, Any]) -> Figures:
    """Classes and bounds on the whole table; F1 of its baseline on rows held out."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, subset]
    bounds = ClassificationBounds(random_state=seed, **settings).fit(X, y)
    # The baseline alone is wanted: no probes, and C as it was chosen.
    baseline = ClassificationBounds(C=float(bounds.baseline_.C_), cutoff=1e-5)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    predicted = cross_val_predict(baseline, X, y, cv=folds)
    number = np.array(subset) + 1
    of_class = {name: number[bounds.relevance_ == name].tolist() for name in CLASSES}
    return {
        "F1": float(f1_score(y, predicted, pos_label=0)),
        **{name: len(found) for name, found in of_class.items()},
        "strong features": of_class["strong"],
        "features": number.tolist(),
        "lower": bounds.interval_[:, 0].tolist(),
        "upper": bounds.interval_[:, 1].tolist(),
        "C": float(bounds.baseline_.C_),
    }


CLASSES = ("strong", "weak", "irrelevant")


def rows(
    settings: Mapping[str, Any], label: str, published: Mapping[str, Mapping[str, float]]
) -> list[Row]:
    """One row for each part of the features."""
    return [
        Row(
            f"{name} features{label}",
            partial(measure, subset=subset, settings=settings),
            published.get(name, {}),
            seeds=3,
            quick=1,
            ours=True,
        )
        for name, subset in SUBSETS.items()
    ]


def draw_profiles(rows: Mapping[str, Measured]) -> Any:
    """Intervals of all rows, one panel each; features in the order of the table."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        len(rows), 1, figsize=(9.0, 1.5 * len(rows)), sharex=True, layout="constrained"
    )
    for ax, (name, measured) in zip(np.atleast_1d(axes), rows.items(), strict=True):
        figures = measured[min(measured)]
        numbers, lower, upper = (np.array(figures[key]) for key in ("features", "lower", "upper"))
        ax.bar(numbers, upper - lower, bottom=lower, color="#e0913a", width=0.7, label="can have")
        ax.bar(numbers, lower, color="#123f6d", width=0.7, label="must have")
        ax.set_title(name, loc="left", fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)
    np.atleast_1d(axes)[0].legend(fontsize="x-small", frameon=False, ncols=2)
    np.atleast_1d(axes)[-1].set_xlabel("feature, counted from 1")
    figure.supylabel("size of the weight", fontsize="medium")
    return figure
