"""Weights of a metric on the XOR data: bounds, lasso, elastic net and ridge regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNetCV, LassoCV, Ridge, RidgeCV, enet_path, lasso_path

from allrelevant.datasets import make_xor

from ...metric_bounds import SLACK, xor_bounds
from ..table import Derived, Figures, Measured

NOISE = 0.05
RIDGE_ALPHAS = np.logspace(-3, 4, 29)
COLORS = ["#e0913a", "#c2761f", "#8f5512", "#123f6d", "#8a8a8a", "#bdbdbd"]


def measure(seed: int, _: Path) -> Figures:
    data = make_xor(noise=NOISE, random_state=seed)
    bounds = xor_bounds(NOISE, SLACK, seed)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    targets = [X @ row for row in bounds.raw_mapping_]
    models = {
        "lasso": LassoCV(cv=10, random_state=seed),
        "elastic net": ElasticNetCV(l1_ratio=0.5, cv=10, random_state=seed),
        "ridge": RidgeCV(RIDGE_ALPHAS),
    }
    # Like the bounds, the weights are summed over the components of the metric.
    weights = {
        name: sum(np.abs(model.fit(X, target).coef_) for target in targets)
        for name, model in models.items()
    }
    weights["as learned"] = np.abs(bounds.raw_mapping_).sum(axis=0)
    lower, upper = bounds.interval_.T
    return {
        **to_figures(upper / upper[3]),
        "lower bound": (lower / upper[3]).tolist(),
        **{name: (weight / weight[3]).tolist() for name, weight in weights.items()},
        "paths": paths(X, targets[0]),
        "right": bounds.relevance_.tolist() == ["weak"] * 3 + ["strong"] + ["irrelevant"] * 2,
    }


def to_figures(weights: Sequence[float]) -> dict[str, float]:
    return {f"weight {j}": float(weight) for j, weight in enumerate(weights, start=1)}


def paths(X: np.ndarray, target: np.ndarray) -> dict[str, list[list[float]]]:
    """Return the absolute weights along each regularization path, strongest penalty first."""
    ridge = [Ridge(alpha, fit_intercept=False).fit(X, target).coef_ for alpha in RIDGE_ALPHAS[::-1]]
    coefficients = {
        "lasso": lasso_path(X, target, alphas=30)[1].T,
        "elastic net": enet_path(X, target, l1_ratio=0.5, alphas=30)[1].T,
        "ridge": np.array(ridge),
    }
    return {name: np.abs(weights).round(5).tolist() for name, weights in coefficients.items()}


def derive(rows: Mapping[str, Measured]) -> list[Derived]:
    """Return the rows of the lower bounds and of the other methods, computed from the same fits."""
    (measured,) = rows.values()
    names = ("lower bound", "as learned", "lasso", "elastic net", "ridge")
    return [
        Derived(
            name,
            {seed: to_figures(figures[name]) for seed, figures in measured.items()},
            is_ours=name == "lower bound",
        )
        for name in names
    ]


def draw(rows: Mapping[str, Measured]) -> Any:
    from matplotlib import pyplot

    figures = rows["upper bound"][0]
    figure, axes = pyplot.subplots(1, 4, figsize=(12.0, 2.8), layout="constrained")
    for ax, name in zip(axes, ("lasso", "elastic net", "ridge"), strict=False):
        weights = np.array(figures["paths"][name])
        for j, color in enumerate(COLORS):
            ax.plot(weights.sum(axis=1), weights[:, j], color=color, label=f"feature {j + 1}")
        ax.set_title(name, loc="left", fontsize="medium")
        ax.set_xlabel("norm of the weights")
    axes[0].set_ylabel("absolute weight")
    axes[0].legend(fontsize="x-small", frameon=False)
    numbers = np.arange(1, 7)
    axes[3].bar(numbers, [figures[f"weight {j}"] for j in numbers], color=COLORS)
    axes[3].bar(numbers, figures["lower bound"], color="#123f6d", hatch="///", edgecolor="white")
    axes[3].set_title("bounds (hatched: lower)", loc="left", fontsize="medium")
    axes[3].set_xlabel("feature")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_ylim(bottom=0.0)
    return figure
