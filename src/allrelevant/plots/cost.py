"""What equally good models cost, against the number of their features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..bounds.design import Design
from ..extras import import_extra
from .palette import INK, LOOKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class CostDisplay:
    """A mark for each of the cheapest models: number of features, and their cost.

    Filled where the model is proven to be the cheapest that was left, hollow where it is not; then
    a line reaches down to what is proven. A cross marks the features that the baseline uses.

    Parameters
    ----------
    design : Design

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the marks were drawn last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from allrelevant import ClassificationBounds
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
    >>> display = bounds.cheapest([1, 5, 2, 1], n_solutions=2).plot()
    >>> display.ax_.get_ylabel()
    'cost'
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, *, design: Design) -> None:
        self.design = design

    @classmethod
    def from_design(cls, design: Design, **kwargs: Any) -> CostDisplay:
        """Draw the models of a design; the options are those of :meth:`plot`."""
        return cls(design=design).plot(**kwargs)

    def plot(self, *, ax: Axes | None = None) -> CostDisplay:
        """Draw the marks.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default in a figure of its own.

        Returns
        -------
        CostDisplay
            This one.
        """
        plt = import_extra("matplotlib.pyplot", "plot")
        ticker = import_extra("matplotlib.ticker", "plot")
        if ax is None:
            _, ax = plt.subplots(figsize=(5.6, 4.0), layout="constrained")
        assert ax is not None
        for solution in self.design:
            self._mark(ax, len(solution.members), solution)
        n_used = int(self.design.baseline_used.sum())
        ax.plot(n_used, self.design.baseline_cost, "x", color=INK, label="baseline")
        ax.set_xlabel("number of features", fontsize=9)
        ax.set_ylabel("cost", fontsize=9)
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        ax.set_ylim(bottom=0.0)
        ax.margins(x=0.15)
        ax.spines[["top", "right"]].set_visible(False)
        handles, labels = ax.get_legend_handles_labels()
        ax.legend(*_each_once(handles, labels), fontsize=8, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self

    def _mark(self, ax: Axes, n_features: int, solution: Any) -> None:
        look = LOOKS["strong" if solution.proven else "irrelevant"]
        label = "proven to be the cheapest left" if solution.proven else "best found in time"
        if solution.gap > 0:
            ends = [solution.cost - solution.gap, solution.cost]
            ax.plot([n_features, n_features], ends, color=look.edge, linewidth=1.0)
        ax.plot(
            n_features,
            solution.cost,
            "o",
            markerfacecolor=look.fill,
            markeredgecolor=look.edge,
            label=label,
        )


def _each_once(handles: list[Any], labels: list[str]) -> tuple[list[Any], list[str]]:
    _, first = np.unique(labels, return_index=True)
    return [handles[i] for i in sorted(first)], [labels[i] for i in sorted(first)]
