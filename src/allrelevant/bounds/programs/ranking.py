"""Rankings: positive samples above negative ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from ...arrays import Vector
from ..models import LinearModel
from .cut_rows import first_rows
from .explained_slack import Requirements
from .hinge_rows import HingeRows
from .pairwise_loss import PairwiseLoss
from .samples import Fold, Samples, signed_table
from .stratified import stratified_folds

# With more pairs than this, or more numbers in their rows, they are not listed.
_FEW_PAIRS = 100_000
_MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class RankedSamples(Samples):
    """Samples of which some, ``y`` +1, are to score higher than the others, ``y`` -1."""

    @property
    def total_weight(self) -> float:
        return 1.0  # the loss is a mean over pairs

    def requirements(self) -> Requirements:
        """A positive and a negative sample differ by 1, up to the slacks of both.

        ``w . x_i + s_i - (w . x_j - s_j) >= 1`` for all pairs says that some offset has
        ``w . x_i + s_i`` half a unit above it and ``w . x_j - s_j`` half a unit below.
        """
        rows = HingeRows(
            table=signed_table(self.y, self.X),
            offset_table=self.y[:, None],
            target=np.full(self.n_samples, 0.5),
            weight=self._weight_of_slack(),
        )
        return Requirements(rows, np.arange(self.n_samples))

    def score(self, model: LinearModel) -> float:
        """Area under the ROC curve."""
        values = model.decision_function(self.X)
        return float(roc_auc_score(self.y, values, sample_weight=self.weight))

    def merit(self, model: LinearModel) -> float:
        """The loss, which tells models apart where their areas are as good as equal.

        A small C shrinks all scores and leaves their order, so the area alone chooses almost any C.
        """
        return -float(self._pairwise_loss().values(model.coef_[None])[0])

    def chance(self) -> float:
        return 0.5

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        return stratified_folds(self.y, n_folds, seed)

    def _free_rows(self) -> HingeRows:
        """The loss over all pairs: a row for each while they are few, else by cuts."""
        positive, negative = np.flatnonzero(self.y > 0), np.flatnonzero(self.y < 0)
        n_pairs = len(positive) * len(negative)
        if n_pairs <= _FEW_PAIRS and n_pairs * self.n_features <= _MOST_CELLS:
            above, below = np.meshgrid(positive, negative, indexing="ij")
            return self._rows_of_pairs(above.ravel(), below.ravel())
        return first_rows(self._pairwise_loss())

    def _pairwise_loss(self) -> PairwiseLoss:
        high, low, share = self.y > 0, self.y < 0, self._weight_of_slack()
        return PairwiseLoss(self.X[high], self.X[low], share[high], share[low])

    def _rows_of_pairs(self, above: NDArray[np.intp], below: NDArray[np.intp]) -> HingeRows:
        """``w . (x_i - x_j) >= 1`` for each pair."""
        share, n_pairs = self._weight_of_slack(), len(above)
        return HingeRows(
            table=self.X[above] - self.X[below],
            offset_table=np.empty((n_pairs, 0)),
            target=np.ones(n_pairs),
            weight=share[above] * share[below],
        )

    def _weight_of_slack(self) -> Vector:
        """Share of each sample in its group."""
        total = np.where(self.y > 0, self.weight[self.y > 0].sum(), self.weight[self.y < 0].sum())
        return self.weight / total

    def _intercept(self, offset: Vector) -> float:
        return 0.0  # a ranking has none
