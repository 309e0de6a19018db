"""What replaces what, as a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Matrix
from ..bounds.groups import CUT
from ..bounds.relations import Relations
from ..extras import import_extra
from .labels import printable, shorten
from .palette import INK, LOOKS
from .relations import by_group

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABEL_WIDTH = 22


class SubstitutesDisplay:
    """Features on a circle, those of a group side by side, and lines between substitutes.

    The thicker a line, the more two features replace each other; dotted lines join companions.

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
    def from_relations(cls, relations: Relations, **kwargs: Any) -> SubstitutesDisplay:
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
        look = LOOKS["weak"]
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
        name = shorten(printable(self.relations.feature_names[feature]), _LABEL_WIDTH)
        angle = float(np.degrees(np.arctan2(y, x)))
        turned = abs(angle) > 90.0
        ax.text(
            1.06 * x,
            1.06 * y,
            name,
            fontsize=8,
            color=INK,
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
                    color=LOOKS["strong"].edge,
                    linewidth=0.5 + 3.0 * abs(relation) ** 2,
                    linestyle="-" if relation < 0 else ":",
                    alpha=0.55,
                    zorder=1,
                )
