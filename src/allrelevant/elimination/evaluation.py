"""Cross-validation of subsets that are one move away from a subset whose base is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from .._typing import Matrix, Vector
from ..parallel import parallel_map
from .history import SCORE_DECIMALS
from .kernels import Kernel
from .scoring import DecisionScorer
from .svm import TrainedFold


class Move(NamedTuple):
    """A subset, by the columns that are added to the base (+1) or subtracted from it (-1).

    ``columns`` has the shape (k, n_samples); ``n_features`` is the size of the subset.
    """

    columns: Matrix
    signs: tuple[int, ...]
    n_features: int


@dataclass(frozen=True)
class Evaluation:
    """Scores of one subset, of shape (n_folds, n_costs), and the coefficients of each fold.

    Similar problems start from the coefficients, of shape (n_costs, n_members).
    """

    scores: Matrix
    b: list[Matrix]

    @property
    def means(self) -> Vector:
        """Mean score at each cost."""
        return np.round(self.scores.mean(axis=0), SCORE_DECIMALS)

    @property
    def best_cost(self) -> int:
        """Place of the smallest cost of the best mean score."""
        return int(self.means.argmax())

    @property
    def score(self) -> float:
        """The best mean score."""
        return float(self.means.max())

    @property
    def fold_scores(self) -> Vector:
        """Score on each fold, at the best cost."""
        return self.scores[:, self.best_cost]


@dataclass(frozen=True)
class Evaluator:
    """How subsets are cross-validated; the costs are ascending."""

    kernel: Kernel
    folds: Sequence[TrainedFold]
    costs: Vector
    scorer: DecisionScorer
    n_jobs: int | None = None

    def evaluate(
        self,
        base: Matrix,
        moves: Sequence[Move],
        start: Sequence[Matrix] | None = None,
        *,
        keep: bool = True,
    ) -> list[Evaluation]:
        """Cross-validate the subsets that some moves lead to, all from the same base.

        ``start`` holds coefficients of each fold on a similar subset. With ``keep=False`` no
        coefficients are returned: those of thousands of moves would fill the memory.
        """
        # Workers share the folds; a single process computes the kernel once for all folds.
        n_folds = len(self.folds)
        size = n_folds if self.n_jobs in (None, 1) else 1
        parts = [range(first, min(first + size, n_folds)) for first in range(0, n_folds, size)]
        tasks = [(move, folds) for move in moves for folds in parts]
        results = parallel_map(
            partial(_evaluate_folds, self, base, start, keep), tasks, n_jobs=self.n_jobs
        )
        return [
            _join(results[first : first + len(parts)]) for first in range(0, len(tasks), len(parts))
        ]

    def evaluate_subset(self, base: Matrix, n_features: int) -> Evaluation:
        """Cross-validate the subset of the base itself."""
        return self.evaluate(base, [Move(np.empty((0, len(base))), (), n_features)])[0]


def _evaluate_folds(
    evaluator: Evaluator,
    base: Matrix,
    start: Sequence[Matrix] | None,
    keep: bool,
    task: tuple[Move, Sequence[int]],
) -> Evaluation:
    """Train and score on some of the folds."""
    move, places = task
    moved = base
    for column, sign in zip(move.columns, move.signs, strict=True):
        moved = moved + sign * evaluator.kernel.base_of(column)
    kernel = evaluator.kernel.matrix(moved, move.n_features)
    scores, coefficients = [], []
    for place in places:
        fold = evaluator.folds[place]
        b, offsets = fold.svms.solve(
            kernel, evaluator.costs, None if start is None else start[place]
        )
        decisions = fold.svms.decide(kernel, b, offsets, fold.held_out)
        scores.append(evaluator.scorer(decisions, fold))
        coefficients.append(b)
    return Evaluation(np.array(scores), coefficients if keep else [])


def _join(parts: Sequence[Evaluation]) -> Evaluation:
    if len(parts) == 1:
        return parts[0]
    return Evaluation(
        np.concatenate([part.scores for part in parts]), [b for part in parts for b in part.b]
    )
