"""Bounds of learned metrics on the XOR data and on spectra, as in Schulz et al. (2015).

1. Relevance classes on the XOR data for several levels of noise and slack, over ten seeds.
2. Figure of the coefficients of lasso, elastic net and ridge for the same mapping.
3. With --data: errors of the learned metric, of the mappings at the bounds and of their mean. The
   roles of training and test rows are swapped, as in the paper.
4. With --data: time for all bounds, compared with one warm-started HiGHS model per component.

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

from .mapping_highs import bound_with_our_constraints, bound_with_paper_constraints

TRUTH = ["weak"] * 3 + ["strong"] + ["irrelevant"] * 2
SEEDS = range(10)
SLACK = 0.01

# Published test errors of the learned metric and at the bounds, and published dimension.
PUBLISHED = {"wine": (0.29, 0.14, 7), "tecator": (0.16, None, 9)}
FILES = {"wine": "wine_nir.npz", "tecator": "tecator.npz"}
OUTLIERS = {"wine": [33, 34, 83], "tecator": []}


def xor_table() -> None:
    print(
        "| Noise | Slack | All relevance classes correct | Dimension "
        "| Features 1-3 | Feature 4 | Features 5-6 |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for noise in (0.05, 0.2, 0.5):
        for slack in (0.01, 0.05):
            fits = [xor_bounds(noise, slack, seed) for seed in SEEDS]
            n_correct = sum(bounds.relevance_.tolist() == TRUTH for bounds in fits)
            cells = [
                f"{n_correct} of {len(fits)}",
                _count([bounds.effective_dimension_ for bounds in fits]),
                *(
                    _count([name for bounds in fits for name in bounds.relevance_[part]])
                    for part in (slice(0, 3), slice(3, 4), slice(4, 6))
                ),
            ]
            print(f"| {noise} | {slack} | {' | '.join(cells)} |", flush=True)


def xor_bounds(noise: float, slack: float, seed: int) -> MetricBounds:
    data = make_xor(noise=noise, random_state=seed)
    learner = GMLVQ(prototypes_per_class=2, random_state=seed)
    return MetricBounds(learner, slack=slack, random_state=seed, n_jobs=-1).fit(data.X, data.y)


def _count(values: list[Any]) -> str:
    """Format the distinct values in order of frequency, with counts if there are several."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) == 1:
        return f"{distinct[0]}"
    return ", ".join(f"{distinct[i]} ({counts[i]})" for i in np.argsort(-counts))


def xor_figure(folder: Path) -> None:
    """Draw the weights of the XOR features against their norm, and the relevance bounds.

    This is Figure 4 of the paper.
    """
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
    colors = ["#e0913a", "#c2761f", "#8f5512", "#123f6d", "#8a8a8a", "#bdbdbd"]
    for ax, (name, weights) in zip(axes, paths.items(), strict=False):
        for j in range(6):
            label = f"feature {j + 1}"
            ax.plot(
                np.abs(weights).sum(axis=1), np.abs(weights[:, j]), color=colors[j], label=label
            )
        ax.set_title(name, loc="left", fontsize="medium")
        ax.set_xlabel("l1 norm of the coefficients")
    axes[0].set_ylabel("absolute coefficient")
    axes[0].legend(fontsize="x-small", frameon=False)
    low, high = bounds.interval_.T
    axes[3].bar(np.arange(1, 7), high, color=colors)
    axes[3].bar(np.arange(1, 7), low, color="#123f6d", hatch="///", edgecolor="white")
    axes[3].set_title("upper bounds (hatched: lower bounds)", loc="left", fontsize="medium")
    axes[3].set_xlabel("feature")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_ylim(bottom=0.0)
    figure.savefig(folder / "xor_paths.png", dpi=110)
    pyplot.close(figure)


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Load spectra; return scaled features, classes, training rows and test rows.

    Training and test rows of the file are swapped.
    """
    with np.load(folder / FILES[name]) as file:
        X, content, part = file["X"].astype(float), file["y"].astype(float), file["split"]
    rows = np.setdiff1d(np.arange(len(X)), OUTLIERS[name])
    X, content, part = X[rows], content[rows], part[rows]
    train, test = np.flatnonzero(part == 1), np.flatnonzero(part == 0)
    X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    return X, equal_classes(content, 3), train, test


def spectra(folder: Path, images: Path | None) -> None:
    print(
        "| Data | Rows (training + test) | Error of the learned metric | Error at the bounds "
        "| Error of the mean mapping | Dimension | Dimension by cross-validation: error "
        "| Paper: learned, at the bounds, dimension |"
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
            errors = _format_errors(name, curve, bounds, len(train), len(test))
            print(f"| {name}, {max_iter} iterations | {errors} |", flush=True)
        if images is not None:
            curve.plot().figure_.savefig(images / f"{name}_dimension.png", dpi=110)
            bounds.plot_rows().figure_.savefig(images / f"{name}_bounds.png", dpi=110)


def _format_errors(
    name: str, curve: DimensionCurve, bounds: MetricBounds, n_train: int, n_test: int
) -> str:
    best = int(np.flatnonzero(curve.dimensions == curve.best())[0])
    chosen = int(np.flatnonzero(curve.dimensions == bounds.effective_dimension_)[0])
    learned, at_bounds, dimension = PUBLISHED[name]
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
        "| Data | Features | Dimension | `allrelevant`, s | HiGHS, same constraints, s | Ratio | "
        "HiGHS, the paper's constraints, s | Ratio | Largest difference |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in FILES:
        X, y, train, _ = load(name, folder)
        learner = GMLVQ(rank=2).fit(X[train], y[train])
        dimension = PUBLISHED[name][2]
        directions = data_space(X[train]).first(dimension)
        components = metric_rows(project(learner.omega_, directions))
        bound_component(components[0], directions, SLACK)  # compile
        methods = bound_component, bound_with_our_constraints, bound_with_paper_constraints
        results, seconds = zip(
            *(measure(method, components, directions) for method in methods), strict=True
        )
        difference = max(np.abs(other - results[0]).max() for other in results[1:])
        cells = [
            name,
            X.shape[1],
            dimension,
            f"{seconds[0]:.3f}",
            *(f"{other:.2f} | {other / seconds[0]:.0f}" for other in seconds[1:]),
            f"{difference:.0e}",
        ]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def bound_component(row: np.ndarray, directions: np.ndarray, slack: float) -> np.ndarray:
    return bound_row(row, directions, slack).ranges.interval


def measure(
    method: Callable[..., np.ndarray], components: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the bounds of all components and the CPU time in seconds."""
    with threadpool_limits(1):
        start = process_time()
        bounds = np.array([method(row, directions, SLACK) for row in components])
        return bounds, process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with wine_nir.npz and tecator.npz")
    parser.add_argument("--images", type=Path, help="folder for the figures")
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    xor_table()
    if args.images is not None:
        xor_figure(args.images)
    if args.data is None:
        print("\nWine and Tecator are skipped. Use --data to set their folder.")
        return
    print()
    spectra(args.data, args.images)
    print()
    speed(args.data)


if __name__ == "__main__":
    main()
