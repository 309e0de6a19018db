"""Tables of which it is known, feature by feature, what is relevant."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..arrays import Matrix
from ..bounds.relevance import IRRELEVANT, STRONG, WEAK
from ..exceptions import InputError

RandomState = int | np.random.RandomState | None


class KnownTruth(NamedTuple):
    """A generated table, its target, and the class of each feature.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    relevance : ndarray of shape (n_features,)
        ``"strong"``, ``"weak"`` or ``"irrelevant"``.
    """

    X: Matrix
    y: NDArray[np.int_]
    relevance: NDArray[np.str_]


def make_linear_classification(
    n_samples: int = 400,
    *,
    n_strong: int = 4,
    n_weak: int = 6,
    n_irrelevant: int = 10,
    weak: Literal["copies", "combinations"] = "copies",
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
    _check_counts(n_samples, n_strong, n_weak, n_irrelevant, flip)
    rng = check_random_state(random_state)
    n_hidden = n_weak // 2
    deciding = rng.normal(size=(n_samples, n_strong + n_hidden))
    strong, hidden = deciding[:, :n_strong], deciding[:, n_strong:]
    stand_ins = {"copies": _copies, "combinations": _combinations}[weak](hidden, n_weak, rng)
    X = np.hstack([strong, stand_ins, rng.normal(size=(n_samples, n_irrelevant))])
    X += noise * rng.normal(size=X.shape)
    y = np.where(deciding.sum(axis=1) > 0, 1, 0)
    flipped = rng.permutation(n_samples)[: round(flip * n_samples)]
    y[flipped] = 1 - y[flipped]
    relevance = np.repeat([STRONG, WEAK, IRRELEVANT], [n_strong, n_weak, n_irrelevant])
    return KnownTruth(X, y, relevance)


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
    n_samples, counts = {"A": (512, (1, 2, 11)), "B": (256, (6, 6, 6))}[setting]
    return _with_counts(n_samples, counts, "copies", flip, random_state)


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
    counts = {"I": (6, 0, 6), "II": (0, 6, 6), "III": (3, 4, 3)}[data]
    return _with_counts(150, counts, "combinations", flip, random_state)


def _with_counts(
    n_samples: int,
    counts: tuple[int, int, int],
    weak: Literal["copies", "combinations"],
    flip: float,
    random_state: RandomState,
) -> KnownTruth:
    n_strong, n_weak, n_irrelevant = counts
    return make_linear_classification(
        n_samples,
        n_strong=n_strong,
        n_weak=n_weak,
        n_irrelevant=n_irrelevant,
        weak=weak,
        flip=flip,
        random_state=random_state,
    )


def _copies(hidden: Matrix, n_weak: int, rng: np.random.RandomState) -> Matrix:
    source = np.sort(np.arange(n_weak) % max(1, hidden.shape[1]))
    return hidden[:, source] if n_weak else np.empty((len(hidden), 0))


def _combinations(hidden: Matrix, n_weak: int, rng: np.random.RandomState) -> Matrix:
    # Positive shares: every combination points the way of the classes, so each is informative.
    shares = rng.uniform(0.5, 1.5, size=(hidden.shape[1], n_weak))
    return hidden @ (shares / np.linalg.norm(shares, axis=0))


def _check_counts(
    n_samples: int, n_strong: int, n_weak: int, n_irrelevant: int, flip: float
) -> None:
    if n_samples < 2:
        raise InputError(f"n_samples must be at least 2, got {n_samples}.")
    if min(n_strong, n_weak, n_irrelevant) < 0:
        raise InputError("The numbers of features cannot be negative.")
    if n_weak == 1:
        raise InputError("A single weak feature has nothing to replace it: n_weak is 0 or >= 2.")
    if n_strong + n_weak == 0:
        raise InputError("At least one feature must decide the class: n_strong + n_weak is 0.")
    if not 0 <= flip < 0.5:
        raise InputError(f"flip must be at least 0 and below 0.5, got {flip}.")
