"""Synthetic data with a margin between the classes, as in Göpfert et al. (2018).

The paper does not describe how rows are drawn. This module follows the description in the code that
its authors published. Features are uniform, and no row is closer to the separating hyperplane than
the margin.
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
    """Generate data whose weak features are pairs of copies, each scaled by a random factor."""
    rng = np.random.RandomState(random_state)
    n_informative = n_strong + n_weak // 2
    weights = rng.uniform(MIN_WEIGHT, 1.0, n_informative) * rng.choice([-1, 1], n_informative)
    offset = rng.uniform(-1.0, 1.0)
    informative = np.empty((0, n_informative))
    while len(informative) < n_rows:
        drawn = rng.uniform(-RANGE, RANGE, (n_rows, n_informative))
        is_far = np.abs(drawn @ weights - offset) >= MARGIN
        informative = np.vstack([informative, drawn[is_far]])[:n_rows]
    copies = np.repeat(informative[:, n_strong:], 2, axis=1) * rng.uniform(size=n_weak)
    noise = rng.uniform(-RANGE, RANGE, (n_rows, n_irrelevant))
    return GroundTruth(
        np.hstack([informative[:, :n_strong], copies, noise]),
        np.where(informative @ weights > offset, 1, -1),
        np.repeat(["strong", "weak", "irrelevant"], [n_strong, n_weak, n_irrelevant]),
    )
