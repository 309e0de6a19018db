"""Pictures, and what they must become before a classifier takes them for something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ..extras import import_extra
from .labels import printable, shorten
from .palette import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..saliency.reliability import Reliability

_CELL = 0.85


class ReliabilityDisplay:
    """A grid: each row of pictures starts with one as it is, then as each class.

    Made by :meth:`from_result`; keeps its values, so that :meth:`plot` can draw them again.

    Parameters
    ----------
    result : Reliability
    image_shape : tuple of int
        (height, width) or (height, width, 3).

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Drawn on last; shape (rows, 1 + number of classes).
    figure_ : matplotlib Figure
    """

    def __init__(self, *, result: Reliability, image_shape: tuple[int, ...]) -> None:
        self.result = result
        self.image_shape = image_shape

    @classmethod
    def from_result(
        cls, result: Reliability, *, image_shape: tuple[int, ...] | None = None, **kwargs: Any
    ) -> ReliabilityDisplay:
        """Draw what :func:`allrelevant.reliability` has found.

        Parameters
        ----------
        result : Reliability
        image_shape : tuple of int or None, default=None
            (height, width) or (height, width, 3); None: a square.
        **kwargs
            Options of :meth:`plot`.
        """
        return cls(result=result, image_shape=_shape(result, image_shape)).plot(**kwargs)

    def plot(self, *, max_rows: int = 10, figure: Figure | None = None) -> ReliabilityDisplay:
        """Draw.

        Parameters
        ----------
        max_rows : int, default=10
            Of more rows than this, the first.
        figure : matplotlib Figure or None, default=None
            By default one of its own.

        Returns
        -------
        ReliabilityDisplay
            This one.
        """
        found = self.result
        n_rows, n_columns = min(max_rows, len(found.X)), 1 + len(found.targets)
        if figure is None:
            plt = import_extra("matplotlib.pyplot", "plot")
            size = (_CELL * n_columns, _CELL * n_rows + 0.5)
            figure = plt.figure(figsize=size, layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False)
        low, high = float(found.X.min()), float(found.X.max())
        for row in range(n_rows):
            pictures = [found.X[row], *found.changed[row]]
            for column, (ax, values) in enumerate(zip(axes[row], pictures, strict=True)):
                self._draw(ax, values, low, high)
                if column and not found.reached[row, column - 1]:
                    _cross_out(ax)
        for ax, title in zip(axes[0], ["as it is", *found.targets], strict=True):
            ax.set_title(shorten(printable(str(title)), 12), fontsize=8, parse_math=False)
        self.axes_, self.figure_ = axes, figure
        return self

    def _draw(self, ax: Axes, values: NDArray[np.float64], low: float, high: float) -> None:
        picture = np.clip((values.reshape(self.image_shape) - low) / ((high - low) or 1.0), 0, 1)
        ax.imshow(picture, cmap="gray", vmin=0.0, vmax=1.0)
        ax.set_xticks([])
        ax.set_yticks([])
        for spine in ax.spines.values():
            spine.set_visible(False)


def _cross_out(ax: Axes) -> None:
    """Say of a picture that the classifier is not certain of it."""
    ax.text(
        0.5,
        0.02,
        "not reached",
        transform=ax.transAxes,
        ha="center",
        fontsize=6,
        color="white",
        bbox={"facecolor": INK, "edgecolor": "none", "pad": 1.0},
    )


def _shape(result: Reliability, image_shape: tuple[int, ...] | None) -> tuple[int, ...]:
    n_features = result.X.shape[1]
    side = round(n_features**0.5)
    shape = (side, side) if image_shape is None else tuple(image_shape)
    if np.prod(shape) != n_features or (len(shape) == 3 and shape[2] != 3) or len(shape) > 3:
        raise InputError(
            f"{n_features} features are no picture of shape {shape}: give image_shape=(height, "
            "width) or (height, width, 3)."
        )
    return shape
