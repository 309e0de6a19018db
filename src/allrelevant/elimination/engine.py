"""Backward elimination: repeatedly train an SVM and remove the least important features.

The same loop implements SVM-RFE and evaluation-based RFE (Krupka 2016, Algorithm 3). In each step,
the least important features are candidates for removal, and the best cross-validated subset is
kept. With a single candidate, this is SVM-RFE.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import neg
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._params import AUTO, CriterionName
from .._typing import Matrix, Vector
from ..checkpoints import Series
from ..exceptions import CheckpointError
from .active_features import ActiveFeatures
from .evaluation import Evaluation, Evaluator, Move
from .history import Step
from .scoring import DecisionScorer
from .svm import TrainedFold

# Function that computes the importance of each feature from the coefficients of the SVMs.
Criterion = Callable[[ActiveFeatures, Matrix], Vector]

CRITERIA: dict[CriterionName, Criterion] = {
    "weights": ActiveFeatures.weight_norms,
    "margin": ActiveFeatures.cost_changes,
}

# Values that differ by less than this fraction of the largest absolute value are tied.
TIE_TOL = 1e-12

# With n_candidates="auto", features are candidates if their criterion exceeds the smallest value by
# at most this fraction of the mean. MAX_CANDIDATES limits their number.
CLOSE_FRACTION = 0.1
MAX_CANDIDATES = 12

# With step="auto", this fraction of the features is removed per step as long as more than
# MANY_FEATURES remain.
AUTO_FRACTION = 0.1
MANY_FEATURES = 200


def subset_sizes(
    n_features: int, step: float | Literal["auto"], min_features_to_select: int
) -> list[int]:
    """Return the number of features of each subset along a path, in descending order.

    ``step`` is a number of features or, below 1, a fraction of the remaining features. ``"auto"``
    removes a fraction as long as many features remain, and then one feature at a time.

    >>> subset_sizes(9, 0.5, 2), subset_sizes(9, 4, 2), len(subset_sizes(5_000, "auto", 1))
    ([9, 5, 3, 2], [9, 5, 2], 231)
    """
    sizes = [n_features]
    while sizes[-1] > min_features_to_select:
        size = sizes[-1]
        if step != AUTO:
            following = size - int(step if step >= 1 else max(1.0, step * size))
        elif size > MANY_FEATURES:
            following = max(MANY_FEATURES, size - int(AUTO_FRACTION * size))
        else:
            following = size - 1
        sizes.append(max(following, min_features_to_select))
    return sizes


@dataclass(frozen=True)
class StepSchedule:
    """Sizes of the subsets along a path, in descending order, and number of candidates per step.

    A path that starts with fewer features than the largest size continues with the next smaller
    one.
    """

    sizes: Sequence[int]
    n_candidates: int | Literal["auto"]

    def n_dropped(self, n_active: int) -> int:
        """Return the number of features to remove in the next step; zero if no step remains."""
        following = bisect_right(self.sizes, -n_active, key=neg)
        return n_active - self.sizes[following] if following < len(self.sizes) else 0

    def n_steps(self, n_features: int) -> int:
        """Return the number of steps of an elimination that starts with ``n_features`` features."""
        return sum(size < n_features for size in self.sizes)

    @property
    def n_final(self) -> int:
        """Number of features at which elimination stops."""
        return self.sizes[-1]

    def n_competing(self, values: Vector, smallest: Vector) -> int:
        """Return the number of removal candidates to cross-validate in one step.

        They compete for the last removal of the step; earlier removals follow the criterion alone.

        ``values`` contains the criterion of each remaining feature. ``smallest`` contains the
        smallest of these values in ascending order, except those of features that are removed
        without evaluation.
        """
        if self.n_candidates == "auto":
            limit = smallest[0] + CLOSE_FRACTION * abs(float(values.mean()))
            return int((smallest[:MAX_CANDIDATES] <= limit).sum())
        return min(self.n_candidates, len(smallest))

    @property
    def max_competing(self) -> int:
        """Maximum number of removal candidates to cross-validate in one step."""
        return MAX_CANDIDATES if self.n_candidates == "auto" else self.n_candidates


@dataclass(frozen=True)
class Evaluators:
    """SVM problems, inner cross-validation and outer scorer of an elimination.

    ``whole`` contains all training rows and the rows held out of the entire elimination, if any;
    ``outer`` and ``margin`` score the decisions on these held-out rows. ``inner`` cross-validates
    subsets. If it is None, features are removed by the criterion alone.
    """

    whole: TrainedFold
    outer: DecisionScorer | None
    margin: DecisionScorer
    inner: Evaluator | None


@dataclass
class Elimination:
    """Backward elimination and its state: remaining features, ``C`` and SVM coefficients.

    Without cross-validation, ``C`` keeps its initial value.
    """

    active: ActiveFeatures
    evaluators: Evaluators
    criterion: Criterion
    schedule: StepSchedule
    C: float

    def __post_init__(self) -> None:
        # Coefficients for warm starts, for all rows and for each fold.
        self._b: Matrix | None = None
        self._fold_b: list[Matrix] | None = None

    def run(self, series: Series, advance: Callable[[], object]) -> list[Step]:
        """Run or resume the elimination and return its steps.

        ``advance`` is called after each step that removes features.
        """
        steps = [Step(**values) for values in series.steps()]
        if steps:
            self._resume(steps, series.state())
        else:
            steps.append(self._first())
            series.append(vars(steps[0]), self._state())
        while self.schedule.n_dropped(self.active.n_active):
            steps.append(self._next())
            series.append(vars(steps[-1]), self._state())
            advance()
        return steps

    def _first(self) -> Step:
        """Train SVMs on all features and return the first step, cross-validated if requested."""
        start_time = time.perf_counter()
        evaluation = None
        inner = self.evaluators.inner
        if inner is not None:
            evaluation = inner.evaluate_subset(self.active.base, self.active.n_active)
            self._adopt(evaluation, inner.costs)
        return self._step([], [], [], evaluation, start_time)

    def _next(self) -> Step:
        start_time = time.perf_counter()
        certain, candidates = self._least_relevant()
        self.active.drop(certain)
        evaluation = None
        scores: list[float] = []
        index = 0
        inner = self.evaluators.inner
        if inner is not None:
            evaluations = self._evaluate(candidates, inner)
            scores = [evaluation.score for evaluation in evaluations]
            index = int(np.argmax(scores))  # ties go to the smallest criterion
            evaluation = evaluations[index]
            self._adopt(evaluation, inner.costs)
        self.active.drop([candidates[index]])
        return self._step([*certain, candidates[index]], candidates, scores, evaluation, start_time)

    def _least_relevant(self) -> tuple[list[int], list[int]]:
        """Return features to remove without evaluation, and removal candidates to evaluate."""
        values = self.criterion(self.active, self._coefficients)
        n_certain = self.schedule.n_dropped(self.active.n_active) - 1
        indices = smallest_indices(values, n_certain + self.schedule.max_competing)
        n_competing = self.schedule.n_competing(values, values[indices[n_certain:]])
        features: list[int] = self.active.features[indices[: n_certain + n_competing]].tolist()
        return features[:n_certain], features[n_certain:]

    def _evaluate(self, candidates: list[int], inner: Evaluator) -> list[Evaluation]:
        """Cross-validate one subset per candidate: the remaining features except the candidate."""
        n_active = self.active.n_active - 1
        blocks = [self.active.columns(j) for j in candidates]
        moves = [Move(columns, (-1,) * len(columns), n_active) for columns in blocks]
        return inner.evaluate(self.active.base, moves, self._fold_b)

    def _adopt(self, evaluation: Evaluation, costs: Vector) -> None:
        """Adopt the best C and the coefficients of an evaluation."""
        self._fold_b = evaluation.b
        before, self.C = self.C, float(costs[evaluation.best_cost])
        if self._b is not None and before > self.C:
            self._b = self._b * (self.C / before)  # within the new bounds; the sum stays 0

    def _step(
        self,
        dropped: list[int],
        candidates: list[int],
        scores: list[float],
        evaluation: Evaluation | None,
        start_time: float,
    ) -> Step:
        """Train the SVMs on the remaining features and return the resulting :class:`Step`."""
        whole, scorer = self.evaluators.whole, self.evaluators.outer
        kernel = self.active.kernel_matrix()
        b, offsets = whole.svms.solve(kernel, np.array([self.C]), self._b)
        self._b, self._coefficients = b, whole.svms.by_row(b[0], len(kernel))
        outer_score = outer_margin = None
        if scorer is not None:
            decisions = whole.svms.decide(kernel, b, offsets, whole.held_out)
            outer_score = float(scorer(decisions, whole)[0])
            outer_margin = float(self.evaluators.margin(decisions, whole)[0])
        return Step(
            dropped=dropped,
            candidates=candidates,
            candidate_scores=scores,
            n_features=self.active.n_active,
            C=self.C,
            fold_scores=[] if evaluation is None else evaluation.fold_scores.tolist(),
            fold_margins=[] if evaluation is None else evaluation.fold_margins.tolist(),
            outer_score=outer_score,
            outer_margin=outer_margin,
            seconds=time.perf_counter() - start_time,
        )

    def _state(self) -> dict[str, Any]:
        """Return C and the warm-start coefficients for storage in a checkpoint.

        A resumed run needs them, because they affect the rounding of the next solution.
        """
        folds = {f"fold {k}": b for k, b in enumerate(self._fold_b or [])}
        return {"C": self.C, "b": self._b, **folds}

    def _resume(self, steps: list[Step], state: dict[str, Any]) -> None:
        if not {"C", "b"} <= state.keys():
            raise CheckpointError(
                "The checkpoint is damaged: the state of an elimination is missing. It was not "
                "modified. Use a different path, or delete the file."
            )
        for step in steps:
            # Drop features in the same batches as the original run, so that rounding is identical.
            self.active.drop(step.dropped[:-1])
            self.active.drop(step.dropped[-1:])
        self.C, self._b = state["C"], state["b"]
        self._coefficients = self.evaluators.whole.svms.by_row(state["b"][0], len(self.active.base))
        self._fold_b = [state[f"fold {k}"] for k in range(len(state) - 2)] or None


def smallest_indices(values: Vector, number: int) -> NDArray[np.int64]:
    """Return the indices of the ``number`` smallest values, sorted by value, then by index."""
    tie = TIE_TOL * float(np.abs(values).max())
    if number == 1:
        return np.flatnonzero(values <= values.min() + tie)[:1]
    number = min(number, len(values))
    limit = np.partition(values, number - 1)[number - 1]
    indices = np.flatnonzero(values <= limit + tie)
    indices = indices[np.argsort(values[indices], kind="stable")]
    tied = np.r_[0, np.cumsum(np.diff(values[indices]) > tie)]
    return indices[np.lexsort((indices, tied))][:number]
