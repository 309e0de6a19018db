"""The fast way: a small dense tableau over the rows and features that matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ..programs.equivalent_models import EquivalentModels
from .extremes import Effort, Extrema, Extreme, joined
from .tableau import Tableau
from .vertex import NotAVertexError, Vertex

# Rows that exceed their target by more than this at the start rarely bind anywhere in the set: they
# are left out at first, and brought in when a solution falls short of them.
_FAR = 0.25

# Extremes to solve at first, before the rows and features that they missed are brought in; then
# twice as many each time. What the first ones miss, others would miss too.
_FIRST = 8

# By how much a solution may fall short of a row that was left out.
_SHORTFALL = 1e-10

# By how much the model to start from may fall short of a row that must be met.
_BREACH = 1e-9

# With no more features than this, all are worked with from the start.
_FEW = 400

# Else how close to being used by the baseline (1 is use) a feature must be.
_PROMISING = 0.95

# The most of the other features that one answer can bring in at a time, and the size at which the
# working features are cut back to those that were there at the start.
_AT_A_TIME = 20
_MANY = 1000

# By how much the weight of another feature must pay, relative to the price of norm, to be missed.
_PAYS = 1e-9


class TableauSolver:
    """Solves every extreme on a tableau at the baseline, over working rows and working features.

    Raises :class:`NotAVertexError` if the set brings no vertex to start from.

    Parameters
    ----------
    models : EquivalentModels
    rows : ndarray of int, default=()
        Rows that are known to matter, besides those that do at the baseline.
    """

    def __init__(
        self, models: EquivalentModels, rows: NDArray[np.intp] | Sequence[int] = ()
    ) -> None:
        if models.start is None:
            raise NotAVertexError("The set has no model to start from.")
        self._models = self.models = models
        self._start = models.start
        coef, offset = self._start.coef, self._start.offset
        pull = np.abs(models.rows.pull(self._start.multipliers))
        # Prices of norm and loss at which this model costs least.
        self._prices = np.array([pull.max(), (self._start.multipliers / models.rows.weight).max()])
        if models.rows.breach(coef[None], offset[None])[0] > _BREACH * (1.0 + np.abs(coef).sum()):
            raise NotAVertexError("The model to start from falls short of rows that must be met.")
        shortfall = models.rows.shortfall(coef[None], offset[None])[0]
        near = shortfall > -_FAR
        near[np.asarray(rows, dtype=np.intp)] = True
        self._rows = np.flatnonzero(near)
        self._features = self._promising = promising_features(pull)
        self._tableau = self._fresh()
        self.effort = Effort()

    def __call__(self, extremes: Sequence[Extreme]) -> Extrema:
        self._cut_back()
        parts, start, some = [], 0, _FIRST
        while start < len(extremes):
            parts.append(self._solve_all(extremes[start : start + some]))
            start, some = start + some, 2 * some
        return joined(parts)

    def _solve_all(self, extremes: Sequence[Extreme]) -> Extrema:
        """Solve these extremes, again and again until nothing was missed."""
        answer = self._solve(extremes)
        again = self._take_in_what_was_missed(extremes, answer)
        while len(again):
            self._tableau = self._fresh()
            answer = answer.replaced(again, self._solve([extremes[int(e)] for e in again]))
            again = again[
                self._take_in_what_was_missed(
                    [extremes[int(e)] for e in again], answer.taken(again)
                )
            ]
        return answer

    def _cut_back(self) -> None:
        """Forget the features that former extremes brought in, once there are many."""
        if len(self._features) > max(_MANY, 2 * len(self._promising)):
            self._features = self._promising
            self._tableau = self._fresh()

    def _fresh(self) -> Tableau:
        """The tableau at the start, from the data."""
        rows = self._models.rows.take(self._rows)
        vertex = Vertex(rows, self._start.coef, self._start.offset)
        return Tableau(vertex, self._features, self._models.budgets, self._prices)

    def _solve(self, extremes: Sequence[Extreme]) -> Extrema:
        some = self._tableau.at_a_time
        parts = [self._tableau.solve(extremes[i : i + some]) for i in range(0, len(extremes), some)]
        self.effort.programs += len(extremes)
        self.effort.pivots += sum(pivots for _, pivots in parts)
        found = joined([answer for answer, _ in parts])
        multipliers = np.zeros((len(extremes), self._models.rows.n_rows))
        multipliers[:, self._rows] = found.multipliers
        return Extrema(found.coef, found.offset, multipliers)

    def _take_in_what_was_missed(
        self, extremes: Sequence[Extreme], answer: Extrema
    ) -> NDArray[np.intp]:
        """Add the rows and features that some answer should have known; which answers those are.

        A row is missed by a model that falls short of it, a feature by multipliers under which
        its weight would pay.
        """
        # What was not solved is not a model at all: HiGHS will see to it.
        unsolved = np.flatnonzero(~np.isfinite(answer.coef).all(axis=1))
        short = self._models.rows.shortfall(answer.coef, answer.offset) > _SHORTFALL
        short[:, self._rows] = False
        short[unsolved] = False
        missed = {e: found for e, found in self._paying(extremes, answer) if e not in unsolved}
        self._rows = np.union1d(self._rows, np.flatnonzero(short.any(axis=0)))
        self._features = reduce(np.union1d, missed.values(), self._features)
        return np.union1d(np.flatnonzero(short.any(axis=1)), sorted(missed)).astype(np.intp)

    def _paying(
        self, extremes: Sequence[Extreme], answer: Extrema
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Answers under whose multipliers the weights of other features would pay, and those."""
        pull = self._models.rows.pull(answer.multipliers)
        np.abs(pull, out=pull)
        pull[np.arange(len(extremes)), [extreme.feature for extreme in extremes]] = 0.0
        known = np.union1d(self._features, np.flatnonzero(self._start.coef))
        price_of_norm = pull[:, known].max(axis=1, initial=0.0)
        pull[:, known] = 0.0
        enough = price_of_norm * (1 + _PAYS) + _PAYS
        for e in np.flatnonzero(pull.max(axis=1, initial=0.0) > enough):
            paying = np.flatnonzero(pull[e] > enough[e])
            if len(paying) > _AT_A_TIME:  # those that pay most will do
                paying = paying[np.argpartition(-pull[e, paying], _AT_A_TIME)[:_AT_A_TIME]]
            yield int(e), paying


def promising_features(pull: Vector) -> NDArray[np.intp]:
    """Features that equivalent models are likely to use: the baseline nearly does.

    Parameters
    ----------
    pull : ndarray of shape (d,)
        Of the baseline's multipliers, in size; 1 where it uses the feature.
    """
    return np.arange(len(pull)) if len(pull) <= _FEW else np.flatnonzero(pull >= _PROMISING)
