"""What replaces what, as a heat map ordered by group.

What replaces what, as a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._text import printable, shorten
from .._typing import Matrix
from ..bounds.relations import CUT, Relations, by_group
from ._style import CLASS_STYLES, TEXT_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LABEL_WIDTH = 26


_CELL = 0.24


# Blue for substitutes, white, orange for complements: told apart with any kind of colour vision.
_COLOURS = "PuOr_r"


class RelationsDisplay:
    """The relations of pairs of features as a heat map, ordered by group.

    Made by :meth:`from_result`; keeps the values, so that :meth:`plot` can draw them again.

    Parameters
    ----------
    relations : Relations

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the map was drawn last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from allrelevant import ClassificationBounds
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
    >>> display = bounds.relations().plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['x1', 'x2', 'x0']
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, *, relations: Relations) -> None:
        self.relations = relations

    @classmethod
    def from_result(cls, relations: Relations, **kwargs: Any) -> RelationsDisplay:
        """Draw relations; the options are those of :meth:`plot`."""
        return cls(relations=relations).plot(**kwargs)

    def plot(self, *, ax: Axes | None = None, max_features: int | None = 60) -> RelationsDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default in a figure of its own.
        max_features : int or None, default=60
            Of more relevant features than this only the first are drawn, those of the largest
            groups, and the figure says so. None draws all.

        Returns
        -------
        RelationsDisplay
            This one.
        """
        plt = import_extra("matplotlib.pyplot", "plot")
        shown = by_group(self.relations, max_features)
        if ax is None:
            side = 2.6 + _CELL * max(len(shown), 4)
            _, ax = plt.subplots(figsize=(side + 0.8, side), layout="constrained")
        assert ax is not None
        image = ax.imshow(
            self.relations.relations_[np.ix_(shown, shown)], cmap=_COLOURS, vmin=-1.0, vmax=1.0
        )
        self._name(ax, shown)
        self._frame_groups(ax, shown)
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, ticks=[-1, 0, 1])
        bar.ax.set_yticklabels(["substitutes", "independent", "complements"], fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self

    def _name(self, ax: Axes, shown: NDArray[np.intp]) -> None:
        names = [shorten(printable(self.relations.feature_names[j]), _LABEL_WIDTH) for j in shown]
        places = np.arange(len(shown))
        # A dollar sign in a name is a dollar sign, not the beginning of a formula.
        ax.set_yticks(places, names, fontsize=8, parse_math=False)
        ax.set_xticks(places, names, fontsize=8, rotation=90, parse_math=False)
        ax.tick_params(length=0)
        ax.set_ylabel("what becomes of this feature ...", fontsize=9)
        n_relevant = int((self.relations.labels_ >= 0).sum())
        label = "... with this one"
        if len(shown) < n_relevant:
            label += f"   (the first {len(shown)} of {n_relevant} relevant features)"
        ax.set_xlabel(label, fontsize=9)

    def _frame_groups(self, ax: Axes, shown: NDArray[np.intp]) -> None:
        patches = import_extra("matplotlib.patches", "plot")
        labels = self.relations.labels_[shown]
        for label in np.unique(labels):
            (places,) = np.nonzero(labels == label)
            corner, size = places[0] - 0.5, len(places)
            ax.add_patch(
                patches.Rectangle(
                    (corner, corner), size, size, fill=False, edgecolor=TEXT_COLOR, linewidth=1.2
                )
            )


_SUBSTITUTE_LABEL_WIDTH = 22


class SubstitutesDisplay:
    """Features on a circle, those of a group side by side, and lines between substitutes.

    The thicker a line, the more two features replace each other; dotted lines join complements.

    Parameters
    ----------
    relations : Relations

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the graph was drawn last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from allrelevant import ClassificationBounds
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
    >>> display = bounds.relations().plot("graph")
    >>> len(display.ax_.lines)
    1
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, *, relations: Relations) -> None:
        self.relations = relations

    @classmethod
    def from_result(cls, relations: Relations, **kwargs: Any) -> SubstitutesDisplay:
        """Draw relations; the options are those of :meth:`plot`."""
        return cls(relations=relations).plot(**kwargs)

    def plot(
        self, *, ax: Axes | None = None, max_features: int | None = 60, least: float = CUT
    ) -> SubstitutesDisplay:
        """Draw the graph.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default in a figure of its own.
        max_features : int or None, default=60
            Of more relevant features than this only the first are drawn, those of the largest
            groups, and the figure says so. None draws all.
        least : float, default=0.5
            Size from which on a relation is drawn.

        Returns
        -------
        SubstitutesDisplay
            This one.
        """
        plt = import_extra("matplotlib.pyplot", "plot")
        if ax is None:
            _, ax = plt.subplots(figsize=(7.5, 7.5), layout="constrained")
        assert ax is not None
        shown = by_group(self.relations, max_features)
        angles = 2.0 * np.pi * np.arange(len(shown)) / max(len(shown), 1)
        places = np.column_stack([np.cos(angles), np.sin(angles)])
        own = self.relations.relations_[np.ix_(shown, shown)]
        _draw_lines(ax, own, places, least)
        look = CLASS_STYLES["weak"]
        ax.scatter(
            places[:, 0], places[:, 1], s=60, facecolor=look.fill, edgecolor=look.edge, zorder=3
        )
        for j, (x, y) in zip(shown, places, strict=True):
            self._name(ax, int(j), float(x), float(y))
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.margins(0.35)
        n_relevant = int((self.relations.labels_ >= 0).sum())
        if len(shown) < n_relevant:
            ax.set_title(f"the first {len(shown)} of {n_relevant} relevant features", fontsize=9)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self

    def _name(self, ax: Axes, feature: int, x: float, y: float) -> None:
        name = shorten(printable(self.relations.feature_names[feature]), _SUBSTITUTE_LABEL_WIDTH)
        angle = float(np.degrees(np.arctan2(y, x)))
        turned = abs(angle) > 90.0
        ax.text(
            1.06 * x,
            1.06 * y,
            name,
            fontsize=8,
            color=TEXT_COLOR,
            rotation=angle + 180.0 if turned else angle,
            rotation_mode="anchor",
            ha="right" if turned else "left",
            va="center",
            parse_math=False,
        )


def _draw_lines(ax: Axes, relations: Matrix, places: Matrix, least: float) -> None:
    for j in range(len(relations)):
        for k in range(j):
            relation = max(relations[j, k], relations[k, j], key=abs)
            if abs(relation) >= least:
                ax.plot(
                    *places[[j, k]].T,
                    color=CLASS_STYLES["strong"].edge,
                    linewidth=0.5 + 3.0 * abs(relation) ** 2,
                    linestyle="-" if relation < 0 else ":",
                    alpha=0.55,
                    zorder=1,
                )
