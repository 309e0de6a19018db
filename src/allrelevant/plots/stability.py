"""Figure of the stability of bounds and relevance classes over random splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._optional import import_extra
from ..relevance import CLASSES
from ._style import (
    BAR_HEIGHT,
    CLASS_STYLES,
    TEXT_COLOR,
    Order,
    choose_rows,
    draw_bars,
    draw_legend_above,
    draw_marks,
    name_rows,
    rows_height,
    rows_label,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..bounds.stability import Stability


_CAP = 0.18  # half the height of a whisker cap, in rows
_RATIO_POSITION = 1.2  # right edge of the printed ratios, as a fraction of the right panel's width


@dataclass(kw_only=True, eq=False, repr=False)
class StabilityDisplay:
    """Plot of mean relevance intervals and of relevance class frequencies over random splits.

    The left panel shows the mean interval of each feature, colored by its most frequent relevance
    class. Whiskers at both ends show one standard deviation, and a circle marks the mean absolute
    weight of the baseline. The right panel shows the fraction of splits in each relevance class.
    The ratio next to it is the standard deviation of the upper bound divided by that of the
    baseline's weight.

    Use :meth:`from_result` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    interval_mean, interval_std : array-like of shape (n_features, 2)
        Mean and standard deviation of the lower and the upper bound of each feature.
    frequency : array-like of shape (n_features, 4)
        Fraction of splits in which each feature is strong, weak, unconfirmed and irrelevant.
    feature_names : sequence of str, default=None
        Names of the features. If None, ``x0, x1, ...`` are used.
    baseline_mean : array-like of shape (n_features,), default=None
        Mean absolute weights of the baseline. If None, no circles are drawn.
    ratio : array-like of shape (n_features,), default=None
        Ratio of the two standard deviations. If None, no ratios are printed.

    Attributes
    ----------
    axes_ : tuple of two matplotlib Axes
        Panels of the most recent drawing.
    figure_ : matplotlib Figure
        Figure of the most recent drawing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from allrelevant import ClassificationBounds, stability
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> bounds = ClassificationBounds(C=0.1, cutoff=0.1)
    >>> display = stability(bounds, data.X, data.y, n_splits=4, random_state=0).plot()
    >>> len(display.axes_[0].get_yticks())
    5
    """

    interval_mean: ArrayLike
    interval_std: ArrayLike
    frequency: ArrayLike
    feature_names: Sequence[str] | None = None
    baseline_mean: ArrayLike | None = None
    ratio: ArrayLike | None = None

    @classmethod
    def from_result(cls, result: Stability, **kwargs: Any) -> StabilityDisplay:
        """Create a display of the result of :func:`allrelevant.stability` and draw it.

        Parameters
        ----------
        result : Stability
            Relevance bounds for random splits.
        **kwargs
            Parameters of :meth:`plot`.
        """
        bounds = result.lower, result.upper
        display = cls(
            interval_mean=np.column_stack([values.mean(axis=0) for values in bounds]),
            interval_std=np.column_stack([values.std(axis=0, ddof=1) for values in bounds]),
            frequency=result.frequency,
            feature_names=result.feature_names,
            baseline_mean=result.baseline.mean(axis=0),
            ratio=result.ratio,
        )
        return display.plot(**kwargs)

    def plot(
        self,
        ax: Sequence[Axes] | None = None,
        *,
        max_features: int | None = 40,
        order: Order = "table",
        show_baseline: bool = True,
        show_ratio: bool = True,
        show_legend: bool = True,
    ) -> StabilityDisplay:
        """Draw the panels of mean intervals and of relevance class frequencies.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, default=None
            Axes for the intervals and for the fractions of splits. If None, a new figure is
            created.
        max_features : int or None, default=40
            Maximum number of features to draw: those with the largest mean upper bounds. A note in
            the figure gives the total number. None draws all features.
        order : {"table", "upper"}, default="table"
            Order from top to bottom: as in the table, or by descending mean upper bound.
        show_baseline : bool, default=True
            Whether to mark the mean absolute weights of the baseline.
        show_ratio : bool, default=True
            Whether to print the ratios of the standard deviations on the right.
        show_legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        StabilityDisplay
            The display itself.
        """
        shown = choose_rows(np.asarray(self.interval_mean)[:, 1], max_features, order)
        left, right = _new_axes(len(shown), show_legend) if ax is None else ax
        self.axes_: tuple[Axes, Axes] = (left, right)
        self.figure_: Figure = left.figure  # type: ignore[assignment]
        self._draw_intervals(shown)
        if show_baseline and self.baseline_mean is not None:
            draw_marks(self.axes_[0], np.asarray(self.baseline_mean)[shown], "baseline, mean")
        self._draw_fractions(shown)
        if show_ratio and self.ratio is not None:
            self._print_ratios(np.asarray(self.ratio)[shown])
        self._draw_axes(shown)
        if show_legend:
            self._draw_legend()
        return self

    def _draw_intervals(self, shown: NDArray[np.intp]) -> None:
        left, _ = self.axes_
        mean, std = np.asarray(self.interval_mean)[shown], np.asarray(self.interval_std)[shown]
        most_frequent = np.asarray(self.frequency)[shown].argmax(axis=1)
        draw_bars(left, mean, [CLASSES[index] for index in most_frequent])
        largest = max(float((mean + std).max()), 1e-300)
        for side in (0, 1):
            self._draw_whiskers(mean[:, side], std[:, side], min_std=0.002 * largest)

    def _draw_whiskers(
        self, mean: NDArray[np.float64], std: NDArray[np.float64], min_std: float
    ) -> None:
        rows = np.flatnonzero(std > min_std)  # shorter whiskers would not be legible
        low, high = np.maximum(mean - std, 0.0)[rows], (mean + std)[rows]
        # A white outline keeps whiskers visible on dark bars.
        for color, width, order in (("white", 2.6, 3.0), (TEXT_COLOR, 0.9, 3.1)):
            style: dict[str, Any] = {"colors": color, "linewidth": width, "zorder": order}
            self.axes_[0].hlines(rows, low, high, **style)
            for end in (low, high):
                self.axes_[0].vlines(end, rows - _CAP, rows + _CAP, **style)

    def _draw_fractions(self, shown: NDArray[np.intp]) -> None:
        fractions = np.asarray(self.frequency)[shown]
        starts = np.cumsum(fractions, axis=1) - fractions
        for index, name in enumerate(CLASSES):
            present = np.flatnonzero(fractions[:, index] > 0)
            style = CLASS_STYLES[name]
            self.axes_[1].barh(
                present,
                fractions[present, index],
                left=starts[present, index],
                height=BAR_HEIGHT,
                color=style.fill,
                edgecolor=style.edge,
                linestyle=style.line,
                linewidth=0.8,
                zorder=2,
                clip_on=False,  # keep the edge visible at 100%
                label=name,
            )

    def _print_ratios(self, ratios: NDArray[np.float64]) -> None:
        right = self.axes_[1]
        style: dict[str, Any] = {
            "transform": right.get_yaxis_transform(),
            "ha": "right",
            "va": "center",
            "color": TEXT_COLOR,
            "fontsize": "small",
        }
        for row, ratio in enumerate(ratios):
            right.text(_RATIO_POSITION, row, format_ratio(ratio), **style)
        right.text(_RATIO_POSITION, -0.95, "ratio", fontstyle="italic", **style)

    def _draw_axes(self, shown: NDArray[np.intp]) -> None:
        left, right = self.axes_
        n_features = len(np.asarray(self.interval_mean))
        for ax in self.axes_:
            name_rows(ax, self.feature_names or None, shown)
        right.tick_params(axis="y", labelleft=False)
        left.set_xlim(left=0.0)
        right.set_xlim(0.0, 1.0)
        right.set_xticks([0.0, 0.5, 1.0], ["0", "50%", "100%"])
        label = "absolute weight (mean interval ± one standard deviation)"
        left.set_xlabel(rows_label(label, len(shown), n_features))
        right.set_xlabel("fraction of splits")

    def _draw_legend(self) -> None:
        left, right = self.axes_
        bars = [bar for bar in right.containers if len(bar)]
        marks = left.get_legend_handles_labels()[0]
        draw_legend_above(left, [*bars, *marks])


def format_ratio(ratio: float) -> str:
    """Format a ratio with at most three significant digits.

    >>> [format_ratio(ratio) for ratio in (0.987, 18.74, float("inf"))]
    ['0.99', '18.7', '∞']
    """
    if np.isinf(ratio):
        return "∞"
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.3g}"


def _new_axes(n_rows: int, with_legend: bool) -> tuple[Axes, Axes]:
    pyplot = import_extra("matplotlib.pyplot", "plot")
    _, (left, right) = pyplot.subplots(
        ncols=2,
        figsize=(8.5, rows_height(n_rows, with_legend)),
        width_ratios=(2.2, 1.0),
        layout="constrained",
    )
    return left, right
