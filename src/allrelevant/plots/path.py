"""Intervals along a path of a setting, as bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..bounds.path import BoundsPath, stretches
from ..bounds.relevance import CLASSES
from ..extras import import_extra
from .labels import printable, shorten
from .palette import INK, LOOKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABEL_WIDTH = 24
_PANEL = (2.3, 1.5)


class PathDisplay:
    """One small panel for each feature: the band from its smallest to its largest weight.

    Made by :meth:`from_path`; keeps the path, so that :meth:`plot` can draw it again.

    Parameters
    ----------
    path : BoundsPath

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, drawn last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from allrelevant import ClassificationBounds, bounds_path
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> path = bounds_path(ClassificationBounds(cutoff=0.1), data.X, data.y, values=[0.1, 1.0])
    >>> len(path.plot().axes_)
    5
    """

    def __init__(self, *, path: BoundsPath) -> None:
        self.path = path

    @classmethod
    def from_path(cls, path: BoundsPath, **kwargs: Any) -> PathDisplay:
        """Draw a path; the options are those of :meth:`plot`."""
        return cls(path=path).plot(**kwargs)

    def plot(self, *, max_features: int | None = 30, n_columns: int = 5) -> PathDisplay:
        """Draw the bands in a figure of their own.

        Parameters
        ----------
        max_features : int or None, default=30
            Of more features than this, only those of the largest upper bounds are drawn, and the
            figure says so. None draws all.
        n_columns : int, default=5
            Panels beside each other.

        Returns
        -------
        PathDisplay
            This one.
        """
        plt = import_extra("matplotlib.pyplot", "plot")
        shown = self._shown(max_features)
        n_columns = min(n_columns, len(shown))
        n_rows = -(-len(shown) // n_columns)
        figure, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(_PANEL[0] * n_columns + 0.6, _PANEL[1] * n_rows + 1.1),
            sharex=True,
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        panels = axes.ravel()
        for ax, feature in zip(panels, shown, strict=False):
            self._draw(ax, int(feature))
        for ax in panels[len(shown) :]:
            ax.set_visible(False)
        self._finish(figure, panels[: len(shown)])
        self.figure_, self.axes_ = figure, panels[: len(shown)]
        return self

    def _shown(self, max_features: int | None) -> np.ndarray:
        largest = self.path.interval[:, :, 1].max(axis=0)
        n_features = len(largest)
        if max_features is None or n_features <= max_features:
            return np.arange(n_features)
        return np.sort(np.argsort(-largest, kind="stable")[:max_features])

    def _draw(self, ax: Axes, feature: int) -> None:
        path, values = self.path, self.path.values
        lower, upper = path.interval[:, feature].T
        for relevance, start, stop in stretches(path.relevance[:, feature]):
            # A band reaches to the next value, where the next class begins.
            part = slice(start, min(stop + 1, len(values)))
            look = LOOKS[relevance]
            ax.fill_between(
                values[part], lower[part], upper[part], facecolor=look.fill, edgecolor="none"
            )
            for edge in (lower, upper):
                ax.plot(values[part], edge[part], color=look.edge, linewidth=1.0)
        ax.plot(values, np.abs(path.baseline[:, feature]), color=INK, linewidth=0.9, linestyle=":")
        ax.set_xscale("log" if values[0] > 0 and len(values) > 1 else "linear")
        name = shorten(printable(path.feature_names[feature]), _LABEL_WIDTH)
        ax.set_title(name, fontsize=8, color=INK, pad=3)
        ax.tick_params(labelsize=7, colors=INK)
        ax.margins(x=0)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)

    def _finish(self, figure: Figure, panels: np.ndarray) -> None:
        lines = import_extra("matplotlib.lines", "plot")
        patches = import_extra("matplotlib.patches", "plot")
        handles = [
            patches.Patch(facecolor=LOOKS[name].fill, edgecolor=LOOKS[name].edge, label=name)
            for name in CLASSES
        ]
        handles.append(lines.Line2D([], [], color=INK, linestyle=":", label="baseline"))
        figure.legend(
            handles=handles, loc="outside upper center", ncols=4, fontsize=8, frameon=False
        )
        n_features = len(self.path.feature_names)
        label: str = self.path.param
        if len(panels) < n_features:
            label += f"   (the {len(panels)} of {n_features} features of the largest upper bounds)"
        figure.supxlabel(label, fontsize=9)
        figure.supylabel("size of the weight", fontsize=9)
