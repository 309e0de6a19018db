"""Bounds of learned metrics: the xor data, and the spectra of wine and meat, as in Schulz et al.

1. The classes found on the xor data, over ten seeds, by noise and slack.
2. What lasso, elastic net and ridge make of the same mapping, as a figure.
3. With a folder that has `wine_nir.npz` and `tecator.npz`: errors of the metric as learned, of the
   mappings at the bounds and of their mean, the roles of training and test rows switched.
4. With the same folder: time for all bounds, beside one warm-started HiGHS model for each row.

usage: python -m benchmarks.metric_bounds [--data FOLDER] [--images FOLDER]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge, enet_path, lasso_path
from threadpoolctl import threadpool_limits

from allrelevant import GMLVQ, MetricBounds
from allrelevant.bounds.mapping.dimension import DimensionCurve, dimension_curve
from allrelevant.bounds.mapping.linear_mapping import data_space, metric_rows, project
from allrelevant.bounds.mapping.row_bounds import bound_row
from allrelevant.datasets import make_xor
from allrelevant.datasets.other_tasks import equal_classes

from .mapping_peers import bounds_of_paper, bounds_of_reduced

TRUTH = ["weak"] * 3 + ["strong"] + ["irrelevant"] * 2
SEEDS = range(10)
SLACK = 0.01

# Errors on test rows that the paper reports: as learned, and at the bounds.
OF_PAPER = {"wine": (0.29, 0.14, 7), "tecator": (0.16, None, 9)}
FILES = {"wine": "wine_nir.npz", "tecator": "tecator.npz"}
OUTLIERS = {"wine": [33, 34, 83], "tecator": []}


def xor_table() -> None:
    print("| noise | slack | all classes right | dimension | features 1-3 | 4 | 5-6 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for noise in (0.05, 0.2, 0.5):
        for slack in (0.01, 0.05):
            fits = [xor_bounds(noise, slack, seed) for seed in SEEDS]
            right = sum(bounds.relevance_.tolist() == TRUTH for bounds in fits)
            cells = [
                f"{right} of {len(fits)}",
                _counted([bounds.effective_dimension_ for bounds in fits]),
                *(
                    _counted([word for bounds in fits for word in bounds.relevance_[part]])
                    for part in (slice(0, 3), slice(3, 4), slice(4, 6))
                ),
            ]
            print(f"| {noise} | {slack} | {' | '.join(cells)} |", flush=True)


def xor_bounds(noise: float, slack: float, seed: int) -> MetricBounds:
    data = make_xor(noise=noise, random_state=seed)
    learner = GMLVQ(prototypes_per_class=2, random_state=seed)
    return MetricBounds(learner, slack=slack, random_state=seed, n_jobs=-1).fit(data.X, data.y)


def _counted(values: list[Any]) -> str:
    found, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts)
    return (
        ", ".join(f"{found[i]} ({counts[i]})" for i in order) if len(found) > 1 else f"{found[0]}"
    )


def xor_figure(folder: Path) -> None:
    """Weights against their norm, for the row that features 1 to 3 have most of; Figure 4."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    data = make_xor(noise=0.05, random_state=0)
    bounds = xor_bounds(0.05, SLACK, 0)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    target = X @ bounds.raw_mapping_.sum(axis=0)
    ridge = [
        Ridge(alpha, fit_intercept=False).fit(X, target).coef_ for alpha in np.logspace(4, -3, 60)
    ]
    paths = {
        "lasso": lasso_path(X, target, alphas=60)[1].T,
        "elastic net": enet_path(X, target, l1_ratio=0.5, alphas=60)[1].T,
        "ridge": np.array(ridge),
    }
    figure, axes = pyplot.subplots(1, 4, figsize=(12.0, 3.0), layout="constrained")
    colours = ["#e0913a", "#c2761f", "#8f5512", "#123f6d", "#8a8a8a", "#bdbdbd"]
    for ax, (name, weights) in zip(axes, paths.items(), strict=False):
        for j in range(6):
            label = f"feature {j + 1}"
            ax.plot(
                np.abs(weights).sum(axis=1), np.abs(weights[:, j]), color=colours[j], label=label
            )
        ax.set_title(name, loc="left", fontsize="medium")
        ax.set_xlabel("norm of the weights")
    axes[0].set_ylabel("size of the weight")
    axes[0].legend(fontsize="x-small", frameon=False)
    low, high = bounds.interval_.T
    axes[3].bar(np.arange(1, 7), high, color=colours)
    axes[3].bar(np.arange(1, 7), low, color="#123f6d", hatch="///", edgecolor="white")
    axes[3].set_title("bounds (hatched: must have)", loc="left", fontsize="medium")
    axes[3].set_xlabel("feature")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_ylim(bottom=0.0)
    figure.savefig(folder / "xor_paths.png", dpi=110)
    pyplot.close(figure)


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows scaled by the training part, classes, and which rows train and test, switched."""
    with np.load(folder / FILES[name]) as file:
        X, content, part = file["X"].astype(float), file["y"].astype(float), file["split"]
    kept = np.setdiff1d(np.arange(len(X)), OUTLIERS[name])
    X, content, part = X[kept], content[kept], part[kept]
    train, test = np.flatnonzero(part == 1), np.flatnonzero(part == 0)
    X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    return X, equal_classes(content, 3), train, test


def spectra(folder: Path, images: Path | None) -> None:
    print(
        "| data | rows | error as learned | at the bounds | mean mapping | dimension | "
        "chosen by cross-validation | paper: as learned, at the bounds, dimension |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in FILES:
        X, y, train, test = load(name, folder)
        for max_iter in (20, 1000):
            learner = GMLVQ(rank=2, max_iter=max_iter)
            curve = dimension_curve(learner, X, y, [(train, test)], SLACK, n_jobs=-1)
            bounds = MetricBounds(
                learner, slack=SLACK, standardize=False, random_state=0, n_jobs=-1
            )
            bounds.fit(X[train], y[train])
            errors = _errors(name, curve, bounds, len(train), len(test))
            print(f"| {name}, {max_iter} iterations | {errors} |", flush=True)
        if images is not None:
            curve.plot().figure_.savefig(images / f"{name}_dimension.png", dpi=110)
            bounds.plot_rows().figure_.savefig(images / f"{name}_bounds.png", dpi=110)


def _errors(
    name: str, curve: DimensionCurve, bounds: MetricBounds, n_train: int, n_test: int
) -> str:
    best = int(np.flatnonzero(curve.dimensions == curve.best())[0])
    chosen = int(np.flatnonzero(curve.dimensions == bounds.effective_dimension_)[0])
    learned, at_bounds, dimension = OF_PAPER[name]
    cells = [
        f"{n_train} + {n_test}",
        f"{curve.raw_train_error[0]:.2f}, {curve.raw_test_error[0]:.2f}",
        f"{curve.train_error[best, 0]:.2f}, {curve.test_error[best, 0]:.2f}",
        f"{curve.averaged_error[best, 0]:.2f}",
        f"{curve.dimensions[best]}",
        f"{bounds.effective_dimension_}: {curve.test_error[chosen, 0]:.2f}",
        f"{learned}, {at_bounds or '-'}, {dimension}",
    ]
    return " | ".join(cells)


def speed(folder: Path) -> None:
    print(
        "| data | features | dimension | ours, s | HiGHS, our rows, s | ratio | "
        "HiGHS, the paper's rows, s | ratio | difference |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in FILES:
        X, y, train, _ = load(name, folder)
        learner = GMLVQ(rank=2).fit(X[train], y[train])
        dimension = OF_PAPER[name][2]
        directions = data_space(X[train]).first(dimension)
        rows = metric_rows(project(learner.omega_, directions))
        bounds_of_ours(rows[0], directions, SLACK)  # compiles
        ways = bounds_of_ours, bounds_of_reduced, bounds_of_paper
        found, seconds = zip(*(timed(way, rows, directions) for way in ways), strict=True)
        off = max(np.abs(other - found[0]).max() for other in found[1:])
        cells = [
            name,
            X.shape[1],
            dimension,
            f"{seconds[0]:.3f}",
            *(f"{other:.2f} | {other / seconds[0]:.0f}" for other in seconds[1:]),
            f"{off:.0e}",
        ]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def bounds_of_ours(row: np.ndarray, directions: np.ndarray, slack: float) -> np.ndarray:
    return bound_row(row, directions, slack).ranges.interval


def timed(
    way: Callable[..., np.ndarray], rows: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, float]:
    """The bounds of all rows, and processor seconds, which other programs disturb least."""
    with threadpool_limits(1):
        start = process_time()
        found = np.array([way(row, directions, SLACK) for row in rows])
        return found, process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with wine_nir.npz and tecator.npz")
    parser.add_argument("--images", type=Path, help="where to put figures")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    xor_table()
    if arguments.images is not None:
        xor_figure(arguments.images)
    if arguments.data is None:
        print("\nWine and Tecator are left out: no folder was given (--data).")
        return
    print()
    spectra(arguments.data, arguments.images)
    print()
    speed(arguments.data)


if __name__ == "__main__":
    main()
