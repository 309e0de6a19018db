"""Explained rows: saliency as bars or as a map of an image, and what changes a prediction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._optional import import_extra
from .._text import printable, short_label
from ..exceptions import InputError
from ._style import (
    BAR_HEIGHT,
    CLASS_STYLES,
    TEXT_COLOR,
    AxesDisplay,
    axes_or_new,
    choose_rows,
    name_rows,
    set_title,
    set_x_label,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

    from ..saliency import Explanation
    from ..saliency.robustness import Robustness


# Side of an image in a grid, in inches.
_CELL = 0.85

# What tells the parts of a map from all else on its axes.
_MAP_LABEL = "saliency"


@dataclass(kw_only=True, eq=False, repr=False)
class RowSaliencyDisplay(AxesDisplay):
    """The features that decide in a row, as bars with their signs.

    Made by :meth:`from_result`; keeps its values, so that :meth:`plot` can draw them again.

    Parameters
    ----------
    saliency : array-like of shape (d,)
        With signs.
    names : sequence of str
    title : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
        Drawn on last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> display = RowSaliencyDisplay(saliency=[0.1, -2.0, 1.0], names=["a", "b", "c"])
    >>> drawn = display.plot(max_features=2)
    >>> [label.get_text() for label in drawn.ax_.get_yticklabels()]
    ['b', 'c']
    """

    saliency: ArrayLike
    names: Sequence[str]
    title: str = ""

    @classmethod
    def from_result(
        cls, explanation: Explanation, row: int = 0, **kwargs: Any
    ) -> RowSaliencyDisplay:
        """Draw a row of an explanation.

        Parameters
        ----------
        explanation : Explanation
        row : int, default=0
        **kwargs
            Options of :meth:`plot`.
        """
        return cls(
            saliency=explanation.saliency[row], names=explanation.names, title=explanation.note(row)
        ).plot(**kwargs)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        max_features: int | None = 15,
        order: Literal["table", "upper"] = "upper",
    ) -> RowSaliencyDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            By default one in a figure of its own.
        max_features : int or None, default=15
            Of more features than this, the most salient. None: all.
        order : {"table", "upper"}, default="upper"
            As the columns of the table, or the most salient on top.

        Returns
        -------
        RowSaliencyDisplay
            This one.
        """
        saliency = np.asarray(self.saliency, dtype=np.float64)
        shown = choose_rows(np.abs(saliency), max_features, order)
        is_new = ax is None
        ax = axes_or_new(ax, 7.0, 1.2 + 0.28 * len(shown))
        styles = [CLASS_STYLES["strong" if saliency[j] >= 0 else "weak"] for j in shown]
        ax.barh(
            np.arange(len(shown)),
            saliency[shown],
            height=BAR_HEIGHT,
            color=[style.fill for style in styles],
            edgecolor=[style.edge for style in styles],
        )
        name_rows(ax, self.names, shown)
        ax.axvline(0.0, color=TEXT_COLOR, linewidth=0.8)
        hidden = len(saliency) - len(shown)
        more = f"({hidden:,} less salient features not shown)" if hidden else ""
        set_title(ax, _printable_title(self.title), more, loc="left", grow=is_new)
        set_x_label(ax, "saliency: change of the gain with the feature")
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class SaliencyMapDisplay(AxesDisplay):
    """A picture, and which of its points decide.

    Made by :meth:`from_result`; keeps its values, so that :meth:`plot` can draw them again.

    Parameters
    ----------
    saliency : array-like of shape (height, width)
        Absolute; of several channels the sum.
    picture : array-like of shape (height, width) or (height, width, channels)
    title : str, default=""
    scale : float or None, default=None
        The saliency that is fully colored; None is the largest.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Drawn on last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> display = SaliencyMapDisplay(saliency=[[0.0, 1.0]], picture=[[5.0, 6.0]])
    >>> display.plot().ax_.images[-1].get_array().tolist()
    [[0.0, 1.0]]
    """

    saliency: ArrayLike
    picture: ArrayLike
    title: str = ""
    scale: float | None = None

    @classmethod
    def from_result(
        cls,
        explanation: Explanation,
        row: int = 0,
        shape: tuple[int, ...] | None = None,
        **kwargs: Any,
    ) -> SaliencyMapDisplay:
        """Draw a row of an explanation.

        A row that the model gets wrong is drawn on the scale of those it gets right, if any are
        explained beside it: so it stays pale, as little or nothing in it speaks for its class.

        Parameters
        ----------
        explanation : Explanation
        row : int, default=0
        shape : tuple of int or None, default=None
            (height, width) or (height, width, channels), the channels of a point side by side;
            None is a square of one channel.
        **kwargs
            Options of :meth:`plot`.
        """
        shape = _image_shape(shape, explanation.saliency.shape[1], "shape")
        beside = ~explanation.wrong if explanation.wrong[row] else np.zeros(0, dtype=np.int64)
        compared = [_as_map(explanation.absolute[row], shape)]
        compared += [_as_map(saliency, shape) for saliency in explanation.absolute[beside]]
        return cls(
            saliency=compared[0],
            picture=explanation.row(row).reshape(shape),
            title=explanation.note(row),
            scale=float(max(points.max() for points in compared)),
        ).plot(**kwargs)

    def plot(self, *, ax: Axes | None = None, scale: float | None = None) -> SaliencyMapDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            By default one in a figure of its own.
        scale : float or None, default=None
            The saliency that is fully colored; None is the display's own. One number for several
            pictures makes them comparable: those that are misclassified then stay pale. The color
            bar has the numbers.

        Returns
        -------
        SaliencyMapDisplay
            This one.
        """
        is_new = ax is None
        ax = axes_or_new(ax, 4.0, 4.0)
        saliency = np.asarray(self.saliency, dtype=np.float64)
        scale = self.scale if scale is None else scale
        top = float(saliency.max() if scale is None else scale)
        picture = np.asarray(self.picture, dtype=np.float64)
        grey = picture.mean(axis=2) if picture.ndim == 3 else picture
        _remove_earlier([*ax.child_axes, *ax.images])  # a color bar before what it is of
        ax.imshow(grey, cmap="gray_r", alpha=0.35, interpolation="nearest", label=_MAP_LABEL)
        points = ax.imshow(
            saliency,
            cmap="Oranges",
            vmin=0.0,
            vmax=top if top > 0 else 1.0,
            alpha=0.75,
            interpolation="nearest",
            label=_MAP_LABEL,
        )
        ax.set_axis_off()
        ax.set_anchor("N")  # close to its title, for which the layout then leaves room
        _add_color_bar(ax, points, exceeded=bool(saliency.max() > top > 0))
        set_title(ax, _printable_title(self.title), loc="center", grow=is_new)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _image_shape(
    shape: tuple[int, ...] | None, n_features: int, parameter: str, channels: int | None = None
) -> tuple[int, ...]:
    """The shape given, or a square; refused if the features do not fill it."""
    side = round(n_features**0.5)
    shape = (side, side) if shape is None else tuple(shape)
    fills = len(shape) in (2, 3) and int(np.prod(shape)) == n_features
    if not fills or (len(shape) == 3 and channels not in (None, shape[2])):
        raise InputError(
            f"{n_features} features are no picture of shape {shape}: give {parameter}=(height, "
            f"width) or (height, width, {channels or 'channels'})."
        )
    return shape


def _printable_title(title: str) -> str:
    return printable(title) if title else ""


def _add_color_bar(ax: Axes, points: AxesImage, *, exceeded: bool) -> None:
    """Beside the picture."""
    place = ax.inset_axes((1.04, 0.0, 0.05, 1.0), label=_MAP_LABEL)
    bar = ax.figure.colorbar(
        points, cax=place, label="saliency", extend="max" if exceeded else "neither"
    )
    bar.ax.tick_params(labelsize=8)


def _remove_earlier(drawn: Iterable[Any]) -> None:
    """What an earlier drawing of a map has left on the same axes."""
    for part in [part for part in drawn if part.get_label() == _MAP_LABEL]:
        part.remove()


def _as_map(saliency: Any, shape: tuple[int, ...]) -> Any:
    """Points of a picture; of several channels the sum."""
    points = saliency.reshape(shape)
    return points.sum(axis=2) if len(shape) == 3 else points


@dataclass(kw_only=True, eq=False, repr=False)
class RobustnessDisplay:
    """A grid: each row of pictures starts with one as it is, then as each class.

    Made by :meth:`from_result`; keeps its values, so that :meth:`plot` can draw them again.

    Parameters
    ----------
    result : Robustness
    image_shape : tuple of int
        (height, width) or (height, width, 3).

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Drawn on last; shape (rows, 1 + number of classes).
    figure_ : matplotlib Figure
    """

    result: Robustness
    image_shape: tuple[int, ...]

    @classmethod
    def from_result(
        cls, result: Robustness, *, image_shape: tuple[int, ...] | None = None, **kwargs: Any
    ) -> RobustnessDisplay:
        """Draw what :func:`allrelevant.robustness` has measured.

        Parameters
        ----------
        result : Robustness
        image_shape : tuple of int or None, default=None
            (height, width) or (height, width, 3); None: a square.
        **kwargs
            Options of :meth:`plot`.
        """
        return cls(
            result=result,
            image_shape=_image_shape(image_shape, result.X.shape[1], "image_shape", 3),
        ).plot(**kwargs)

    def plot(self, *, max_rows: int = 10, figure: Figure | None = None) -> RobustnessDisplay:
        """Draw.

        Parameters
        ----------
        max_rows : int, default=10
            Of more rows than this, the first.
        figure : matplotlib Figure or None, default=None
            By default one of its own.

        Returns
        -------
        RobustnessDisplay
            This one.
        """
        result = self.result
        n_rows, n_columns = min(max_rows, len(result.X)), 1 + len(result.targets)
        if figure is None:
            plt = import_extra("matplotlib.pyplot", "plot")
            size = (_CELL * n_columns, _CELL * n_rows + 0.5)
            figure = plt.figure(figsize=size, layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False)
        low, high = float(result.X.min()), float(result.X.max())
        for row in range(n_rows):
            pictures = [result.X[row], *result.changed[row]]
            for column, (ax, values) in enumerate(zip(axes[row], pictures, strict=True)):
                self._draw(ax, values, low, high)
                if column and not result.reached[row, column - 1]:
                    _cross_out(ax)
        for ax, title in zip(axes[0], ["as it is", *result.targets], strict=True):
            ax.set_title(short_label(title, 12), fontsize=8, parse_math=False)
        self.axes_, self.figure_ = axes, figure
        return self

    def _draw(self, ax: Axes, values: NDArray[np.float64], low: float, high: float) -> None:
        picture = np.clip((values.reshape(self.image_shape) - low) / ((high - low) or 1.0), 0, 1)
        ax.imshow(picture, cmap="gray", vmin=0.0, vmax=1.0)
        ax.set_xticks([])
        ax.set_yticks([])
        for spine in ax.spines.values():
            spine.set_visible(False)


def _cross_out(ax: Axes) -> None:
    """Say of a picture that the classifier is not certain of it."""
    ax.text(
        0.5,
        0.02,
        "not reached",
        transform=ax.transAxes,
        ha="center",
        fontsize=6,
        color="white",
        bbox={"facecolor": TEXT_COLOR, "edgecolor": "none", "pad": 1.0},
    )
