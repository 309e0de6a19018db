"""The intervals as horizontal bars.

Intervals along a path of a setting, as bands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._optional import import_extra
from .._text import printable, shorten
from .._validation import feature_names
from ..bounds.path import BoundsPath, runs_of_equal_values
from ..relevance import CLASSES
from ..terms.layout import baseline_weights
from ._style import BAR_HEIGHT, CLASS_STYLES, TEXT_COLOR, Order, choose_rows, name_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class IntervalsDisplay:
    """The interval of each feature's weight as a bar, coloured by relevance.

    Made by :meth:`from_estimator`; keeps the values, so that :meth:`plot` can draw them again.

    Parameters
    ----------
    interval : array-like of shape (n_features, 2)
        Smallest and largest absolute weight of each feature.
    relevance : array-like of shape (n_features,)
        ``"strong"``, ``"weak"`` or ``"irrelevant"``.
    feature_names : sequence of str, default=None
        By default ``x0, x1, ...``.
    baseline : array-like of shape (n_features,), default=None
        The baseline's weights, marked in the bars by their size. None draws no marks.
    cutoff : array-like of shape (2,), default=None
        What the lower and what the upper bound must exceed. None draws no lines.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the intervals were drawn last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from allrelevant import ClassificationBounds
    >>> from allrelevant.datasets import make_linear_classification
    >>> from allrelevant.plots import IntervalsDisplay
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
    >>> display = IntervalsDisplay.from_estimator(bounds, order="upper")
    >>> len(display.ax_.get_yticks())
    5
    """

    def __init__(
        self,
        *,
        interval: ArrayLike,
        relevance: ArrayLike,
        feature_names: Sequence[str] | None = None,
        baseline: ArrayLike | None = None,
        cutoff: ArrayLike | None = None,
    ) -> None:
        self.interval = interval
        self.relevance = relevance
        self.feature_names = feature_names
        self.baseline = baseline
        self.cutoff = cutoff

    @classmethod
    def from_estimator(
        cls,
        est: Any,
        *,
        ax: Axes | None = None,
        max_features: int | None = 40,
        order: Order = "table",
        show_baseline: bool = True,
        show_cutoff: bool = True,
        show_legend: bool = True,
    ) -> IntervalsDisplay:
        """Draw the intervals of a fitted estimator.

        Parameters
        ----------
        est : ClassificationBounds
            Fitted.
        ax : matplotlib Axes, default=None
            Where to draw; by default in a figure of its own.
        max_features : int or None, default=40
            Of more features than this, only those of the largest upper bounds are drawn, and the
            figure says so. None draws all.
        order : {"table", "upper"}, default="table"
            From top to bottom: as the columns of the table, or by falling upper bound.
        show_baseline : bool, default=True
            Mark the size of the baseline's weight.
        show_cutoff : bool, default=True
            Draw what a bound must exceed to count. With more than two classes each has cutoffs of
            its own, and none is drawn.
        show_legend : bool, default=True

        Returns
        -------
        IntervalsDisplay
        """
        check_is_fitted(est)
        display = cls(
            interval=est.interval_,
            relevance=est.relevance_,
            feature_names=feature_names(est),
            baseline=baseline_weights(est),
            cutoff=est.cutoff_ if np.ndim(est.cutoff_) == 1 else None,
        )
        return display.plot(
            ax=ax,
            max_features=max_features,
            order=order,
            show_baseline=show_baseline,
            show_cutoff=show_cutoff,
            show_legend=show_legend,
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_features: int | None = 40,
        order: Order = "table",
        show_baseline: bool = True,
        show_cutoff: bool = True,
        show_legend: bool = True,
    ) -> IntervalsDisplay:
        """Draw the intervals, again or elsewhere.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default in a figure of its own.
        max_features, order, show_baseline, show_cutoff, show_legend
            See :meth:`from_estimator`.

        Returns
        -------
        IntervalsDisplay
            The display itself.
        """
        shown = choose_rows(np.asarray(self.interval)[:, 1], max_features, order)
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            height = 0.9 + 0.22 * len(shown) + (0.2 if show_legend else 0.0)
            _, ax = pyplot.subplots(figsize=(7.0, height), layout="constrained")
        self.ax_: Axes = ax
        self.figure_: Figure = ax.figure  # type: ignore[assignment]
        self._draw_bars(shown)
        if show_baseline and self.baseline is not None:
            self._draw_baseline(np.asarray(self.baseline)[shown])
        if show_cutoff and self.cutoff is not None:
            self._draw_cutoffs(np.asarray(self.cutoff))
        self._draw_axes(shown)
        if show_legend:
            self._draw_legend(shown)
        return self

    def _draw_bars(self, shown: NDArray[np.intp]) -> None:
        lower, upper = np.asarray(self.interval)[shown].T
        looks = [CLASS_STYLES[str(relevance)] for relevance in np.asarray(self.relevance)[shown]]
        rows = np.arange(len(shown))
        self.ax_.barh(
            rows,
            upper - lower,
            left=lower,
            height=BAR_HEIGHT,
            color=[look.fill for look in looks],
            edgecolor=[look.edge for look in looks],
            linewidth=0.8,
            zorder=2,
        )
        # A lower bound above zero is what makes a feature strong: lead the eye to where it starts.
        above_zero = lower > 0.002 * max(float(upper.max()), 1e-300)
        self.ax_.hlines(
            rows[above_zero], 0.0, lower[above_zero], colors="#8a8a8a", lw=0.8, ls=":", zorder=1
        )

    def _draw_baseline(self, weights: NDArray[np.float64]) -> None:
        rows = np.arange(len(weights))
        self.ax_.plot(
            np.abs(weights),
            rows,
            ls="none",
            marker="o",
            ms=4.2,
            mfc="white",
            mec=TEXT_COLOR,
            mew=0.9,
            zorder=4,
            clip_on=False,
            label="baseline",
        )

    def _draw_cutoffs(self, cutoff: NDArray[np.float64]) -> None:
        lower, upper = map(float, cutoff)
        line = self.ax_.axvline(upper, color=TEXT_COLOR, lw=0.8, ls=(0, (5, 3)), zorder=3)
        if lower == upper:
            line.set_label("cutoff")
            return
        line.set_label("cutoff, upper bound")
        if lower > 0.0:
            style = (0, (1, 2))
            self.ax_.axvline(
                lower, color=TEXT_COLOR, lw=0.8, ls=style, zorder=3, label="cutoff, lower bound"
            )

    def _draw_axes(self, shown: NDArray[np.intp]) -> None:
        ax, n_features = self.ax_, len(np.asarray(self.interval))
        name_rows(ax, self.feature_names or [f"x{j}" for j in range(n_features)], shown)
        ax.set_xlim(left=0.0)
        label = "absolute weight, over all equally good models"
        if len(shown) < n_features:
            label += (
                f"\n(the {len(shown)} of {n_features:,} features with the largest upper bounds)"
            )
        ax.set_xlabel(label)

    def _draw_legend(self, shown: NDArray[np.intp]) -> None:
        from matplotlib.patches import Patch

        present = set(np.asarray(self.relevance)[shown].tolist())
        patches = [
            Patch(facecolor=look.fill, edgecolor=look.edge, linewidth=0.8, label=name)
            for name, look in CLASS_STYLES.items()
            if name in present
        ]
        lines = self.ax_.get_legend_handles_labels()[0]
        own = [line for line in lines if str(line.get_label()).startswith(("baseline", "cutoff"))]
        self.ax_.legend(
            handles=[*patches, *own],
            # Where it is wider than the axes it runs above the names, not off the page.
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=len(patches) + len(own),
            fontsize="small",
            frameon=False,
            handlelength=1.5,
            handletextpad=0.6,
            columnspacing=1.3,
            borderaxespad=0.2,
        )


_LABEL_WIDTH = 24


_PANEL = (2.3, 1.5)


class PathDisplay:
    """One small panel for each feature: the band from its smallest to its largest weight.

    Made by :meth:`from_result`; keeps the path, so that :meth:`plot` can draw it again.

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
    def from_result(cls, path: BoundsPath, **kwargs: Any) -> PathDisplay:
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
        for relevance, start, stop in runs_of_equal_values(path.relevance[:, feature]):
            # A band reaches to the next value, where the next class begins.
            part = slice(start, min(stop + 1, len(values)))
            look = CLASS_STYLES[relevance]
            ax.fill_between(
                values[part], lower[part], upper[part], facecolor=look.fill, edgecolor="none"
            )
            for edge in (lower, upper):
                ax.plot(values[part], edge[part], color=look.edge, linewidth=1.0)
        ax.plot(
            values,
            np.abs(path.baseline[:, feature]),
            color=TEXT_COLOR,
            linewidth=0.9,
            linestyle=":",
        )
        ax.set_xscale("log" if values[0] > 0 and len(values) > 1 else "linear")
        name = shorten(printable(path.feature_names[feature]), _LABEL_WIDTH)
        ax.set_title(name, fontsize=8, color=TEXT_COLOR, pad=3)
        ax.tick_params(labelsize=7, colors=TEXT_COLOR)
        ax.margins(x=0)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)

    def _finish(self, figure: Figure, panels: np.ndarray) -> None:
        lines = import_extra("matplotlib.lines", "plot")
        patches = import_extra("matplotlib.patches", "plot")
        handles = [
            patches.Patch(
                facecolor=CLASS_STYLES[name].fill, edgecolor=CLASS_STYLES[name].edge, label=name
            )
            for name in CLASSES
        ]
        handles.append(lines.Line2D([], [], color=TEXT_COLOR, linestyle=":", label="baseline"))
        figure.legend(
            handles=handles, loc="outside upper center", ncols=4, fontsize=8, frameon=False
        )
        n_features = len(self.path.feature_names)
        label: str = self.path.param
        if len(panels) < n_features:
            label += f"   (the {len(panels)} of {n_features} features of the largest upper bounds)"
        figure.supxlabel(label, fontsize=9)
        figure.supylabel("size of the weight", fontsize=9)
