"""Local search over feature subsets: each move adds, removes or swaps features."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix
from ..checkpoints import Checkpoint
from ..parallel import progress_bar, single_threaded
from ..terms.layout import WeightLayout
from .active_features import FeatureMatrix
from .evaluation import Evaluation, Evaluator, Move
from .svm import TrainedFold

Subset = NDArray[np.bool_]

# Number of neighbors evaluated between two writes of the checkpoint.
NEIGHBORS_PER_WRITE = 64


class Flip(NamedTuple):
    """Change of a feature subset: one feature added, one removed, or both (a swap)."""

    added: int | None
    removed: int | None

    @property
    def change(self) -> int:
        """Change in the number of features: 1, -1 or 0."""
        return (self.added is not None) - (self.removed is not None)

    def apply(self, subset: Subset) -> Subset:
        """Return the subset that results from applying the flip."""
        neighbor = subset.copy()
        for feature, inside in ((self.removed, False), (self.added, True)):
            if feature is not None:
                neighbor[feature] = inside
        return neighbor

    def move(self, columns: FeatureMatrix, layout: WeightLayout, n_features: int) -> Move:
        """Convert the flip to a :class:`Move` from a subset of ``n_features`` features."""
        signed = [
            (int(column), sign)
            for feature, sign in ((self.removed, -1), (self.added, 1))
            if feature is not None
            for column in layout.weights_of(feature)
        ]
        values = np.array([columns.column(column) for column, _ in signed])
        return Move(values, tuple(sign for _, sign in signed), n_features + self.change)


def bit_flips(subset: Subset) -> Iterator[Flip]:
    """Return all single-feature flips: removals first, then additions.

    If the subset has a single feature, there are no removals.
    """
    inside = np.flatnonzero(subset).tolist()
    removals = (Flip(None, j) for j in inside) if len(inside) > 1 else ()
    return chain(removals, (Flip(j, None) for j in np.flatnonzero(~subset).tolist()))


def attribute_flips(subset: Subset) -> Iterator[Flip]:
    """Return all flips that swap a selected and an unselected feature."""
    inside, outside = np.flatnonzero(subset).tolist(), np.flatnonzero(~subset).tolist()
    return (Flip(added, removed) for removed, added in product(inside, outside))


@dataclass(frozen=True)
class SearchStep:
    """Visited subset, its evaluation and the flip that led to it (None for the first).

    ``n_evaluations`` is the number of neighbors evaluated to find the subset.
    """

    flip: Flip | None
    subset: Subset
    evaluation: Evaluation
    n_evaluations: int
    seconds: float


@dataclass(frozen=True)
class LocalSearch:
    """Local search that moves to the best neighbor until no neighbor is better.

    A neighbor is better if its score is higher, or if it has the same score with fewer features.
    ``flips`` returns the flips of a subset. A progress bar is shown if ``title`` is not None.
    ``layout`` assigns the columns to features. ``place`` distinguishes the searches that share a
    checkpoint.
    """

    columns: FeatureMatrix
    layout: WeightLayout
    evaluator: Evaluator
    flips: Callable[[Subset], Iterator[Flip]]
    checkpoint: Checkpoint
    title: str | None
    place: str = ""

    def run(
        self, start: Subset, max_rounds: int | None, max_evaluations: int | None
    ) -> list[SearchStep]:
        """Search until no neighbor is better or a limit is reached; return all visited subsets."""
        with single_threaded():
            steps = [SearchStep(None, start, self.evaluate(start), 0, 0.0)]
            n_allowed = max_evaluations
            while max_rounds is None or len(steps) <= max_rounds:
                flips = list(islice(self.flips(steps[-1].subset), n_allowed))
                step = self._best_neighbor(steps[-1], flips, len(steps))
                if step is None:
                    break
                steps.append(step)
                n_allowed = None if n_allowed is None else n_allowed - len(flips)
        return steps

    def _base(self, subset: Subset) -> Matrix:
        columns = np.repeat(subset, self.layout.widths)
        return self.evaluator.kernel.base(self.columns.keep(columns).products())

    def evaluate(self, subset: Subset) -> Evaluation:
        """Cross-validate a subset."""
        return self.evaluator.evaluate_subset(self._base(subset), int(subset.sum()))

    def held_out_score(self, subset: Subset, evaluation: Evaluation, fold: TrainedFold) -> float:
        """Train on a subset at its best C, and return the score on the held-out rows of a fold."""
        with single_threaded():
            kernel = self.evaluator.kernel.matrix(self._base(subset), int(subset.sum()))
            costs = self.evaluator.costs[[evaluation.best_cost]]
            b, offsets = fold.svms.solve(kernel, costs)
            decisions = fold.svms.decide(kernel, b, offsets, fold.held_out)
            return float(self.evaluator.scorer(decisions, fold)[0])

    def _best_neighbor(
        self, current: SearchStep, flips: Sequence[Flip], number: int
    ) -> SearchStep | None:
        """Return the best neighbor of the current subset, or None if no neighbor is better."""
        start_time = time.perf_counter()
        scores = self._scores(current, flips, number)
        if len(scores) == 0:
            return None
        changes = np.array([flip.change for flip in flips])
        index = int(np.lexsort((changes, -scores))[0])
        if (scores[index], -changes[index]) <= (current.evaluation.score, 0):
            return None
        subset = flips[index].apply(current.subset)
        seconds = time.perf_counter() - start_time
        return SearchStep(flips[index], subset, self.evaluate(subset), len(flips), seconds)

    def _scores(
        self, current: SearchStep, flips: Sequence[Flip], number: int
    ) -> NDArray[np.float64]:
        """Return the score of each neighbor; scores in the checkpoint are not recomputed."""
        series = self.checkpoint.series(f"{self.place} round {number}".lstrip())
        scores: list[float] = [score for batch in series.steps() for score in batch["scores"]]
        base, n_features = self._base(current.subset), int(current.subset.sum())
        with progress_bar(self.title, len(flips), done=len(scores)) as advance:
            for first in range(len(scores), len(flips), NEIGHBORS_PER_WRITE):
                batch = flips[first : first + NEIGHBORS_PER_WRITE]
                moves = [flip.move(self.columns, self.layout, n_features) for flip in batch]
                evaluations = self.evaluator.evaluate(base, moves, current.evaluation.b, keep=False)
                new = [evaluation.score for evaluation in evaluations]
                series.append({"scores": new})
                scores += new
                for _ in new:
                    advance()
        return np.array(scores)
