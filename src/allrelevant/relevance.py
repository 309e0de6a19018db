"""The three classes a feature can fall into, and the rule that tells them apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STRONG = "strong"


WEAK = "weak"


IRRELEVANT = "irrelevant"


CLASSES = (STRONG, WEAK, IRRELEVANT)


def classify(interval: NDArray[np.float64], cutoff: NDArray[np.float64]) -> NDArray[np.str_]:
    """Class of each feature from its interval.

    Relevant is what some equivalent model weights above the second cutoff; strong, what every
    one of them weights above the first.

    Parameters
    ----------
    interval : ndarray of shape (d, 2)
        Smallest and largest absolute weight.
    cutoff : ndarray of shape (2,) or (d, 2)
        What the smallest weight must exceed for strong, the largest for relevant.

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
