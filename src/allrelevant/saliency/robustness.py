"""How certain a classifier is of a class, as a number that can be pushed up without end.

The search for the smallest change of a row that makes a classifier certain of a class.

How much a row must change before a classifier takes it for something else.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, logsumexp, softmax

from .._optional import display, import_extra
from .._typing import Matrix, Vector
from ..exceptions import InputError, RelevanceWarning
from .differentiable import DifferentiableModel, as_differentiable, checked_rows
from .gains import CrossEntropyGain, ProbabilityGain

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import RobustnessDisplay


# Closer to 0 or 1 than this, a probability in single precision tells nothing.
_CLOSEST = 1e-7


class ClassLogOdds:
    """The log-odds of a class, and their gradient with respect to the inputs.

    With logits z they are ``z_y - logsumexp(z without y)``; unlike the probability, they go on
    growing, and their gradient does not fade, where the class is all but certain or ruled out.

    Parameters
    ----------
    model : DifferentiableModel
        A classifier whose outputs are logits or probabilities.
    """

    def __init__(self, model: DifferentiableModel) -> None:
        if not isinstance(model.gain, CrossEntropyGain | ProbabilityGain):
            raise InputError(
                f"Certainty needs a classifier with probabilities, and the outputs of this "
                f"{type(model).__name__} are none: use a network or logistic regression."
            )
        self.model = model
        self.from_logits = isinstance(model.gain, CrossEntropyGain)

    def log_odds(self, X: Matrix, classes: NDArray[np.int64]) -> Vector:
        """Log-odds of a class for each row."""
        return self._log_odds(self.model.outputs(X), classes)

    def climb(self, X: Matrix, classes: NDArray[np.int64]) -> tuple[Vector, Matrix]:
        """Log-odds of a class for each row, and their gradient with respect to the row."""
        outputs = self.model.outputs(X)
        return (
            self._log_odds(outputs, classes),
            self.model.vjp(X, self._cotangent(outputs, classes)),
        )

    def probabilities(self, X: Matrix) -> Matrix:
        """Probability of each class for each row."""
        outputs = self.model.outputs(X)
        return softmax(outputs, axis=1) if self.from_logits else outputs

    def _log_odds(self, outputs: Matrix, classes: NDArray[np.int64]) -> Vector:
        own = outputs[np.arange(len(classes)), classes]
        if self.from_logits:
            return own - logsumexp(_without(outputs, classes), axis=1)
        return logit(np.clip(own, _CLOSEST, 1 - _CLOSEST))

    def _cotangent(self, outputs: Matrix, classes: NDArray[np.int64]) -> Matrix:
        rows = np.arange(len(classes))
        if self.from_logits:
            output_gradient = -softmax(_without(outputs, classes), axis=1)
            output_gradient[rows, classes] = 1.0
            return output_gradient
        output_gradient = np.zeros_like(outputs)
        own = expit(self._log_odds(outputs, classes))
        output_gradient[rows, classes] = 1.0 / (own * (1.0 - own))
        return output_gradient


def _without(outputs: Matrix, classes: NDArray[np.int64]) -> Matrix:
    others = np.array(outputs, dtype=np.float64)
    others[np.arange(len(classes)), classes] = -np.inf
    return others


_HALVINGS = 20


@dataclass(frozen=True)
class PerturbationSearch:
    """How to look for it.

    Attributes
    ----------
    goal : float
        Log-odds to reach.
    max_steps : int
    step : float
        Longest way that one step may go.
    bounds : tuple of float or None
        Smallest and largest value that a feature may take.
    """

    goal: float
    max_steps: int
    step: float
    bounds: tuple[float, float] | None

    def run(
        self, certainty: ClassLogOdds, X: Matrix, classes: NDArray[np.int64]
    ) -> tuple[Matrix, NDArray[np.int64]]:
        """Changed rows, and the number of steps until each was first certain enough.

        First the log-odds are climbed until they are enough. From there on, every step goes towards
        the point nearest to the row at which they would be just enough, as the gradient tells them
        from here. Of the points that are certain enough the closest is kept; the way there is cut
        off where it first is. Where none is, the row changed last is returned, and -1 steps.
        """
        best = X.copy()
        distance = np.full(len(X), np.inf)
        steps = np.full(len(X), -1)
        current = X.copy()
        for number in range(self.max_steps + 1):
            found, gradient = certainty.climb(current, classes)
            length = np.linalg.norm(current - X, axis=1)
            better = (found >= self.goal) & (length < distance)
            steps[better & (steps < 0)] = number
            best[better], distance[better] = current[better], length[better]
            if (distance == 0).all() or number == self.max_steps:
                break
            current = self._moved(X, current, found, gradient, steps >= 0)
        reached = steps >= 0
        best[~reached] = current[~reached]
        best[reached] = self._cut_off(certainty, X[reached], best[reached], classes[reached])
        return best, steps

    def _moved(
        self,
        X: Matrix,
        current: Matrix,
        found: Vector,
        gradient: Matrix,
        arrived: NDArray[np.bool_],
    ) -> Matrix:
        squares = np.maximum((gradient**2).sum(axis=1), np.finfo(np.float64).tiny)
        # A touch beyond the goal: rounding must not leave the point just short of it.
        missing = self.goal + 1e-6 * (1 + abs(self.goal)) - found
        start = np.where(arrived[:, None], X, current)
        needed = np.maximum(missing + (gradient * (current - start)).sum(axis=1), 0)
        way = self._inside(start + (needed / squares)[:, None] * gradient) - current
        length = np.linalg.norm(way, axis=1)
        share = np.minimum(1.0, self.step / np.maximum(length, np.finfo(np.float64).tiny))
        return current + share[:, None] * way

    def _inside(self, X: Matrix) -> Matrix:
        return X if self.bounds is None else np.clip(X, *self.bounds)

    def _cut_off(
        self, certainty: ClassLogOdds, X: Matrix, changed: Matrix, classes: NDArray[np.int64]
    ) -> Matrix:
        """The point on the straight way to each changed row that is closest and certain enough."""
        if len(X) == 0:
            return changed
        low, high = np.zeros(len(X)), np.ones(len(X))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            enough = certainty.log_odds(_between(X, changed, middle), classes) >= self.goal
            high, low = np.where(enough, middle, high), np.where(enough, low, middle)
        return _between(X, changed, high)


def _between(X: Matrix, changed: Matrix, share: Vector) -> Matrix:
    return X + share[:, None] * (changed - X)


@dataclass(frozen=True)
class Robustness:
    """What :func:`robustness` has found.

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

    def plot(self, **kwargs: Any) -> RobustnessDisplay:
        """Draw rows that are pictures in a grid: each row as it is, then as each class.

        Parameters
        ----------
        **kwargs
            Passed on to :meth:`RobustnessDisplay.from_result`.

        Returns
        -------
        RobustnessDisplay
        """
        return display("RobustnessDisplay").from_result(self, **kwargs)


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
    Reliability

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
    >>> found = robustness(LogisticRegression().fit(X, y), X[:1], certainty=0.75)
    >>> found.targets.tolist(), found.distance[0, 0], found.certainty[0, 1].round(3)
    (['no', 'yes'], np.float64(0.0), np.float64(0.75))
    """
    if not (isinstance(max_steps, Integral) and max_steps > 0):
        raise InputError(f"max_steps must be a whole number above 0, got {max_steps!r}.")
    rows, probabilities, classes = _checked(model, X, certainty)
    codes = _codes(targets, classes)
    search = PerturbationSearch(
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
    probabilities = ClassLogOdds(as_differentiable(model))
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
