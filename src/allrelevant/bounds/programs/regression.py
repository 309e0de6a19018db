"""Regression: a target value, met to within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.metrics import d2_absolute_error_score
from sklearn.model_selection import KFold

from ..models import LinearModel
from .explained_slack import Requirements
from .hinge_rows import HingeRows
from .samples import Fold, Samples, stacked


@dataclass(frozen=True)
class ValueSamples(Samples):
    """Data with a value to predict.

    Attributes
    ----------
    epsilon : float
        A prediction this close to the value costs nothing.
    """

    epsilon: float = field(default=0.0, kw_only=True)

    def requirements(self) -> Requirements:
        """``|y - w . x - offset| <= epsilon``: a row for each side."""
        each = np.arange(self.n_samples)
        ones = np.ones((self.n_samples, 1))
        rows = HingeRows(
            table=stacked([self.X, -self.X]),
            offset_table=np.vstack([ones, -ones]),
            target=np.r_[self.y - self.epsilon, -self.y - self.epsilon],
            weight=np.r_[self.weight, self.weight],
        )
        return Requirements(rows, np.r_[each, each])

    def score(self, model: LinearModel) -> float:
        """Share of the absolute deviation from the median that the model explains."""
        predicted = model.decision_function(self.X)
        return float(d2_absolute_error_score(self.y, predicted, sample_weight=self.weight))

    def chance(self) -> float:
        return 0.0

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        splits = KFold(min(n_folds, self.n_samples // 2), shuffle=True, random_state=seed)
        return list(splits.split(self.y))
