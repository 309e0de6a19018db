"""Errors against the number of directions of the data that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import import_extra
from .palette import INK, LOOKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..bounds.mappings.dimension import DimensionCurve


class DimensionDisplay:
    """Error of the mappings at the bounds, on the rows trained on and on others.

    Made by :meth:`from_curve`; keeps the curve, so that :meth:`plot` can draw it again.

    Parameters
    ----------
    curve : DimensionCurve

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curve was drawn last.
    figure_ : matplotlib Figure
    """

    def __init__(self, *, curve: DimensionCurve) -> None:
        self.curve = curve

    @classmethod
    def from_curve(cls, curve: DimensionCurve, **kwargs: Any) -> DimensionDisplay:
        """Draw a curve; the options are those of :meth:`plot`."""
        return cls(curve=curve).plot(**kwargs)

    def plot(self, ax: Axes | None = None) -> DimensionDisplay:
        """Draw the curve, again or elsewhere.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default in a figure of its own.

        Returns
        -------
        DimensionDisplay
            The display itself.
        """
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            _, ax = pyplot.subplots(figsize=(6.0, 3.4), layout="constrained")
        self.ax_: Axes = ax
        self.figure_: Figure = ax.figure  # type: ignore[assignment]
        curve, color = self.curve, LOOKS["strong"].fill
        test, train = curve.test_error.mean(axis=1), curve.train_error.mean(axis=1)
        n_splits = curve.test_error.shape[1]
        if n_splits > 1:
            error = curve.test_error.std(axis=1, ddof=1) / np.sqrt(n_splits)
            ax.fill_between(curve.dimensions, test - error, test + error, color=color, alpha=0.15)
        ax.plot(curve.dimensions, test, marker="o", ms=3.5, color=color, label="held-out rows")
        ax.plot(curve.dimensions, train, ls="--", color=LOOKS["weak"].edge, label="training rows")
        raw = float(np.mean(curve.raw_test_error))
        ax.axhline(raw, lw=0.8, ls=":", color=INK, label="metric as learned, held-out")
        ax.axvline(curve.best(), lw=0.8, color=INK, alpha=0.5)
        ax.set_xlabel("effective dimension")
        ax.set_ylabel("classification error")
        ax.set_ylim(bottom=0.0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
        return self
