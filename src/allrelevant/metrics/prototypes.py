"""Prototypes: how many each class has, and where they start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from ..arrays import Matrix
from ..exceptions import InputError

# Starts of the k-means in each class; the best counts.
_KMEANS_STARTS = 5


def prototype_counts(
    per_class: int | Mapping[Any, int], classes: NDArray[Any], sizes: Sequence[int]
) -> list[int]:
    """Number of prototypes of each class.

    Parameters
    ----------
    per_class : int or mapping
        One number for all classes, or a number for each class by its label.
    classes : ndarray of shape (n_classes,)
    sizes : sequence of int
        Number of rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> prototype_counts({"a": 1, "b": 3}, np.array(["a", "b"]), [10, 10])
    [1, 3]
    """
    labels = classes.tolist()
    if isinstance(per_class, Mapping):
        _require_same_labels(per_class, labels)
        counts = [per_class[label] for label in labels]
    else:
        counts = [per_class] * len(labels)
    for label, count, size in zip(labels, counts, sizes, strict=True):
        _require_possible(label, count, size)
    return [int(count) for count in counts]


def start_prototypes(
    X: Matrix, codes: NDArray[np.intp], counts: Sequence[int], rng: np.random.RandomState
) -> Matrix:
    """The mean of each class, or the centres of as many clusters as it has prototypes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,)
        Class of each row, from 0.
    counts : sequence of int
        Number of prototypes of each class.
    rng : RandomState

    Returns
    -------
    ndarray of shape (sum of counts, n_features)
        Class by class.
    """
    return np.vstack([_centres(X[codes == code], n, rng) for code, n in enumerate(counts)])


def _centres(rows: Matrix, count: int, rng: np.random.RandomState) -> Matrix:
    if count == 1:
        return rows.mean(axis=0, keepdims=True)
    # k-means cannot tell equal rows apart; where there are too few others, centres coincide.
    different = len(np.unique(rows, axis=0))
    kmeans = KMeans(min(count, different), n_init=_KMEANS_STARTS, random_state=rng).fit(rows)
    return kmeans.cluster_centers_[np.arange(count) % different]


def _require_same_labels(per_class: Mapping[Any, int], labels: list[Any]) -> None:
    missing = [label for label in labels if label not in per_class]
    if missing:
        raise InputError(f"prototypes_per_class has no number for class {str(missing[0])!r}.")
    unknown = [label for label in per_class if label not in labels]
    if unknown:
        raise InputError(
            f"prototypes_per_class has a number for {str(unknown[0])!r}, which is no class; the "
            f"classes are {labels}."
        )


def _require_possible(label: Any, count: Any, size: int) -> None:
    if not isinstance(count, int | np.integer) or count < 1:
        raise InputError(
            f"prototypes_per_class must be whole numbers of at least 1, got {count!r} for class "
            f"{str(label)!r}."
        )
    if count > size:
        raise InputError(
            f"Class {str(label)!r} has {size} rows, too few for {count} prototypes: lower "
            "prototypes_per_class."
        )
