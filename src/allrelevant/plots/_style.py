"""One look for the three relevance classes, in figures and in pages.

Dark, middle and hollow: told apart in greyscale and with any kind of colour vision.

One row a feature, from top to bottom: what figures with such rows share.

Titles and labels that are broken into lines, so that nothing of them is cut off.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._text import printable, shorten
from ..exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text


class ClassStyle(NamedTuple):
    """Fill and outline of a bar."""

    fill: str
    edge: str


CLASS_STYLES = {
    "strong": ClassStyle("#123f6d", "#123f6d"),
    "weak": ClassStyle("#e0913a", "#c2761f"),
    "irrelevant": ClassStyle("#ffffff", "#8a8a8a"),
}


TEXT_COLOR = "#1c1c1c"


Order = Literal["table", "upper"]


BAR_HEIGHT = 0.62


_LABEL_WIDTH = 30


def choose_rows(
    upper: NDArray[np.float64], max_features: int | None, order: str
) -> NDArray[np.intp]:
    """Which features to draw, from top to bottom.

    Parameters
    ----------
    upper : ndarray of shape (d,)
        Upper bound of each feature.
    max_features : int or None
        Of more features than this, those of the largest upper bounds. None: all.
    order : {"table", "upper"}
        As the columns of the table, or by falling upper bound.

    Examples
    --------
    >>> import numpy as np
    >>> choose_rows(np.array([0.1, 0.3, 0.2]), 2, "table").tolist()
    [1, 2]
    """
    if order not in ("table", "upper"):
        raise InputError(f"order must be 'table' or 'upper', got {order!r}.")
    if max_features is not None and max_features < 1:
        raise InputError(f"max_features must be at least 1 or None, got {max_features!r}.")
    largest_first = np.argsort(-upper, kind="stable")[:max_features]
    return largest_first if order == "upper" else np.sort(largest_first)


def name_rows(ax: Axes, names: Sequence[str], shown: NDArray[np.intp]) -> None:
    """Set up the rows: the first on top, names at the left, no frame."""
    labels = [shorten(printable(names[j]), _LABEL_WIDTH) for j in shown]
    # A dollar sign in a name is a dollar sign, not the beginning of a formula.
    ax.set_yticks(np.arange(len(shown)), labels, parse_math=False)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)


_FONT_SIZE = 9


# Of the room; letters are a little wider in a file of another resolution.
_SHARE = 0.92


def set_title(ax: Axes, *sentences: str, loc: Literal["left", "center"], grow: bool) -> None:
    """Give axes a title of several lines, each as wide as there is room.

    Parameters
    ----------
    ax : matplotlib Axes
        With everything else drawn on it: that decides how much room there is.
    *sentences : str
        Each begins on a line of its own; empty ones are left out.
    loc : {"left", "center"}
    grow : bool
        Whether the figure becomes higher by the lines beyond the first, so that axes keep their
        size.
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
