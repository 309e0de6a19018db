"""Relevance classes of features, and the rule that assigns them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STRONG = "strong"


WEAK = "weak"


IRRELEVANT = "irrelevant"


CLASSES = (STRONG, WEAK, IRRELEVANT)


def classify(interval: NDArray[np.float64], cutoff: NDArray[np.float64]) -> NDArray[np.str_]:
    """Return the relevance class of each feature, given its relevance interval.

    A feature is relevant if its largest absolute weight exceeds the second cutoff. It is strongly
    relevant if, in addition, its smallest absolute weight exceeds the first cutoff.

    Parameters
    ----------
    interval : ndarray of shape (d, 2)
        Smallest and largest absolute weight of each feature.
    cutoff : ndarray of shape (2,) or (d, 2)
        Cutoffs for the smallest and for the largest absolute weight.

    Examples
    --------
    >>> import numpy as np
    >>> intervals = np.array([[0.4, 0.6], [0.0, 0.5], [0.0, 0.01]])
    >>> [str(c) for c in classify(intervals, np.array([0.1, 0.1]))]
    ['strong', 'weak', 'irrelevant']
    """
    relevant = interval[:, 1] > cutoff[..., 1]
    strong = relevant & (interval[:, 0] > cutoff[..., 0])
    return np.where(strong, STRONG, np.where(relevant, WEAK, IRRELEVANT))
