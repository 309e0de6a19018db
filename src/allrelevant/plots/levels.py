"""Figure of the effects of levels: levels of a category, or bins of a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._text import short_label
from ..exceptions import InputError
from ._style import BAR_HEIGHT, CLASS_STYLES, TEXT_COLOR, AxesDisplay, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..bounds.levels import LevelEffects

_LABEL_WIDTH = 24

# Height of the figure per level, and of its margins, in inches.
_LEVEL_HEIGHT, _MARGIN = 0.34, 1.1


@dataclass(kw_only=True, eq=False, repr=False)
class LevelsDisplay(AxesDisplay):
    """Plot of the effect of each level of a feature, with its range over all equivalent models.

    Use :meth:`from_estimator` to create a display, and :meth:`plot` to redraw it. For a curve, the
    levels are bins of a number in ascending order, and the ranges form a band.

    Parameters
    ----------
    effects : LevelEffects
        Effects of the levels.

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
    >>> import numpy as np, pandas as pd
    >>> from allrelevant import ClassificationBounds
    >>> site = np.array(["Bern", "Oslo", "Rome"] * 20)
    >>> X = pd.DataFrame({"site": site, "noise": np.random.RandomState(0).normal(size=60)})
    >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(X, site == "Rome")
    >>> bounds.plot_levels("site").ax_.get_xlabel()
    'effect on the value of the model'
    """

    effects: LevelEffects

    @classmethod
    def from_estimator(
        cls, est: Any, feature: int | str, *, label: Any = None, **kwargs: Any
    ) -> LevelsDisplay:
        """Create a display of one feature of a fitted estimator and draw it.

        Parameters
        ----------
        est : estimator
            Fitted estimator of relevance bounds.
        feature : int or str
            Index or name of a feature with levels.
        label : object, default=None
            With more than two classes, the class of the one-vs-rest problem; by default the first.
        **kwargs
            Parameters of :meth:`plot`.
        """
        check_is_fitted(est)
        index = est._feature_layout().index(feature)
        found = est._level_effects([index])
        chosen = [part for part in found if label is None or part.label == label]
        if not chosen:
            raise InputError(
                f"{feature!r} has no levels to plot. Choose a category, a number with missing "
                "values, or use curves."
            )
        return cls(effects=chosen[0]).plot(**kwargs)

    def plot(self, ax: Axes | None = None) -> LevelsDisplay:
        """Draw the effects.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into. By default, a new figure is created.

        Returns
        -------
        LevelsDisplay
            This display.
        """
        effects, n = self.effects, len(self.effects.levels)
        self.ax_ = axes_or_new(
            ax, 6.4, 3.4 if effects.is_curve else _MARGIN + _LEVEL_HEIGHT * max(n, 3)
        )
        self.figure_ = self.ax_.figure
        names = [short_label(name, _LABEL_WIDTH) for name in effects.levels]
        if effects.is_curve:
            self._draw_band(names)
        else:
            self._draw_bars(names)
        self.ax_.set_title(short_label(effects.feature, 60), loc="left", color=TEXT_COLOR)
        return self

    def _draw_bars(self, names: Sequence[str]) -> None:
        places, effects, style = np.arange(len(names)), self.effects, CLASS_STYLES["weak"]
        self.ax_.barh(
            places,
            effects.high - effects.low,
            left=effects.low,
            height=BAR_HEIGHT,
            color=style.fill,
            edgecolor=style.edge,
            label="all equivalent models",
        )
        self.ax_.plot(effects.baseline, places, "|", color=TEXT_COLOR, ms=14, label="baseline")
        self.ax_.axvline(0.0, color="#8a8a8a", lw=0.8, zorder=0)
        self.ax_.set_yticks(places, names)
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel("effect on the value of the model")
        self.ax_.legend(loc="best", frameon=False, fontsize=8)

    def _draw_band(self, names: Sequence[str]) -> None:
        effects, style = self.effects, CLASS_STYLES["weak"]
        edges = np.arange(len(names) + 1) - 0.5
        low, high, baseline = (
            np.append(values, values[-1])
            for values in (effects.low, effects.high, effects.baseline)
        )
        self.ax_.fill_between(
            edges,
            low,
            high,
            step="post",
            color=style.fill,
            alpha=0.6,
            label="all equivalent models",
        )
        self.ax_.step(edges, baseline, where="post", color=TEXT_COLOR, label="baseline")
        self.ax_.axhline(0.0, color="#8a8a8a", lw=0.8, zorder=0)
        self.ax_.set_xticks(np.arange(len(names)), names, rotation=20, ha="right", fontsize=8)
        self.ax_.set_ylabel("effect on the value of the model")
        self.ax_.legend(loc="best", frameon=False, fontsize=8)
