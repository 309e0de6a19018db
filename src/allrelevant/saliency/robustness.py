"""Adversarial robustness: the smallest perturbation found that changes a prediction.

:func:`robustness` checks its input and runs a :class:`PerturbationSearch` on the log-odds of a
class (:class:`ClassLogOdds`). It returns a :class:`Robustness`.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from .._optional import display, import_extra
from .._typing import Matrix, Vector
from ..exceptions import InputError, warn_caller
from .differentiable import DifferentiableModel, as_differentiable, check_rows, class_codes

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
    """Find small perturbations of each row that make a classifier predict each target class.

    This is the test of Section 6.4 of Cancela et al. (2020). If a perturbation that people do not
    notice changes the prediction, the classifier relies on different features than people do. The
    search follows the gradient of the log-odds, which does not vanish. It is local, so a smaller
    perturbation may exist.

    Parameters
    ----------
    model : estimator or DifferentiableModel
        Fitted classifier with gradients and probabilities, such as :class:`NetworkClassifier`,
        ``LogisticRegression``, ``MLPClassifier``, or a ``TorchModel`` with logits.
    X : array-like of shape (n, d)
        Rows to perturb. Pass only a few, because there is one search per row and class.
    targets : array-like or "all", default="all"
        Target classes of the perturbations.
    certainty : float, default=0.95
        Probability that the target class must reach.
    max_steps : int, default=200
        Maximum number of steps per search.
    step : float or None, default=None
        Maximum length of one step. Longer steps can overcome small local barriers. None means a
        twentieth of the mean Euclidean norm of the rows.
    bounds : tuple of float or None, default=None
        Smallest and largest value that a feature may take, such as (0, 1) for pixels.

    Returns
    -------
    Robustness

    Warns
    -----
    RelevanceWarning
        If some perturbations were not found within ``max_steps``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from allrelevant import robustness
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["no", "no", "yes", "yes"])
    >>> result = robustness(LogisticRegression().fit(X, y), X[:1], certainty=0.75)
    >>> result.targets.tolist(), float(result.distance[0, 0])
    (['no', 'yes'], 0.0)
    >>> round(float(result.certainty[0, 1]), 3)
    0.75
    """
    if not (isinstance(max_steps, Integral) and max_steps > 0):
        raise InputError(f"max_steps must be a positive integer (got {max_steps!r}).")
    rows, classifier, classes = _check_input(model, X, certainty)
    codes = _target_codes(targets, classes)
    search = PerturbationSearch(
        float(logit(certainty)), max_steps, _step_length(step, rows), _check_bounds(bounds, rows)
    )
    n_rows, n_targets = len(rows), len(codes)
    target_codes = np.tile(codes, n_rows)
    start = np.repeat(rows, n_targets, axis=0)
    changed, steps = search.run(classifier, start, target_codes)
    reached = steps >= 0
    distance = np.where(reached, np.linalg.norm(changed - start, axis=1), np.nan)
    certain = classifier.probabilities(changed)[np.arange(len(start)), target_codes]
    if not reached.all():
        warn_caller(
            f"No perturbation was found for {(~reached).sum()} of {len(reached)} (row, class) "
            f"pairs, for which ``reached`` is False. Increase max_steps={max_steps} or step, "
            f"or lower certainty={certainty:g}."
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


def _check_input(model: Any, X: Any, certainty: float) -> tuple[Matrix, ClassLogOdds, NDArray[Any]]:
    if not 0 < certainty < 1:
        raise InputError(f"certainty must be strictly between 0 and 1 (got {certainty!r}).")
    rows = np.asarray(check_rows(model, X)[0], dtype=np.float64)
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
        raise InputError("targets is empty. Pass one or more target classes, or 'all'.")
    return class_codes(labels, classes)


def _step_length(step: float | None, rows: Matrix) -> float:
    if step is None:
        length = float(np.linalg.norm(rows, axis=1).mean())
        return (length or 1.0) / 20
    if not step > 0:
        raise InputError(f"step must be positive or None (got {step!r}).")
    return float(step)


def _check_bounds(bounds: tuple[float, float] | None, rows: Matrix) -> tuple[float, float] | None:
    if bounds is None:
        return None
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise InputError(f"bounds must be two values in ascending order (got {bounds!r}).")
    if rows.min() < bounds[0] or rows.max() > bounds[1]:
        raise InputError(
            f"X has values from {rows.min():.4g} to {rows.max():.4g}, outside the bounds "
            f"{bounds!r}. Widen the bounds or scale X."
        )
    return bounds


@dataclass(frozen=True)
class Robustness:
    """Smallest perturbations found by :func:`robustness`, per row and target class.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Original rows.
    targets : ndarray of shape (k,)
        Target classes.
    changed : ndarray of shape (n, k, d)
        Each row with the smallest perturbation found for each target class, or the last point of
        the search if the target was not reached.
    distance : ndarray of shape (n, k)
        Euclidean norm of the perturbation; NaN if the target was not reached.
    certainty : ndarray of shape (n, k)
        Probability of the target class after the perturbation.
    reached : ndarray of shape (n, k)
        Whether the target class reached the required probability.
    steps : ndarray of shape (n, k)
        Number of steps until the required probability was first reached; -1 if it was not.
    required_certainty : float
        Required probability.
    max_steps : int
        Maximum number of steps.
    """

    X: Matrix
    targets: NDArray[Any]
    changed: Matrix
    distance: Matrix
    certainty: Matrix
    reached: NDArray[np.bool_]
    steps: NDArray[np.int64]
    required_certainty: float
    max_steps: int

    @property
    def n_missed(self) -> int:
        """Number of (row, class) pairs for which no perturbation was found."""
        return int((~self.reached).sum())

    def to_frame(self) -> pd.DataFrame:
        """Return the results for each pair of a row and a target class as a DataFrame."""
        n_rows, n_targets = self.reached.shape
        pandas = import_extra("pandas", "pandas")

        return pandas.DataFrame(
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
        """Plot a grid of images: each original row, followed by one perturbed image per class.

        Parameters
        ----------
        **kwargs
            Passed to :meth:`RobustnessDisplay.from_result`.

        Returns
        -------
        RobustnessDisplay
        """
        return display("RobustnessDisplay").from_result(self, **kwargs)


class ClassLogOdds:
    """Classifier whose log-odds can be differentiated with respect to its inputs.

    Unlike probabilities, log-odds do not saturate, so their gradient does not vanish if the
    probability is close to 0 or 1. The model must be a classifier with logits or probabilities,
    whose gain function computes log-odds.
    """

    def __init__(self, model: DifferentiableModel) -> None:
        if not hasattr(model.gain, "log_odds"):
            raise InputError(
                f"robustness requires a classifier with probabilities, but the outputs of this "
                f"{type(model).__name__} are not probabilities or logits. Use a network or "
                "logistic regression."
            )
        self.model = model
        self.gain: Any = model.gain

    def log_odds(self, X: Matrix, codes: NDArray[np.int64]) -> Vector:
        """Return the log-odds of the given class for each row."""
        log_odds: Vector = self.gain.log_odds(self.model.outputs(X), codes)
        return log_odds

    def with_gradient(self, X: Matrix, codes: NDArray[np.int64]) -> tuple[Vector, Matrix]:
        """Return the log-odds of the given class for each row, and their gradient."""
        outputs = self.model.outputs(X)
        gradient = self.model.vjp(X, self.gain.log_odds_gradient(outputs, codes))
        return self.gain.log_odds(outputs, codes), gradient

    def probabilities(self, X: Matrix) -> Matrix:
        """Return the probability of each class for each row."""
        probabilities: Matrix = self.gain.probabilities(self.model.outputs(X))
        return probabilities


BISECTION_STEPS = 20


@dataclass(frozen=True)
class PerturbationSearch:
    """Search for the smallest perturbation that raises the log-odds of a class to ``goal``.

    ``step`` is the maximum length of one step. ``bounds`` are the smallest and largest value that a
    feature may take.
    """

    goal: float
    max_steps: int
    step: float
    bounds: tuple[float, float] | None

    def run(
        self, classifier: ClassLogOdds, X: Matrix, codes: NDArray[np.int64]
    ) -> tuple[Matrix, NDArray[np.int64]]:
        """Return the perturbed rows, and the number of steps until each row reached the goal.

        The log-odds are increased until they reach the goal. Each further step moves
        toward the closest point to the row at which the linearized log-odds reach the goal. The
        closest point that reaches the goal is kept. A bisection on the line to the row then
        shortens the perturbation. If no point reaches the goal, the last point and -1 are returned.
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
            current = self._take_step(X, current, log_odds, gradient, steps >= 0)
        reached = steps >= 0
        best[~reached] = current[~reached]
        best[reached] = self._shorten(classifier, X[reached], best[reached], codes[reached])
        return best, steps

    def _take_step(
        self,
        X: Matrix,
        current: Matrix,
        log_odds: Vector,
        gradient: Matrix,
        has_reached: NDArray[np.bool_],
    ) -> Matrix:
        squares = np.maximum((gradient**2).sum(axis=1), np.finfo(np.float64).tiny)
        # Aim slightly beyond the goal, so that rounding does not leave the point just short of it.
        missing = self.goal + 1e-6 * (1 + abs(self.goal)) - log_odds
        start = np.where(has_reached[:, None], X, current)
        needed = np.maximum(missing + (gradient * (current - start)).sum(axis=1), 0)
        direction = self._clip(start + (needed / squares)[:, None] * gradient) - current
        length = np.linalg.norm(direction, axis=1)
        fraction = np.minimum(1.0, self.step / np.maximum(length, np.finfo(np.float64).tiny))
        return current + fraction[:, None] * direction

    def _clip(self, X: Matrix) -> Matrix:
        return X if self.bounds is None else np.clip(X, *self.bounds)

    def _shorten(
        self, classifier: ClassLogOdds, X: Matrix, changed: Matrix, codes: NDArray[np.int64]
    ) -> Matrix:
        """Shorten each perturbation by bisection, as long as it still reaches the goal."""
        if len(X) == 0:
            return changed
        low, high = np.zeros(len(X)), np.ones(len(X))
        for _ in range(BISECTION_STEPS):
            middle = (low + high) / 2
            enough = classifier.log_odds(_interpolate(X, changed, middle), codes) >= self.goal
            high, low = np.where(enough, middle, high), np.where(enough, low, middle)
        return _interpolate(X, changed, high)


def _interpolate(X: Matrix, changed: Matrix, fraction: Vector) -> Matrix:
    return X + fraction[:, None] * (changed - X)
