"""Rows of rare classes, repeated until all classes are equally frequent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def balanced_rows(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Rows such that every class has as many as the largest.

    Each row of a class comes equally often, but for a rest that is drawn.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes, 0 to k - 1.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> balanced_rows(np.array([0, 0, 0, 0, 1, 1]), seed=0).tolist()
    [0, 1, 2, 3, 4, 5, 4, 5]
    """
    counts = np.bincount(codes)
    rng = np.random.default_rng(seed)
    chosen = [np.arange(len(codes))]
    for code, count in enumerate(counts):
        if count:
            rows = np.flatnonzero(codes == code)
            times, rest = divmod(int(counts.max() - count), int(count))
            chosen += [np.tile(rows, times), rng.choice(rows, rest, replace=False)]
    return np.concatenate(chosen)
