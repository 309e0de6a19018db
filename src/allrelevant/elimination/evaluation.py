"""Cross-validation of feature subsets, with kernel matrices updated instead of recomputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from .._typing import Matrix, Vector
from ..parallel import has_workers, parallel_map
from ..subsets import SCORE_DECIMALS
from .kernels import Kernel
from .scoring import DecisionScorer
from .svm import TrainedFold


class Move(NamedTuple):
    """Change of a feature subset: columns to add (sign +1) or to remove (sign -1).

    ``columns`` has shape (k, n_samples). ``n_features`` is the size of the resulting subset.
    """

    columns: Matrix
    signs: tuple[int, ...]
    n_features: int


@dataclass(frozen=True)
class Evaluation:
    """Cross-validation result of one feature subset: scores and SVM coefficients.

    ``scores`` and ``margins`` have shape (n_folds, n_costs). ``b`` contains one array of
    coefficients per fold, of shape (n_costs, n_members), for warm starts on similar subsets.
    """

    scores: Matrix
    margins: Matrix
    b: list[Matrix]

    @property
    def means(self) -> Vector:
        """Mean score over the folds for each C, rounded so that ties are exact."""
        return np.round(self.scores.mean(axis=0), SCORE_DECIMALS)

    @property
    def best_cost(self) -> int:
        """Index of the best C, that is, the smallest one with the highest mean score."""
        return int(self.means.argmax())

    @property
    def score(self) -> float:
        """Mean score over the folds for the best C."""
        return float(self.means.max())

    @property
    def fold_scores(self) -> Vector:
        """Score on each fold for the best C."""
        return self.scores[:, self.best_cost]

    @property
    def fold_margins(self) -> Vector:
        """Margin on each fold for the best C."""
        return self.margins[:, self.best_cost]


@dataclass(frozen=True)
class Evaluator:
    """Cross-validation of feature subsets for several values of C (costs, in ascending order)."""

    kernel: Kernel
    folds: Sequence[TrainedFold]
    costs: Vector
    scorer: DecisionScorer
    margin: DecisionScorer
    n_jobs: int | None = None

    def evaluate(
        self,
        base: Matrix,
        moves: Sequence[Move],
        start: Sequence[Matrix] | None = None,
        *,
        keep: bool = True,
    ) -> list[Evaluation]:
        """Cross-validate several subsets, each given as a change (move) of the same subset.

        ``start`` contains the coefficients of a similar subset, one array per fold. With
        ``keep=False``, no coefficients are returned, which saves memory if there are thousands of
        moves.
        """
        # Workers split the folds. A single process computes the kernel matrix once for all folds.
        n_folds = len(self.folds)
        size = 1 if has_workers(self.n_jobs) else n_folds
        parts = [range(first, min(first + size, n_folds)) for first in range(0, n_folds, size)]
        items = [(move, folds) for move in moves for folds in parts]
        results = parallel_map(
            partial(_evaluate_folds, self, base, start, keep), items, n_jobs=self.n_jobs
        )
        return [
            _join(results[first : first + len(parts)]) for first in range(0, len(items), len(parts))
        ]

    def evaluate_subset(self, base: Matrix, n_features: int) -> Evaluation:
        """Cross-validate a single subset, given its base matrix."""
        return self.evaluate(base, [Move(np.empty((0, len(base))), (), n_features)])[0]


def _evaluate_folds(
    evaluator: Evaluator,
    base: Matrix,
    start: Sequence[Matrix] | None,
    keep: bool,
    item: tuple[Move, Sequence[int]],
) -> Evaluation:
    """Apply a move to a subset, and cross-validate the result on the given folds."""
    move, indices = item
    moved = base
    for column, sign in zip(move.columns, move.signs, strict=True):
        moved = moved + sign * evaluator.kernel.base_term(column)
    kernel = evaluator.kernel.matrix(moved, move.n_features)
    scores, margins, coefficients = [], [], []
    for index in indices:
        fold = evaluator.folds[index]
        b, offsets = fold.svms.solve(
            kernel, evaluator.costs, None if start is None else start[index]
        )
        decisions = fold.svms.decide(kernel, b, offsets, fold.held_out)
        scores.append(evaluator.scorer(decisions, fold))
        margins.append(evaluator.margin(decisions, fold))
        coefficients.append(b)
    return Evaluation(np.array(scores), np.array(margins), coefficients if keep else [])


def _join(parts: Sequence[Evaluation]) -> Evaluation:
    if len(parts) == 1:
        return parts[0]
    return Evaluation(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.margins for part in parts]),
        [b for part in parts for b in part.b],
    )
