"""Figures for relations between features: heat map, and graph of substitutes and complements."""

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

# Side length of a cell, in inches.
_CELL = 0.24

# Purple for substitutes and orange for complements, distinguishable with any color vision.
_COLORS = "PuOr_r"


@dataclass(kw_only=True, eq=False, repr=False)
class RelationsDisplay(AxesDisplay):
    """Heat map of the relations between features, ordered by substitution group.

    Use :meth:`from_result` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    relations : Relations
        Substitutes, complements and substitution groups.

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
        """Create a display from the relations between features and draw it.

        Parameters
        ----------
        relations : Relations
            Substitutes, complements and substitution groups.
        **kwargs
            Parameters of :meth:`plot`.
        """
        return cls(relations=relations).plot(**kwargs)

    def plot(self, *, ax: Axes | None = None, max_features: int | None = 60) -> RelationsDisplay:
        """Draw the relations between features as a heat map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        max_features : int or None, default=60
            Maximum number of relevant features to draw: those in the largest groups. A note in the
            figure gives the total number. None draws all relevant features.

        Returns
        -------
        RelationsDisplay
            The display itself.
        """
        shown = self.relations.by_group(max_features)
        side = 2.6 + _CELL * max(len(shown), 4)
        ax = axes_or_new(ax, side + 0.8, side)
        image = ax.imshow(
            self.relations.relations_[np.ix_(shown, shown)], cmap=_COLORS, vmin=-1.0, vmax=1.0
        )
        self._label_axes(ax, shown)
        self._frame_groups(ax, shown)
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, ticks=[-1, 0, 1])
        bar.ax.set_yticklabels(["substitutes", "independent", "complements"], fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _label_axes(self, ax: Axes, shown: NDArray[np.intp]) -> None:
        names = [short_label(self.relations.feature_names[j], _LABEL_WIDTH) for j in shown]
        positions = np.arange(len(shown))
        # parse_math=False: a dollar sign in a name does not start a formula.
        ax.set_yticks(positions, names, fontsize=8, parse_math=False)
        ax.set_xticks(positions, names, fontsize=8, rotation=90, parse_math=False)
        ax.tick_params(length=0)
        ax.set_ylabel("affected feature", fontsize=9)
        n_relevant = int((self.relations.labels_ >= 0).sum())
        label = "dropped or raised feature"
        if len(shown) < n_relevant:
            label += f"   (the first {len(shown)} of {n_relevant} relevant features)"
        ax.set_xlabel(label, fontsize=9)

    def _frame_groups(self, ax: Axes, shown: NDArray[np.intp]) -> None:
        patches = import_extra("matplotlib.patches", "plot")
        labels = self.relations.labels_[shown]
        for label in np.unique(labels):
            (members,) = np.nonzero(labels == label)
            corner, size = members[0] - 0.5, len(members)
            ax.add_patch(
                patches.Rectangle(
                    (corner, corner), size, size, fill=False, edgecolor=TEXT_COLOR, linewidth=1.2
                )
            )


@dataclass(kw_only=True, eq=False, repr=False)
class SubstitutesDisplay(AxesDisplay):
    """Graph of features on a circle, with lines between substitutes and complements.

    Features of the same group are adjacent. Thicker lines mean stronger relations. Solid lines
    connect substitutes, and dotted lines connect complements.

    Parameters
    ----------
    relations : Relations
        Substitutes, complements and substitution groups.

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
        """Create a display from the relations between features and draw it.

        Parameters
        ----------
        relations : Relations
            Substitutes, complements and substitution groups.
        **kwargs
            Parameters of :meth:`plot`.
        """
        return cls(relations=relations).plot(**kwargs)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        max_features: int | None = 60,
        threshold: float = RELATION_THRESHOLD,
    ) -> SubstitutesDisplay:
        """Draw the relations between features as a graph.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        max_features : int or None, default=60
            Maximum number of relevant features to draw: those in the largest groups. A note in the
            figure gives the total number. None draws all relevant features.
        threshold : float, default=0.5
            Smallest absolute value of a relation to be drawn.

        Returns
        -------
        SubstitutesDisplay
            The display itself.
        """
        ax = axes_or_new(ax, 7.5, 7.5)
        shown = self.relations.by_group(max_features)
        nodes = circle(len(shown))
        for j, k, relation in links(self.relations.relations_[np.ix_(shown, shown)], threshold):
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
