"""Central finite differences: what every closed form must agree with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def central_differences(
    function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: float = 1e-4
) -> np.ndarray:
    """Gradient of a function of rows, one number a row, with respect to each entry of a row.

    Of fourth order, so that the step can be large enough for rounding not to show.
    """
    gradient = np.empty(at.shape)
    for column in range(at.shape[1]):
        values = []
        for steps in (-2, -1, 1, 2):
            moved = at.copy()
            moved[:, column] += steps * step
            values.append(function(moved))
        outer, inner = values[0] - values[3], values[2] - values[1]
        gradient[:, column] = (outer + 8 * inner) / (12 * step)
    return gradient
