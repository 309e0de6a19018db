"""A target that is a sum of features, and features of known relevance."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..exceptions import InputError
from .known_truth import KnownTruth, RandomState, TablePlan, Weak


def make_linear_regression(
    n_samples: int = 400,
    *,
    n_strong: int = 4,
    n_weak: int = 6,
    n_irrelevant: int = 10,
    weak: Weak = "copies",
    noise: float = 0.0,
    target_noise: float = 0.0,
    random_state: RandomState = None,
) -> KnownTruth:
    """A target that is the sum of some features, and features of known relevance.

    Some normally distributed features decide the target: it is their sum. The strong features are
    such features themselves. Others of them stay hidden, and only their stand-ins, the weak
    features, are in the table. The irrelevant features have nothing to do with the target.

    Parameters
    ----------
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each class. One weak feature alone could not be replaced by
        another, so ``n_weak`` is 0 or at least 2.
    weak : {"copies", "combinations"}, default="copies"
        How the hidden features appear, as in :func:`make_linear_classification`.
    noise : float, default=0
        Standard deviation of noise added to each feature, independently, after the target is
        set; the features themselves have standard deviation 1.
    target_noise : float, default=0
        Standard deviation of normal noise added to the target, as a share of the standard
        deviation of the sum.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    KnownTruth
        The features in the order strong, weak, irrelevant; the target as floats.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_linear_regression
    >>> data = make_linear_regression(100, n_strong=2, n_weak=2, n_irrelevant=1, random_state=0)
    >>> bool(np.allclose(data.y, data.X[:, :3].sum(axis=1)))
    True
    """
    plan = TablePlan(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    if not 0 <= target_noise < np.inf:
        raise InputError(f"target_noise must be a number of at least 0, got {target_noise}.")
    rng = check_random_state(random_state)
    deciding = plan.deciding(rng)
    X = plan.table(deciding, rng)
    signal = deciding.sum(axis=1)
    y = signal + target_noise * signal.std() * rng.normal(size=n_samples)
    return KnownTruth(X, y, plan.relevance)
