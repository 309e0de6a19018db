"""Tables with privileged features, which explain the slack of difficult rows, for every task."""

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

# Share of the rows that have slack. It pays to explain slack only where it is the exception: a
# model that gives up on classes has slack 1 in every row, and explained slack must cost much less.
DIFFICULT_SHARE = 1 / 3


class PrivilegedGroundTruth(NamedTuple):
    """A generated table, its target, a privileged table, and the relevance class of each feature.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Integers where the target is a class, else floats.
    relevance : ndarray of shape (n_features,)
        ``"strong"``, ``"weak"`` or ``"irrelevant"``.
    privileged : ndarray of shape (n_samples, n_privileged)
        What is known of the rows in training only.
    privileged_relevance : ndarray of shape (n_privileged,)
        Like ``relevance``.
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
    """A table that explains its target up to slack, and a privileged one that explains the slack.

    The slack of a row is how far a linear model is off there: the absolute error of a regression;
    for classes, what the row lacks to a margin of 1 from the boundaries of its class. Here the
    model that weights each deciding feature by 1 has exactly the slack ``difficulty`` times the
    sum of the deciding privileged features. These are never negative, and all of them zero in
    about two thirds of the rows. The strong privileged features are such features themselves;
    others stay hidden and appear as copies, the weak ones. The irrelevant privileged features have
    the same distribution and nothing to do with the slack.

    For regression, the error is added to the sum of the deciding features, up or down at random.
    For classes, the sum is cut into classes and these are set apart by the margin; then the
    difficult rows are moved to a boundary of their class and, by their slack, towards the wrong
    side or across. All deciding features of a row are shifted alike to do so.

    Parameters
    ----------
    task : {"classification", "regression", "ordinal", "ranking"}
        Which target: two classes of equal size, a sum as in :func:`make_linear_regression`,
        classes as in :func:`make_ordinal_classification`, or as in :func:`make_ranking`.
    n_samples : int, default=400
    n_strong, n_weak, n_irrelevant : int, default=4, 6, 10
        Number of features of each class. One weak feature alone could not be replaced by
        another, so ``n_weak`` is 0 or at least 2.
    n_strong_privileged, n_weak_privileged, n_irrelevant_privileged : int, default=1, 2, 3
        The same for the privileged table.
    weak : {"copies", "combinations"}, default="copies"
        How the hidden features of ``X`` appear, as in :func:`make_linear_classification`. Those
        of the privileged table always appear as copies.
    noise : float, default=0
        Standard deviation of noise added to each feature of both tables, independently, after the
        target is set.
    difficulty : float, default=1
        Scale of the slack, above 0; its mean over all rows is about ``0.4 * difficulty``. For
        classes, values from 0.5 to 2 are sensible: far below, few rows are on the wrong side of
        their margin; far above, a model that gives up, with weights of zero and slack 1
        everywhere, is the better one.
    n_classes : int, default=4
        Number of classes if ``task="ordinal"``.
    positive : float, default=0.2
        Share of the rows that are of class 1 if ``task="ranking"``.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    PrivilegedGroundTruth
        The features of both tables in the order strong, weak, irrelevant.

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
        raise InputError(f"task must be one of {', '.join(get_args(Task))}, got {task!r}.")
    if not 0 < difficulty < np.inf:
        raise InputError(
            f"difficulty must be above 0, got {difficulty}: without slack, nothing is explained."
        )
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
    deciding = spec.deciding(rng)
    signal = deciding.sum(axis=1)
    values = _mostly_zero(privileged_spec.n_deciding)
    explaining = privileged_spec.deciding(rng, values)
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
    deciding += (moved - signal)[:, None] / spec.n_deciding
    X = spec.table(deciding, rng)
    Z = privileged_spec.table(explaining, rng, values)
    return PrivilegedGroundTruth(X, y, spec.relevance, Z, privileged_spec.relevance)


def _mostly_zero(n_deciding: int) -> Values:
    """Exponential values in few places of each column, so that a third of the rows has one."""
    share = 1 - (1 - DIFFICULT_SHARE) ** (1 / n_deciding)

    def values(rng: np.random.RandomState, shape: tuple[int, int]) -> Matrix:
        # A column of zeros only could not be relevant, however few the rows.
        n_places = max(1, round(share * shape[0]))
        order = np.argsort(rng.uniform(size=shape), axis=0)
        return rng.exponential(size=shape) * (order < n_places)

    return values


def _with_slack(score: Vector, y: Classes, slack: Vector, rng: np.random.RandomState) -> Vector:
    """The score with classes set apart and difficult rows moved, so that it has this slack."""
    apart = score + 2.0 * y
    last = y.max()
    boundary = np.array([(apart[y == k].max() + apart[y == k + 1].min()) / 2 for k in range(last)])
    upwards = (y == 0) | ((y < last) & (rng.uniform(size=len(y)) < 0.5))
    nearest = boundary[np.where(upwards, y, y - 1)]
    across = np.where(upwards, slack - 1.0, 1.0 - slack)
    return np.where(slack > 0, nearest + across, apart)
