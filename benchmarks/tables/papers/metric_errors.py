"""Classification errors of learned metrics, and of mappings at their relevance bounds."""

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
    """Return the errors of a metric on XOR data, with separate training and test data."""
    first, second = (make_xor(random_state=2 * seed + part) for part in (0, 1))
    X, y = np.vstack([first.X, second.X]), np.concatenate([first.y, second.y])
    train, test = np.arange(len(first.y)), len(first.y) + np.arange(len(second.y))
    learner = GMLVQ(prototypes_per_class=2, random_state=seed)
    return errors(learner, scaled(X, train), codes(y), train, test)


def spectra(seed: int, data: Path, *, name: str, max_iter: int) -> Figures:
    """Return errors and weights on spectra, trained on the test rows as in the paper."""
    X, y, train, test = load(name, data)
    learner = GMLVQ(rank=2, max_iter=max_iter, random_state=seed)
    figures = dict(errors(learner, X, y, train, test))
    bounds = MetricBounds(
        learner,
        slack=SLACK,
        standardize=False,
        effective_dimension=figures["dimension"],
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # The number of iterations is limited.
        bounds.fit(X[train], y[train])
    figures["as learned"] = np.abs(bounds.raw_mapping_).sum(axis=0).tolist()
    figures["lower"], figures["upper"] = bounds.interval_.T.tolist()
    figures["mean mapping"] = bounds.averaged_mapping_.coef_.tolist()
    return figures


def parkinsons(seed: int, data: Path, *, learner: str) -> Figures:
    """Return the errors on the Parkinson's data, with all recordings of some people held out."""
    with np.load(data / "parkinsons.npz") as file:
        X, y, people = file["X"].astype(float), file["y"], file["subject"]
    split = GroupShuffleSplit(1, test_size=0.25, random_state=seed)
    train, test = next(split.split(X, y, people))
    models = {"GMLVQ": GMLVQ(rank=2, random_state=seed), "LMNN": LMNN(rank=2, random_state=seed)}
    return errors(models[learner], scaled(X, train), codes(y), train, test)


def errors(
    learner: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> Figures:
    """Return the errors at the smallest effective dimension with minimal test error."""
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
    """Draw the errors against the effective dimension, one panel per row."""
    from matplotlib import pyplot

    n_lines = -(-len(rows) // 3)
    figure, axes = pyplot.subplots(
        n_lines, 3, figsize=(9.0, 2.4 * n_lines), sharey=True, layout="constrained", squeeze=False
    )
    for ax in axes.flat[len(rows) :]:
        ax.set_axis_off()
    for ax, (name, measured) in zip(axes.flat, rows.items(), strict=False):
        figures = measured[min(measured)]
        for part, color in (("train", "#8a8a8a"), ("test", "#123f6d")):
            ax.plot(figures["dimensions"], figures[f"{part} by dimension"], color=color, label=part)
            ax.axhline(figures[part], color=color, linestyle="--", linewidth=0.8)
        ax.set_title(name, loc="left", fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize="small")
    figure.supxlabel("effective dimension", fontsize="small")
    figure.supylabel("error", fontsize="small")
    return figure


def draw_spectra(rows: Mapping[str, Measured]) -> Any:
    """Draw the learned mapping, its bounds and the mean mapping, one column per dataset.

    Return None if no spectra were measured.
    """
    from matplotlib import pyplot

    first = {name: measured[min(measured)] for name, measured in rows.items()}
    spectra = {name: figures for name, figures in first.items() if "as learned" in figures}
    if not spectra:
        return None
    figure, axes = pyplot.subplots(
        3, len(spectra), figsize=(4.2 * len(spectra), 5.5), layout="constrained", squeeze=False
    )
    for column, (name, figures) in enumerate(spectra.items()):
        channels = np.arange(len(figures["upper"]))
        learned, bounds, mean = axes[:, column]
        learned.fill_between(channels, figures["as learned"], color="#7a7a7a", linewidth=0)
        learned.set_title(f"{name}: as learned", loc="left", fontsize="small")
        bounds.fill_between(channels, figures["upper"], color="#e0913a", linewidth=0)
        bounds.fill_between(channels, figures["lower"], color="#123f6d", linewidth=0)
        bounds.set_title("upper (orange) and lower (blue) bounds", loc="left", fontsize="small")
        mean.fill_between(channels, figures["mean mapping"], color="#4f7f4f", linewidth=0)
        mean.set_title("mean mapping", loc="left", fontsize="small")
        mean.set_xlabel("channel")
        for ax in axes[:, column]:
            ax.spines[["top", "right"]].set_visible(False)
    return figure
