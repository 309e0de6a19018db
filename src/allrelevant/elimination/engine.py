"""Which features matter least to a trained machine.

How many features leave at a step, and how many compete for it.

Backward elimination: train, find what matters least, let it go, and again.

The same loop does SVM-RFE and its evaluation-based form (Algorithm 3 of Krupka 2016): at each step
the worst features compete, and the subset that cross-validates best is the next one. With a single
competitor that is SVM-RFE.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from .active_features import ActiveFeatures
from .evaluation import Evaluation, Evaluator, Move
from .history import Series, Step
from .scoring import DecisionScorer
from .svm import TrainedFold

Criterion = Callable[[ActiveFeatures, Matrix], Vector]


# Values that differ by less than this share of the largest one differ by rounding alone.
_TIE = 1e-12


def squared_weights(survivors: ActiveFeatures, coefficients: Matrix) -> Vector:
    """Size of each weight, in the order of ``w_j^2`` summed over the pairs of classes.

    With a kernel that is not linear there is no such weight. What is taken for it is the sum of the
    support vectors by their coefficients, as if they had been mapped back.
    """
    return survivors.weights(coefficients)


def cost_changes(survivors: ActiveFeatures, coefficients: Matrix) -> Vector:
    """How much the cost function falls without each feature, the coefficients as they are."""
    return survivors.cost_changes(coefficients)


CRITERIA: dict[str, Criterion] = {"weights": squared_weights, "margin": cost_changes}


def smallest(values: Vector, number: int) -> NDArray[np.int64]:
    """Places of the smallest values, the smallest first; of equal ones the first comes first.

    Parameters
    ----------
    values : ndarray of shape (n,)
    number : int
        How many, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> smallest(np.array([0.3, 0.1, 0.1 + 1e-15, 0.2]), 3).tolist()
    [1, 2, 3]
    """
    tie = _TIE * float(np.abs(values).max())
    if number == 1:
        return np.flatnonzero(values <= values.min() + tie)[:1]
    number = min(number, len(values))
    limit = np.partition(values, number - 1)[number - 1]
    places = np.flatnonzero(values <= limit + tie)
    places = places[np.argsort(values[places], kind="stable")]
    tied = np.r_[0, np.cumsum(np.diff(values[places]) > tie)]
    return places[np.lexsort((places, tied))][:number]


# What counts as close when the number of candidates is automatic: within this share of the mean
# weight from the smallest one. And how many there are at most.
CLOSE, MOST_CANDIDATES = 0.1, 12


@dataclass(frozen=True)
class StepSchedule:
    """Settings of the descent.

    Attributes
    ----------
    step : int or float
        Number of features that leave at a time, or their share of those left.
    n_candidates : int or "auto"
    min_features_to_select : int
        Where it ends.
    """

    step: float
    n_candidates: int | Literal["auto"]
    min_features_to_select: int

    def n_leaving(self, n_left: int) -> int:
        """How many leave at the next step; zero at the end.

        Examples
        --------
        >>> StepSchedule(0.5, 1, 2).n_leaving(9), StepSchedule(4, 1, 2).n_leaving(5)
        (4, 3)
        >>> StepSchedule(1, 1, 2).n_leaving(2)
        0
        """
        wanted = self.step if self.step >= 1 else max(1.0, self.step * n_left)
        return min(int(wanted), n_left - self.min_features_to_select)

    def n_steps(self, n_features: int) -> int:
        """How many steps it takes to come down from so many features.

        Examples
        --------
        >>> StepSchedule(1, 1, 1).n_steps(5), StepSchedule(0.5, 1, 1).n_steps(8)
        (4, 3)
        """
        steps = 0
        while n_features > self.min_features_to_select:
            n_features -= self.n_leaving(n_features)
            steps += 1
        return steps

    def n_competing(self, values: Vector, smallest: Vector) -> int:
        """How many compete for the last place among those that leave.

        Parameters
        ----------
        values : ndarray of shape (n_left,)
            The criterion.
        smallest : ndarray
            Its smallest values from the first that is not certain to leave, ascending.

        Examples
        --------
        >>> import numpy as np
        >>> clear, close = np.array([0.1, 2.0, 3.0, 4.0]), np.array([2.0, 2.1, 2.2, 4.0])
        >>> auto = StepSchedule(1, "auto", 1)
        >>> auto.n_competing(clear, clear), auto.n_competing(close, close)
        (1, 3)
        """
        if self.n_candidates == "auto":
            limit = smallest[0] + CLOSE * abs(float(values.mean()))
            return int((smallest[:MOST_CANDIDATES] <= limit).sum())
        return min(self.n_candidates, len(smallest))

    @property
    def most_competing(self) -> int:
        """How many could compete at most."""
        return MOST_CANDIDATES if self.n_candidates == "auto" else self.n_candidates


@dataclass(frozen=True)
class Evaluators:
    """What judges subsets.

    Attributes
    ----------
    whole : Fold
        All rows that may be trained on; it holds out those that take no part in the selection.
    outer : Score or None
        Judges the decisions on the latter, if there are any.
    inner : Evaluator or None
        Cross-validates; None leaves the choice to the criterion.
    """

    whole: TrainedFold
    outer: DecisionScorer | None
    inner: Evaluator | None


class Elimination:
    """One run.

    Parameters
    ----------
    survivors : Survivors
        All features at first; they leave in the course of the run.
    judges : Judges
    criterion : callable
    pace : Pace
    C : float
        The cost where there is no cross-validation to choose it.
    """

    def __init__(
        self,
        survivors: ActiveFeatures,
        judges: Evaluators,
        criterion: Criterion,
        pace: StepSchedule,
        C: float,
    ) -> None:
        self._survivors = survivors
        self._judges = judges
        self._criterion = criterion
        self._pace = pace
        self._C = C
        self._b: Matrix | None = None
        self._fold_b: list[Matrix] | None = None

    def run(self, recording: Series, advance: Callable[[], object]) -> list[Step]:
        """Go down to the end, from where an earlier run was interrupted.

        Parameters
        ----------
        recording : Recording
        advance : callable
            Called after each step.
        """
        steps = recording.steps()
        if steps:
            self._resume(steps, recording.state())
        else:
            steps.append(self._first())
            recording.add(steps[0], self._state())
        while self._pace.n_leaving(self._survivors.n_left):
            steps.append(self._next())
            recording.add(steps[-1], self._state())
            advance()
        return steps

    def _first(self) -> Step:
        began = time.perf_counter()
        fold_scores: list[float] = []
        inner = self._judges.inner
        if inner is not None:
            # No move at all: the subset of all features.
            none = np.empty((0, len(self._survivors.base)))
            move = Move(none, (), self._survivors.n_left)
            (found,) = inner.evaluate(self._survivors.base, [move])
            fold_scores = self._adopt(found, inner.costs)
        return self._step([], [], [], fold_scores, began)

    def _next(self) -> Step:
        began = time.perf_counter()
        certain, competing = self._leaving()
        self._survivors.drop(certain)
        fold_scores: list[float] = []
        scores: list[float] = []
        place = 0
        inner = self._judges.inner
        if inner is not None:
            found = self._compete(competing, inner)
            scores = [evaluation.score for evaluation in found]
            place = int(np.argmax(scores))  # of equally good ones that of the smallest criterion
            fold_scores = self._adopt(found[place], inner.costs)
        self._survivors.drop([competing[place]])
        return self._step([*certain, competing[place]], competing, scores, fold_scores, began)

    def _leaving(self) -> tuple[list[int], list[int]]:
        """Features that are certain to leave, and those of which one more will."""
        values = self._criterion(self._survivors, self._coefficients)
        n_certain = self._pace.n_leaving(self._survivors.n_left) - 1
        places = smallest(values, n_certain + self._pace.most_competing)
        n_competing = self._pace.n_competing(values, values[places[n_certain:]])
        features: list[int] = self._survivors.features[places[: n_certain + n_competing]].tolist()
        return features[:n_certain], features[n_certain:]

    def _compete(self, competing: list[int], inner: Evaluator) -> list[Evaluation]:
        survivors = self._survivors
        moves = [
            Move(survivors.column(feature)[None], (-1,), survivors.n_left - 1)
            for feature in competing
        ]
        return inner.evaluate(survivors.base, moves, self._fold_b)

    def _adopt(self, found: Evaluation, costs: Vector) -> list[float]:
        """Go on from a subset that was evaluated, at the cost that suits it best."""
        self._fold_b = found.b
        before, self._C = self._C, float(costs[found.best_cost])
        if self._b is not None and before > self._C:
            self._b = self._b * (self._C / before)  # within the new bounds, and its sum still zero
        return found.fold_scores.tolist()

    def _step(
        self,
        dropped: list[int],
        competing: list[int],
        scores: list[float],
        fold_scores: list[float],
        began: float,
    ) -> Step:
        """Train on the subset that was arrived at, and note it."""
        machines, held_out = self._judges.whole.machines, self._judges.whole.held_out
        kernel = self._survivors.kernel_matrix()
        b, offsets = machines.solve(kernel, np.array([self._C]), self._b)
        self._b, self._coefficients = b, machines.by_row(b[0], len(kernel))
        outer = None
        if self._judges.outer is not None:
            decisions = machines.decide(kernel, b, offsets, held_out)
            outer = float(self._judges.outer(decisions, self._judges.whole)[0])
        return Step(
            dropped=dropped,
            candidates=competing,
            candidate_scores=scores,
            n_features=self._survivors.n_left,
            C=self._C,
            fold_scores=fold_scores,
            outer_score=outer,
            seconds=time.perf_counter() - began,
        )

    def _state(self) -> dict[str, Any]:
        """What the steps do not tell: where the solver starts next shows in its last digits."""
        folds = {f"fold {k}": b for k, b in enumerate(self._fold_b or [])}
        return {"C": self._C, "b": self._b, **folds}

    def _resume(self, steps: list[Step], state: dict[str, Any]) -> None:
        for step in steps:
            # In the same portions, so that sums are rounded as they were.
            self._survivors.drop(step.dropped[:-1])
            self._survivors.drop(step.dropped[-1:])
        self._C, self._b = state["C"], state["b"]
        machines = self._judges.whole.machines
        self._coefficients = machines.by_row(state["b"][0], len(self._survivors.base))
        folds: list[Matrix] = [state[f"fold {k}"] for k in range(len(state) - 2)]
        self._fold_b = folds or None
