"""Two classes, divided by a hyperplane, and features of known relevance."""

from __future__ import annotations

from typing import Literal

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

# Samples, and numbers of strong, weak and irrelevant features.
_FEREL18 = {"A": (512, 1, 2, 11), "B": (256, 6, 6, 6)}
_ESANN17 = {"I": (150, 6, 0, 6), "II": (150, 0, 6, 6), "III": (150, 3, 4, 3)}


def make_linear_classification(
    n_samples: int = 400,
    *,
    n_strong: int = 4,
    n_weak: int = 6,
    n_irrelevant: int = 10,
    weak: Weak = "copies",
    noise: float = 0.0,
    flip: float = 0.0,
    random_state: RandomState = None,
) -> KnownTruth:
    """Two classes on either side of a hyperplane, and features of known relevance.

    Some normally distributed features decide the class: it is the sign of their sum. The strong
    features are such features themselves. Others of them stay hidden, and only their stand-ins,
    the weak features, are in the table. The irrelevant features have nothing to do with the class.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each class. One weak feature alone could not be replaced by
        another, so ``n_weak`` is 0 or at least 2.
    weak : {"copies", "combinations"}, default="copies"
        ``"copies"``: each hidden feature appears twice (one of them three times if ``n_weak`` is
        odd). ``"combinations"``: the weak features are different linear combinations of the
        hidden ones, about twice as many as there are hidden ones: any of them can be had from
        the others.
    noise : float, default=0
        Standard deviation of noise added to each feature, independently, after the classes are
        set; the features themselves have standard deviation 1.
    flip : float, default=0
        Share of the labels that are flipped, drawn at random.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    KnownTruth
        The features in the order strong, weak, irrelevant.

    Examples
    --------
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(100, n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    >>> data.X.shape
    (100, 4)
    >>> [str(r) for r in data.relevance]
    ['strong', 'weak', 'weak', 'irrelevant']
    """
    plan = TablePlan(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    check_flip(flip)
    rng = check_random_state(random_state)
    deciding = plan.deciding(rng)
    X = plan.table(deciding, rng)
    y = two_sides(deciding.sum(axis=1))
    flipped = rows_to_flip(n_samples, flip, rng)
    y[flipped] = 1 - y[flipped]
    return KnownTruth(X, y, plan.relevance)


def make_ferel18(
    setting: Literal["A", "B"], *, flip: float = 0.0, random_state: RandomState = None
) -> KnownTruth:
    """The two settings of Göpfert et al. (2018), Table 1.

    A: 1 strong, 2 weak, 11 irrelevant features, 512 samples. B: 6 of each class, 256 samples. The
    weak features are duplicates, two of each hidden feature.

    Parameters
    ----------
    setting : {"A", "B"}
    flip : float, default=0
        Share of labels flipped; the paper has none.
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from allrelevant.datasets import make_ferel18
    >>> make_ferel18("B", random_state=0).X.shape
    (256, 18)
    """
    if setting not in _FEREL18:
        raise InputError(f'setting must be "A" or "B", got {setting!r}.')
    return _with_counts(_FEREL18[setting], "copies", flip, random_state)


def make_esann17(
    data: Literal["I", "II", "III"], *, flip: float = 0.0, random_state: RandomState = None
) -> KnownTruth:
    """The three data sets of Göpfert et al. (2017), Table 1: 150 samples each.

    I: 6 strong, 6 irrelevant features. II: 6 weak, 6 irrelevant. III: 3 strong, 4 weak,
    3 irrelevant (the paper says 12 features, but names these counts). The weak features are linear
    combinations of hidden ones.

    Parameters
    ----------
    data : {"I", "II", "III"}
    flip : float, default=0
        Share of labels flipped; the paper has none.
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from allrelevant.datasets import make_esann17
    >>> make_esann17("III", random_state=0).X.shape
    (150, 10)
    """
    if data not in _ESANN17:
        raise InputError(f'data must be "I", "II" or "III", got {data!r}.')
    return _with_counts(_ESANN17[data], "combinations", flip, random_state)


def two_sides(score: Vector) -> Classes:
    """1 where the score is positive, else 0."""
    return np.where(score > 0, 1, 0)


def _with_counts(
    counts: tuple[int, int, int, int], weak: Weak, flip: float, random_state: RandomState
) -> KnownTruth:
    n_samples, n_strong, n_weak, n_irrelevant = counts
    return make_linear_classification(
        n_samples,
        n_strong=n_strong,
        n_weak=n_weak,
        n_irrelevant=n_irrelevant,
        weak=weak,
        flip=flip,
        random_state=random_state,
    )
