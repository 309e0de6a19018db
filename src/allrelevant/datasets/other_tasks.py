"""Tables of a numeric target, of ordered classes, and of a ranking."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Vector
from ..exceptions import InputError
from ._ground_truth import (
    Classes,
    GroundTruth,
    RandomState,
    TableSpec,
    Weak,
    check_flip,
    check_not_negative,
    rows_to_flip,
)


def make_linear_regression(
    n_samples: int = 400,
    *,
    n_strong: int = 4,
    n_weak: int = 6,
    n_irrelevant: int = 10,
    weak: Weak = "copies",
    noise: float = 0.0,
    target_noise: float = 0.0,
    random_state: RandomState = None,
) -> GroundTruth:
    """A target that is the sum of some features, and features of known relevance.

    Some normally distributed features decide the target: it is their sum. The strong features are
    such features themselves. Others of them stay hidden, and only their substitutes, the weak
    features, are in the table. The irrelevant features have nothing to do with the target.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each class. One weak feature alone could not be replaced by
        another, so ``n_weak`` is 0 or at least 2.
    weak : {"copies", "combinations"}, default="copies"
        How the hidden features appear, as in :func:`make_linear_classification`.
    noise : float, default=0
        Standard deviation of noise added to each feature, independently, after the target is
        set; the features themselves have standard deviation 1.
    target_noise : float, default=0
        Standard deviation of normal noise added to the target, as a share of the standard
        deviation of the sum.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        The features in the order strong, weak, irrelevant; the target as floats.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_linear_regression
    >>> data = make_linear_regression(100, n_strong=2, n_weak=2, n_irrelevant=1, random_state=0)
    >>> bool(np.allclose(data.y, data.X[:, :3].sum(axis=1)))
    True
    """
    spec = TableSpec(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    check_not_negative("target_noise", target_noise)
    rng = check_random_state(random_state)
    X, score = spec.draw(rng)
    y = score + target_noise * score.std() * rng.normal(size=n_samples)
    return GroundTruth(X, y, spec.relevance)


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
) -> GroundTruth:
    """Ordered classes between parallel hyperplanes, and features of known relevance.

    Some normally distributed features decide the class: the rows are ordered by their sum and cut
    into classes of equal size. The strong features are such features themselves. Others of them
    stay hidden, and only their substitutes, the weak features, are in the table. The irrelevant
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
        Share of the rows, drawn at random, that are moved to a neighboring class: up or down at
        random, and inwards from the lowest and the highest class.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        The features in the order strong, weak, irrelevant.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_ordinal_classification
    >>> data = make_ordinal_classification(90, n_classes=3, random_state=0)
    >>> np.bincount(data.y).tolist()
    [30, 30, 30]
    """
    spec = TableSpec(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    check_flip(flip)
    rng = check_random_state(random_state)
    X, score = spec.draw(rng)
    y = equal_classes(score, n_classes)
    moved = rows_to_flip(n_samples, flip, rng)
    y[moved] = _neighbors(y[moved], n_classes, rng)
    return GroundTruth(X, y, spec.relevance)


def equal_classes(score: Vector, n_classes: int) -> Classes:
    """Classes 0 to ``n_classes - 1`` by increasing score, of sizes that differ by 1 at most."""
    if not 2 <= n_classes <= len(score):
        raise InputError(
            f"n_classes must be at least 2 and at most n_samples ({len(score)}), got {n_classes}."
        )
    rank = np.argsort(np.argsort(score))
    return rank * n_classes // len(score)


def _neighbors(y: Classes, n_classes: int, rng: np.random.RandomState) -> Classes:
    step = rng.choice([-1, 1], size=len(y))
    inside = (y + step >= 0) & (y + step < n_classes)
    return np.where(inside, y + step, y - step)


def make_ranking(
    n_samples: int = 400,
    *,
    n_strong: int = 4,
    n_weak: int = 6,
    n_irrelevant: int = 10,
    weak: Weak = "copies",
    noise: float = 0.0,
    positive: float = 0.2,
    flip: float = 0.0,
    random_state: RandomState = None,
) -> GroundTruth:
    """Two classes of different size, one ranked above the other, and features of known relevance.

    Some normally distributed features decide the rank: the rows of the largest sum are the
    positives. The strong features are such features themselves. Others of them stay hidden, and
    only their substitutes, the weak features, are in the table. The irrelevant features have
    nothing to do with the rank.

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
    positive : float, default=0.2
        Share of the rows that are of class 1; the others are of class 0.
    flip : float, default=0
        Share of the rows whose labels are wrong: pairs of a positive and a negative, drawn at
        random, exchange their labels, so that the number of positives stays. At
        ``2 * positive * (1 - positive)`` the labels would say nothing; it must be below.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        The features in the order strong, weak, irrelevant.

    Examples
    --------
    >>> from allrelevant.datasets import make_ranking
    >>> data = make_ranking(200, positive=0.1, random_state=0)
    >>> int(data.y.sum())
    20
    """
    spec = TableSpec(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    rng = check_random_state(random_state)
    X, score = spec.draw(rng)
    y = mark_largest(score, positive)
    exchanged = _pairs(y, flip, rng)
    y[exchanged] = 1 - y[exchanged]
    return GroundTruth(X, y, spec.relevance)


def mark_largest(score: Vector, positive: float) -> Classes:
    """1 for the share ``positive`` of the rows, those of the largest score, else 0."""
    n_samples = len(score)
    n_positive = round(positive * n_samples) if 0 < positive < 1 else 0
    if not 0 < n_positive < n_samples:
        raise InputError(
            f"positive must leave rows in both classes: {positive} of {n_samples} rows does not."
        )
    y = np.zeros(n_samples, dtype=np.int_)
    y[np.argsort(score)[n_samples - n_positive :]] = 1
    return y


def _pairs(y: Classes, flip: float, rng: np.random.RandomState) -> Classes:
    """Indices of as many positives as negatives, the share ``flip`` of the rows together."""
    n_samples, n_positive = len(y), int(y.sum())
    n_pairs = round(flip * n_samples / 2) if 0 <= flip < 1 else n_samples
    if n_pairs * n_samples >= n_positive * (n_samples - n_positive):
        limit = 2 * y.mean() * (1 - y.mean())
        raise InputError(
            f"flip must be at least 0 and below 2 * positive * (1 - positive) = {limit:.3g}, "
            f"got {flip}."
        )
    of_each = [rng.permutation(np.flatnonzero(y == c))[:n_pairs] for c in (0, 1)]
    return np.concatenate(of_each)
