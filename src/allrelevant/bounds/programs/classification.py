"""Two classes: on which side of a hyperplane, and how far from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..models import LinearModel
from .explained_slack import Requirements
from .hinge_rows import HingeRows
from .samples import Fold, Samples, signed_table
from .stratified import stratified_folds


@dataclass(frozen=True)
class ClassSamples(Samples):
    """Two-class data; ``y`` is -1 or +1."""

    def requirements(self) -> Requirements:
        """``y (w . x + offset) >= 1`` for each sample."""
        rows = HingeRows(
            table=signed_table(self.y, self.X),
            offset_table=self.y[:, None],
            target=np.ones(self.n_samples),
            weight=self.weight,
        )
        return Requirements(rows, np.arange(self.n_samples))

    def score(self, model: LinearModel) -> float:
        """Weighted share of the samples on the right side."""
        right = (model.decision_function(self.X) > 0) == (self.y > 0)
        return float(right @ self.weight / self.weight.sum())

    def chance(self) -> float:
        """That of always saying the heavier class."""
        positive = float(self.weight[self.y > 0].sum() / self.weight.sum())
        return max(positive, 1.0 - positive)

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        return stratified_folds(self.y, n_folds, seed)
