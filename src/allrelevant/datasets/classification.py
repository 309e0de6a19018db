"""Generators of two-class data with known relevant features."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._typing import Matrix, Vector
from ..exceptions import InputError
from ..relevance import IRRELEVANT, STRONG, WEAK
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

# Numbers of samples, strong, weak and irrelevant features, for each setting in the papers.
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
) -> GroundTruth:
    """Generate two classes with a linear boundary, and features with known relevance.

    The class is the sign of the sum of normally distributed informative features. Some of these
    features are in the table: the strong features. The others are hidden, and the table contains
    only substitutes for them: the weak features. The irrelevant features are independent of the
    class.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each relevance class. ``n_weak`` must be 0 or at least 2, because a
        single weak feature would have no substitute.
    weak : {"copies", "combinations"}, default="copies"
        Substitutes for the hidden features. ``"copies"``: two copies of each hidden feature (three
        copies of one of them if ``n_weak`` is odd). ``"combinations"``: random linear
        combinations of the hidden features, about twice as many as hidden features, so that each
        combination depends linearly on the others.
    noise : float, default=0
        Standard deviation of independent noise, added to each feature after the classes are
        computed. The features have standard deviation 1.
    flip : float, default=0
        Fraction of labels that are flipped at random.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        Features in the order strong, weak, irrelevant.

    Examples
    --------
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(100, n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    >>> data.X.shape
    (100, 4)
    >>> [str(r) for r in data.relevance]
    ['strong', 'weak', 'weak', 'irrelevant']
    """
    spec = TableSpec(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    return _draw_two_classes(spec, flip, random_state)


def make_ferel18(
    setting: Literal["A", "B"], *, flip: float = 0.0, random_state: RandomState = None
) -> GroundTruth:
    """Generate the synthetic data of Göpfert et al. (2018), Table 1, setting A or B.

    Setting A has 1 strong, 2 weak and 11 irrelevant features and 512 samples. Setting B has 6
    features of each relevance class and 256 samples. The weak features are pairs of copies of
    hidden features.

    Parameters
    ----------
    setting : {"A", "B"}
    flip : float, default=0
        Fraction of labels that are flipped at random; 0 in the paper.
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from allrelevant.datasets import make_ferel18
    >>> make_ferel18("B", random_state=0).X.shape
    (256, 18)
    """
    if setting not in _FEREL18:
        raise InputError(f'setting must be "A" or "B" (got {setting!r}).')
    return _draw_two_classes(TableSpec(*_FEREL18[setting]), flip, random_state)


def make_esann17(
    data: Literal["I", "II", "III"], *, flip: float = 0.0, random_state: RandomState = None
) -> GroundTruth:
    """Generate the synthetic data of Göpfert et al. (2017), Table 1, data set I, II or III.

    Data set I has 6 strong and 6 irrelevant features, II has 6 weak and 6 irrelevant features, and
    III has 3 strong, 4 weak and 3 irrelevant features. For III, the paper states 12 features but
    lists these numbers. The weak features are linear combinations of hidden features.

    Parameters
    ----------
    data : {"I", "II", "III"}
    flip : float, default=0
        Fraction of labels that are flipped at random; 0 in the paper.
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from allrelevant.datasets import make_esann17
    >>> make_esann17("III", random_state=0).X.shape
    (150, 10)
    """
    if data not in _ESANN17:
        raise InputError(f'data must be "I", "II" or "III" (got {data!r}).')
    spec = TableSpec(*_ESANN17[data], weak="combinations")
    return _draw_two_classes(spec, flip, random_state)


def _draw_two_classes(spec: TableSpec, flip: float, random_state: RandomState) -> GroundTruth:
    check_flip(flip)
    rng = check_random_state(random_state)
    X, score = spec.draw(rng)
    return GroundTruth(X, _two_classes(score, flip, rng), spec.relevance)


def _two_classes(score: Vector, flip: float, rng: np.random.RandomState) -> Classes:
    """Return label 1 for positive scores, else 0, with a fraction ``flip`` of labels flipped."""
    y = np.where(score > 0, 1, 0)
    flipped = rows_to_flip(len(y), flip, rng)
    y[flipped] = 1 - y[flipped]
    return y


class PlantedGroups(NamedTuple):
    """Generated table, its class labels, and the substitution group of each feature.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    group : ndarray of shape (n_features,)
        Substitution group of each feature; -1 for irrelevant features.
    """

    X: Matrix
    y: Classes
    group: NDArray[np.int_]


def make_planted_groups(
    n_samples: int = 400,
    *,
    n_alone: int = 1,
    n_pairs: int = 1,
    n_triples: int = 1,
    n_sums: int = 1,
    n_irrelevant: int = 10,
    noise: float = 0.0,
    flip: float = 0.0,
    random_state: RandomState = None,
) -> PlantedGroups:
    """Generate two classes and features in known substitution groups.

    The class is the sign of the sum of hidden features. The table contains substitutes for them.

    Parameters
    ----------
    n_samples : int, default=400
    n_alone : int, default=1
        Number of hidden features with a single copy, which has no substitute.
    n_pairs, n_triples : int, default=1
        Numbers of hidden features with two copies and with three copies.
    n_sums : int, default=1
        Number of pairs of hidden features for which the table contains both features and their
        sum, scaled to standard deviation 1. The sum can replace both features, and vice versa.
    n_irrelevant : int, default=10
    noise : float, default=0
        Standard deviation of the noise added to each feature that is not irrelevant.
    flip : float, default=0
        Fraction of labels that are flipped at random.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    PlantedGroups

    Examples
    --------
    >>> from allrelevant.datasets import make_planted_groups
    >>> make_planted_groups(100, n_irrelevant=2, random_state=0).group
    array([ 0,  1,  1,  2,  2,  2,  3,  3,  3, -1, -1])
    """
    check_flip(flip)
    counts = (n_alone, n_pairs, n_triples, n_sums, n_irrelevant)
    if min(counts) < 0 or sum(counts[:4]) == 0:
        raise InputError(
            "n_alone, n_pairs, n_triples, n_sums and n_irrelevant must not be negative, and at "
            f"least one of the first four must be positive (got {', '.join(map(str, counts))})."
        )
    rng = check_random_state(random_state)
    copies = [1] * n_alone + [2] * n_pairs + [3] * n_triples
    hidden = rng.normal(size=(n_samples, len(copies) + 2 * n_sums))
    single, in_sums = hidden[:, : len(copies)], hidden[:, len(copies) :]
    columns = [single[:, [i]].repeat(n, axis=1) for i, n in enumerate(copies)]
    for i in range(n_sums):
        pair = in_sums[:, 2 * i : 2 * i + 2]
        columns.append(np.column_stack([pair, pair.sum(axis=1) / np.sqrt(2.0)]))
    group = np.repeat(np.arange(len(columns)), [c.shape[1] for c in columns])
    substitutes = np.hstack(columns)
    substitutes = substitutes + noise * rng.normal(size=substitutes.shape)
    y = _two_classes(hidden.sum(axis=1), flip, rng)
    return PlantedGroups(
        np.hstack([substitutes, rng.normal(size=(n_samples, n_irrelevant))]),
        y,
        np.r_[group, np.full(n_irrelevant, -1)],
    )


def make_xor(
    n_samples: int = 200,
    *,
    noise: float = 0.05,
    spread: float = 0.2,
    random_state: RandomState = None,
) -> GroundTruth:
    """Generate the XOR data of Schulz et al. (2015): four clusters, two classes, six features.

    The clusters are at the corners of a square, and opposite corners belong to the same class.
    Neither coordinate separates the classes alone, but both together do. Three noisy copies of the
    first coordinate are weak features. The second coordinate is a strong feature. The last two
    features are identical and irrelevant.

    Prototype-based classifiers require two prototypes per class. Without noise, the data span three
    dimensions.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples, at least 4. Cluster sizes differ by at most 1.
    noise : float, default=0.05
        Standard deviation of the noise added to each of the three copies.
    spread : float, default=0.2
        Standard deviation of each cluster. The coordinates of the cluster centers are -1 or 1.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GroundTruth
        Features in the order of the paper: three weak, one strong, two irrelevant.

    Examples
    --------
    >>> from allrelevant.datasets import make_xor
    >>> data = make_xor(random_state=0)
    >>> data.X.shape
    (200, 6)
    >>> [str(r) for r in data.relevance]
    ['weak', 'weak', 'weak', 'strong', 'irrelevant', 'irrelevant']
    """
    if n_samples < 4:
        raise InputError(f"n_samples must be at least 4, one per cluster (got {n_samples}).")
    check_not_negative("noise", noise)
    check_not_negative("spread", spread)
    rng = check_random_state(random_state)
    cluster = rng.permutation(n_samples) % 4
    # Each corner is encoded by two bits, and the class is their XOR.
    first, second = cluster // 2, cluster % 2
    corners = 2.0 * np.column_stack([first, second]) - 1.0
    copied, single = (corners + spread * rng.normal(size=(n_samples, 2))).T
    copies = copied[:, np.newaxis] + noise * rng.normal(size=(n_samples, 3))
    irrelevant = np.repeat(rng.normal(size=(n_samples, 1)), 2, axis=1)
    relevance = np.repeat([WEAK, STRONG, IRRELEVANT], [3, 1, 2])
    return GroundTruth(np.column_stack([copies, single, irrelevant]), first ^ second, relevance)


class Branches(NamedTuple):
    """Generated table, its labels, and the features that determine the class of each sample.

    Attributes
    ----------
    X : ndarray of shape (n, 5)
    y : ndarray of shape (n,)
        Classes -1 and 1.
    deciding : ndarray of bool of shape (n, 5)
        Mask of the features that determine the class of each sample.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    deciding: NDArray[np.bool_]


def make_branches(n_samples: int = 10_000, *, random_state: RandomState = None) -> Branches:
    """Generate data in which the class of each sample depends on three of five features.

    This is the toy example of Cancela et al. (2020), equation 13. If the first feature is negative,
    the class is the product of the signs of the second and third features. Otherwise, it is the
    product of the signs of the fourth and fifth features. All features are uniform on [-1, 1]. All
    five are relevant in the whole table, but only three are relevant for each sample.

    Parameters
    ----------
    n_samples : int, default=10_000
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    Branches

    Examples
    --------
    >>> from allrelevant.datasets import make_branches
    >>> data = make_branches(2, random_state=1)
    >>> data.X.round(1).tolist()
    [[-0.2, 0.4, -1.0, -0.4, -0.7], [-0.8, -0.6, -0.3, -0.2, 0.1]]
    >>> data.y.tolist(), data.deciding[0].tolist()
    ([-1, 1], [True, True, True, False, False])
    """
    if n_samples < 1:
        raise InputError(f"n_samples must be at least 1 (got {n_samples}).")
    X = check_random_state(random_state).uniform(-1.0, 1.0, size=(n_samples, 5))
    first = X[:, 0] < 0
    signs = np.where(X < 0, -1, 1)
    y = np.where(first, signs[:, 1] * signs[:, 2], signs[:, 3] * signs[:, 4])
    deciding = np.ones((n_samples, 5), dtype=bool)
    deciding[first, 3:] = False
    deciding[~first, 1:3] = False
    return Branches(X, y, deciding)
