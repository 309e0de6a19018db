"""A mapping as learned above what equivalent ones can have; errors by effective dimension."""

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

# Of more features than this, names are left out.
MAX_NAMES = 30

_LABEL_WIDTH = 24


@dataclass(kw_only=True, eq=False, repr=False)
class MappingDisplay:
    """Two panels for each row of a mapping: its raw weights, and the bounds of each below.

    Made by :meth:`from_estimator`; keeps the values, so that :meth:`plot` can draw them again.

    Parameters
    ----------
    raw : array-like of shape (n_raw_rows, n_features)
        The mapping as it was learned.
    row_interval : array-like of shape (n_rows, n_features, 2)
        Smallest and largest size of each weight.
    feature_names : sequence of str

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (2, n_rows)
        The raw weights above the bounds, drawn last.
    figure_ : matplotlib Figure

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
        """Draw a fitted MappingBounds or MetricBounds; the options are those of :meth:`plot`."""
        check_is_fitted(est)
        display = cls(
            raw=est.raw_mapping_,
            row_interval=est.row_interval_,
            feature_names=feature_names(est),
        )
        return display.plot(**kwargs)

    def plot(self, *, max_rows: int = 3, x: ArrayLike | None = None) -> MappingDisplay:
        """Draw the panels in a figure of their own.

        Parameters
        ----------
        max_rows : int, default=3
            The most rows to draw, the longest first; the figure says how many there are.
        x : array-like of shape (n_features,), default=None
            Where the features stand on the x-axis, such as wavelengths. By default one beside the
            other, by name if they are few.

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
        places = np.asarray(range(interval.shape[1]) if x is None else x, dtype=float)
        for row in range(shown):
            title = "weights" if len(interval) == 1 else f"row {row + 1} of {len(interval)}"
            if row < len(raw):
                axes[0, row].bar(places, np.abs(raw[row]), width=_width(places), color=RAW_COLOR)
            _tidy(axes[0, row])
            axes[0, row].set_title(title, loc="left", fontsize="medium", color=TEXT_COLOR)
            self._draw_bounds(axes[1, row], places, interval[row])
            self._name(axes[1, row], places, named=x is None)
        axes[0, 0].set_ylabel("as learned")
        axes[1, 0].set_ylabel("bounds")
        handles, labels = axes[1, 0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside upper right", ncols=2, frameon=False, fontsize="small"
        )
        return self

    def _draw_bounds(
        self, ax: Axes, places: NDArray[np.float64], interval: NDArray[np.float64]
    ) -> None:
        lower, upper = interval.T
        width = _width(places)
        weak, strong = CLASS_STYLES["weak"], CLASS_STYLES["strong"]
        ax.bar(places, upper, width=width, color=weak.fill, label="can have")
        ax.bar(places, lower, width=width, color=strong.fill, label="must have")
        _tidy(ax)

    def _name(self, ax: Axes, places: NDArray[np.float64], named: bool) -> None:
        if named and len(places) <= MAX_NAMES:
            labels = [short_label(name, _LABEL_WIDTH) for name in self.feature_names]
            if max(map(len, labels)) > 4:
                ax.set_xticks(places, labels, rotation=60, ha="right", parse_math=False)
            else:
                ax.set_xticks(places, labels, parse_math=False)
        else:
            ax.set_xlabel("feature" if named else "")


def _width(places: NDArray[np.float64]) -> float:
    """Bars with a little space between them while they are few."""
    step = float(np.diff(np.sort(places)).min()) if len(places) > 1 else 1.0
    return step * (0.8 if len(places) <= MAX_NAMES else 1.0)


def _tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_ylim(bottom=0.0)
    ax.tick_params(labelsize="small")


@dataclass(kw_only=True, eq=False, repr=False)
class DimensionDisplay(AxesDisplay):
    """Error of the mappings at the bounds, on the rows trained on and on others.

    Made by :meth:`from_result`; keeps the curve, so that :meth:`plot` can draw it again.

    Parameters
    ----------
    curve : DimensionCurve

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curve was drawn last.
    figure_ : matplotlib Figure
    """

    curve: DimensionCurve

    @classmethod
    def from_result(cls, curve: DimensionCurve, **kwargs: Any) -> DimensionDisplay:
        """Draw a curve; the options are those of :meth:`plot`."""
        return cls(curve=curve).plot(**kwargs)

    def plot(self, ax: Axes | None = None) -> DimensionDisplay:
        """Draw the curve, again or elsewhere.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default in a figure of its own.

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
        ax.axhline(raw, lw=0.8, ls=":", color=TEXT_COLOR, label="metric as learned, held-out")
        ax.axvline(curve.best(), lw=0.8, color=TEXT_COLOR, alpha=0.5)
        ax.set_xlabel("effective dimension")
        ax.set_ylabel("classification error")
        ax.set_ylim(bottom=0.0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
        return self
