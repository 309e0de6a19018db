"""Two classes, and features that replace each other in known groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..arrays import Matrix
from ..exceptions import InputError
from .classification import two_sides
from .known_truth import Classes, RandomState, check_flip, rows_to_flip


class PlantedGroups(NamedTuple):
    """A generated table, its classes, and the group of each feature.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    group : ndarray of shape (n_features,)
        Features of a group replace each other; -1 for features that have nothing to do with the
        class.
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
    """Two classes by the sign of a sum of hidden features, which appear in groups of stand-ins.

    Parameters
    ----------
    n_samples : int, default=400
    n_alone : int, default=1
        Hidden features that appear once: nothing replaces them.
    n_pairs, n_triples : int, default=1
        Hidden features that appear twice, and three times.
    n_sums : int, default=1
        Pairs of hidden features that appear each by itself, and once more as their sum, scaled to
        the standard deviation of the others: the sum replaces both, and both together replace the
        sum.
    n_irrelevant : int, default=10
    noise : float, default=0
        Standard deviation of noise added to each of these features.
    flip : float, default=0
        Share of the labels that are flipped, drawn at random.
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
        raise InputError("The numbers of groups cannot be negative, nor can all of them be zero.")
    rng = check_random_state(random_state)
    copies = [1] * n_alone + [2] * n_pairs + [3] * n_triples
    hidden = rng.normal(size=(n_samples, len(copies) + 2 * n_sums))
    single, in_sums = hidden[:, : len(copies)], hidden[:, len(copies) :]
    columns = [single[:, [i]].repeat(n, axis=1) for i, n in enumerate(copies)]
    for i in range(n_sums):
        pair = in_sums[:, 2 * i : 2 * i + 2]
        columns.append(np.column_stack([pair, pair.sum(axis=1) / np.sqrt(2.0)]))
    group = np.repeat(np.arange(len(columns)), [c.shape[1] for c in columns])
    stand_ins = np.hstack(columns)
    stand_ins = stand_ins + noise * rng.normal(size=stand_ins.shape)
    y = two_sides(hidden.sum(axis=1))
    flipped = rows_to_flip(n_samples, flip, rng)
    y[flipped] = 1 - y[flipped]
    return PlantedGroups(
        np.hstack([stand_ins, rng.normal(size=(n_samples, n_irrelevant))]),
        y,
        np.r_[group, np.full(n_irrelevant, -1)],
    )
