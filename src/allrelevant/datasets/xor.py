"""Two classes that no single feature tells apart, and features of known relevance."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..bounds.relevance import IRRELEVANT, STRONG, WEAK
from ..exceptions import InputError
from .known_truth import KnownTruth, RandomState


def make_xor(
    n_samples: int = 200,
    *,
    noise: float = 0.05,
    spread: float = 0.2,
    random_state: RandomState = None,
) -> KnownTruth:
    """The xor data of Schulz et al. (2015): four clusters, two classes, six features.

    The clusters lie at the corners of a square, and opposite corners are of one class: neither
    coordinate tells the classes apart, both together do. The first coordinate is in the table
    three times, each time with noise of its own: weak features. The second one is there once:
    strong. Two more features, equal to each other, have nothing to do with the class.

    A metric needs two prototypes a class to tell them apart, in the three directions that the
    table has but for noise.

    Parameters
    ----------
    n_samples : int, default=200
        At least 4; the sizes of the clusters differ by 1 at most.
    noise : float, default=0.05
        Standard deviation of the noise of each of the three copies.
    spread : float, default=0.2
        Standard deviation of the clusters; their centres are at -1 and 1.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    KnownTruth
        The features in the order of the paper: three weak, one strong, two irrelevant.

    Examples
    --------
    >>> from allrelevant.datasets import make_xor
    >>> data = make_xor(random_state=0)
    >>> data.X.shape
    (200, 6)
    >>> [str(r) for r in data.relevance]
    ['weak', 'weak', 'weak', 'strong', 'irrelevant', 'irrelevant']
    """
    _check(n_samples, noise, spread)
    rng = check_random_state(random_state)
    cluster = rng.permutation(n_samples) % 4
    # The corners by their two bits; the class is whether they differ.
    first, second = cluster // 2, cluster % 2
    corners = 2.0 * np.column_stack([first, second]) - 1.0
    copied, single = (corners + spread * rng.normal(size=(n_samples, 2))).T
    copies = copied[:, np.newaxis] + noise * rng.normal(size=(n_samples, 3))
    irrelevant = np.repeat(rng.normal(size=(n_samples, 1)), 2, axis=1)
    relevance = np.repeat([WEAK, STRONG, IRRELEVANT], [3, 1, 2])
    return KnownTruth(np.column_stack([copies, single, irrelevant]), first ^ second, relevance)


def _check(n_samples: int, noise: float, spread: float) -> None:
    if n_samples < 4:
        raise InputError(f"n_samples must be at least 4, one for each cluster, got {n_samples}.")
    for name, value in (("noise", noise), ("spread", spread)):
        if not 0 <= value < np.inf:
            raise InputError(f"{name} must be a number of at least 0, got {value}.")
