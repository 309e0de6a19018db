"""One row a feature, from top to bottom: what figures with such rows share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from .labels import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

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
