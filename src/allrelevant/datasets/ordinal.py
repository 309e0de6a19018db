"""Classes in an order, and features of known relevance."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..arrays import Vector
from ..exceptions import InputError
from .known_truth import (
    Classes,
    KnownTruth,
    RandomState,
    TablePlan,
    Weak,
    check_flip,
    rows_to_flip,
)


def make_ordinal_classification(
    n_samples: int = 400,
    *,
    n_strong: int = 4,
    n_weak: int = 6,
    n_irrelevant: int = 10,
    weak: Weak = "copies",
    noise: float = 0.0,
    n_classes: int = 4,
    flip: float = 0.0,
    random_state: RandomState = None,
) -> KnownTruth:
    """Ordered classes between parallel hyperplanes, and features of known relevance.

    Some normally distributed features decide the class: the rows are ordered by their sum and cut
    into classes of equal size. The strong features are such features themselves. Others of them
    stay hidden, and only their stand-ins, the weak features, are in the table. The irrelevant
    features have nothing to do with the class.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each class. One weak feature alone could not be replaced by
        another, so ``n_weak`` is 0 or at least 2.
    weak : {"copies", "combinations"}, default="copies"
        How the hidden features appear, as in :func:`make_linear_classification`.
    noise : float, default=0
        Standard deviation of noise added to each feature, independently, after the classes are
        set; the features themselves have standard deviation 1.
    n_classes : int, default=4
        The classes are 0 to ``n_classes - 1``; their sizes differ by 1 at most.
    flip : float, default=0
        Share of the rows, drawn at random, that are moved to a neighbouring class: up or down at
        random, and inwards from the lowest and the highest class.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    KnownTruth
        The features in the order strong, weak, irrelevant.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_ordinal_classification
    >>> data = make_ordinal_classification(90, n_classes=3, random_state=0)
    >>> np.bincount(data.y).tolist()
    [30, 30, 30]
    """
    plan = TablePlan(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    check_flip(flip)
    rng = check_random_state(random_state)
    deciding = plan.deciding(rng)
    X = plan.table(deciding, rng)
    y = equal_classes(deciding.sum(axis=1), n_classes)
    moved = rows_to_flip(n_samples, flip, rng)
    y[moved] = _neighbours(y[moved], n_classes, rng)
    return KnownTruth(X, y, plan.relevance)


def equal_classes(score: Vector, n_classes: int) -> Classes:
    """Classes 0 to ``n_classes - 1`` by increasing score, of sizes that differ by 1 at most."""
    if not 2 <= n_classes <= len(score):
        raise InputError(
            f"n_classes must be at least 2 and at most n_samples ({len(score)}), got {n_classes}."
        )
    rank = np.argsort(np.argsort(score))
    return rank * n_classes // len(score)


def _neighbours(y: Classes, n_classes: int, rng: np.random.RandomState) -> Classes:
    step = rng.choice([-1, 1], size=len(y))
    inside = (y + step >= 0) & (y + step < n_classes)
    return np.where(inside, y + step, y - step)
