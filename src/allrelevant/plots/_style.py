"""Common elements of figures: colors of relevance classes, bars, legends and titles."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._optional import import_extra
from .._text import short_label
from ..exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

Order = Literal["table", "upper"]

BAR_HEIGHT = 0.62
TEXT_COLOR = "#1c1c1c"

_LABEL_WIDTH = 30
_FONT_SIZE = 9

# Fraction of the available width that text may fill, because text can be slightly wider at other
# resolutions.
_FILL_FRACTION = 0.92


class ClassStyle(NamedTuple):
    """Fill color, edge color and line style of the edge for a relevance class."""

    fill: str
    edge: str
    line: Any = "-"


# Dark, medium, light with a dashed dark edge, and hollow with a gray edge, to be distinguishable in
# grayscale and with any color vision.
CLASS_STYLES = {
    "strong": ClassStyle("#123f6d", "#123f6d"),
    "weak": ClassStyle("#e0913a", "#c2761f"),
    "unconfirmed": ClassStyle("#c6d9ec", "#123f6d", (0, (2.5, 1.5))),
    "irrelevant": ClassStyle("#ffffff", "#8a8a8a"),
}


class AxesDisplay:
    """Base class of displays that draw into a single matplotlib Axes.

    ``plot`` sets ``ax_`` and ``figure_``.
    """

    ax_: Axes
    figure_: Any


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given Axes, or the Axes of a new figure if ``ax`` is None."""
    if ax is not None:
        return ax
    pyplot = import_extra("matplotlib.pyplot", "plot")
    new_axes: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return new_axes


def rows_height(n_rows: int, with_legend: bool) -> float:
    """Return the height in inches of a figure with ``n_rows`` horizontal bars."""
    return 0.9 + 0.22 * n_rows + (0.2 if with_legend else 0.0)


def choose_rows(
    upper: NDArray[np.float64], max_features: int | None, order: str
) -> NDArray[np.intp]:
    """Return the indices of the features with the largest upper bounds, in drawing order."""
    if order not in ("table", "upper"):
        raise InputError(f"order must be 'table' or 'upper' (got {order!r}).")
    if max_features is not None and max_features < 1:
        raise InputError(f"max_features must be at least 1, or None (got {max_features!r}).")
    largest_first = np.argsort(-upper, kind="stable")[:max_features]
    return largest_first if order == "upper" else np.sort(largest_first)


def name_rows(ax: Axes, names: Sequence[str] | None, shown: NDArray[np.intp]) -> None:
    """Label each bar with its feature name, by default x0, x1, ...."""
    labels = [short_label(f"x{j}" if names is None else names[j], _LABEL_WIDTH) for j in shown]
    # parse_math=False: a dollar sign in a name does not start a formula.
    ax.set_yticks(np.arange(len(shown)), labels, parse_math=False)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)


def draw_bars(ax: Axes, interval: NDArray[np.float64], relevance: Sequence[str]) -> None:
    """Draw one bar per feature, from its lower to its upper bound, styled by relevance class."""
    styles = [CLASS_STYLES[name] for name in relevance]
    bars = ax.barh(
        np.arange(len(interval)),
        interval[:, 1] - interval[:, 0],
        left=interval[:, 0],
        height=BAR_HEIGHT,
        color=[style.fill for style in styles],
        edgecolor=[style.edge for style in styles],
        linewidth=0.8,
        zorder=2,
    )
    for bar, style in zip(bars, styles, strict=True):
        bar.set_linestyle(style.line)


def draw_marks(ax: Axes, weights: ArrayLike, label: str) -> None:
    """Draw one circle per feature at its absolute weight."""
    absolute = np.abs(weights)
    ax.plot(
        absolute,
        np.arange(len(absolute)),
        ls="none",
        marker="o",
        ms=4.2,
        mfc="white",
        mec=TEXT_COLOR,
        mew=0.9,
        zorder=4,
        clip_on=False,
        label=label,
    )


def class_patches(names: Sequence[str], **style: Any) -> list[Any]:
    """Return one legend entry per given relevance class."""
    patches = import_extra("matplotlib.patches", "plot")
    return [
        patches.Patch(
            facecolor=CLASS_STYLES[name].fill,
            edgecolor=CLASS_STYLES[name].edge,
            linestyle=CLASS_STYLES[name].line,
            label=name,
            **style,
        )
        for name in names
    ]


def draw_legend_above(ax: Axes, handles: Sequence[Any]) -> None:
    """Draw a single-line legend above the axes.

    The legend is right-aligned. If it is wider than the axes, it extends over the feature names.
    """
    ax.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=len(handles),
        fontsize="small",
        frameon=False,
        handlelength=1.5,
        handletextpad=0.6,
        columnspacing=1.3,
        borderaxespad=0.2,
    )


def rows_label(text: str, n_shown: int, n_features: int) -> str:
    """Return the x-axis label of a bar chart, with a note if features are omitted."""
    if n_shown == n_features:
        return text
    return f"{text}\n(the {n_shown} of {n_features:,} features with the largest upper bounds)"


def set_title(ax: Axes, *sentences: str, loc: Literal["left", "center"], grow: bool) -> None:
    """Set a title and wrap it to the available width.

    Draw everything else first, because it determines the available width. Each sentence starts on a
    new line; empty sentences are omitted. With ``grow``, the figure becomes taller if the title has
    more than one line, so that the axes keep their size.
    """
    title = ax.set_title("", fontsize=_FONT_SIZE, loc=loc, parse_math=False)
    _update_layout(ax)
    if loc == "left":
        title.set_x(ax.transAxes.inverted().transform((_left_edge(ax), 0.0))[0])
    _set_wrapped_text(title, _available_width(ax, loc), sentences)
    n_lines = title.get_text().count("\n") + 1
    if grow and n_lines > 1:
        figure: Any = ax.figure
        extra = title.get_window_extent().height * (1 - 1 / n_lines) / figure.dpi
        figure.set_figheight(figure.get_figheight() + extra)


def set_x_label(ax: Axes, text: str) -> None:
    """Set the label of the horizontal axis and wrap it to the available width."""
    ax.set_xlabel("", fontsize=_FONT_SIZE)
    _update_layout(ax)
    _set_wrapped_text(ax.xaxis.label, _available_width(ax, "center"), [text])


def _update_layout(ax: Axes) -> None:
    """Compute the layout of the figure that contains the axes, without drawing it."""
    figure: Any = ax.figure
    figure.canvas.figure.draw_without_rendering()


def _left_edge(ax: Axes) -> float:
    """Return the left edge of the axes with labels, in pixels, but not beyond the figure.

    Without a layout engine, labels can extend beyond the figure, but titles must not.
    """
    tight = ax.get_tightbbox()
    left = ax.get_window_extent().x0 if tight is None else tight.x0
    return float(max(left, _axes_cell(ax).x0))


def _axes_cell(ax: Axes) -> Any:
    """Return the bounding box of the axes' cell, or of a figure that has no other axes."""
    figure: Any = ax.figure
    if len(figure.axes) == 1:
        return figure.bbox
    return figure.transSubfigure.transform_bbox(ax.get_position(True))


def _available_width(ax: Axes, loc: str) -> float:
    """Return the width in pixels that is available for a title or axis label."""
    box = _axes_cell(ax)
    if loc == "left":
        return float(box.x1 - _left_edge(ax))
    drawn = ax.get_window_extent()
    middle = (drawn.x0 + drawn.x1) / 2
    return float(2 * min(middle - box.x0, box.x1 - middle))


def _set_wrapped_text(artist: Text, available: float, sentences: Sequence[str]) -> None:
    width = _FILL_FRACTION * available
    lines = [line for sentence in sentences for line in _lines(sentence, artist, width)]
    artist.set_text("\n".join(lines))


def _lines(sentence: str, artist: Text, width: float) -> Iterator[str]:
    """Yield the lines of a wrapped sentence; words that do not fit the width are split."""
    line = ""
    for piece in _pieces(sentence, artist, width):
        longer = line + piece
        if line and not _fits(longer.rstrip(), artist, width):
            yield line.rstrip()
            longer = piece
        line = longer
    if line:
        yield line.rstrip()


def _pieces(sentence: str, artist: Text, width: float) -> Iterator[str]:
    """Yield words with a trailing space; words that do not fit the width are split."""
    for word in sentence.split():
        rest = word
        while not _fits(rest, artist, width) and len(rest) > 1:
            size = _fitting_length(rest, artist, width)
            yield rest[:size]
            rest = rest[size:]
        yield f"{rest} "


def _fitting_length(word: str, artist: Text, width: float) -> int:
    """Return the number of leading characters of a word that fit the width, at least one."""
    sizes = range(1, len(word) + 1)
    return max(1, bisect_left(sizes, True, key=lambda n: not _fits(word[:n], artist, width)))


def _fits(text: str, artist: Text, width: float) -> bool:
    artist.set_text(text)
    return bool(artist.get_window_extent().width <= width)
