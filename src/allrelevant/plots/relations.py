"""What replaces what, as a heat map ordered by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.relations import Relations
from ..extras import import_extra
from .labels import printable, shorten
from .palette import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABEL_WIDTH = 26
_CELL = 0.24
# Blue for substitutes, white, orange for companions: told apart with any kind of colour vision.
_COLOURS = "PuOr_r"


def by_group(relations: Relations, max_features: int | None) -> NDArray[np.intp]:
    """The relevant features, those of a group next to each other; the largest groups first."""
    relevant = np.flatnonzero(relations.labels_ >= 0)
    labels = relations.labels_[relevant]
    size = np.bincount(labels, minlength=1)[labels]
    order = relevant[np.lexsort((relevant, labels, -size))]
    return order if max_features is None else order[:max_features]


class RelationsDisplay:
    """The relations of pairs of features as a heat map, ordered by group.

    Made by :meth:`from_relations`; keeps the values, so that :meth:`plot` can draw them again.

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
    def from_relations(cls, relations: Relations, **kwargs: Any) -> RelationsDisplay:
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
        bar.ax.set_yticklabels(["substitutes", "independent", "companions"], fontsize=8)
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
                    (corner, corner), size, size, fill=False, edgecolor=INK, linewidth=1.2
                )
            )
