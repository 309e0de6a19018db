"""Cross-validation of subsets that are one move away from a subset whose base is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from .._typing import Matrix, Vector
from ..parallel import parallel_map
from .kernels import Kernel
from .scoring import DecisionScorer
from .svm import TrainedFold

# Means that differ by less are equal: fold by fold they may be the same numbers in another order.
_DECIMALS = 12


class Move(NamedTuple):
    """A subset, by what has to be added to or taken from the base to get there.

    Attributes
    ----------
    columns : ndarray of shape (k, n_samples)
    signs : tuple of int
        +1 for a column that comes, -1 for one that leaves.
    n_features : int
        Of the subset.
    """

    columns: Matrix
    signs: tuple[int, ...]
    n_features: int


@dataclass(frozen=True)
class Evaluation:
    """Scores of one subset, and the machines that earned them.

    Attributes
    ----------
    scores : ndarray of shape (n_folds, n_costs)
    b : list of ndarray of shape (n_costs, n_members)
        Coefficients of each fold, to start similar problems from.
    """

    scores: Matrix
    b: list[Matrix]

    @property
    def means(self) -> Vector:
        """Mean score at each cost."""
        return np.round(self.scores.mean(axis=0), _DECIMALS)

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
    """How subsets are cross-validated.

    Attributes
    ----------
    kernel : Kernel
    folds : list of Fold
    costs : ndarray of shape (n_costs,)
        Ascending.
    score : Score
    n_jobs : int or None
    """

    kernel: Kernel
    folds: Sequence[TrainedFold]
    costs: Vector
    score: DecisionScorer
    n_jobs: int | None = None

    def evaluate(
        self,
        base: Matrix,
        moves: Sequence[Move],
        start: Sequence[Matrix] | None = None,
        *,
        keep: bool = True,
    ) -> list[Evaluation]:
        """Cross-validate the subsets that some moves lead to.

        Parameters
        ----------
        base : ndarray of shape (n_samples, n_samples)
            Shared by all moves.
        moves : sequence of Move
        start : sequence of ndarray, default=None
            Coefficients of each fold on a similar subset.
        keep : bool, default=True
            Whether the coefficients are wanted. Of thousands of moves they would fill the memory.
        """
        # Workers share the folds out; alone, the kernel of a subset is made once for all folds.
        size = len(self.folds) if self.n_jobs in (None, 1) else 1
        parts = [range(k, min(k + size, len(self.folds))) for k in range(0, len(self.folds), size)]
        tasks = [(move, part) for move in moves for part in parts]
        found = parallel_map(partial(_judged, self, base, start, keep), tasks, n_jobs=self.n_jobs)
        return [
            _joined(found[first : first + len(parts)]) for first in range(0, len(tasks), len(parts))
        ]


def _judged(
    evaluator: Evaluator,
    base: Matrix,
    start: Sequence[Matrix] | None,
    keep: bool,
    task: tuple[Move, Sequence[int]],
) -> Evaluation:
    """Train and judge on some of the folds."""
    move, places = task
    moved = base
    for column, sign in zip(move.columns, move.signs, strict=True):
        moved = moved + sign * evaluator.kernel.base_of(column)
    kernel = evaluator.kernel.matrix(moved, move.n_features)
    scores, coefficients = [], []
    for place in places:
        fold = evaluator.folds[place]
        b, offsets = fold.machines.solve(
            kernel, evaluator.costs, None if start is None else start[place]
        )
        scores.append(
            evaluator.score(fold.machines.decide(kernel, b, offsets, fold.held_out), fold)
        )
        coefficients.append(b)
    return Evaluation(np.array(scores), coefficients if keep else [])


def _joined(parts: Sequence[Evaluation]) -> Evaluation:
    if len(parts) == 1:
        return parts[0]
    return Evaluation(
        np.concatenate([part.scores for part in parts]), [b for part in parts for b in part.b]
    )
