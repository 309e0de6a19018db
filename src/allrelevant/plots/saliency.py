"""Figures of saliency, as a bar chart or an image overlay, and of adversarial images."""

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


# Side length of an image in a grid, in inches.
_CELL = 0.85

# Label that identifies the artists of a saliency map on its axes.
_MAP_LABEL = "saliency"


@dataclass(kw_only=True, eq=False, repr=False)
class RowSaliencyDisplay(AxesDisplay):
    """Bar chart of the signed saliency of each feature, for a single row.

    Use :meth:`from_result` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    saliency : array-like of shape (d,)
        Signed saliency of each feature.
    names : sequence of str
        Names of the features.
    title : str, default=""
        Title of the figure.
    unit : str, default="gradient of the gain"
        Unit of the saliency, for the label of the axis.

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
    >>> display = RowSaliencyDisplay(saliency=[0.1, -2.0, 1.0], names=["a", "b", "c"])
    >>> drawn = display.plot(max_features=2)
    >>> [label.get_text() for label in drawn.ax_.get_yticklabels()]
    ['b', 'c']
    """

    saliency: ArrayLike
    names: Sequence[str]
    title: str = ""
    unit: str = "gradient of the gain"

    @classmethod
    def from_result(
        cls, explanation: Explanation, row: int = 0, *, raw: bool = False, **kwargs: Any
    ) -> RowSaliencyDisplay:
        """Create a display for one explained row and draw it.

        Parameters
        ----------
        explanation : Explanation
            Explanation of one or more rows.
        row : int, default=0
            Index of the row in the explanation.
        raw : bool, default=False
            Whether to draw the gradient itself instead of percentages of the row's total.
        **kwargs
            Parameters of :meth:`plot`.
        """
        values = explanation.saliency if raw else explanation.percent
        unit = cls.unit if raw else "% of the row's total"
        return cls(
            saliency=values[row], names=explanation.names, title=explanation.note(row), unit=unit
        ).plot(**kwargs)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        max_features: int | None = 15,
        order: Literal["table", "upper"] = "upper",
    ) -> RowSaliencyDisplay:
        """Draw one bar per feature, for its signed saliency.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        max_features : int or None, default=15
            Maximum number of features to draw: the most salient ones. None draws all features.
        order : {"table", "upper"}, default="upper"
            Order from top to bottom: as in the table, or by descending absolute saliency.

        Returns
        -------
        RowSaliencyDisplay
            The display itself.
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
        set_x_label(ax, f"saliency ({self.unit})")
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class SaliencyMapDisplay(AxesDisplay):
    """Image overlaid with the absolute saliency of each pixel.

    Use :meth:`from_result` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    saliency : array-like of shape (height, width)
        Absolute saliency of each pixel, summed over channels.
    image : array-like of shape (height, width) or (height, width, channels)
        Image to be explained.
    title : str, default=""
        Title of the figure.
    scale : float or None, default=None
        Saliency at the top of the color scale. If None, the largest value is used.

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
    >>> display = SaliencyMapDisplay(saliency=[[0.0, 1.0]], image=[[5.0, 6.0]])
    >>> display.plot().ax_.images[-1].get_array().tolist()
    [[0.0, 1.0]]
    """

    saliency: ArrayLike
    image: ArrayLike
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
        """Create a saliency map of one explained row and draw it.

        A misclassified row is drawn on the color scale of the correctly classified rows, if there
        are any. Its map is pale, because few of its pixels support its class.

        Parameters
        ----------
        explanation : Explanation
            Explanation of one or more rows.
        row : int, default=0
            Index of the row in the explanation.
        shape : tuple of int or None, default=None
            (height, width), or (height, width, channels) if the channels of a pixel are adjacent
            features. If None, the image is square and has one channel.
        **kwargs
            Parameters of :meth:`plot`.
        """
        shape = _image_shape(shape, explanation.saliency.shape[1], "shape")
        others = ~explanation.wrong if explanation.wrong[row] else np.zeros(0, dtype=np.int64)
        maps = [_as_map(explanation.absolute[row], shape)]
        maps += [_as_map(saliency, shape) for saliency in explanation.absolute[others]]
        return cls(
            saliency=maps[0],
            image=explanation.row(row).reshape(shape),
            title=explanation.note(row),
            scale=float(max(pixels.max() for pixels in maps)),
        ).plot(**kwargs)

    def plot(self, *, ax: Axes | None = None, scale: float | None = None) -> SaliencyMapDisplay:
        """Draw the image and its saliency map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        scale : float or None, default=None
            Saliency at the top of the color scale. If None, ``self.scale`` is used. Use the same
            value for several images to make them comparable.

        Returns
        -------
        SaliencyMapDisplay
            The display itself.
        """
        is_new = ax is None
        ax = axes_or_new(ax, 4.0, 4.0)
        saliency = np.asarray(self.saliency, dtype=np.float64)
        scale = self.scale if scale is None else scale
        top = float(saliency.max() if scale is None else scale)
        image = np.asarray(self.image, dtype=np.float64)
        gray = image.mean(axis=2) if image.ndim == 3 else image
        _remove_previous([*ax.child_axes, *ax.images])  # color bars before their images
        ax.imshow(gray, cmap="gray_r", alpha=0.35, interpolation="nearest", label=_MAP_LABEL)
        pixels = ax.imshow(
            saliency,
            cmap="Oranges",
            vmin=0.0,
            vmax=top if top > 0 else 1.0,
            alpha=0.75,
            interpolation="nearest",
            label=_MAP_LABEL,
        )
        ax.set_axis_off()
        ax.set_anchor("N")  # keep the image close to its title
        _add_color_bar(ax, pixels, exceeded=bool(saliency.max() > top > 0))
        set_title(ax, _printable_title(self.title), loc="center", grow=is_new)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _image_shape(
    shape: tuple[int, ...] | None, n_features: int, parameter: str, channels: int | None = None
) -> tuple[int, ...]:
    """Return the image shape, by default a square; raise if it does not match ``n_features``."""
    side = round(n_features**0.5)
    shape = (side, side) if shape is None else tuple(shape)
    fills = len(shape) in (2, 3) and int(np.prod(shape)) == n_features
    if not fills or (len(shape) == 3 and channels not in (None, shape[2])):
        raise InputError(
            f"{n_features} features do not form an image of shape {shape}. Pass {parameter} as "
            f"(height, width) or (height, width, {channels or 'channels'})."
        )
    return shape


def _printable_title(title: str) -> str:
    return printable(title) if title else ""


def _add_color_bar(ax: Axes, pixels: AxesImage, *, exceeded: bool) -> None:
    bar_axes = ax.inset_axes((1.04, 0.0, 0.05, 1.0), label=_MAP_LABEL)
    bar = ax.figure.colorbar(
        pixels, cax=bar_axes, label="saliency", extend="max" if exceeded else "neither"
    )
    bar.ax.tick_params(labelsize=8)


def _remove_previous(artists: Iterable[Any]) -> None:
    """Remove a previously drawn saliency map from the axes."""
    for part in [part for part in artists if part.get_label() == _MAP_LABEL]:
        part.remove()


def _as_map(saliency: Any, shape: tuple[int, ...]) -> Any:
    """Return the saliency of each pixel, summed over its channels."""
    pixels = saliency.reshape(shape)
    return pixels.sum(axis=2) if len(shape) == 3 else pixels


@dataclass(kw_only=True, eq=False, repr=False)
class RobustnessDisplay:
    """Grid of images: each row shows an original and its perturbation toward each class.

    Use :meth:`from_result` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    result : Robustness
        Smallest adversarial perturbations found.
    image_shape : tuple of int
        Shape of the images: (height, width) or (height, width, 3).

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Axes of the most recent drawing, of shape (n_rows, 1 + n_classes).
    figure_ : matplotlib Figure
        Figure of the most recent drawing.
    """

    result: Robustness
    image_shape: tuple[int, ...]

    @classmethod
    def from_result(
        cls, result: Robustness, *, image_shape: tuple[int, ...] | None = None, **kwargs: Any
    ) -> RobustnessDisplay:
        """Create a display of the result of :func:`allrelevant.robustness` and draw it.

        Parameters
        ----------
        result : Robustness
            Smallest adversarial perturbations found.
        image_shape : tuple of int or None, default=None
            Shape of the images: (height, width) or (height, width, 3). If None, images are square
            and have one channel.
        **kwargs
            Parameters of :meth:`plot`.
        """
        return cls(
            result=result,
            image_shape=_image_shape(image_shape, result.X.shape[1], "image_shape", 3),
        ).plot(**kwargs)

    def plot(self, *, max_rows: int = 10, figure: Figure | None = None) -> RobustnessDisplay:
        """Draw the original and perturbed images in a grid.

        Parameters
        ----------
        max_rows : int, default=10
            Maximum number of original images to draw, in the order of the result.
        figure : matplotlib Figure or None, default=None
            Figure to draw on. If None, a new figure is created.

        Returns
        -------
        RobustnessDisplay
            The display itself.
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
            images = [result.X[row], *result.changed[row]]
            for column, (ax, values) in enumerate(zip(axes[row], images, strict=True)):
                self._draw(ax, values, low, high)
                if column and not result.reached[row, column - 1]:
                    _mark_not_reached(ax)
        for ax, title in zip(axes[0], ["original", *result.targets], strict=True):
            ax.set_title(short_label(title, 12), fontsize=8, parse_math=False)
        self.axes_, self.figure_ = axes, figure
        return self

    def _draw(self, ax: Axes, values: NDArray[np.float64], low: float, high: float) -> None:
        image = np.clip((values.reshape(self.image_shape) - low) / ((high - low) or 1.0), 0, 1)
        ax.imshow(image, cmap="gray", vmin=0.0, vmax=1.0)
        ax.set_xticks([])
        ax.set_yticks([])
        for spine in ax.spines.values():
            spine.set_visible(False)


def _mark_not_reached(ax: Axes) -> None:
    """Mark an image that does not reach the target class with the required certainty."""
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
