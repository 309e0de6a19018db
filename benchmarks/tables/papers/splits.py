"""Stability of the bounds over 64 random splits, as in Göpfert et al. (2018), Figures 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, GroupKFold

from allrelevant import ClassificationBounds, Stability, stability
from allrelevant._params import CutoffName

from ..table import Column, Figures, Measured, Row

N_SPLITS = 64
C_VALUES = np.logspace(-1, 1, 9)

COLUMNS = (
    Column("accuracy, held out", "accuracy", 3),
    Column("median ratio of standard deviations", "ratio", 2, ""),
    Column("features with a ratio of at most 1.5", "near", 0, ""),
    Column("features", "n_features", 0, ""),
    Column(
        "features with the same relevance class in at least 90% of the splits", "settled", 0, ""
    ),
)


def breast_cancer(seed: int, _: Path, cutoff: CutoffName = "fdr") -> Figures:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return figures(run(ClassificationBounds(cutoff=cutoff), X, y, seed))


def parkinsons(seed: int, data: Path, cutoff: CutoffName = "fdr") -> Figures:
    """Measure the stability of bounds on the Parkinson's data, with splits by person.

    There are six or seven recordings of each of the 32 people.
    """
    with np.load(data / "parkinsons.npz") as file:
        X, y, people = file["X"].astype(float), file["y"], file["subject"]
    # Three quarters of the people are ill.
    bounds = ClassificationBounds(class_weight="balanced", cutoff=cutoff)
    # Choose C beforehand. With folds of single rows, C would suit the identification of people.
    search = GridSearchCV(
        clone(bounds).set_params(cutoff=1e-5),
        {"C": C_VALUES},
        cv=GroupKFold(10),
        scoring="balanced_accuracy",
    ).fit(X, y, groups=people)
    return figures(run(bounds.set_params(**search.best_params_), X, y, seed, groups=people))


DATASETS = (
    ("breast cancer", breast_cancer, ""),
    ("parkinsons, by person", parkinsons, "parkinsons.npz"),
)
RULES: dict[str, CutoffName] = {"": "fdr", ", cutoff from probes": "probes"}


def run(bounds: ClassificationBounds, X: Any, y: Any, seed: int, **options: Any) -> Stability:
    return stability(bounds, X, y, n_splits=N_SPLITS, test_size=0.1, random_state=seed, **options)


def figures(result: Stability) -> Figures:
    finite = np.isfinite(result.ratio)
    return {
        "accuracy": float(result.test_score.mean()),
        "accuracy spread": float(result.test_score.std(ddof=1)),
        "ratio": float(np.median(result.ratio[finite])),
        "near": int((result.ratio <= 1.5).sum()),
        "n_features": result.upper.shape[1],
        "settled": int((result.frequency.max(axis=1) >= 0.9).sum()),
        "ratios": [float(value) if np.isfinite(value) else None for value in result.ratio],
        "lower": result.lower.mean(axis=0).tolist(),
        "upper": result.upper.mean(axis=0).tolist(),
        "upper spread": result.upper.std(axis=0, ddof=1).tolist(),
    }


def rows() -> list[Row]:
    return [
        Row(
            f"{name}{title}",
            partial(measure, cutoff=cutoff),
            seeds=1,
            quick=0,
            data_file=data_file,
            is_ours=True,
        )
        for title, cutoff in RULES.items()
        for name, measure, data_file in DATASETS
    ]


def draw(rows: Mapping[str, Measured]) -> Any:
    """Draw the ratios of standard deviations above the mean bounds, one column per dataset.

    They do not depend on the rule for relevance, so rows with another rule are left out.
    """
    from matplotlib import pyplot

    rows = {name: rows[name] for name, _, _ in DATASETS if name in rows}

    figure, axes = pyplot.subplots(
        2, len(rows), figsize=(5.0 * len(rows), 4.5), layout="constrained", squeeze=False
    )
    for column, (name, measured) in enumerate(rows.items()):
        figures = measured[min(measured)]
        ratios = np.array([np.nan if value is None else value for value in figures["ratios"]])
        numbers = 1 + np.arange(len(ratios))
        top, below = axes[:, column]
        top.bar(numbers, ratios, color="#7a7a7a")
        top.axhline(1.0, color="black", linewidth=0.8)
        top.set_title(
            f"{name}: SD of the upper bound / SD of the weight", loc="left", fontsize="small"
        )
        upper, lower = np.array(figures["upper"]), np.array(figures["lower"])
        below.bar(numbers, upper, yerr=figures["upper spread"], color="#e0913a", ecolor="#8a8a8a")
        below.bar(numbers, lower, color="#123f6d")
        below.set_title(f"mean bounds over {N_SPLITS} splits", loc="left", fontsize="small")
        below.set_xlabel("feature")
        for ax in (top, below):
            ax.spines[["top", "right"]].set_visible(False)
    return figure
