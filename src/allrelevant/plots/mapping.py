"""Figures for linear mappings: weights, their bounds, and errors by effective dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._optional import import_extra
from .._text import short_label
from .._validation import feature_names
from ._style import CLASS_STYLES, TEXT_COLOR, AxesDisplay, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..bounds.mapping.dimension import DimensionCurve


RAW_COLOR = "#7a7a7a"

# Maximum number of features whose names are shown.
MAX_NAMES = 30

_LABEL_WIDTH = 24


@dataclass(kw_only=True, eq=False, repr=False)
class MappingDisplay:
    """Plot of the weights of a linear mapping and their bounds, two panels per component.

    Use :meth:`from_estimator` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    raw : array-like of shape (n_raw_rows, n_features)
        Learned mapping.
    row_interval : array-like of shape (n_rows, n_features, 2)
        Smallest and largest absolute weight of each feature in each component.
    feature_names : sequence of str
        Names of the features.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (2, n_rows)
        Axes of the most recent drawing: learned weights in the first row, bounds in the second.
    figure_ : matplotlib Figure
        Figure of the most recent drawing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from allrelevant import MappingBounds
    >>> X = np.random.RandomState(0).normal(size=(50, 4))
    >>> display = MappingBounds([[1.0, 2.0, 0.0, 0.0]]).fit(X).plot_rows()
    >>> display.axes_.shape
    (2, 1)
    """

    raw: ArrayLike
    row_interval: ArrayLike
    feature_names: Sequence[str]

    @classmethod
    def from_estimator(cls, est: Any, **kwargs: Any) -> MappingDisplay:
        """Create a display from a fitted estimator and draw it.

        Parameters
        ----------
        est : MappingBounds or MetricBounds
            Fitted estimator.
        **kwargs
            Parameters of :meth:`plot`.
        """
        check_is_fitted(est)
        display = cls(
            raw=est.raw_mapping_,
            row_interval=est.row_interval_,
            feature_names=feature_names(est),
        )
        return display.plot(**kwargs)

    def plot(self, *, max_rows: int = 3, x: ArrayLike | None = None) -> MappingDisplay:
        """Draw the weights and bounds of each component in two panels of a new figure.

        Parameters
        ----------
        max_rows : int, default=3
            Maximum number of components to draw: those with the largest norm. The titles give the
            total number.
        x : array-like of shape (n_features,), default=None
            Positions of the features on the x-axis, such as wavelengths. If None, features are
            equally spaced, and up to 30 of them are labeled with their names.

        Returns
        -------
        MappingDisplay
            The display itself.
        """
        pyplot = import_extra("matplotlib.pyplot", "plot")
        raw, interval = np.asarray(self.raw), np.asarray(self.row_interval)
        shown = min(max_rows, len(interval))
        figure, axes = pyplot.subplots(
            2, shown, figsize=(0.6 + 4.4 * shown, 4.4), squeeze=False, sharex=True,
            layout="constrained",
        )  # fmt: skip
        self.figure_: Figure = figure
        self.axes_: NDArray[Any] = axes
        positions = np.asarray(range(interval.shape[1]) if x is None else x, dtype=float)
        for row in range(shown):
            title = "weights" if len(interval) == 1 else f"component {row + 1} of {len(interval)}"
            if row < len(raw):
                axes[0, row].bar(
                    positions, np.abs(raw[row]), width=_width(positions), color=RAW_COLOR
                )
            _format_axes(axes[0, row])
            axes[0, row].set_title(title, loc="left", fontsize="medium", color=TEXT_COLOR)
            self._draw_bounds(axes[1, row], positions, interval[row])
            self._label_features(axes[1, row], positions, named=x is None)
        axes[0, 0].set_ylabel("absolute weight (learned)")
        axes[1, 0].set_ylabel("absolute weight (bounds)")
        handles, labels = axes[1, 0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside upper right", ncols=2, frameon=False, fontsize="small"
        )
        return self

    def _draw_bounds(
        self, ax: Axes, positions: NDArray[np.float64], interval: NDArray[np.float64]
    ) -> None:
        lower, upper = interval.T
        width = _width(positions)
        weak, strong = CLASS_STYLES["weak"], CLASS_STYLES["strong"]
        ax.bar(positions, upper, width=width, color=weak.fill, label="largest absolute weight")
        ax.bar(positions, lower, width=width, color=strong.fill, label="smallest absolute weight")
        _format_axes(ax)

    def _label_features(self, ax: Axes, positions: NDArray[np.float64], named: bool) -> None:
        if named and len(positions) <= MAX_NAMES:
            labels = [short_label(name, _LABEL_WIDTH) for name in self.feature_names]
            if max(map(len, labels)) > 4:
                ax.set_xticks(positions, labels, rotation=60, ha="right", parse_math=False)
            else:
                ax.set_xticks(positions, labels, parse_math=False)
        else:
            ax.set_xlabel("feature" if named else "")


def _width(positions: NDArray[np.float64]) -> float:
    """Return the width of the bars, with gaps between them if there are few."""
    step = float(np.diff(np.sort(positions)).min()) if len(positions) > 1 else 1.0
    return step * (0.8 if len(positions) <= MAX_NAMES else 1.0)


def _format_axes(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_ylim(bottom=0.0)
    ax.tick_params(labelsize="small")


@dataclass(kw_only=True, eq=False, repr=False)
class DimensionDisplay(AxesDisplay):
    """Plot of the training and held-out errors of mappings against effective dimension.

    Use :meth:`from_result` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    curve : DimensionCurve
        Classification errors by effective dimension.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the most recent drawing.
    figure_ : matplotlib Figure
        Figure of the most recent drawing.
    """

    curve: DimensionCurve

    @classmethod
    def from_result(cls, curve: DimensionCurve, **kwargs: Any) -> DimensionDisplay:
        """Create a display of errors by effective dimension and draw it.

        Parameters
        ----------
        curve : DimensionCurve
            Classification errors by effective dimension.
        **kwargs
            Parameters of :meth:`plot`.
        """
        return cls(curve=curve).plot(**kwargs)

    def plot(self, ax: Axes | None = None) -> DimensionDisplay:
        """Draw the errors against the effective dimension.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        DimensionDisplay
            The display itself.
        """
        ax = axes_or_new(ax, 6.0, 3.4)
        self.ax_, self.figure_ = ax, ax.figure
        curve, color = self.curve, CLASS_STYLES["strong"].fill
        test, train = curve.test_error.mean(axis=1), curve.train_error.mean(axis=1)
        n_splits = curve.test_error.shape[1]
        if n_splits > 1:
            error = curve.test_error.std(axis=1, ddof=1) / np.sqrt(n_splits)
            ax.fill_between(curve.dimensions, test - error, test + error, color=color, alpha=0.15)
        ax.plot(curve.dimensions, test, marker="o", ms=3.5, color=color, label="held-out rows")
        ax.plot(
            curve.dimensions, train, ls="--", color=CLASS_STYLES["weak"].edge, label="training rows"
        )
        raw = float(np.mean(curve.raw_test_error))
        ax.axhline(raw, lw=0.8, ls=":", color=TEXT_COLOR, label="learned metric, held-out rows")
        ax.axvline(curve.best(), lw=0.8, color=TEXT_COLOR, alpha=0.5)
        ax.set_xlabel("effective dimension")
        ax.set_ylabel("classification error")
        ax.set_ylim(bottom=0.0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
        return self
