"""Generator of data in which privileged features explain the errors on difficult samples."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._typing import Matrix, Vector
from ..exceptions import InputError
from ._ground_truth import Classes, RandomState, TableSpec, Target, Values, Weak
from .other_tasks import equal_classes, mark_largest

Task: TypeAlias = Literal["classification", "regression", "ordinal", "ranking"]

# Fraction of samples with slack. It must be small: a model with zero weights has slack 1 for every
# sample, and the explained slack must be much smaller in total.
DIFFICULT_FRACTION = 1 / 3


class PrivilegedGroundTruth(NamedTuple):
    """Generated table, target and privileged table, with the relevance class of each feature.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Integers for classes, floats for a numeric target.
    relevance : ndarray of shape (n_features,)
        Relevance class: ``"strong"``, ``"weak"`` or ``"irrelevant"``.
    privileged : ndarray of shape (n_samples, n_privileged)
        Privileged features, which are available only at training time.
    privileged_relevance : ndarray of shape (n_privileged,)
        Relevance class of each privileged feature.
    """

    X: Matrix
    y: Target
    relevance: NDArray[np.str_]
    privileged: Matrix
    privileged_relevance: NDArray[np.str_]


def make_privileged(
    task: Task,
    n_samples: int = 400,
    *,
    n_strong: int = 4,
    n_weak: int = 6,
    n_irrelevant: int = 10,
    n_strong_privileged: int = 1,
    n_weak_privileged: int = 2,
    n_irrelevant_privileged: int = 3,
    weak: Weak = "copies",
    noise: float = 0.0,
    difficulty: float = 1.0,
    n_classes: int = 4,
    positive: float = 0.2,
    random_state: RandomState = None,
) -> PrivilegedGroundTruth:
    """Generate data for any task, with privileged features that explain the slack variables.

    For regression, the slack variable (slack) of a sample is its absolute error. For classes, it is
    the distance by which the sample misses a margin of 1 from the boundaries of its class. For the
    model in which all informative features have weight 1, the slack is ``difficulty`` times the sum
    of the informative privileged features. These are nonnegative, and all of them are zero for
    about two thirds of the samples. Some of them are in the privileged table: the strong features.
    The others are hidden and represented by copies: the weak features. The irrelevant privileged
    features have the same distribution and are independent of the slack.

    For regression, the slack is randomly added to or subtracted from the sum of the informative
    features. For classes, the samples are divided into classes by this sum, and the classes are
    separated by the margin. Difficult samples are then moved inside the margin or across the
    boundary of their class, according to their slack. The shift is divided equally among all
    informative features.

    Parameters
    ----------
    task : {"classification", "regression", "ordinal", "ranking"}
        Type of target: two classes of equal size, a numeric target as in
        :func:`make_linear_regression`, ordered classes as in :func:`make_ordinal_classification`,
        or two classes as in :func:`make_ranking`.
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each relevance class. ``n_weak`` must be 0 or at least 2, because a
        single weak feature would have no substitute.
    n_strong_privileged, n_weak_privileged, n_irrelevant_privileged : int, default=1, 2, 3
        Number of privileged features of each relevance class.
    weak : {"copies", "combinations"}, default="copies"
        Substitutes for the hidden features of ``X``, as in :func:`make_linear_classification`. In
        the privileged table, the substitutes are always copies.
    noise : float, default=0
        Standard deviation of independent noise, added to each feature of both tables after the
        target is computed.
    difficulty : float, default=1
        Scale of the slack, above 0. The mean slack of all samples is about ``0.4 * difficulty``.
        For classes, use values from 0.5 to 2. With much smaller values, few samples are on the
        wrong side of their margin. With much larger values, a model with zero weights and slack 1
        everywhere is better.
    n_classes : int, default=4
        Number of classes if ``task="ordinal"``.
    positive : float, default=0.2
        Fraction of samples in class 1 if ``task="ranking"``.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    PrivilegedGroundTruth
        Features of both tables in the order strong, weak, irrelevant.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_privileged
    >>> data = make_privileged("regression", 100, n_weak=0, random_state=0)
    >>> [str(r) for r in data.privileged_relevance]
    ['strong', 'weak', 'weak', 'irrelevant', 'irrelevant', 'irrelevant']
    >>> slack = np.abs(data.y - data.X[:, :4].sum(axis=1))
    >>> bool(np.allclose(slack, data.privileged[:, :2].sum(axis=1)))
    True
    """
    if task not in get_args(Task):
        raise InputError(f"task must be one of {', '.join(get_args(Task))} (got {task!r}).")
    if not 0 < difficulty < np.inf:
        raise InputError(f"difficulty must be positive and finite (got {difficulty}).")
    spec = TableSpec(n_samples, n_strong, n_weak, n_irrelevant, weak, noise)
    privileged_spec = TableSpec(
        n_samples,
        n_strong_privileged,
        n_weak_privileged,
        n_irrelevant_privileged,
        noise=noise,
        suffix="_privileged",
    )
    rng = check_random_state(random_state)
    informative = spec.draw_informative(rng)
    signal = informative.sum(axis=1)
    values = _mostly_zero(privileged_spec.n_informative)
    explaining = privileged_spec.draw_informative(rng, values)
    slack = difficulty * explaining.sum(axis=1)
    if task == "regression":
        moved, y = signal, signal + rng.choice([-1, 1], size=n_samples) * slack
    else:
        y = (
            mark_largest(signal, positive)
            if task == "ranking"
            else equal_classes(signal, n_classes if task == "ordinal" else 2)
        )
        moved = _with_slack(signal, y, slack, rng)
    informative += (moved - signal)[:, None] / spec.n_informative
    X = spec.table(informative, rng)
    Z = privileged_spec.table(explaining, rng, values)
    return PrivilegedGroundTruth(X, y, spec.relevance, Z, privileged_spec.relevance)


def _mostly_zero(n_informative: int) -> Values:
    """Return a function that draws exponential values, most of them set to zero.

    In ``n_informative`` columns, about two thirds of the rows contain only zeros.
    """
    fraction = 1 - (1 - DIFFICULT_FRACTION) ** (1 / n_informative)

    def values(rng: np.random.RandomState, shape: tuple[int, int]) -> Matrix:
        # Each column needs a positive value, because a column of zeros cannot be relevant.
        n_positive = max(1, round(fraction * shape[0]))
        order = np.argsort(rng.uniform(size=shape), axis=0)
        return rng.exponential(size=shape) * (order < n_positive)

    return values


def _with_slack(score: Vector, y: Classes, slack: Vector, rng: np.random.RandomState) -> Vector:
    """Return scores shifted so that each row violates a margin of 1 by its slack."""
    separated = score + 2.0 * y
    last = y.max()
    boundary = np.array(
        [(separated[y == k].max() + separated[y == k + 1].min()) / 2 for k in range(last)]
    )
    upwards = (y == 0) | ((y < last) & (rng.uniform(size=len(y)) < 0.5))
    nearest = boundary[np.where(upwards, y, y - 1)]
    across = np.where(upwards, slack - 1.0, 1.0 - slack)
    return np.where(slack > 0, nearest + across, separated)
