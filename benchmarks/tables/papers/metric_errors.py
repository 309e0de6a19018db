"""Errors of metrics as they were learned, and of the mappings at their relevance bounds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupShuffleSplit

from allrelevant import GMLVQ, LMNN, MetricBounds
from allrelevant.bounds.mapping.dimension import dimension_curve
from allrelevant.datasets import make_xor

from ...metric_bounds import SLACK, load
from ..table import Figures, Measured


def xor(seed: int, _: Path) -> Figures:
    """Trained on one draw, judged on another."""
    own, new = (make_xor(random_state=2 * seed + part) for part in (0, 1))
    X, y = np.vstack([own.X, new.X]), np.concatenate([own.y, new.y])
    train, test = np.arange(len(own.y)), len(own.y) + np.arange(len(new.y))
    learner = GMLVQ(prototypes_per_class=2, random_state=seed)
    return errors(learner, scaled(X, train), codes(y), train, test)


def spectra(seed: int, data: Path, *, name: str, max_iter: int) -> Figures:
    """As the paper has them: training and test rows switched, three classes."""
    X, y, train, test = load(name, data)
    learner = GMLVQ(rank=2, max_iter=max_iter, random_state=seed)
    found = dict(errors(learner, X, y, train, test))
    bounds = MetricBounds(
        learner,
        slack=SLACK,
        standardize=False,
        effective_dimension=found["dimension"],
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # iterations are cut on purpose
        bounds.fit(X[train], y[train])
    found["as learned"] = np.abs(bounds.raw_mapping_).sum(axis=0).tolist()
    found["lower"], found["upper"] = bounds.interval_.T.tolist()
    found["mean mapping"] = bounds.averaged_mapping_.coef_.tolist()
    return found


def parkinsons(seed: int, data: Path, *, learner: str) -> Figures:
    """In place of the adrenal data, by both learners; whole people are held out."""
    with np.load(data / "parkinsons.npz") as file:
        X, y, people = file["X"].astype(float), file["y"], file["subject"]
    split = GroupShuffleSplit(1, test_size=0.25, random_state=seed)
    train, test = next(split.split(X, y, people))
    models = {"GMLVQ": GMLVQ(rank=2, random_state=seed), "LMNN": LMNN(rank=2, random_state=seed)}
    return errors(models[learner], scaled(X, train), codes(y), train, test)


def errors(
    learner: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> Figures:
    """At the dimension of least test error; of equals the smallest, as in the paper."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        curve = dimension_curve(learner, X, y, [(train, test)], SLACK)
    best = int(np.flatnonzero(curve.dimensions == curve.best())[0])
    return {
        "train": float(curve.raw_train_error[0]),
        "test": float(curve.raw_test_error[0]),
        "bounds": float(curve.test_error[best, 0]),
        "averaged": float(curve.averaged_error[best, 0]),
        "dimension": int(curve.dimensions[best]),
        "dimensions": curve.dimensions.tolist(),
        "train by dimension": curve.train_error[:, 0].tolist(),
        "test by dimension": curve.test_error[:, 0].tolist(),
    }


def scaled(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    return (X - X[train].mean(axis=0)) / X[train].std(axis=0)


def codes(y: np.ndarray) -> np.ndarray:
    return np.unique(y, return_inverse=True)[1]


def draw_dimensions(rows: Mapping[str, Measured]) -> Any:
    from matplotlib import pyplot

    n_lines = -(-len(rows) // 3)
    figure, axes = pyplot.subplots(
        n_lines, 3, figsize=(9.0, 2.4 * n_lines), sharey=True, layout="constrained", squeeze=False
    )
    for ax in axes.flat[len(rows) :]:
        ax.set_axis_off()
    for ax, (name, measured) in zip(axes.flat, rows.items(), strict=False):
        found = measured[min(measured)]
        for part, colour in (("train", "#8a8a8a"), ("test", "#123f6d")):
            ax.plot(found["dimensions"], found[f"{part} by dimension"], color=colour, label=part)
            ax.axhline(found[part], color=colour, linestyle="--", linewidth=0.8)
        ax.set_title(name, loc="left", fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize="small")
    figure.supxlabel("effective dimension", fontsize="small")
    figure.supylabel("error", fontsize="small")
    return figure


def draw_spectra(rows: Mapping[str, Measured]) -> Any:
    """One column a table: as learned, bounds, mean mapping; none without spectra."""
    from matplotlib import pyplot

    kept = {name: measured[min(measured)] for name, measured in rows.items()}
    kept = {name: found for name, found in kept.items() if "as learned" in found}
    if not kept:
        return None
    figure, axes = pyplot.subplots(
        3, len(kept), figsize=(4.2 * len(kept), 5.5), layout="constrained", squeeze=False
    )
    for column, (name, found) in enumerate(kept.items()):
        place = np.arange(len(found["upper"]))
        learned, bounds, mean = axes[:, column]
        learned.fill_between(place, found["as learned"], color="#7a7a7a", linewidth=0)
        learned.set_title(f"{name}: as learned", loc="left", fontsize="small")
        bounds.fill_between(place, found["upper"], color="#e0913a", linewidth=0)
        bounds.fill_between(place, found["lower"], color="#123f6d", linewidth=0)
        bounds.set_title("can have (orange), must have (blue)", loc="left", fontsize="small")
        mean.fill_between(place, found["mean mapping"], color="#4f7f4f", linewidth=0)
        mean.set_title("mean mapping", loc="left", fontsize="small")
        mean.set_xlabel("channel")
        for ax in axes[:, column]:
            ax.spines[["top", "right"]].set_visible(False)
    return figure
