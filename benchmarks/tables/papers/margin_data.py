"""Synthetic data as in ferel18, with a margin between the classes.

The paper does not describe how rows are drawn. This follows the description in its authors'
published code: uniform features, and no row closer to the separating hyperplane than the margin.
"""

from __future__ import annotations

import numpy as np

from allrelevant.datasets import GroundTruth

MARGIN = 1.0
RANGE = 10.0
MIN_WEIGHT = 0.2


def make_with_margin(
    n_rows: int, n_strong: int, n_weak: int, n_irrelevant: int, *, random_state: int
) -> GroundTruth:
    """Draw a table whose weak features are pairs of copies, each scaled by a random factor."""
    rng = np.random.RandomState(random_state)
    n_deciding = n_strong + n_weak // 2
    weights = rng.uniform(MIN_WEIGHT, 1.0, n_deciding) * rng.choice([-1, 1], n_deciding)
    offset = rng.uniform(-1.0, 1.0)
    deciding = np.empty((0, n_deciding))
    while len(deciding) < n_rows:
        drawn = rng.uniform(-RANGE, RANGE, (n_rows, n_deciding))
        far = np.abs(drawn @ weights - offset) >= MARGIN
        deciding = np.vstack([deciding, drawn[far]])[:n_rows]
    copies = np.repeat(deciding[:, n_strong:], 2, axis=1) * rng.uniform(size=n_weak)
    noise = rng.uniform(-RANGE, RANGE, (n_rows, n_irrelevant))
    return GroundTruth(
        np.hstack([deciding[:, :n_strong], copies, noise]),
        np.where(deciding @ weights > offset, 1, -1),
        np.repeat(["strong", "weak", "irrelevant"], [n_strong, n_weak, n_irrelevant]),
    )
