"""Figures of relevance intervals: horizontal bars, and bands along parameter values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._optional import import_extra
from .._params import FDR
from .._text import short_label
from .._validation import feature_names
from ..bounds.calibration import UNUSED_CUTOFF
from ..bounds.path import BoundsPath
from ..relevance import CLASSES
from ._style import (
    CLASS_STYLES,
    TEXT_COLOR,
    AxesDisplay,
    Order,
    axes_or_new,
    choose_rows,
    class_patches,
    draw_bars,
    draw_legend_above,
    draw_marks,
    name_rows,
    rows_height,
    rows_label,
)
from .layout import bands, cutoff_lines, is_logarithmic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(kw_only=True, eq=False, repr=False)
class IntervalsDisplay(AxesDisplay):
    """Bar chart of relevance intervals, colored by relevance class.

    Use :meth:`from_estimator` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    interval : array-like of shape (n_features, 2)
        Smallest and largest absolute weight of each feature.
    relevance : array-like of shape (n_features,)
        Relevance class of each feature: ``"strong"``, ``"weak"``, ``"unconfirmed"`` or
        ``"irrelevant"``.
    feature_names : sequence of str, default=None
        Names of the features. If None, ``x0, x1, ...`` are used.
    baseline : array-like of shape (n_features,), default=None
        Weights of the baseline, drawn as circles at their absolute values. If None, no circles are
        drawn.
    cutoff : array-like of shape (2,), default=None
        Cutoffs for the lower and the upper bound. If None, no lines are drawn. An estimator has no
        cutoffs to draw if its features are relevant by their q-values.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the most recent drawing.
    figure_ : matplotlib Figure
        Figure of the most recent drawing.

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

    interval: ArrayLike
    relevance: ArrayLike
    feature_names: Sequence[str] | None = None
    baseline: ArrayLike | None = None
    cutoff: ArrayLike | None = None

    @classmethod
    def from_estimator(cls, est: Any, **kwargs: Any) -> IntervalsDisplay:
        """Create a display from a fitted estimator and draw it.

        Parameters
        ----------
        est : estimator
            Fitted estimator of relevance bounds.
        **kwargs
            Parameters of :meth:`plot`.
        """
        check_is_fitted(est)
        display = cls(
            interval=est.interval_,
            relevance=est.relevance_,
            feature_names=feature_names(est),
            baseline=est._feature_tables()[0].baseline,
            cutoff=_drawn_cutoff(est),
        )
        return display.plot(**kwargs)

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
        """Draw the relevance intervals as horizontal bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        max_features : int or None, default=40
            Maximum number of features to draw: those with the largest upper bounds. A note in the
            figure gives the total number. None draws all features.
        order : {"table", "upper"}, default="table"
            Order from top to bottom: as in the table, or by descending upper bound.
        show_baseline : bool, default=True
            Whether to mark the absolute weights of the baseline.
        show_cutoff : bool, default=True
            Whether to draw the cutoffs, if there are any. With more than two target classes, no
            cutoffs are drawn, because they differ between the classes.
        show_legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        IntervalsDisplay
            The display itself.
        """
        shown = choose_rows(np.asarray(self.interval)[:, 1], max_features, order)
        self.ax_ = axes_or_new(ax, 7.0, rows_height(len(shown), show_legend))
        self.figure_ = self.ax_.figure
        self._draw_bars(shown)
        if show_baseline and self.baseline is not None:
            draw_marks(self.ax_, np.asarray(self.baseline)[shown], "baseline")
        if show_cutoff and self.cutoff is not None:
            self._draw_cutoffs(*np.asarray(self.cutoff, dtype=float))
        self._draw_axes(shown)
        if show_legend:
            self._draw_legend(shown)
        return self

    def _draw_bars(self, shown: NDArray[np.intp]) -> None:
        interval = np.asarray(self.interval)[shown]
        draw_bars(self.ax_, interval, np.asarray(self.relevance)[shown].tolist())
        lower, upper = interval.T
        rows = np.arange(len(shown))
        # Dotted lines connect feature names to bars that start above zero.
        above_zero = lower > 0.002 * max(float(upper.max()), 1e-300)
        self.ax_.hlines(
            rows[above_zero], 0.0, lower[above_zero], colors="#8a8a8a", lw=0.8, ls=":", zorder=1
        )

    def _draw_cutoffs(self, lower: float, upper: float) -> None:
        dashed, dotted = (0, (5, 3)), (0, (1, 2))
        for value, kind in cutoff_lines(lower, upper):
            if kind == "lower" and value <= 0.0:
                continue
            self.ax_.axvline(
                value,
                color=TEXT_COLOR,
                lw=0.8,
                ls=dotted if kind == "lower" else dashed,
                zorder=3,
                label="cutoff" if kind == "both" else f"cutoff, {kind} bound",
            )

    def _draw_axes(self, shown: NDArray[np.intp]) -> None:
        ax, n_features = self.ax_, len(np.asarray(self.interval))
        name_rows(ax, self.feature_names or None, shown)
        ax.set_xlim(left=0.0)
        label = "absolute weight over all equivalent models"
        ax.set_xlabel(rows_label(label, len(shown), n_features))

    def _draw_legend(self, shown: NDArray[np.intp]) -> None:
        present = set(np.asarray(self.relevance)[shown].tolist())
        patches = class_patches([name for name in CLASSES if name in present], linewidth=0.8)
        # Axes passed by the user may contain other lines, which do not belong in this legend.
        lines = self.ax_.get_legend_handles_labels()[0]
        drawn = [line for line in lines if str(line.get_label()).startswith(("baseline", "cutoff"))]
        draw_legend_above(self.ax_, [*patches, *drawn])


def _drawn_cutoff(est: Any) -> NDArray[np.float64] | None:
    """Return the cutoffs to draw, or None if features are tested or cutoffs differ by class."""
    cutoff = np.asarray(est.cutoff_)
    is_tested = getattr(est, "rule_", None) == FDR  # mappings have no rule_
    is_used = cutoff.ndim == 1 and not np.array_equal(cutoff, UNUSED_CUTOFF)
    return cutoff if is_used and not is_tested else None


_LABEL_WIDTH = 24
_PANEL = (2.3, 1.5)


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay:
    """Plot of relevance intervals against a parameter of the estimator, one panel per feature.

    Use :meth:`from_result` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    path : BoundsPath
        Relevance bounds for a sequence of parameter values.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Panels of the most recent drawing.
    figure_ : matplotlib Figure
        Figure of the most recent drawing.

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

    path: BoundsPath

    @classmethod
    def from_result(cls, path: BoundsPath, **kwargs: Any) -> PathDisplay:
        """Create a display from relevance bounds along a parameter path and draw it.

        Parameters
        ----------
        path : BoundsPath
            Relevance bounds for a sequence of parameter values.
        **kwargs
            Parameters of :meth:`plot`.
        """
        return cls(path=path).plot(**kwargs)

    def plot(self, *, max_features: int | None = 30, n_columns: int = 5) -> PathDisplay:
        """Draw the relevance intervals of each feature as a band, in a new figure.

        Parameters
        ----------
        max_features : int or None, default=30
            Maximum number of features to draw: those with the largest upper bounds. A note in the
            figure gives the total number. None draws all features.
        n_columns : int, default=5
            Number of panels per row.

        Returns
        -------
        PathDisplay
            The display itself.
        """
        plt = import_extra("matplotlib.pyplot", "plot")
        shown = choose_rows(self.path.interval[:, :, 1].max(axis=0), max_features, "table")
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
        self._finish(figure, shown)
        self.figure_, self.axes_ = figure, panels[: len(shown)]
        return self

    def _draw(self, ax: Axes, feature: int) -> None:
        path, values = self.path, self.path.values
        lower, upper = path.interval[:, feature].T
        for relevance, part in bands(path.relevance[:, feature]):
            style = CLASS_STYLES[relevance]
            ax.fill_between(
                values[part], lower[part], upper[part], facecolor=style.fill, edgecolor="none"
            )
            for edge in (lower, upper):
                ax.plot(values[part], edge[part], color=style.edge, ls=style.line, linewidth=1.0)
        ax.plot(
            values,
            np.abs(path.baseline[:, feature]),
            color=TEXT_COLOR,
            linewidth=0.9,
            linestyle=":",
        )
        ax.set_xscale("log" if is_logarithmic(values) else "linear")
        name = short_label(path.feature_names[feature], _LABEL_WIDTH)
        ax.set_title(name, fontsize=8, color=TEXT_COLOR, pad=3)
        ax.tick_params(labelsize=7, colors=TEXT_COLOR)
        ax.margins(x=0)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)

    def _finish(self, figure: Figure, shown: NDArray[np.intp]) -> None:
        lines = import_extra("matplotlib.lines", "plot")
        present = set(self.path.relevance[:, shown].ravel().tolist())
        handles = class_patches([name for name in CLASSES if name in present])
        handles.append(lines.Line2D([], [], color=TEXT_COLOR, linestyle=":", label="baseline"))
        figure.legend(
            handles=handles,
            loc="outside upper center",
            ncols=len(handles),
            fontsize=8,
            frameon=False,
        )
        n_features = len(self.path.feature_names)
        label: str = self.path.param
        if len(shown) < n_features:
            label += f"   (the {len(shown)} of {n_features} features with the largest upper bounds)"
        figure.supxlabel(label, fontsize=9)
        figure.supylabel("absolute weight", fontsize=9)
