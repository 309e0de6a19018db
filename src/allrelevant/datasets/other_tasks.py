"""Generators of data with a numeric target, ordered classes, a ranking or censored times."""

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
    """Generate regression data with a linear target and features with known relevance.

    The target is the sum of normally distributed informative features. Some of these features are
    in the table: the strong features. The others are hidden, and the table contains only
    substitutes for them: the weak features. The irrelevant features are independent of the target.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each relevance class. ``n_weak`` must be 0 or at least 2, because a
        single weak feature would have no substitute.
    weak : {"copies", "combinations"}, default="copies"
        Substitutes for the hidden features, as in :func:`make_linear_classification`.
    noise : float, default=0
        Standard deviation of independent noise, added to each feature after the target is
        computed. The features have standard deviation 1.
    target_noise : float, default=0
        Standard deviation of the normal noise added to the target, as a fraction of the standard
        deviation of the sum.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        Features in the order strong, weak, irrelevant; target as floats.

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
    """Generate samples with ordered classes and features with known relevance.

    Samples are sorted by the sum of normally distributed informative features and divided into
    classes of equal size. Some informative features are in the table: the strong features. The
    others are hidden, and the table contains only substitutes for them: the weak features. The
    irrelevant features are independent of the class.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each relevance class. ``n_weak`` must be 0 or at least 2, because a
        single weak feature would have no substitute.
    weak : {"copies", "combinations"}, default="copies"
        Substitutes for the hidden features, as in :func:`make_linear_classification`.
    noise : float, default=0
        Standard deviation of independent noise, added to each feature after the classes are
        computed. The features have standard deviation 1.
    n_classes : int, default=4
        Number of classes, labeled 0 to ``n_classes - 1``. Class sizes differ by at most 1.
    flip : float, default=0
        Fraction of samples that are moved to a neighboring class, chosen at random. Samples of the
        lowest and highest class have only one neighboring class.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        Features in the order strong, weak, irrelevant.

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
    """Assign classes 0, 1, ... by increasing score; class sizes differ by at most 1."""
    if not 2 <= n_classes <= len(score):
        raise InputError(
            f"n_classes must be at least 2 and at most n_samples = {len(score)} (got {n_classes})."
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
    """Generate positive and negative samples to rank, and features with known relevance.

    The samples with the largest sum of normally distributed informative features are positive. Some
    informative features are in the table: the strong features. The others are hidden, and the table
    contains only substitutes for them: the weak features. The irrelevant features are independent
    of the class.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each relevance class. ``n_weak`` must be 0 or at least 2, because a
        single weak feature would have no substitute.
    weak : {"copies", "combinations"}, default="copies"
        Substitutes for the hidden features, as in :func:`make_linear_classification`.
    noise : float, default=0
        Standard deviation of independent noise, added to each feature after the classes are
        computed. The features have standard deviation 1.
    positive : float, default=0.2
        Fraction of samples in class 1. The other samples are in class 0.
    flip : float, default=0
        Fraction of samples with wrong labels. Labels are swapped between random pairs of a positive
        and a negative sample, so that the number of positives does not change. Must be less than
        ``2 * positive * (1 - positive)``. At that value, labels would carry no information.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        Features in the order strong, weak, irrelevant.

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
    swapped = _draw_pairs(y, flip, rng)
    y[swapped] = 1 - y[swapped]
    return GroundTruth(X, y, spec.relevance)


def make_survival(
    n_samples: int = 400,
    *,
    n_strong: int = 4,
    n_weak: int = 6,
    n_irrelevant: int = 10,
    weak: Weak = "copies",
    noise: float = 0.0,
    target_noise: float = 0.0,
    censored: float = 0.3,
    random_state: RandomState = None,
) -> GroundTruth:
    """Generate right-censored survival times, and features with known relevance.

    The logarithm of the time to the event is the negative sum of normally distributed informative
    features. Some of these features are in the table: the strong features. The others are hidden,
    and the table contains only substitutes for them: the weak features. The irrelevant features are
    independent of the time. Random samples are censored, at a random fraction of their time.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each relevance class. ``n_weak`` must be 0 or at least 2, because a
        single weak feature would have no substitute.
    weak : {"copies", "combinations"}, default="copies"
        Substitutes for the hidden features, as in :func:`make_linear_classification`.
    noise : float, default=0
        Standard deviation of independent noise, added to each feature after the times are
        computed. The features have standard deviation 1.
    target_noise : float, default=0
        Standard deviation of the normal noise added to the logarithm of the time, as a fraction of
        its standard deviation.
    censored : float, default=0.3
        Fraction of censored samples, at least 0 and below 1. The time of a censored sample is drawn
        uniformly between 0 and the time of its event.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        Features in the order strong, weak, irrelevant. The target is a structured array with the
        fields ``event`` (True unless the sample is censored) and ``time``.

    Examples
    --------
    >>> from allrelevant.datasets import make_survival
    >>> data = make_survival(200, censored=0.3, random_state=0)
    >>> data.y.dtype.names, int(data.y["event"].sum())
    (('event', 'time'), 140)
    """
    spec = TableSpec(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    check_not_negative("target_noise", target_noise)
    if not 0 <= censored < 1:
        raise InputError(f"censored must be at least 0 and below 1 (got {censored}).")
    rng = check_random_state(random_state)
    X, score = spec.draw(rng)
    score = score / score.std()
    y = np.empty(n_samples, dtype=[("event", bool), ("time", np.float64)])
    y["event"], y["time"] = True, np.exp(target_noise * rng.normal(size=n_samples) - score)
    rows = rows_to_flip(n_samples, censored, rng)
    y["event"][rows] = False
    y["time"][rows] *= rng.uniform(size=len(rows))
    return GroundTruth(X, y, spec.relevance)


def mark_largest(score: Vector, positive: float) -> Classes:
    """Return label 1 for the fraction ``positive`` of rows with the largest scores, else 0."""
    n_samples = len(score)
    n_positive = round(positive * n_samples) if 0 < positive < 1 else 0
    if not 0 < n_positive < n_samples:
        raise InputError(
            f"positive={positive} leaves one class without rows (n_samples={n_samples}). Choose a "
            "fraction that leaves rows in both classes."
        )
    y = np.zeros(n_samples, dtype=np.int_)
    y[np.argsort(score)[n_samples - n_positive :]] = 1
    return y


def _draw_pairs(y: Classes, flip: float, rng: np.random.RandomState) -> Classes:
    """Draw the rows whose labels are flipped: a fraction ``flip``, equally many per class."""
    n_samples, n_positive = len(y), int(y.sum())
    n_pairs = round(flip * n_samples / 2) if 0 <= flip < 1 else n_samples
    if n_pairs * n_samples >= n_positive * (n_samples - n_positive):
        limit = 2 * y.mean() * (1 - y.mean())
        raise InputError(
            f"flip must be at least 0 and below 2 * positive * (1 - positive) = {limit:.3g} "
            f"(got {flip})."
        )
    rows_by_class = [rng.permutation(np.flatnonzero(y == c))[:n_pairs] for c in (0, 1)]
    return np.concatenate(rows_by_class)
