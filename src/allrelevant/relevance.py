"""Relevance classes of features, and q-values of relevance tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STRONG = "strong"


WEAK = "weak"


# Every equivalent model uses the feature, but with no more evidence than noise can show.
UNCONFIRMED = "unconfirmed"


IRRELEVANT = "irrelevant"


CLASSES = (STRONG, WEAK, UNCONFIRMED, IRRELEVANT)

# Classes that count as relevant.
RELEVANT = (STRONG, WEAK)

# Largest rank that the Benjamini-Hochberg procedure divides p-values by: this number, or this
# fraction of the number of features if it is larger. With a false discovery rate of 0.05, at most
# 0.15 irrelevant features, or 1% of all features, are expected among the relevant ones.
MIN_RANK_CAP = 3
RANK_CAP_FRACTION = 0.2

# The number of irrelevant features is estimated from the p-values above this threshold (Storey
# 2002), as at least this fraction of all features.
NULL_PVALUE = 0.5
MIN_NULL_FRACTION = 0.7


def assign_classes(
    is_relevant: NDArray[np.bool_], is_strong: NDArray[np.bool_], is_needed: NDArray[np.bool_]
) -> NDArray[np.str_]:
    """Return the relevance class of each feature: strong, weak, unconfirmed or irrelevant.

    A relevant feature is strong or weak. A feature that is not relevant is irrelevant, unless every
    equivalent model needs it.

    Examples
    --------
    >>> import numpy as np
    >>> relevant, strong = np.array([True, True, False, False]), np.array([True, False] * 2)
    >>> [str(c) for c in assign_classes(relevant, strong, strong)]
    ['strong', 'weak', 'unconfirmed', 'irrelevant']
    """
    return np.select(
        [is_relevant & is_strong, is_relevant, is_needed], [STRONG, WEAK, UNCONFIRMED], IRRELEVANT
    )


def adjust_pvalues(pvalue: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert p-values to q-values by a modified Benjamini-Hochberg procedure.

    Both arrays have shape (n_tests, n_features). The p-value of a feature is the smallest over its
    tests, which must be adjusted for each other already. Sorted p-value k is multiplied by the
    estimated number of irrelevant features (:func:`n_irrelevant`) and divided by k, but by no more
    than :func:`rank_cap`. Without the cap, many relevant features would let in irrelevant ones with
    much larger p-values. A q-value is never smaller than its p-value. The q-value of one of several
    tests is the smallest false discovery rate at which this test alone would make the feature
    relevant.

    Examples
    --------
    >>> import numpy as np
    >>> adjust_pvalues(np.array([[0.01, 0.02, 0.9]])).round(3).tolist()
    [[0.03, 0.03, 0.9]]
    """
    n_features = pvalue.shape[1]
    smallest = np.sort(pvalue.min(axis=0))
    ranks = np.minimum(np.arange(1, n_features + 1), rank_cap(n_features))
    rates = np.maximum(smallest * n_irrelevant(smallest) / ranks, smallest)
    adjusted = np.minimum.accumulate(rates[::-1])[::-1]
    place = np.searchsorted(smallest, pvalue, side="left")
    return np.append(np.minimum(adjusted, 1.0), 1.0)[np.minimum(place, n_features)]


def n_irrelevant(pvalue: NDArray[np.float64]) -> float:
    """Return an upper estimate of the number of irrelevant features, given one p-value of each.

    Half of the p-values of irrelevant features are expected above 0.5.

    Examples
    --------
    >>> import numpy as np
    >>> n_irrelevant(np.repeat([0.001, 0.8], [12, 28])), n_irrelevant(np.repeat([0.001, 0.8], 20))
    (40.0, 40.0)
    >>> n_irrelevant(np.repeat([0.001, 0.8], [24, 16]))
    34.0
    """
    estimate = (1.0 + np.count_nonzero(pvalue > NULL_PVALUE)) / (1.0 - NULL_PVALUE)
    return float(np.clip(estimate, MIN_NULL_FRACTION * len(pvalue), len(pvalue)))


def rank_cap(n_features: int) -> int:
    """Return the largest number by which :func:`adjust_pvalues` divides p-values."""
    return max(MIN_RANK_CAP, int(RANK_CAP_FRACTION * n_features))
