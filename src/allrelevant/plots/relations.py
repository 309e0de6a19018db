"""What replaces what: as a heat map ordered by group, and as a graph on a circle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._text import short_label
from ..bounds.relations import RELATION_THRESHOLD, Relations
from ._style import CLASS_STYLES, TEXT_COLOR, AxesDisplay, axes_or_new
from .layout import Node, circle, links

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LABEL_WIDTH = 26
_NODE_LABEL_WIDTH = 22

# Side of a cell, in inches.
_CELL = 0.24

# Blue for substitutes, white, orange for complements: told apart with any kind of color vision.
_COLORS = "PuOr_r"


@dataclass(kw_only=True, eq=False, repr=False)
class RelationsDisplay(AxesDisplay):
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

    relations: Relations

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
        shown = self.relations.by_group(max_features)
        side = 2.6 + _CELL * max(len(shown), 4)
        ax = axes_or_new(ax, side + 0.8, side)
        image = ax.imshow(
            self.relations.relations_[np.ix_(shown, shown)], cmap=_COLORS, vmin=-1.0, vmax=1.0
        )
        self._name(ax, shown)
        self._frame_groups(ax, shown)
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, ticks=[-1, 0, 1])
        bar.ax.set_yticklabels(["substitutes", "independent", "complements"], fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name(self, ax: Axes, shown: NDArray[np.intp]) -> None:
        names = [short_label(self.relations.feature_names[j], _LABEL_WIDTH) for j in shown]
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


@dataclass(kw_only=True, eq=False, repr=False)
class SubstitutesDisplay(AxesDisplay):
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

    relations: Relations

    @classmethod
    def from_result(cls, relations: Relations, **kwargs: Any) -> SubstitutesDisplay:
        """Draw relations; the options are those of :meth:`plot`."""
        return cls(relations=relations).plot(**kwargs)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        max_features: int | None = 60,
        least: float = RELATION_THRESHOLD,
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
        ax = axes_or_new(ax, 7.5, 7.5)
        shown = self.relations.by_group(max_features)
        nodes = circle(len(shown))
        for j, k, relation in links(self.relations.relations_[np.ix_(shown, shown)], least):
            ax.plot(
                [nodes[j].x, nodes[k].x],
                [nodes[j].y, nodes[k].y],
                color=CLASS_STYLES["strong"].edge,
                linewidth=0.5 + 3.0 * abs(relation) ** 2,
                linestyle="-" if relation < 0 else ":",
                alpha=0.55,
                zorder=1,
            )
        style = CLASS_STYLES["weak"]
        ax.scatter(
            [node.x for node in nodes],
            [node.y for node in nodes],
            s=60,
            facecolor=style.fill,
            edgecolor=style.edge,
            zorder=3,
        )
        for j, node in zip(shown, nodes, strict=True):
            _label(ax, short_label(self.relations.feature_names[j], _NODE_LABEL_WIDTH), node)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.margins(0.35)
        n_relevant = int((self.relations.labels_ >= 0).sum())
        if len(shown) < n_relevant:
            ax.set_title(f"the first {len(shown)} of {n_relevant} relevant features", fontsize=9)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _label(ax: Axes, name: str, node: Node) -> None:
    ax.text(
        1.06 * node.x,
        1.06 * node.y,
        name,
        fontsize=8,
        color=TEXT_COLOR,
        rotation=node.angle,
        rotation_mode="anchor",
        ha="right" if node.is_left else "left",
        va="center",
        parse_math=False,
    )
