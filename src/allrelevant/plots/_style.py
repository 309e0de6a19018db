"""What figures share: colors of the relevance classes, rows of bars, legends and titles."""

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

# Of the room; letters are a little wider in a file of another resolution.
_SHARE = 0.92


class ClassStyle(NamedTuple):
    """Fill and outline of a bar."""

    fill: str
    edge: str


# Dark, middle and hollow: told apart in grayscale and with any kind of color vision.
CLASS_STYLES = {
    "strong": ClassStyle("#123f6d", "#123f6d"),
    "weak": ClassStyle("#e0913a", "#c2761f"),
    "irrelevant": ClassStyle("#ffffff", "#8a8a8a"),
}


class AxesDisplay:
    """A display on one pair of axes, known once it is drawn."""

    ax_: Axes
    figure_: Any


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on, by default those of a figure of their own."""
    if ax is not None:
        return ax
    pyplot = import_extra("matplotlib.pyplot", "plot")
    new_axes: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return new_axes


def rows_height(n_rows: int, with_legend: bool) -> float:
    """Height of a figure of rows of bars, in inches."""
    return 0.9 + 0.22 * n_rows + (0.2 if with_legend else 0.0)


def choose_rows(
    upper: NDArray[np.float64], max_features: int | None, order: str
) -> NDArray[np.intp]:
    """Which features to draw, from top to bottom: at most those of the largest upper bounds."""
    if order not in ("table", "upper"):
        raise InputError(f"order must be 'table' or 'upper', got {order!r}.")
    if max_features is not None and max_features < 1:
        raise InputError(f"max_features must be at least 1 or None, got {max_features!r}.")
    largest_first = np.argsort(-upper, kind="stable")[:max_features]
    return largest_first if order == "upper" else np.sort(largest_first)


def name_rows(ax: Axes, names: Sequence[str] | None, shown: NDArray[np.intp]) -> None:
    """Set up the rows: the first on top, names at the left, by default x0, x1, ...; no frame."""
    labels = [short_label(f"x{j}" if names is None else names[j], _LABEL_WIDTH) for j in shown]
    # A dollar sign in a name is a dollar sign, not the beginning of a formula.
    ax.set_yticks(np.arange(len(shown)), labels, parse_math=False)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)


def draw_bars(ax: Axes, interval: NDArray[np.float64], relevance: Sequence[str]) -> None:
    """A bar in each row from its lower to its upper bound, in the style of its class."""
    styles = [CLASS_STYLES[name] for name in relevance]
    ax.barh(
        np.arange(len(interval)),
        interval[:, 1] - interval[:, 0],
        left=interval[:, 0],
        height=BAR_HEIGHT,
        color=[style.fill for style in styles],
        edgecolor=[style.edge for style in styles],
        linewidth=0.8,
        zorder=2,
    )


def draw_marks(ax: Axes, weights: ArrayLike, label: str) -> None:
    """A circle in each row, at the size of a weight."""
    sizes = np.abs(weights)
    ax.plot(
        sizes,
        np.arange(len(sizes)),
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
    """Entries of a legend for relevance classes."""
    patches = import_extra("matplotlib.patches", "plot")
    return [
        patches.Patch(
            facecolor=CLASS_STYLES[name].fill,
            edgecolor=CLASS_STYLES[name].edge,
            label=name,
            **style,
        )
        for name in names
    ]


def draw_legend_above(ax: Axes, handles: Sequence[Any]) -> None:
    """A legend in one line above the axes.

    Where it is wider than the axes it runs above the names, not off the page.
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


def label_of_rows(text: str, n_shown: int, n_features: int) -> str:
    """The label of the axis below rows of bars; it says if not all features are shown."""
    if n_shown == n_features:
        return text
    return f"{text}\n(the {n_shown} of {n_features:,} features with the largest upper bounds)"


def set_title(ax: Axes, *sentences: str, loc: Literal["left", "center"], grow: bool) -> None:
    """Give axes a title of several lines, each as wide as there is room.

    Everything else must be drawn before: that decides how much room there is. Each sentence begins
    on a line of its own; empty ones are left out. With ``grow``, the figure becomes higher by the
    lines beyond the first, so that axes keep their size.
    """
    title = ax.set_title("", fontsize=_FONT_SIZE, loc=loc, parse_math=False)
    _lay_out(ax)
    if loc == "left":
        title.set_x(ax.transAxes.inverted().transform((_left_end(ax), 0.0))[0])
    _fill(title, _room(ax, loc), sentences)
    n_lines = title.get_text().count("\n") + 1
    if grow and n_lines > 1:
        figure: Any = ax.figure
        extra = title.get_window_extent().height * (1 - 1 / n_lines) / figure.dpi
        figure.set_figheight(figure.get_figheight() + extra)


def set_x_label(ax: Axes, text: str) -> None:
    """Give the horizontal axis a label, of several lines if need be."""
    ax.set_xlabel("", fontsize=_FONT_SIZE)
    _lay_out(ax)
    _fill(ax.xaxis.label, _room(ax, "center"), [text])


def _lay_out(ax: Axes) -> None:
    """Have the layout of the figure find its sizes, which it does when it draws."""
    figure: Any = ax.figure
    figure.canvas.figure.draw_without_rendering()


def _left_end(ax: Axes) -> float:
    """Where the labels at the left of the axes begin, in pixels; or the axes, if there are none.

    Labels can reach beyond the figure, where no layout makes room for them; a title must not.
    """
    whole = ax.get_tightbbox()
    begin = ax.get_window_extent().x0 if whole is None else whole.x0
    return float(max(begin, _own_box(ax).x0))


def _own_box(ax: Axes) -> Any:
    """The figure, or what is the axes' own in it."""
    figure: Any = ax.figure
    if len(figure.axes) == 1:
        return figure.bbox
    return figure.transSubfigure.transform_bbox(ax.get_position(True))


def _room(ax: Axes, loc: str) -> float:
    """Width in pixels: to the edge of the figure, or of what is the axes' own in it."""
    box = _own_box(ax)
    if loc == "left":
        return float(box.x1 - _left_end(ax))
    drawn = ax.get_window_extent()
    middle = (drawn.x0 + drawn.x1) / 2
    return float(2 * min(middle - box.x0, box.x1 - middle))


def _fill(artist: Text, room: float, sentences: Sequence[str]) -> None:
    wide = _SHARE * room
    lines = [line for sentence in sentences for line in _lines(sentence, artist, wide)]
    artist.set_text("\n".join(lines))


def _lines(sentence: str, artist: Text, room: float) -> Iterator[str]:
    """As many words to a line as fit; a word that is too long by itself is broken."""
    line = ""
    for piece in _pieces(sentence, artist, room):
        longer = line + piece
        if line and not _fits(longer.rstrip(), artist, room):
            yield line.rstrip()
            longer = piece
        line = longer
    if line:
        yield line.rstrip()


def _pieces(sentence: str, artist: Text, room: float) -> Iterator[str]:
    """Its words with the space behind each; one that no line could hold in parts that fill one."""
    for word in sentence.split():
        rest = word
        while not _fits(rest, artist, room) and len(rest) > 1:
            size = _longest(rest, artist, room)
            yield rest[:size]
            rest = rest[size:]
        yield f"{rest} "


def _longest(word: str, artist: Text, room: float) -> int:
    """How many letters of a word fit; one at least."""
    sizes = range(1, len(word) + 1)
    return max(1, bisect_left(sizes, True, key=lambda n: not _fits(word[:n], artist, room)))


def _fits(text: str, artist: Text, room: float) -> bool:
    artist.set_text(text)
    return bool(artist.get_window_extent().width <= room)
