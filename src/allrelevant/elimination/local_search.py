"""Subsets one flip away from a subset, and the search among them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..checkpoints import CheckpointFile
from ..parallel.api import progress_bar
from .active_features import FeatureMatrix
from .evaluation import Evaluation, Evaluator, Move

Subset = NDArray[np.bool_]


# Neighbours that are evaluated between two writes of the checkpoint.
_BATCH = 64


class Flip(NamedTuple):
    """A feature that comes, one that leaves, or both."""

    added: int | None
    removed: int | None

    @property
    def change(self) -> int:
        """Of the number of features."""
        return (self.added is not None) - (self.removed is not None)


def bit_flips(subset: Subset) -> Iterator[Flip]:
    """Each feature in or out: those of the subset leave first, then the others come.

    Examples
    --------
    >>> import numpy as np
    >>> [tuple(flip) for flip in bit_flips(np.array([True, True, False]))]
    [(None, 0), (None, 1), (2, None)]
    """
    inside = np.flatnonzero(subset).tolist()
    leaving = (Flip(None, j) for j in inside) if len(inside) > 1 else ()
    return chain(leaving, (Flip(j, None) for j in np.flatnonzero(~subset).tolist()))


def attribute_flips(subset: Subset) -> Iterator[Flip]:
    """Each feature of the subset against each of the others.

    Examples
    --------
    >>> import numpy as np
    >>> [tuple(flip) for flip in attribute_flips(np.array([True, True, False]))]
    [(2, 0), (2, 1)]
    """
    inside, outside = np.flatnonzero(subset).tolist(), np.flatnonzero(~subset).tolist()
    return (Flip(added, removed) for removed, added in product(inside, outside))


@dataclass(frozen=True)
class SearchStep:
    """A subset, how it was come by, and what it is worth.

    Attributes
    ----------
    flip : Flip or None
        None at the start.
    subset : ndarray of bool
    evaluation : Evaluation
    n_evaluations : int
        How many neighbours were looked at to find it.
    seconds : float
    """

    flip: Flip | None
    subset: Subset
    evaluation: Evaluation
    n_evaluations: int
    seconds: float


@dataclass(frozen=True)
class LocalSearch:
    """A search among neighbours, from a subset to the best neighbour that is better.

    Better is a higher score, or the same with fewer features.

    Attributes
    ----------
    columns : Columns
        All features.
    evaluator : Evaluator
    flips : callable
        The neighbours of a subset.
    file : CheckpointFile or None
    title : str or None
        Of a progress bar.
    """

    columns: FeatureMatrix
    evaluator: Evaluator
    flips: Callable[[Subset], Iterator[Flip]]
    file: CheckpointFile | None
    title: str | None

    def run(
        self, start: Subset, max_rounds: int | None, max_evaluations: int | None
    ) -> list[SearchStep]:
        """All subsets on the way, the start first.

        Parameters
        ----------
        start : ndarray of bool of shape (n_features,)
        max_rounds, max_evaluations : int or None
            None: until no neighbour is better.
        """
        with threadpool_limits(1):
            rounds = [SearchStep(None, start, self._evaluated(start), 0, 0.0)]
            left = max_evaluations
            while max_rounds is None or len(rounds) <= max_rounds:
                flips = list(islice(self.flips(rounds[-1].subset), left))
                found = self._best_neighbour(rounds[-1], flips, len(rounds))
                if found is None:
                    break
                rounds.append(found)
                left = None if left is None else left - len(flips)
        return rounds

    def _evaluated(self, subset: Subset) -> Evaluation:
        base = self.evaluator.kernel.base(self.columns.keep(subset))
        none = Move(np.empty((0, len(base))), (), int(subset.sum()))
        return self.evaluator.evaluate(base, [none])[0]

    def _best_neighbour(
        self, here: SearchStep, flips: Sequence[Flip], number: int
    ) -> SearchStep | None:
        began = time.perf_counter()
        scores = self._scores(here, flips, f"round {number}")
        if len(scores) == 0:
            return None
        changes = np.array([flip.change for flip in flips])
        place = int(np.lexsort((changes, -scores))[0])
        worth = here.evaluation.score
        if scores[place] < worth or (scores[place] == worth and changes[place] >= 0):
            return None
        flip = flips[place]
        subset = here.subset.copy()
        for feature, inside in ((flip.removed, False), (flip.added, True)):
            if feature is not None:
                subset[feature] = inside
        seconds = time.perf_counter() - began
        return SearchStep(flip, subset, self._evaluated(subset), len(flips), seconds)

    def _scores(self, here: SearchStep, flips: Sequence[Flip], series: str) -> NDArray[np.float64]:
        """Score of each neighbour; those that a checkpoint has are not evaluated again."""
        known = [] if self.file is None else self.file.results(series)
        scores: list[float] = [score for batch in known for score in batch["scores"]]
        base = self.evaluator.kernel.base(self.columns.keep(here.subset))
        n_features = int(here.subset.sum())
        with progress_bar(self.title, len(flips), done=len(scores)) as advance:
            for batch in batched_from(flips, len(scores)):
                moves = [self._move(flip, n_features) for flip in batch]
                found = self.evaluator.evaluate(base, moves, here.evaluation.b, keep=False)
                fresh = [evaluation.score for evaluation in found]
                if self.file is not None:
                    self.file.append(series, {"scores": fresh})
                scores += fresh
                for _ in fresh:
                    advance()
        return np.array(scores)

    def _move(self, flip: Flip, n_features: int) -> Move:
        moving = [(flip.removed, -1), (flip.added, 1)]
        columns = [self.columns.column(j) for j, _ in moving if j is not None]
        signs = tuple(sign for j, sign in moving if j is not None)
        return Move(np.array(columns), signs, n_features + sum(signs))


def batched_from(flips: Sequence[Flip], first: int) -> Iterator[tuple[Flip, ...]]:
    """Batches of the flips from a place on."""
    rest = flips[first:]
    return (tuple(rest[k : k + _BATCH]) for k in range(0, len(rest), _BATCH))
