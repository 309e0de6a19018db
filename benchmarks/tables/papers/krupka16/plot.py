"""Plot of accuracy and subset size against the number of candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from allrelevant.plots._style import CLASS_STYLES

from ...table import Measured
from .gains import KINDS
from .setups import EB_RFE

LABELS = {"inner": "inner score", "nested": "nested score"}


def draw_candidates(tasks: Mapping[str, Measured]) -> Any:
    """Draw mean accuracies and subset sizes over tasks and seeds; return None without tasks."""
    import matplotlib.pyplot as plt

    if not tasks:
        return None
    candidates = [setup.n_candidates for setup in EB_RFE]
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
    for ax, quantity, suffix in ((axes[0], "accuracy, %", ""), (axes[1], "features", " features")):
        for kind, style in zip(KINDS, ("weak", "strong"), strict=True):
            means = [mean_figure(tasks, f"{setup.name} {kind}{suffix}") for setup in EB_RFE]
            ax.plot(
                candidates,
                means,
                marker="o",
                ms=4,
                color=CLASS_STYLES[style].edge,
                label=LABELS[kind],
            )
        ax.set_xlabel("candidates at each step (1: SVM-RFE, R5)")
        ax.set_ylabel(f"{quantity}, mean over {len(tasks)} tasks")
        ax.set_xticks(candidates)
    axes[1].set_ylim(bottom=0)
    axes[0].legend(frameon=False)
    return figure


def mean_figure(tasks: Mapping[str, Measured], key: str) -> float:
    return float(np.mean([run[key] for runs in tasks.values() for run in runs.values()]))
