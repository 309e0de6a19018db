"""Ordered classes: one direction, and a threshold between each class and the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import d2_absolute_error_score

from ...arrays import Vector
from ..models import LinearModel
from .explained_slack import Requirements
from .hinge_rows import HingeRows
from .samples import Fold, Samples, signed_table, stacked
from .stratified import stratified_folds


@dataclass(frozen=True)
class OrderedSamples(Samples):
    """Data whose classes have an order; ``y`` is 0, 1, ..., k - 1, each of them there."""

    @property
    def n_thresholds(self) -> int:
        return int(self.y.max())

    def requirements(self) -> Requirements:
        """A sample of class c is beyond threshold c and short of threshold c + 1, each by 1.

        The thresholds are in order: rows that must be met.
        """
        below = np.flatnonzero(self.y < self.n_thresholds)  # have a threshold above them
        above = np.flatnonzero(self.y > 0)
        sample = np.r_[below, above]
        thresholds, k = np.eye(self.n_thresholds), self.n_thresholds
        codes = self.y.astype(int)
        sides = signed_table(np.r_[-np.ones(len(below)), np.ones(len(above))], self.X[sample])
        in_order = np.diff(thresholds, axis=0)
        rows = HingeRows(
            table=stacked([sides, np.zeros((k - 1, self.n_features))]) if k > 1 else sides,
            offset_table=np.vstack(
                [thresholds[codes[below]], -thresholds[codes[above] - 1], in_order]
            ),
            target=np.r_[np.ones(len(sample)), np.zeros(k - 1)],
            weight=np.r_[self.weight[sample], np.full(k - 1, np.inf)],
        )
        return Requirements(rows, np.r_[sample, np.full(k - 1, -1)])

    def score(self, model: LinearModel) -> float:
        """Share of the distance from the median class that the model explains."""
        predicted = count_passed(model.decision_function(self.X), model.thresholds_)
        return float(d2_absolute_error_score(self.y, predicted, sample_weight=self.weight))

    def chance(self) -> float:
        return 0.0

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        return stratified_folds(self.y, n_folds, seed)

    def _intercept(self, offset: Vector) -> float:
        return 0.0

    def _thresholds(self, offset: Vector) -> Vector | None:
        return offset[: self.n_thresholds]


def count_passed(values: Vector, thresholds: Vector | None) -> NDArray[np.intp]:
    """How many thresholds each value is beyond: the code of its class."""
    passed: NDArray[np.intp] = (values[:, None] > np.asarray(thresholds)).sum(axis=1)
    return passed
