"""Backward elimination: train, find the features that matter least, drop one, and again.

The same loop does SVM-RFE and its evaluation-based form (Algorithm 3 of Krupka 2016): at each step
the worst features compete, and the subset that cross-validates best is the next one. With a single
candidate that is SVM-RFE.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._params import CriterionName
from .._typing import Matrix, Vector
from ..checkpoints import Series
from .active_features import ActiveFeatures
from .evaluation import Evaluation, Evaluator, Move
from .history import Step
from .scoring import DecisionScorer
from .svm import TrainedFold

# How much each feature matters, from the coefficients of the SVMs.
Criterion = Callable[[ActiveFeatures, Matrix], Vector]

CRITERIA: dict[CriterionName, Criterion] = {
    "weights": ActiveFeatures.weight_norms,
    "margin": ActiveFeatures.cost_changes,
}

# Values that differ by less than this share of the largest one differ by rounding alone.
TIE_TOL = 1e-12

# With an automatic number of candidates, those compete whose criterion is within this share of the
# mean from the smallest one, and at most so many.
CLOSE_SHARE = 0.1
MAX_CANDIDATES = 12


@dataclass(frozen=True)
class StepSchedule:
    """How many features are dropped at each step, and how many compete to be the last of them.

    ``step`` is a number of features, or below 1 a share of those left.
    """

    step: float
    n_candidates: int | Literal["auto"]
    min_features_to_select: int

    def n_dropped(self, n_left: int) -> int:
        """How many are dropped at the next step; zero at the end."""
        number = self.step if self.step >= 1 else max(1.0, self.step * n_left)
        return min(int(number), n_left - self.min_features_to_select)

    def n_steps(self, n_features: int) -> int:
        """How many steps lead from so many features to the end."""
        steps = 0
        while n_features > self.min_features_to_select:
            n_features -= self.n_dropped(n_features)
            steps += 1
        return steps

    def n_competing(self, values: Vector, smallest: Vector) -> int:
        """How many compete to be dropped last at a step.

        ``values`` is the criterion of all features that are left, ``smallest`` its smallest values
        from the first feature that is not certain to be dropped, ascending.
        """
        if self.n_candidates == "auto":
            limit = smallest[0] + CLOSE_SHARE * abs(float(values.mean()))
            return int((smallest[:MAX_CANDIDATES] <= limit).sum())
        return min(self.n_candidates, len(smallest))

    @property
    def max_competing(self) -> int:
        """How many could compete at most."""
        return MAX_CANDIDATES if self.n_candidates == "auto" else self.n_candidates


@dataclass(frozen=True)
class Evaluators:
    """What subsets are evaluated by.

    ``whole`` has all rows to train on, and those that are held out of the whole elimination, if
    there are any; ``outer`` scores the decisions on these. ``inner`` cross-validates; without it
    the criterion alone decides.
    """

    whole: TrainedFold
    outer: DecisionScorer | None
    inner: Evaluator | None


@dataclass
class Elimination:
    """One elimination; ``C`` is the cost where there is no cross-validation to choose it."""

    active: ActiveFeatures
    evaluators: Evaluators
    criterion: Criterion
    schedule: StepSchedule
    C: float

    def __post_init__(self) -> None:
        # Coefficients that the next SVMs start from: on all rows, and on each fold.
        self._b: Matrix | None = None
        self._fold_b: list[Matrix] | None = None

    def run(self, series: Series, advance: Callable[[], object]) -> list[Step]:
        """Go to the end, from where an earlier run was interrupted; ``advance`` after each step."""
        steps = [Step(**values) for values in series.steps()]
        if steps:
            self._resume(steps, series.state())
        else:
            steps.append(self._first())
            series.append(asdict(steps[0]), self._state())
        while self.schedule.n_dropped(self.active.n_left):
            steps.append(self._next())
            series.append(asdict(steps[-1]), self._state())
            advance()
        return steps

    def _first(self) -> Step:
        """The subset of all features."""
        began = time.perf_counter()
        fold_scores: list[float] = []
        inner = self.evaluators.inner
        if inner is not None:
            evaluation = inner.evaluate_subset(self.active.base, self.active.n_left)
            fold_scores = self._adopt(evaluation, inner.costs)
        return self._step([], [], [], fold_scores, began)

    def _next(self) -> Step:
        began = time.perf_counter()
        certain, candidates = self._least_relevant()
        self.active.drop(certain)
        fold_scores: list[float] = []
        scores: list[float] = []
        place = 0
        inner = self.evaluators.inner
        if inner is not None:
            evaluations = self._evaluate(candidates, inner)
            scores = [evaluation.score for evaluation in evaluations]
            place = int(np.argmax(scores))  # of equally good ones that of the smallest criterion
            fold_scores = self._adopt(evaluations[place], inner.costs)
        self.active.drop([candidates[place]])
        return self._step([*certain, candidates[place]], candidates, scores, fold_scores, began)

    def _least_relevant(self) -> tuple[list[int], list[int]]:
        """Features that are certain to be dropped, and the candidates of which one more will be."""
        values = self.criterion(self.active, self._coefficients)
        n_certain = self.schedule.n_dropped(self.active.n_left) - 1
        places = smallest(values, n_certain + self.schedule.max_competing)
        n_competing = self.schedule.n_competing(values, values[places[n_certain:]])
        features: list[int] = self.active.features[places[: n_certain + n_competing]].tolist()
        return features[:n_certain], features[n_certain:]

    def _evaluate(self, candidates: list[int], inner: Evaluator) -> list[Evaluation]:
        """Cross-validate the subsets without each of the candidates."""
        n_left = self.active.n_left - 1
        moves = [Move(self.active.column(j)[None], (-1,), n_left) for j in candidates]
        return inner.evaluate(self.active.base, moves, self._fold_b)

    def _adopt(self, evaluation: Evaluation, costs: Vector) -> list[float]:
        """Go on from a subset that was evaluated, at the cost that suits it best."""
        self._fold_b = evaluation.b
        before, self.C = self.C, float(costs[evaluation.best_cost])
        if self._b is not None and before > self.C:
            self._b = self._b * (self.C / before)  # within the new bounds, and its sum still zero
        return evaluation.fold_scores.tolist()

    def _step(
        self,
        dropped: list[int],
        candidates: list[int],
        scores: list[float],
        fold_scores: list[float],
        began: float,
    ) -> Step:
        """Train on the new subset, and describe it."""
        whole, scorer = self.evaluators.whole, self.evaluators.outer
        kernel = self.active.kernel_matrix()
        b, offsets = whole.svms.solve(kernel, np.array([self.C]), self._b)
        self._b, self._coefficients = b, whole.svms.by_row(b[0], len(kernel))
        outer_score = None
        if scorer is not None:
            decisions = whole.svms.decide(kernel, b, offsets, whole.held_out)
            outer_score = float(scorer(decisions, whole)[0])
        return Step(
            dropped=dropped,
            candidates=candidates,
            candidate_scores=scores,
            n_features=self.active.n_left,
            C=self.C,
            fold_scores=fold_scores,
            outer_score=outer_score,
            seconds=time.perf_counter() - began,
        )

    def _state(self) -> dict[str, Any]:
        """What the steps do not hold: where the solver starts next shows in its last digits."""
        folds = {f"fold {k}": b for k, b in enumerate(self._fold_b or [])}
        return {"C": self.C, "b": self._b, **folds}

    def _resume(self, steps: list[Step], state: dict[str, Any]) -> None:
        for step in steps:
            # In the same portions, so that sums are rounded as they were.
            self.active.drop(step.dropped[:-1])
            self.active.drop(step.dropped[-1:])
        self.C, self._b = state["C"], state["b"]
        self._coefficients = self.evaluators.whole.svms.by_row(state["b"][0], len(self.active.base))
        self._fold_b = [state[f"fold {k}"] for k in range(len(state) - 2)] or None


def smallest(values: Vector, number: int) -> NDArray[np.int64]:
    """Places of the smallest values, the smallest first; of equal ones the first comes first."""
    tie = TIE_TOL * float(np.abs(values).max())
    if number == 1:
        return np.flatnonzero(values <= values.min() + tie)[:1]
    number = min(number, len(values))
    limit = np.partition(values, number - 1)[number - 1]
    places = np.flatnonzero(values <= limit + tie)
    places = places[np.argsort(values[places], kind="stable")]
    tied = np.r_[0, np.cumsum(np.diff(values[places]) > tie)]
    return places[np.lexsort((places, tied))][:number]
