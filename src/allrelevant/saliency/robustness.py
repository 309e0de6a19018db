"""How much a row must change before a classifier predicts another class with certainty.

:func:`robustness` checks its input and runs a :class:`PerturbationSearch` over the log-odds of a
class (:class:`ClassLogOdds`); its result is a :class:`Robustness`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from .._optional import display, import_extra
from .._typing import Matrix, Vector
from ..exceptions import InputError, RelevanceWarning
from .differentiable import DifferentiableModel, as_differentiable, checked_rows, class_codes

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import RobustnessDisplay


def robustness(
    model: Any,
    X: Any,
    targets: ArrayLike | str = "all",
    *,
    certainty: float = 0.95,
    max_steps: int = 200,
    step: float | None = None,
    bounds: tuple[float, float] | None = None,
) -> Robustness:
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
    Robustness

    Warns
    -----
    RelevanceWarning
        If some changes were not found within ``max_steps``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from allrelevant import robustness
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["no", "no", "yes", "yes"])
    >>> result = robustness(LogisticRegression().fit(X, y), X[:1], certainty=0.75)
    >>> result.targets.tolist(), result.distance[0, 0], result.certainty[0, 1].round(3)
    (['no', 'yes'], np.float64(0.0), np.float64(0.75))
    """
    if not (isinstance(max_steps, Integral) and max_steps > 0):
        raise InputError(f"max_steps must be a whole number above 0, got {max_steps!r}.")
    rows, classifier, classes = _checked(model, X, certainty)
    codes = _target_codes(targets, classes)
    search = PerturbationSearch(
        float(logit(certainty)), max_steps, _step_length(step, rows), _checked_bounds(bounds, rows)
    )
    n_rows, n_targets = len(rows), len(codes)
    target_codes = np.tile(codes, n_rows)
    start = np.repeat(rows, n_targets, axis=0)
    changed, steps = search.run(classifier, start, target_codes)
    reached = steps >= 0
    distance = np.where(reached, np.linalg.norm(changed - start, axis=1), np.nan)
    certain = classifier.probabilities(changed)[np.arange(len(start)), target_codes]
    if not reached.all():
        warnings.warn(
            f"{(~reached).sum()} of {len(reached)} changes were not found in {max_steps} steps: "
            "see reached; allow more or longer steps, or less certainty.",
            RelevanceWarning,
            stacklevel=2,
        )
    shape = (n_rows, n_targets)
    return Robustness(
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


def _checked(model: Any, X: Any, certainty: float) -> tuple[Matrix, ClassLogOdds, NDArray[Any]]:
    if not 0 < certainty < 1:
        raise InputError(f"certainty must be between 0 and 1, got {certainty!r}.")
    rows = np.asarray(checked_rows(model, X)[0], dtype=np.float64)
    classifier = ClassLogOdds(as_differentiable(model))
    classes = getattr(model, "classes_", None)
    if classes is None:
        classes = np.arange(classifier.probabilities(rows[:1]).shape[1])
    return rows, classifier, np.asarray(classes)


def _target_codes(targets: ArrayLike | str, classes: NDArray[Any]) -> NDArray[np.int64]:
    if isinstance(targets, str) and targets == "all":
        return np.arange(len(classes))
    labels = np.atleast_1d(np.asarray(targets))
    if not len(labels):
        raise InputError("There are no targets: name classes to aim at, or 'all'.")
    return class_codes(labels, classes)


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


@dataclass(frozen=True)
class Robustness:
    """The result of :func:`robustness`.

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

    def to_frame(self) -> pd.DataFrame:
        """As a table: one line for each row and class."""
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

    def plot(self, **kwargs: Any) -> RobustnessDisplay:
        """Draw rows that are images in a grid: each row as it is, then as each class.

        Parameters
        ----------
        **kwargs
            Passed on to :meth:`RobustnessDisplay.from_result`.

        Returns
        -------
        RobustnessDisplay
        """
        return display("RobustnessDisplay").from_result(self, **kwargs)


class ClassLogOdds:
    """The log-odds of a class, and their gradient with respect to the inputs.

    Unlike the probability, log-odds continue to grow, and their gradient does not vanish, where the
    class is all but certain or ruled out. The model is a classifier with logits or probabilities:
    its gain computes log-odds.
    """

    def __init__(self, model: DifferentiableModel) -> None:
        if not hasattr(model.gain, "log_odds"):
            raise InputError(
                f"Certainty needs a classifier with probabilities, and the outputs of this "
                f"{type(model).__name__} are none: use a network or logistic regression."
            )
        self.model = model
        self.gain: Any = model.gain

    def log_odds(self, X: Matrix, codes: NDArray[np.int64]) -> Vector:
        """Log-odds of a class for each row."""
        log_odds: Vector = self.gain.log_odds(self.model.outputs(X), codes)
        return log_odds

    def with_gradient(self, X: Matrix, codes: NDArray[np.int64]) -> tuple[Vector, Matrix]:
        """Log-odds of a class for each row, and their gradient with respect to the row."""
        outputs = self.model.outputs(X)
        gradient = self.model.vjp(X, self.gain.log_odds_gradient(outputs, codes))
        return self.gain.log_odds(outputs, codes), gradient

    def probabilities(self, X: Matrix) -> Matrix:
        """Probability of each class for each row."""
        probabilities: Matrix = self.gain.probabilities(self.model.outputs(X))
        return probabilities


BISECTION_STEPS = 20


@dataclass(frozen=True)
class PerturbationSearch:
    """The search for the smallest change that brings the log-odds of a class to ``goal``.

    ``step`` is the length that one step may have at most, ``bounds`` are the smallest and the
    largest value that a feature may take.
    """

    goal: float
    max_steps: int
    step: float
    bounds: tuple[float, float] | None

    def run(
        self, classifier: ClassLogOdds, X: Matrix, codes: NDArray[np.int64]
    ) -> tuple[Matrix, NDArray[np.int64]]:
        """Changed rows, and the number of steps until each was first certain enough.

        The log-odds are increased until they reach the goal. From there on, every step goes towards
        the point nearest to the row at which their linearization reaches the goal. Of the points
        that are certain enough the closest is kept, and moved back along the straight line to the
        row as far as possible. If there is none, the last point is returned, and -1 steps.
        """
        best = X.copy()
        distance = np.full(len(X), np.inf)
        steps = np.full(len(X), -1)
        current = X.copy()
        for number in range(self.max_steps + 1):
            log_odds, gradient = classifier.with_gradient(current, codes)
            length = np.linalg.norm(current - X, axis=1)
            better = (log_odds >= self.goal) & (length < distance)
            steps[better & (steps < 0)] = number
            best[better], distance[better] = current[better], length[better]
            if (distance == 0).all() or number == self.max_steps:
                break
            current = self._moved(X, current, log_odds, gradient, steps >= 0)
        reached = steps >= 0
        best[~reached] = current[~reached]
        best[reached] = self._shorten(classifier, X[reached], best[reached], codes[reached])
        return best, steps

    def _moved(
        self,
        X: Matrix,
        current: Matrix,
        log_odds: Vector,
        gradient: Matrix,
        arrived: NDArray[np.bool_],
    ) -> Matrix:
        squares = np.maximum((gradient**2).sum(axis=1), np.finfo(np.float64).tiny)
        # A touch beyond the goal: rounding must not leave the point just short of it.
        missing = self.goal + 1e-6 * (1 + abs(self.goal)) - log_odds
        start = np.where(arrived[:, None], X, current)
        needed = np.maximum(missing + (gradient * (current - start)).sum(axis=1), 0)
        way = self._inside(start + (needed / squares)[:, None] * gradient) - current
        length = np.linalg.norm(way, axis=1)
        share = np.minimum(1.0, self.step / np.maximum(length, np.finfo(np.float64).tiny))
        return current + share[:, None] * way

    def _inside(self, X: Matrix) -> Matrix:
        return X if self.bounds is None else np.clip(X, *self.bounds)

    def _shorten(
        self, classifier: ClassLogOdds, X: Matrix, changed: Matrix, codes: NDArray[np.int64]
    ) -> Matrix:
        """The closest point on the line to each changed row that is certain enough."""
        if len(X) == 0:
            return changed
        low, high = np.zeros(len(X)), np.ones(len(X))
        for _ in range(BISECTION_STEPS):
            middle = (low + high) / 2
            enough = classifier.log_odds(_between(X, changed, middle), codes) >= self.goal
            high, low = np.where(enough, middle, high), np.where(enough, low, middle)
        return _between(X, changed, high)


def _between(X: Matrix, changed: Matrix, share: Vector) -> Matrix:
    return X + share[:, None] * (changed - X)
