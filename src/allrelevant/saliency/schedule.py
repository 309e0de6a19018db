"""How many features take part in each round."""

from __future__ import annotations


def schedule(n_features: int, gamma: float, min_features: int) -> list[int]:
    """Number of features of each round: of n, ``int(gamma * n)`` go on, while there are enough.

    Parameters
    ----------
    n_features : int
        Of the first round.
    gamma : float
        Share that goes on; zero is a single round.
    min_features : int
        No round is for so few or fewer: there is nothing left to tell apart.

    Examples
    --------
    >>> schedule(10, 0.5, 1), schedule(10, 0.0, 1), schedule(10, 0.9, 7)
    ([10, 5, 2], [10], [10, 9, 8])
    """
    sizes = [n_features]
    while (following := int(gamma * sizes[-1])) > min_features:
        sizes.append(following)
    return sizes
