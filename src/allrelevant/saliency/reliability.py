"""How much a row must change before a classifier takes it for something else."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from ..arrays import Matrix
from ..exceptions import InputError, RelevanceWarning
from ..extras import import_extra
from .certainty import Certainty
from .given import checked_rows
from .registry import differentiable
from .smallest_change import Search

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import ReliabilityDisplay


@dataclass(frozen=True)
class Reliability:
    """What :func:`reliability` has found.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    targets : ndarray of shape (k,)
        The classes that were aimed at.
    changed : ndarray of shape (n, k, d)
        Each row, changed by as little as was found to make the classifier certain of each class;
        where that was not reached, as far as the search came.
    distance : ndarray of shape (n, k)
        Euclidean length of the change; NaN where it was not reached.
    certainty : ndarray of shape (n, k)
        Probability of the class after the change.
    reached : ndarray of shape (n, k)
        Whether the classifier has become certain enough.
    steps : ndarray of shape (n, k)
        After how many steps it first was; -1 where it never was.
    wanted : float
        The certainty that was asked for.
    max_steps : int
        How many steps were allowed.
    """

    X: Matrix
    targets: NDArray[Any]
    changed: Matrix
    distance: Matrix
    certainty: Matrix
    reached: NDArray[np.bool_]
    steps: NDArray[np.int64]
    wanted: float
    max_steps: int

    @property
    def n_missed(self) -> int:
        """How many changes were not found."""
        return int((~self.reached).sum())

    def table(self) -> pd.DataFrame:
        """One line for each row and class."""
        n_rows, n_targets = self.reached.shape
        return import_extra("pandas", "cli").DataFrame(
            {
                "row": np.repeat(np.arange(n_rows), n_targets),
                "target": np.tile(self.targets, n_rows),
                "reached": self.reached.ravel(),
                "distance": self.distance.ravel(),
                "certainty": self.certainty.ravel(),
                "steps": self.steps.ravel(),
            }
        )

    def plot(self, **kwargs: Any) -> ReliabilityDisplay:
        """Draw rows that are pictures in a grid: each row as it is, then as each class.

        Parameters
        ----------
        **kwargs
            Passed on to :meth:`ReliabilityDisplay.from_result`.

        Returns
        -------
        ReliabilityDisplay
        """
        from ..plots import ReliabilityDisplay

        return ReliabilityDisplay.from_result(self, **kwargs)


def reliability(
    model: Any,
    X: Any,
    targets: ArrayLike | str = "all",
    *,
    certainty: float = 0.95,
    max_steps: int = 200,
    step: float | None = None,
    bounds: tuple[float, float] | None = None,
) -> Reliability:
    """The smallest change found of each row that makes a classifier predict each class for certain.

    Section 6.4 of Cancela et al. (2020): if what has to be changed looks like nothing to the eye,
    the classifier does not see what we see. The search follows the gradient of the log-odds, which
    never fades, and is local: a smaller change may exist.

    Parameters
    ----------
    model : estimator or DifferentiableModel
        A fitted classifier with gradients and probabilities, such as :class:`NetworkClassifier`,
        ``LogisticRegression``, ``MLPClassifier``, or a ``TorchModel`` of logits.
    X : array-like of shape (n, d)
        A few rows: each is searched once for each class.
    targets : array-like or "all", default="all"
        Classes to aim at.
    certainty : float, default=0.95
        Probability to reach.
    max_steps : int, default=200
    step : float or None, default=None
        Longest way that one step may go; longer ones get over small humps. None is a twentieth of
        the mean length of a row.
    bounds : tuple of float or None, default=None
        Smallest and largest value that a feature may take, as (0, 1) of pixels.

    Returns
    -------
    Reliability

    Warns
    -----
    RelevanceWarning
        If some changes were not found within ``max_steps``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from allrelevant import reliability
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["no", "no", "yes", "yes"])
    >>> found = reliability(LogisticRegression().fit(X, y), X[:1], certainty=0.75)
    >>> found.targets.tolist(), found.distance[0, 0], found.certainty[0, 1].round(3)
    (['no', 'yes'], np.float64(0.0), np.float64(0.75))
    """
    if not (isinstance(max_steps, Integral) and max_steps > 0):
        raise InputError(f"max_steps must be a whole number above 0, got {max_steps!r}.")
    rows, probabilities, classes = _checked(model, X, certainty)
    codes = _codes(targets, classes)
    search = Search(
        float(logit(certainty)), max_steps, _step_length(step, rows), _checked_bounds(bounds, rows)
    )
    n_rows, n_targets = len(rows), len(codes)
    aims = np.tile(codes, n_rows)
    start = np.repeat(rows, n_targets, axis=0)
    changed, steps = search.run(probabilities, start, aims)
    reached = steps >= 0
    distance = np.where(reached, np.linalg.norm(changed - start, axis=1), np.nan)
    certain = probabilities.probabilities(changed)[np.arange(len(aims)), aims]
    if not reached.all():
        warnings.warn(
            f"{(~reached).sum()} of {len(reached)} changes were not found in {max_steps} steps: "
            "see reached; allow more or longer steps, or less certainty.",
            RelevanceWarning,
            stacklevel=2,
        )
    shape = (n_rows, n_targets)
    return Reliability(
        rows,
        classes[codes],
        changed.reshape(*shape, -1),
        distance.reshape(shape),
        certain.reshape(shape),
        reached.reshape(shape),
        steps.reshape(shape),
        certainty,
        max_steps,
    )


def _checked(model: Any, X: Any, certainty: float) -> tuple[Matrix, Certainty, NDArray[Any]]:
    if not 0 < certainty < 1:
        raise InputError(f"certainty must be between 0 and 1, got {certainty!r}.")
    rows = np.asarray(checked_rows(model, X)[0], dtype=np.float64)
    probabilities = Certainty(differentiable(model))
    classes = getattr(model, "classes_", None)
    if classes is None:
        classes = np.arange(probabilities.probabilities(rows[:1]).shape[1])
    return rows, probabilities, np.asarray(classes)


def _codes(targets: ArrayLike | str, classes: NDArray[Any]) -> NDArray[np.int64]:
    if isinstance(targets, str) and targets == "all":
        return np.arange(len(classes))
    wanted = np.atleast_1d(np.asarray(targets))
    if not len(wanted):
        raise InputError("There are no targets: name classes to aim at, or 'all'.")
    unseen = [target for target in wanted.tolist() if target not in classes.tolist()]
    if unseen:
        raise InputError(
            f"The model knows no class {unseen[0]!r}: its classes are {classes.tolist()[:20]}."
        )
    return np.array([classes.tolist().index(target) for target in wanted.tolist()])


def _step_length(step: float | None, rows: Matrix) -> float:
    if step is None:
        length = float(np.linalg.norm(rows, axis=1).mean())
        return (length or 1.0) / 20
    if not step > 0:
        raise InputError(f"step must be above 0 or None, got {step!r}.")
    return float(step)


def _checked_bounds(bounds: tuple[float, float] | None, rows: Matrix) -> tuple[float, float] | None:
    if bounds is None:
        return None
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise InputError(f"bounds must be a smallest and a largest value, got {bounds!r}.")
    if rows.min() < bounds[0] or rows.max() > bounds[1]:
        raise InputError(
            f"X has values from {rows.min():.4g} to {rows.max():.4g}, outside of the bounds "
            f"{bounds!r}."
        )
    return bounds
