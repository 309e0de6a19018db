"""Backward elimination: train, find what matters least, let it go, and again.

The same loop does SVM-RFE and its evaluation-based form (Algorithm 3 of Krupka 2016): at each step
the worst features compete, and the subset that cross-validates best is the next one. With a single
competitor that is SVM-RFE.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Matrix, Vector
from .criteria import Criterion, worst
from .evaluation import Evaluation, Evaluator, Move
from .folds import Fold
from .pace import Pace
from .recording import Recording
from .scoring import Score
from .survivors import Survivors
from .trace import Step


@dataclass(frozen=True)
class Judges:
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

    whole: Fold
    outer: Score | None
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
        self, survivors: Survivors, judges: Judges, criterion: Criterion, pace: Pace, C: float
    ) -> None:
        self._survivors = survivors
        self._judges = judges
        self._criterion = criterion
        self._pace = pace
        self._C = C
        self._b: Matrix | None = None
        self._fold_b: list[Matrix] | None = None

    def run(self, recording: Recording, advance: Callable[[], object]) -> list[Step]:
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
        places = worst(values, n_certain + self._pace.most_competing)
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
